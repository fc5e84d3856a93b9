"""``stagenets plot``: pictures of a model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stagenets.cli._usage import add_table_options, load_model, load_table_model, remark

_EXAMPLES = """examples:
  stagenets plot iris.model --out pictures
  stagenets plot iris.model test.csv --out pictures --format svg

Pictures: path (objective over units; with DATA, its score as well), units (the scores of the chosen
units among their pools), search (of models fitted with --search) and importance (with DATA: the
score lost when a column is shuffled). DATA should be rows that the model was not fitted on.
"""

_MOST_ROWS = 20_000  # a curve through more of them looks the same


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "plot",
        help="draw how a model grew, its units, its search and what its columns are worth",
        description="Draw pictures of a model.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="model file")
    add_table_options(parser, optional=True)
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the pictures")
    parser.add_argument(
        "--format", choices=("png", "svg"), default="png", help="default: %(default)s"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw and write."""
    folder = Path(options.out)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out must be a folder; {options.out!r} is a file")
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'stagenets[plot]'") from error
    matplotlib.use("Agg")  # files alone, no windows
    import matplotlib.pyplot as plt

    for name, figure in _pictures(options):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.{options.format}"
        figure.savefig(path, dpi=150)
        plt.close(figure)
        print(path)
    return 0


def _enough_rows(options: argparse.Namespace, table: Any, y: Any) -> tuple[Any, Any]:
    """Rows that show what all of them would, some drawn at random if there are very many."""
    if len(table) <= _MOST_ROWS:
        return table, y
    remark(options, f"the pictures use {_MOST_ROWS} of the {len(table)} rows, drawn at random")
    drawn = np.random.default_rng(0).choice(len(table), _MOST_ROWS, replace=False)
    return table.iloc[drawn], y[drawn]


def _pictures(options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """The pictures that there are, by name."""
    import matplotlib.pyplot as plt

    from stagenets import StagewiseDisplay, UnitsDisplay
    from stagenets.export._files import notes_in
    from stagenets.inspection._common import network_of

    labelled: dict[str, Any] = {}
    if options.data is None:
        model = load_model(options.model)
    else:
        from stagenets.cli._table_answers import labelled_rows

        model = load_table_model(options.model)
        labelled["X_val"], labelled["y_val"] = _enough_rows(options, *labelled_rows(model, options))
    if network_of(model)[0].network_.history.units_path is None:
        remark(options, "a one-shot network has no stages: no pictures of path and units")
    else:
        yield "path", StagewiseDisplay.from_estimator(model, **labelled).figure_
        yield "units", UnitsDisplay.from_estimator(model).figure_
    search = notes_in(options.model).get("search")
    if search is not None:
        from stagenets.cli._search_note import display_of

        yield "search", display_of(search).plot().figure_
    if options.data is None:
        remark(options, "no picture of importance: add a table with the target as DATA")
    else:
        from stagenets.cli._importance import Importance

        importance = Importance.of(model, labelled["X_val"], labelled["y_val"], options)
        height = 1.2 + 0.28 * min(len(importance.names), 20)
        figure, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
        importance.plot(ax)
        yield "importance", figure
