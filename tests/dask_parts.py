"""Arrays cut into partitions of any lengths."""

import dask.array as da

SKEWED = (0, 1, 400, 4, 0, 7, 88)


def in_parts(X, y, rows=SKEWED):
    return da.from_array(X, chunks=(rows, (X.shape[1],))), da.from_array(
        y, chunks=(rows, *y.shape[1:])
    )
