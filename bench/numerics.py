"""How exact the readouts are, against the ridge problem in 100 digits: python bench/numerics.py

Small problems [1 U G] of known condition, penalty, scale and offset are fitted in every way there
is (units one at a time, in one block, primal and dual, in both types). The readout is judged in 100
digits: by how far its objective is above the least one, and by the gradient that is left.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import mpmath
import numpy as np

from report_tables import add_output_option, markdown
from stagenets import fit_stagewise

mpmath.mp.dps = 100
ROWS, INPUTS, UNITS, SEEDS = 16, 3, 3, 2
CONDITIONS = [10.0**e for e in range(0, 15, 2)]
PENALTIES = [0.0, 1e-14, 1e-10, 1e-6, 1e-2, 1e2, 1e6]  # relative to the largest squared column
SCALES = {
    "float64": [1e-150, 1e-100, 1e-50, 1.0, 1e50, 1e100, 1e150],
    "float32": [1e-30, 1e-15, 1.0, 1e15, 1e30],
}
OFFSETS = [0.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12]

NOTE = f"""Worst of {SEEDS} seeds and of all ways to fit: one unit at a time and in one block,
primal and, with a penalty, dual. Problems have {ROWS} rows, {INPUTS} inputs, {UNITS} units, an
intercept, and targets in which every direction has an equal share. Cells are (J − J*) / J(0): how
far the objective at the readout is above the least one, relative to that of no readout at all. In
brackets is what is left of the gradient Aᵀ(AΩ − T) + λΩ, relative to the lengths of the columns and
of the targets. All of it is computed in 100 digits from the numbers that the fit was given. λ is
relative to the largest squared column; "refused" means a `ValueError`. Made by `bench/numerics.py`.

Without a penalty, directions shorter than about 1e-7 of their columns count as dependent and are
left out, as [the design](../design.md) says: from the condition on at which there are some, a
target that they explain is not fitted. Any penalty ends this.
"""


def design(condition: float, seed: int) -> np.ndarray:
    """Columns with singular values from 1 to 1/condition, in random directions."""
    rng = np.random.default_rng(seed)
    width = INPUTS + UNITS
    left = np.linalg.qr(rng.normal(size=(ROWS, width)))[0]
    right = np.linalg.qr(rng.normal(size=(width, width)))[0]
    return left @ np.diag(np.geomspace(1, 1 / condition, width)) @ right


def judged(A: np.ndarray, T: np.ndarray, alpha: float, readout: np.ndarray) -> tuple[float, float]:
    """The gap of the objective and the gradient left, both without units."""
    exact, targets, omega = (mpmath.matrix(values.tolist()) for values in (A, T, readout))
    penalty = mpmath.mpf(alpha)
    gram = exact.T * exact + penalty * mpmath.eye(A.shape[1])
    right = exact.T * targets
    lengths = [mpmath.sqrt(gram[j, j]) for j in range(A.shape[1])]
    unit = mpmath.diag([1 / length for length in lengths])
    # Columns may be equal once they are rounded; this share of their lengths is nothing elsewhere.
    regular = unit * gram * unit + mpmath.mpf(10) ** -80 * mpmath.eye(A.shape[1])
    best = unit * mpmath.lu_solve(regular, unit * right)

    def objective(candidate: mpmath.matrix) -> mpmath.mpf:
        error = exact * candidate - targets
        return (error.T * error)[0] + penalty * (candidate.T * candidate)[0]

    nothing = (targets.T * targets)[0]
    gradient = gram * omega - right
    left = max(abs(gradient[j]) / lengths[j] for j in range(A.shape[1])) / mpmath.sqrt(nothing)
    return float((objective(omega) - objective(best)) / nothing), float(left)


def readouts(A: np.ndarray, T: np.ndarray, alpha: float) -> Iterator[np.ndarray]:
    """The readouts of [1 U G] by every way to fit; A holds U and G."""
    U, G = A[:, :INPUTS], A[:, INPUTS:]
    solvers = ["primal", "dual"] if alpha > 0 else ["primal"]
    one_by_one = {"pool_size": 1, "block_size": 1}
    at_once = {"pool_size": UNITS, "block_size": UNITS, "selection": "random"}
    for solver in solvers:
        for way in (one_by_one, at_once):

            def candidates(stage: int, size: int) -> np.ndarray:
                return G[:, [stage % UNITS]] if size == 1 else G

            try:
                fit = fit_stagewise(
                    candidates, T, inputs=U, n_hidden=UNITS, alpha=alpha, solver=solver, **way
                )
            except ValueError as error:
                # That the dual form has no digits left is said, and what it is for.
                if solver == "dual" and "solver='dual'" in str(error):
                    continue
                raise
            readout = np.zeros((1 + A.shape[1], 1))
            kept = fit.selected[:, 0 if way is one_by_one else 1]
            readout[0] = fit.readout_intercept
            readout[1 : 1 + INPUTS, 0] = fit.readout.reshape(-1)[:INPUTS]
            for place, unit in enumerate(kept.tolist()):
                readout[1 + INPUTS + unit, 0] = fit.readout.reshape(-1)[INPUTS + place]
            yield readout


def worst(dtype: str, condition: float, penalty: float, scale: float, offset: float) -> str:
    gap = gradient = 0.0
    for seed in range(SEEDS):
        A = (scale * (design(condition, seed) + offset)).astype(dtype)
        T = np.random.default_rng(seed + 100).normal(size=(ROWS, 1))
        alpha = penalty * float(np.square(A.astype(float) / scale).sum(axis=0).max()) * scale**2
        with_ones = np.column_stack([np.ones(ROWS), A.astype(float)])
        try:
            for readout in readouts(A, T, alpha):
                gaps = judged(with_ones, T, alpha, readout)
                gap, gradient = max(gap, gaps[0]), max(gradient, gaps[1])
        except ValueError as error:
            print(error)
            return "refused"
    return f"{gap:.0e} ({gradient:.0e})"


def table(dtype: str, by: str, values: list[float], **fixed: float) -> str:
    rows = []
    for value in values:
        row = {by: f"{value:.0e}"}
        for penalty in PENALTIES:
            case = {"condition": 10.0, "scale": 1.0, "offset": 0.0, **fixed, by: value}
            row[f"λ = {penalty:g}"] = worst(dtype, penalty=penalty, **case)
        print(dtype, row, flush=True)
        rows.append(row)
    return markdown(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_option(parser)
    options = parser.parse_args()
    parts = ["# Readouts against 100 digits", NOTE]
    for dtype in ("float64", "float32"):
        parts += [f"## By condition, {dtype}", table(dtype, "condition", CONDITIONS)]
        parts += [f"## By scale of the columns, {dtype}", table(dtype, "scale", SCALES[dtype])]
        parts += [
            f"## By offset of the columns, in units of their length, {dtype}",
            table(dtype, "offset", OFFSETS),
        ]
    path = options.out / "numerics.md"
    path.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
