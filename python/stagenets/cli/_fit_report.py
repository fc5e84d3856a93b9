"""What ``stagenets fit`` says about the model it made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stagenets.cli._held_out import HeldOut
from stagenets.cli._metrics import Metric, Scores, plain_scores, shown


@dataclass(frozen=True)
class FitReport:
    """Scores on the training rows and on rows held out, if there were enough of them."""

    metrics: dict[str, Metric]
    training: Scores
    held_out: HeldOut | None
    chosen: str = ""  # what the same rows chose: "the size", "the penalty"

    def lines(self) -> Iterator[str]:
        """The report for people."""
        if self.held_out is None:
            yield "scores on the training rows, which flatter every model:"
        else:
            note = f"; the same rows chose {self.chosen}, so expect slightly worse"
            folds = f"{len(self.held_out.folds)} folds{note if self.chosen else ''}"
            yield f"scores on held-out rows ({folds}):"
        width = max(len(metric.title) for metric in self.metrics.values())
        for name, metric in self.metrics.items():
            training = shown(self.training[name])
            if self.held_out is None:
                yield f"  {metric.title:{width}}  {training}"
            else:
                mean, spread = self.held_out.mean(name), self.held_out.spread(name)
                yield (
                    f"  {metric.title:{width}}  {shown(mean)} ± {shown(spread)}"
                    f"  ({training} on the training rows)"
                )

    def plain(self) -> dict[str, Any]:
        """The report as JSON-compatible data."""
        plain: dict[str, Any] = {"training": plain_scores(self.training)}
        if self.held_out is not None:
            mean, spread = (
                plain_scores({name: of(name) for name in self.metrics})
                for of in (self.held_out.mean, self.held_out.spread)
            )
            plain["held_out"] = {"folds": len(self.held_out.folds), "mean": mean, "std": spread}
        return plain
