"""Writes version_V_*.safetensors, and what the models in them predict, for the format's version V.

Run once when a version of the format is new, and commit the result: test_files.py loads it ever
after. Files that exist are left alone.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from residuum import BLSClassifier, ELMRegressor, RVFLClassifier
from residuum._files import FORMAT_VERSION

NAMES = ["length", "width", "depth"]
MODELS = {
    "strings": RVFLClassifier(n_hidden=5, random_state=0),
    "targets": ELMRegressor(n_hidden=5, activation="radbas", random_state=0),
    "nodes": BLSClassifier(n_windows=1, n_feature_nodes=3, n_enhancement=4, random_state=0),
}


def main():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(2, 3, size=(60, 3)), columns=NAMES)
    response = np.sin(frame.to_numpy() @ [1.0, 0.5, -0.2])
    targets = {
        "strings": np.where(response > 0.3, "high", np.where(response < -0.3, "low", "middle")),
        "targets": np.column_stack([response, response**2]),
        "nodes": response > 0,
    }
    for name, model in MODELS.items():
        path = Path(__file__).parent / f"version_{FORMAT_VERSION}_{name}.safetensors"
        if path.exists():
            continue
        model.fit(frame, targets[name])
        model.save(path)
        rows = frame.head(8)
        methods = ["predict", "transform", "predict_proba", "decision_function"]
        expected = {
            method: getattr(model, method)(rows).tolist()
            for method in methods
            if hasattr(model, method)
        }
        expected |= {"estimator": type(model).__name__, "names": NAMES}
        expected["X"] = rows.to_numpy().tolist()
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
