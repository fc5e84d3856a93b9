"""A table model's answers for a file: reading it as the model expects, and predicting in parts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from stagenets.cli._metrics import Answers
from stagenets.cli._table_model import targets_of
from stagenets.cli._usage import read_data, remark
from stagenets.fitting._progress import count_progress

_ROWS_AT_A_TIME = 250_000  # less than a second of work


def rows_for(model: Any, options: argparse.Namespace, *, text: Sequence[str] = ()) -> Any:
    """The DataFrame of a file, its columns read the way the model knows them."""
    types = model["table"]
    frame = read_data(
        options,
        text=[*types.text_columns, *text],
        missing=types.missing,
        usual_decimal=types.decimal,
    ).frame
    if all(column.name in frame.columns for column in types.columns_):
        for name, texts in types.unlisted(frame, model["network"].network_).items():
            example = texts.most_common(1)[0][0]
            remark(
                options,
                f"column {name!r}: {texts.total()} of {len(frame)} rows hold texts that the model "
                f"does not know, such as {example!r}",
            )
    return frame


def labelled_rows(model: Any, options: argparse.Namespace) -> tuple[Any, NDArray[Any]]:
    """The rows of a file whose target is known, and the targets."""
    names = model["table"].targets
    classifies = is_classifier(model)
    text = names if classifies and model.classes_.dtype == object else ()
    frame = rows_for(model, options, text=text)
    for name in names:
        if name not in frame.columns:
            header = " (if its first line holds data, add --no-header)" if name.isdigit() else ""
            raise ValueError(f"the table must have the target column {name!r}{header}")
        frame = frame[frame[name].notna()]
        if len(frame) == 0:
            raise ValueError(f"column {name!r} has no values")
    return frame, targets_of(frame[names], "classification" if classifies else "regression")


def in_parts(
    method: Callable[[Any], NDArray[Any]], frame: Any, options: argparse.Namespace, what: str
) -> NDArray[Any]:
    """The answers of `method` for all rows, computed for some at a time to show progress."""
    starts = range(0, len(frame), _ROWS_AT_A_TIME)
    if len(starts) == 1:
        return method(frame)
    parts = []
    with count_progress(what, int(not options.quiet), unit="row") as progress:
        for start in starts:
            parts.append(method(frame[start : start + _ROWS_AT_A_TIME]))
            if progress is not None:
                progress(min(start + _ROWS_AT_A_TIME, len(frame)), len(frame))
    return np.concatenate(parts)


def answers_for(model: Any, frame: Any, y: NDArray[Any], options: argparse.Namespace) -> Answers:
    """What the model says about these rows."""
    if not is_classifier(model):
        return Answers(y, in_parts(model.predict, frame, options, "predicting"))
    return Answers(
        y,
        in_parts(model.predict, frame, options, "predicting"),
        in_parts(model.predict_proba, frame, options, "predicting probabilities"),
        model.classes_,
    )
