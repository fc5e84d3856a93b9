"""Whatever is in a file: a model that works on that file, or one line that says what is wrong.

Some ten cases; ``STAGENETS_FUZZ=10000`` tries 1,000 new ones (``nox -s fuzz``).
"""

import contextlib
import io
import os
import tempfile

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from fuzzing import cases, rarely
from stagenets.cli._main import main
from stagenets.cli._usage import UsageError

pytest.importorskip("pandas")

CLEAR = (ValueError, TypeError, MemoryError, OSError, UsageError)

COLUMNS = {
    "numbers": lambda rng, i: f"{rng.normal():.4g}",
    "integers": lambda rng, i: str(rng.integers(-5, 5)),
    "identifiers": lambda rng, i: str(1000 + i),
    "decimal commas": lambda rng, i: f"{rng.normal():.3f}".replace(".", ","),
    "thousands": lambda rng, i: f"{rng.integers(1, 10**7):,}",
    "money": lambda rng, i: f"${rng.integers(1, 10**6):,}.50",
    "percentages": lambda rng, i: f"{100 * rng.random():.1f}%",
    "words": lambda rng, i: rng.choice(["red", "green", "bl\u00fce", " spaced "]),
    "different words": lambda rng, i: f"w{i}",
    "flags": lambda rng, i: rng.choice(["yes", "no"]),
    "truths": lambda rng, i: rng.choice(["True", "False"]),
    "dates": lambda rng, i: f"20{i % 30:02d}-0{1 + i % 9}-{1 + i % 28:02d}",
    "times": lambda rng, i: f"2024-01-{1 + i % 28:02d} 0{i % 10}:30:00",
    "huge": lambda rng, i: f"{rng.normal():.3g}e{rng.integers(100, 320)}",
    "constant": lambda rng, i: "7",
    "missing": lambda rng, i: "",
    "mixture": lambda rng, i: rng.choice(["1", "x", "", "NA", "nan", "inf", "-1e5", "\u20ac3"]),
    "quotes": lambda rng, i: '"a ""b"", c"',
    "control": lambda rng, i: rng.choice(["\t", "\x00", "\ufeff", "\r"]),
}


@st.composite
def files(draw):
    """The text of a table, the names of its columns and what its fields are separated by."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(rarely([25, 60], [0, 1, 3]))
    kinds = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=4))
    kinds += draw(rarely([["numbers", "words"], ["integers", "flags"]], [[]]))
    names = [f"{kind} {i}" for i, kind in enumerate(kinds)]
    if draw(rarely([False], [True])):
        names = [draw(st.sampled_from(["same", "", "a,b", "7"])) for _ in kinds]
    sep = draw(st.sampled_from([",", ",", ";", "\t"]))
    gaps = draw(rarely([0.0], [0.2]))

    def field(text):
        return f'"{text}"' if sep in text and not text.startswith('"') else text

    def cell(kind, row):
        return "" if rng.random() < gaps else field(COLUMNS[kind](rng, row))

    lines = [sep.join(field(name) for name in names)]
    lines += [sep.join(cell(kind, i) for kind in kinds) for i in range(rows)]
    if draw(rarely([False], [True])):
        lines.append(draw(st.sampled_from([sep * 9, '"open', "\x00", "one more"])))
    return "\n".join(lines) + "\n", names, sep


def run(*arguments):
    """What the command printed; errors that are not clear ones come through."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        assert main([*map(str, arguments), "--debug"]) == 0
    return out.getvalue()


@pytest.mark.filterwarnings("ignore")
@cases(10)
@given(files(), st.data())
def test_tables(file, data):
    text, names, sep = file
    target = data.draw(rarely([names[-1], names[-2:][0]], [names[0], "absent"]))
    tasks = [("--task", "regression"), ("--task", "classification"), ("--no-header",)]
    options = data.draw(rarely([()], tasks))
    encoding = data.draw(rarely(["utf-8"], ["latin-1", "utf-16"]))
    with tempfile.TemporaryDirectory() as folder:
        table, model = f"{folder}/table.csv", f"{folder}/model"
        with open(table, "w", encoding=encoding, errors="replace", newline="") as stream:
            stream.write(text)
        small = ("--set", "n_hidden=4", "--set", "pool_size=5", "--folds", 2)
        if sep == "\t":
            options = (*options, "--sep", "\\t")
        try:
            run("fit", table, "--target", target, "--out", model, *small, *options)
            event("fitted")
            # Rows without a target, which the fit has left out, may not be what the others are.
            run("predict", model, table, "--out", f"{folder}/predictions.csv")
            event("predicted")
            assert os.path.getsize(f"{folder}/predictions.csv") > 0
            assert run("score", model, table)
        except (*CLEAR, SystemExit) as error:
            assert str(error)
        if os.path.exists(model):
            assert run("info", model)
