"""Fits whose factor is larger than the memory of the workers, from Parquet and from Zarr.

    python bench/dask_larger.py

Writes a table to a folder of its own and fits it on two workers with a memory limit, once with
store="memory" and once with "recompute". Writes dask_larger.md to docs/benchmarks/.
"""

from __future__ import annotations

import argparse
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from distributed import Client, LocalCluster

from dask_scale import peak_memory
from report_tables import Row, add_output_option, write_markdown
from stagenets.dask import RVFLRegressor

INPUTS, PARTITIONS = 50, 8


def write_files(folder: Path, rows: int) -> None:
    columns = [f"x{i}" for i in range(INPUTS)]
    X = da.random.default_rng(0).normal(size=(rows, INPUTS), chunks=(rows // PARTITIONS, INPUTS))
    X = X.astype(np.float32)
    y = da.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    frame = dd.from_dask_array(da.concatenate([X, y[:, None]], axis=1), columns=[*columns, "y"])
    frame.to_parquet(folder / "table.parquet", write_index=False)
    da.to_zarr(X, str(folder / "X.zarr"), overwrite=True)
    da.to_zarr(y, str(folder / "y.zarr"), overwrite=True)


def from_parquet(folder: Path) -> tuple[Any, Any]:
    frame = dd.read_parquet(folder / "table.parquet")
    return frame.drop(columns="y"), frame["y"]


def from_zarr(folder: Path) -> tuple[Any, Any]:
    return da.from_zarr(str(folder / "X.zarr")), da.from_zarr(str(folder / "y.zarr"))


def one_fit(read: Any, folder: Path, store: str, units: int, limit: str) -> Row:
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = read(folder)
        before = max(client.run(peak_memory).values())
        model = RVFLRegressor(
            n_hidden=units,
            block_size=10,
            alpha=3.0,
            store=store,
            random_state=0,
            client=client,
        )
        worked = sum(client.run(time.process_time).values())
        started = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - started
        worked = sum(client.run(time.process_time).values()) - worked
        peak = max(client.run(peak_memory).values())
        return {
            "from": read.__name__.removeprefix("from_"),
            "store": store,
            "limit": limit if limit != "0" else "none",
            "seconds": round(seconds, 1),
            "processor s": round(worked, 1),
            "R²": round(model.score(X, y), 4),
            "MB in a worker before": round(before / 1e6),
            "MB at most": round(peak / 1e6),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--units", type=int, default=200)
    parser.add_argument("--limit", default="900MB", help="of a worker, with store='recompute'")
    add_output_option(parser)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), options.rows)
        for read, store, limit in (
            (from_parquet, "recompute", options.limit),
            (from_zarr, "recompute", options.limit),
            (from_zarr, "memory", "0"),
        ):
            rows.append(one_fit(read, Path(folder), store, options.units, limit))
            print(rows[-1], flush=True)
    data = 4 * options.rows * (INPUTS + 1)
    factor = 4 * options.rows * (INPUTS + 1 + options.units)
    note = textwrap.fill(
        f"`python bench/dask_larger.py`: {options.rows:,} rows of {INPUTS} inputs in float32 "
        f"({data / 1e6:.0f} MB) and {options.units} units, on two workers that are limited to "
        f"{options.limit} each, and for comparison without a limit with `store='memory'`, where "
        f"the factor takes {factor / 1e6:.0f} MB. Seconds are those of one fit, and processor "
        f"seconds those of both workers, which include reading the files and, of the first fit on "
        f"a worker, imports. Memory is the peak of a worker's process.",
        110,
    )
    write_markdown(options.out / "dask_larger.md", "Larger than memory on Dask", note, rows)


if __name__ == "__main__":
    main()
