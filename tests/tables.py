"""Messy tables for the tests of the command line."""

import numpy as np
import pandas as pd


def flowers(rows=120, seed=0):
    """Numbers, flags, texts, missing values, and columns that no model should use."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["iris", "lily", "rose"], rows)
    height = np.select([kind == "iris", kind == "lily"], [30.0, 60.0], 90.0)
    table = pd.DataFrame(
        {
            "id": [f"plant {number}" for number in range(rows)],
            "height": height + rng.normal(scale=12, size=rows),
            "petals": rng.integers(3, 9, rows),
            "colour": rng.choice(["red", "white", "blue"], rows),
            "wild": rng.random(rows) < 0.5,
            "picked": pd.date_range("2024-01-01", periods=rows).strftime("%Y-%m-%d"),
            "nothing": np.nan,
            "kind": kind,
        }
    )
    table.loc[table.index % 7 == 0, "height"] = np.nan
    table.loc[table.index % 11 == 3, "colour"] = None
    table["price"] = 0.1 * height + (table["colour"] == "red") + rng.normal(scale=0.2, size=rows)
    return table
