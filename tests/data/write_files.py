"""Writes version_V_*.safetensors, and what the models in them predict, for the format's version V.

Run once when a version of the format is new, and commit the result: test_file_format.py loads it
ever after. Files that exist are left alone.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from stagenets import BLSClassifier, ELMRegressor, RVFLClassifier, RVFLRegressor
from stagenets.cli._column_types import ColumnTypes
from stagenets.cli._table_model import table_model
from stagenets.export._files import FORMAT_VERSION, save_model

FOLDER = Path(__file__).parent
METHODS = ["predict", "transform", "predict_proba", "decision_function"]


def write(name, model, rows, **options):
    path = FOLDER / f"version_{FORMAT_VERSION}_{name}.safetensors"
    if path.exists():
        return
    network = model[-1] if "table" in options else model
    save_model(network, path, **options)
    expected = {
        method: getattr(model, method)(rows).tolist()
        for method in METHODS
        if hasattr(model, method)
    }
    expected |= {"estimator": type(model).__name__, "names": rows.columns.tolist()}
    expected["X"] = rows.astype(object).where(rows.notna(), None).to_numpy().tolist()
    path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


def main():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(2, 3, size=(60, 3)), columns=["length", "width", "depth"])
    rows = frame.head(8)
    response = np.sin(frame.to_numpy() @ [1.0, 0.5, -0.2])
    level = np.where(response > 0.3, "high", np.where(response < -0.3, "low", "middle"))

    strings = RVFLClassifier(n_hidden=5, random_state=0).fit(frame, level)
    write("strings", strings, rows)
    targets = ELMRegressor(n_hidden=5, activation="radbas", random_state=0)
    write("targets", targets.fit(frame, np.column_stack([response, response**2])), rows)
    nodes = BLSClassifier(n_windows=1, n_feature_nodes=3, n_enhancement=4, random_state=0)
    write("nodes", nodes.fit(frame, response > 0), rows)

    stopped = RVFLRegressor(pool_size=9, early_stopping="loo", n_iter_no_change=2, random_state=0)
    write("stopped", stopped.fit(frame, response), rows)

    bounded = RVFLRegressor(n_hidden=5, random_state=0).fit(frame, response)
    write("bounded", bounded, 100 * rows)

    mixed = frame.assign(level=level, width=frame["width"].where(frame["width"] > 0))
    mixed.loc[3, "level"] = None
    write("mixed", RVFLRegressor(n_hidden=5, random_state=0).fit(mixed, response), mixed.head(8))

    table = frame.assign(level=level)
    types = ColumnTypes().fit(table)
    network = RVFLRegressor(n_hidden=5, random_state=0).fit(types.transform(table), response)
    write("table", table_model(types, network), table.head(8), table=types.to_plain())


if __name__ == "__main__":
    main()
