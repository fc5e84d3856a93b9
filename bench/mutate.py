"""Small faults put into the core, one at a time: would the tests notice?

``python bench/mutate.py FOLDER [--sample 120] [--seed 0] [--only cholesky.cpp …]``, with an
interpreter that has the package's dependencies but not the package. A copy of the core is built in
FOLDER. Each mutant changes one operator, constant or statement of the files below; the core's unit
tests run first, and what they let pass meets the Python tests named here. Results are appended to
FOLDER/mutants.csv; those already there are not tried again, so a run can be stopped and continued.
"""

from __future__ import annotations

import argparse
import csv
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[1]
FORMULAS = ["test_against_reference", "test_solvers"]
TESTS = {
    "cholesky.cpp": [*FORMULAS, "test_ill_conditioned_dual"],
    "cholesky_qr.cpp": [*FORMULAS, "test_ill_conditioned_dual"],
    "ridge_factor.cpp": [*FORMULAS, "test_ill_conditioned_dual", "test_row_space"],
    "scores.cpp": [*FORMULAS, "test_screening", "test_threads"],
    "ranked_pool.cpp": [*FORMULAS, "test_joint", "test_screening"],
    "calibration.cpp": ["test_proba"],
    "target_score.cpp": ["test_target_scale", "test_search_measures"],
    "targets.cpp": ["test_target_scale", "test_sample_weight"],
    "sparse_weights.cpp": ["test_draws", *FORMULAS],
    "weight_draws.cpp": ["test_draws"],
    "input_effects.cpp": ["test_importances"],
    "kernels/elementary.inl": ["test_activations"],
    "kernels/exponential.inl": ["test_activations"],
    "kernels/activate.inl": ["test_activations"],
    "kernels/combine.inl": FORMULAS,
    "kernels/skinny.inl": FORMULAS,
    "kernels/tally.inl": FORMULAS,
}
# Operators stand between spaces, which tells them from templates, pointers and signs.
SWAPS = {
    " < ": " <= ",
    " <= ": " < ",
    " > ": " >= ",
    " >= ": " > ",
    " == ": " != ",
    " != ": " == ",
    " + ": " - ",
    " - ": " + ",
    " * ": " / ",
    " / ": " * ",
    " += ": " -= ",
    " -= ": " += ",
    " && ": " || ",
    " || ": " && ",
    "std::max": "std::min",
    "std::min": "std::max",
    "true": "false",
    "false": "true",
}
NUMBER = re.compile(r"(?<![\w.\"])(\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w.\"])")
CALL = re.compile(r"^\s+[\w:.\->\[\]]+\([^{}]*\);$")
UNTOUCHED = re.compile(
    r"^\s*(//|#|template|using|static_assert|return;|\}|const\w* .* = \[)|operator"
)


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # from 0
    before: str
    after: str


def mutants_of(file: str) -> list[Mutant]:
    found = []
    for number, line in enumerate((ROOT / "cpp/src" / file).read_text().splitlines()):
        code = line.split("//")[0].rstrip()
        if UNTOUCHED.search(code) or not code:
            continue
        for old, new in SWAPS.items():
            for place in re.finditer(re.escape(old), code):
                changed = code[: place.start()] + new + code[place.end() :]
                found.append(Mutant(file, number, line, changed))
        for place in NUMBER.finditer(code):
            value = place.group(1)
            other = f"({value} + 1)" if value.isdigit() else f"({value} * 2)"
            found.append(
                Mutant(file, number, line, code[: place.start()] + other + code[place.end() :])
            )
        if CALL.match(code):
            found.append(Mutant(file, number, line, "  ;"))
    return found


def prepared(folder: pathlib.Path) -> None:
    """A copy of the core, configured, beside a package that takes its extension from there."""
    if (folder / "build").exists():
        for file in TESTS:  # a run that was killed may have left a mutant
            sound = (ROOT / "cpp/src" / file).read_text()
            if (folder / "cpp/src" / file).read_text() != sound:
                (folder / "cpp/src" / file).write_text(sound)
        return
    for name in ("CMakeLists.txt", "cpp", "python"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    pybind11 = subprocess.check_output(
        [sys.executable, "-m", "pybind11", "--cmakedir"], text=True
    ).strip()
    options = ["-GNinja", "-DSTAGENETS_CPP_TESTS=ON", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF"]
    options += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11}"]
    apart = ";".join(f"cpp/src/{file}" for file in TESTS if file.endswith(".cpp"))
    quick = ["-DCMAKE_BUILD_TYPE=Quick", "-DCMAKE_CXX_FLAGS=-O1 -DNDEBUG"]
    quick += ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0"]
    quick += [f"-DSTAGENETS_APART={apart}"]
    subprocess.run(["cmake", f"-S{folder}", f"-B{folder / 'build'}", *options, *quick], check=True)


# Many times what anything here takes: only a loop without end takes longer.
SECONDS = 1200


def fault_of(command: list[str], by: str, **options: object) -> str | None:
    """How the command makes a fault known, if it does."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, **options)  # type: ignore[call-overload]
    except subprocess.TimeoutExpired:
        return f"killed by {by}, which did not end"
    return None if done.returncode == 0 else f"killed by {by}"


def built(folder: pathlib.Path, target: str) -> bool:
    command = ["cmake", "--build", str(folder / "build"), "--target", target]
    return fault_of(command, "the compiler") is None


def fault_in_python(folder: pathlib.Path, names: list[str]) -> str | None:
    package = folder / "python" / "stagenets"
    for extension in (folder / "build" / "cpp" / "tests").glob("_core*.so"):
        shutil.copy(extension, package)
    environment = {**os.environ, "PYTHONPATH": str(folder / "python")}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    files = [str(ROOT / "tests" / f"{name}.py") for name in names]
    return fault_of([*command, *files], "pytest", cwd=ROOT, env=environment)


def outcome(folder: pathlib.Path, tests: list[str]) -> str:
    """What becomes of it: invalid, killed by one of the two, or survived."""
    if not built(folder, "core_tests"):
        return "invalid"
    if fault := fault_of([str(folder / "build/cpp/tests/core_tests")], "core_tests"):
        return fault
    if not built(folder, "_core"):
        return "invalid"
    return fault_in_python(folder, tests) or "survived"


def attempt(folder: pathlib.Path, mutant: Mutant) -> str:
    path = folder / "cpp/src" / mutant.file
    text = path.read_text()
    lines = text.splitlines()
    assert lines[mutant.line] == mutant.before
    lines[mutant.line] = mutant.after
    path.write_text("\n".join(lines) + "\n")
    try:
        return outcome(folder, TESTS[mutant.file])
    finally:
        path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(TESTS))
    chosen = parser.parse_args()
    folder = chosen.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    prepared(folder)
    everything = [mutant for file in chosen.only for mutant in mutants_of(file)]
    sample = random.Random(chosen.seed).sample(everything, min(chosen.sample, len(everything)))
    table = folder / "mutants.csv"
    rows = list(csv.reader(table.open())) if table.exists() else []
    known = {tuple(row[:4]) for row in rows}
    if not rows:
        # A test that fails by itself, or cannot be imported, would seem to notice everything.
        every = sorted({name for names in TESTS.values() for name in names})
        assert outcome(folder, every) == "survived", "some test fails without a fault"
    for mutant in sample:
        key = (mutant.file, str(mutant.line + 1), mutant.before.strip(), mutant.after.strip())
        if key in known:
            continue
        rows.append([*key, attempt(folder, mutant)])
        with table.open("a", newline="") as file:
            csv.writer(file).writerow(rows[-1])
    outcomes = [row[4] for row in rows]
    valid = sum(what != "invalid" for what in outcomes)
    killed = sum(what.startswith("killed") for what in outcomes)
    print(f"{killed} of {valid} mutants killed, {100 * killed / max(valid, 1):.0f} %")
    for file, line, before, after, what in rows:
        if what == "survived":
            print(f"{file}:{line}\n  - {before}\n  + {after}")


if __name__ == "__main__":
    main()
