"""stagenets export: the files predict like the model, given the inputs they name."""

import json
import runpy

import numpy as np
import pytest

import stagenets
from tables import flowers

FIT = ("fit", "flowers.csv", "--n-hidden", 6, "--folds", 0, "--quiet", "--out", "model", "--target")


@pytest.mark.parametrize("target", ["kind", "price"])
def test_numpy_module_predicts_like_the_model(run, folder, target):
    run(*FIT, target)
    out, err = run("export", "model", "--to", "numpy", "--out", "module.py")
    model, table = stagenets.load("model"), flowers(seed=1)
    module = runpy.run_path("module.py")
    columns = list(model["table"].get_feature_names_out())
    assert module["FEATURE_NAMES"] == columns
    assert (out, err) == ("", f"the network takes {len(columns)} columns: {', '.join(columns)}\n")
    found, expected = module["predict"](model["table"].transform(table)), model.predict(table)
    if target == "kind":
        assert found.tolist() == expected.tolist()
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_onnx_graph_predicts_like_the_model(run, folder):
    onnx, onnxruntime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    run(*FIT, "price")
    run("export", "model", "--to", "onnx", "--out", "model.onnx", "--quiet")
    model, table = stagenets.load("model"), flowers(seed=1)
    notes = {note.key: note.value for note in onnx.load("model.onnx").metadata_props}
    assert json.loads(notes["columns"]) == list(model["table"].get_feature_names_out())
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    X = model["table"].transform(table)
    texts = X[["colour", "kind"]].astype(object).fillna("").to_numpy()
    numbers = X.drop(columns=["colour", "kind"]).to_numpy(np.float32)
    (found,) = session.run(None, {"X": numbers, "texts": texts})
    np.testing.assert_allclose(found[:, 0], model.predict(table), rtol=1e-3)


def test_bare_networks_are_exported_without_names(run, folder):
    stagenets.ELMRegressor(n_hidden=5).fit(np.eye(6), np.arange(6.0)).save("bare")
    assert run("export", "bare", "--to", "numpy", "--out", "module.py") == ("", "")
    assert "FEATURE_NAMES" not in runpy.run_path("module.py")


def test_export_names_what_is_wrong(run, folder):
    run(*FIT, "kind")
    for arguments, code, message in [
        (("model", "--to", "pmml", "--out", "x"), 2, "invalid choice: 'pmml'"),
        (("model", "--to", "onnx"), 2, "--out"),
        (("model", "--to", "onnx", "--out", "."), 1, "'.' is a folder"),
        (("model", "--to", "numpy", "--out", "model"), 1, "another file than those read"),
        (("flowers.csv", "--to", "numpy", "--out", "x"), 1, "flowers.csv is not a model file"),
    ]:
        assert message in run("export", *arguments, code=code)[1]
    assert not (folder / "x").exists()
