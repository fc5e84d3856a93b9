"""The daily commands: ``nox -s tests``, ``fuzz``, ``lint``, ``cpp``, ``docs``, ``bench``.

Each session has an environment and a build folder of its own and installs the package so that it is
rebuilt on import: after the first run, ``nox -R -s tests`` goes straight to work.
"""

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "tests"]
nox.options.reuse_venv = "yes"

PROJECT = nox.project.load_toml("pyproject.toml")
BUILD_TOOLS = [*PROJECT["build-system"]["requires"], "cmake", "ninja"]


def install_editable(session: nox.Session, *extras: str) -> None:
    session.install(*BUILD_TOOLS)
    session.install(
        "--no-build-isolation",
        "-Ceditable.rebuild=true",
        "-Ceditable.verbose=false",
        f"-Cbuild-dir=build/nox-{session.name}",
        "--editable",
        f".[{','.join(extras)}]",
    )


@nox.session
def tests(session: nox.Session) -> None:
    """The Python tests; arguments go to pytest."""
    install_editable(session, "test")
    session.run("pytest", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """New cases for every public entry point: 10,000 of each kind, or the number after ``--``."""
    install_editable(session, "test")
    cases = session.posargs[0] if session.posargs else "10000"
    session.run("pytest", "-n", "0", "tests/test_fuzz.py", env={"STAGENETS_FUZZ": cases})


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, clang-format and mypy on everything, at the versions that pre-commit pins."""
    session.install("pre-commit")
    session.run("pre-commit", "run", "--all-files", "--show-diff-on-failure", *session.posargs)


@nox.session
def cpp(session: nox.Session) -> None:
    """The core's own unit tests; needs a compiler and doctest's header (package doctest-dev)."""
    session.install("cmake", "ninja", "cmeel-eigen", "scipy-openblas32", "pybind11")
    folder = "build/nox-cpp"
    python = session.run("python", "-c", "import sys; print(sys.executable)", silent=True).strip()
    pybind11 = session.run("python", "-m", "pybind11", "--cmakedir", silent=True).strip()
    options = ("-GNinja", "-DSTAGENETS_CPP_TESTS=ON", f"-DPython_EXECUTABLE={python}")
    options += (
        "-DSTAGENETS_WARNINGS_AS_ERRORS=ON",
        f"-Dpybind11_DIR={pybind11}",
    )
    session.run("cmake", "-S.", f"-B{folder}", *options)
    session.run("cmake", "--build", folder)
    session.run(f"{folder}/cpp/tests/core_tests", *session.posargs, external=True)


@nox.session
def docs(session: nox.Session) -> None:
    """The manual, without warnings, and every example on its pages and in its gallery."""
    install_editable(session, "docs", "test")
    session.run("pytest", "tests/test_documentation.py", env={"STAGENETS_DOCS_COMMANDS": "1"})
    session.run("sphinx-build", "-W", "--keep-going", "docs", "docs/_build/html")


@nox.session
def bench(session: nox.Session) -> None:
    """The races against NumPy; arguments go to pytest."""
    install_editable(session, "bench")
    session.run("pytest", "bench", *session.posargs)
