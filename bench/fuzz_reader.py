"""Damaged and hostile model files, by coverage-guided fuzzing: a clear error, never a crash.

``python bench/fuzz_reader.py -runs=100000 -max_len=300``; all arguments are libFuzzer's. The
package must not be an editable install, in which Atheris sees no coverage. With a
core built by ``clang -fsanitize=address,fuzzer-no-link``, first load Atheris' runtime for it
(LD_PRELOAD). Most inputs are changes to the content of a sound file whose checksum is right, as
that of a hostile file would be; one of sixteen is the bytes of a file.
"""

import os
import pathlib
import sys
import tempfile
import warnings

import atheris
import numpy as np

with atheris.instrument_imports(include=["stagenets.export"]):
    from stagenets.export import _files, _model_state, _upgrades  # noqa: F401

import stagenets

warnings.simplefilter("ignore")
GOLDEN = pathlib.Path(__file__).parents[1] / "tests" / "data"
ROWS = np.random.default_rng(0).normal(size=(2, 64))
TYPES = ["float64", "int64", "float32", "uint8", "bool", "int8"]
INTERESTING = [0, -1, 1, 2**31, 2**62, -(2**63), np.nan, np.inf, 1e308, -1e-308]
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
PLACE = tempfile.NamedTemporaryFile(dir=FOLDER).name


def sound_states():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.arange(30) % 3
    states = []
    for cls in _model_state.ESTIMATORS.values():
        small = {"n_windows": 1, "n_feature_nodes": 2, "n_enhancement": 2}
        if "BLS" not in cls.__name__:
            small = {"n_hidden": 3, "weight_init": "mixed", "early_stopping": "loo"}
        model = cls(pool_size=4, random_state=0, **small).fit(X, y)
        states.append(_model_state.state_of(model))
    return states


STATES = sound_states()


def plain_value(data):
    kinds = [None, True, {}, [], "", "sigmoid", data.ConsumeInt(8), data.ConsumeRegularFloat()]
    value = data.PickValueInList([*kinds, data.ConsumeUnicode(8)])
    return [value] * data.ConsumeIntInRange(1, 3) if data.ConsumeBool() else value


def changed_array(array, data):
    match data.ConsumeIntInRange(0, 5):
        case 0:
            return array.astype(data.PickValueInList(TYPES))
        case 1:
            return array.reshape(-1)
        case 2:
            return array[..., None]
        case 3 if array.ndim:
            return array[: data.ConsumeIntInRange(0, len(array))]
        case 4 if array.ndim:
            return np.concatenate([array, array[:1]])
    array = array.copy()
    if array.size and array.dtype.kind in "if":
        with np.errstate(all="ignore"):
            value = np.array(data.PickValueInList(INTERESTING)).astype(array.dtype)
        array.flat[data.ConsumeIntInRange(0, array.size - 1)] = value
    return array


def changed(state, data):
    header, arrays = dict(state.header), dict(state.arrays)
    for _ in range(data.ConsumeIntInRange(1, 3)):
        if data.ConsumeIntInRange(0, 3) == 0:
            name = data.PickValueInList([*header, "classes", "output", "intervals", "table"])
            header[name] = plain_value(data)
            continue
        name = data.PickValueInList(sorted(arrays))
        if data.ConsumeIntInRange(0, 7) == 0:
            del arrays[name]
        else:
            other = data.PickValueInList([name, name, "layer0.ends", "bounds", "path.ends"])
            arrays[other] = changed_array(arrays[name], data)
    return _model_state.ModelState(header, arrays)


def use(model):
    """Whatever was accepted can be asked, and answers or refuses."""
    if model.n_features_in_ <= ROWS.shape[1]:
        with np.errstate(all="ignore"):
            model.predict(ROWS[:, : model.n_features_in_])


def one_input(content):
    data = atheris.FuzzedDataProvider(content)
    if data.ConsumeIntInRange(0, 15) == 0:
        with open(PLACE, "wb") as file:
            file.write(data.ConsumeBytes(len(content)))
        try:
            stagenets.load(PLACE)
        except stagenets.ModelFileError:
            pass
        return
    try:
        use(_model_state.model_of(changed(data.PickValueInList(STATES), data)))
    except (ValueError, MemoryError):
        pass


if __name__ == "__main__":
    try:
        corpus = tempfile.mkdtemp()
        for path in GOLDEN.glob("*.safetensors"):
            pathlib.Path(corpus, path.name).write_bytes(path.read_bytes() + b"\0")
        atheris.Setup([*sys.argv, corpus], one_input)
        atheris.Fuzz()
    finally:
        pathlib.Path(PLACE).unlink(missing_ok=True)
