"""The daily commands: ``nox -s tests``, ``lint``, ``cpp``, ``docs``, ``bench``; and the long ones:
``fuzz``, ``fuzz_files``, ``faults``, ``asan``, ``tsan``, ``coverage``, ``mutate``.

Each session has an environment and a build folder of its own and installs the package so that it is
rebuilt on import: after the first run, ``nox -R -s tests`` goes straight to work.
"""

import pathlib

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


FUZZERS = ("tests/test_fuzz.py", "tests/test_fuzz_tables.py")


@nox.session
def fuzz(session: nox.Session) -> None:
    """New cases for every public entry point: 10,000 of each kind, or the number after ``--``."""
    install_editable(session, "test")
    cases = session.posargs[0] if session.posargs else "10000"
    session.run("pytest", "-n", "0", *FUZZERS, env={"STAGENETS_FUZZ": cases})


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, clang-format and mypy on everything, at the versions that pre-commit pins."""
    session.install("pre-commit")
    session.run("pre-commit", "run", "--all-files", "--show-diff-on-failure", *session.posargs)


def answer(session: nox.Session, *command: str, external: bool = False) -> str:
    """What a command prints, with ``nox --install-only`` too."""
    return str(session.run_install(*command, silent=True, external=external)).strip()


def build_core_tests(
    session: nox.Session, *options: str, target: str = "core_tests", compiler: str = "c++"
) -> str:
    """The core's unit tests in a folder of the session's own, or another such program; its path."""
    session.install("cmake", "ninja", "cmeel-eigen", "scipy-openblas32", "pybind11")
    folder = f"build/nox-{session.name}-core"
    python = answer(session, "python", "-c", "import sys; print(sys.executable)")
    pybind11 = answer(session, "python", "-m", "pybind11", "--cmakedir")
    options += ("-GNinja", "-DSTAGENETS_CPP_TESTS=ON", f"-DPython_EXECUTABLE={python}")
    options += (f"-Dpybind11_DIR={pybind11}", f"-DCMAKE_CXX_COMPILER={compiler}")
    session.run_install("cmake", "-S.", f"-B{folder}", *options)
    session.run_install("cmake", "--build", folder, "--target", target)
    return f"{folder}/cpp/tests/{target}"


@nox.session
def cpp(session: nox.Session) -> None:
    """The core's own unit tests; needs a compiler and doctest's header (package doctest-dev)."""
    core_tests = build_core_tests(session, "-DSTAGENETS_WARNINGS_AS_ERRORS=ON")
    session.run(core_tests, *session.posargs, external=True)


def checked_options(flags: str) -> dict[str, str]:
    """CMake's, for a build with these flags and Eigen's assertions."""
    return {
        "CMAKE_BUILD_TYPE": "Checked",
        "CMAKE_CXX_FLAGS": flags,
        "CMAKE_UNITY_BUILD": "ON",  # a few large pieces take a fraction of the time
        "CMAKE_UNITY_BUILD_BATCH_SIZE": "16",
        "CMAKE_INTERPROCEDURAL_OPTIMIZATION": "OFF",
    }


def install_checked(session: nox.Session, flags: str) -> str:
    """Installs the package with these flags and Eigen's assertions, and builds the core's tests."""
    options = checked_options(flags)
    session.install(*BUILD_TOOLS)
    session.install(
        "--no-build-isolation",
        f"-Cbuild-dir=build/nox-{session.name}",
        "-Ccmake.build-type=Checked",
        *(f"-Ccmake.define.{name}={value}" for name, value in options.items()),
        ".[test]",
    )
    return build_core_tests(session, *(f"-D{name}={value}" for name, value in options.items()))


def preload(session: nox.Session, *libraries: str) -> str:
    """GCC's own libraries of these names, for LD_PRELOAD: Python itself does not link them."""
    find = [f"-print-file-name={library}" for library in libraries]
    return " ".join(answer(session, "g++", option, external=True) for option in find)


# Not for sanitizers: they measure memory, limit it, or replace the allocator themselves.
OWN_MEMORY = ("test_low_memory", "test_memory", "test_search_memory", "test_allocation_failures")


@nox.session
def asan(session: nox.Session) -> None:
    """All tests under GCC's AddressSanitizer and UBSan; in the core's own, leaks count too."""
    core_tests = install_checked(
        session,
        "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined "
        "-fno-sanitize-recover=undefined",
    )
    session.run(core_tests, external=True, env={"ASAN_OPTIONS": "detect_leaks=1"})
    # Without libstdc++ beside it, the sanitizer would not find the real __cxa_throw.
    env = {
        "LD_PRELOAD": preload(session, "libasan.so", "libstdc++.so.6"),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "STAGENETS_SLOWED_DOWN": "3",
    }
    without = [f"--ignore=tests/{name}.py" for name in OWN_MEMORY]
    session.run("pytest", *without, *session.posargs, env=env)


@nox.session
def fuzz_files(session: nox.Session) -> None:
    """Networks as a hostile file may describe them, under sanitizers, and files for the reader.

    Needs clang. 10,000,000 networks, or the number after ``--``, and a tenth as many files. Cases
    worth keeping go to build/fuzz, where the next run begins.
    """
    cases = int(session.posargs[0]) if session.posargs else 10_000_000
    flags = "-O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
    options = (f"-D{name}={value}" for name, value in checked_options(flags).items())
    fuzzer = build_core_tests(session, *options, target="fuzz_network", compiler="clang++")
    corpora = [pathlib.Path("build/fuzz", name) for name in ("network", "reader")]
    for corpus in corpora:
        corpus.mkdir(parents=True, exist_ok=True)
    quick = ["-max_len=300", "-entropic=0"]
    env = {"ASAN_OPTIONS": "malloc_context_size=0"}
    session.run(fuzzer, f"-runs={cases}", *quick, str(corpora[0]), env=env, external=True)
    session.install("atheris", ".[test-wheel]")
    reader = ["bench/fuzz_reader.py", f"-runs={cases // 10}", "-max_len=300", str(corpora[1])]
    session.run("python", *reader)


@nox.session
def tsan(session: nox.Session) -> None:
    """What runs on several threads, under GCC's ThreadSanitizer."""
    core_tests = install_checked(session, "-O1 -g1 -fsanitize=thread")
    # The sanitizer itself does not survive a fork in the midst of threads.
    session.run("setarch", "-R", core_tests, "-tce=a child has teams*", external=True)
    env = {
        "LD_PRELOAD": preload(session, "libtsan.so"),
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
    }
    threaded = session.posargs or ["tests/test_threads.py", "tests/test_search.py"]
    session.run(
        "setarch", "-R", "python", "-m", "pytest", "-n", "0", *threaded, env=env, external=True
    )


@nox.session
def coverage(session: nox.Session) -> None:
    """Lines that the tests reach: of the core by gcov, of the package by coverage.py."""
    core_tests = install_checked(session, "-O1 -g0 --coverage")
    session.install("gcovr", "pytest-cov")
    session.run(core_tests, external=True)
    of_python = ["--cov=stagenets", "--cov-report=term:skip-covered", "--cov-fail-under=95"]
    session.run("pytest", *of_python, *session.posargs)
    session.run(
        "gcovr",
        "--root=.",
        "--filter=cpp/src",
        "--filter=cpp/include",
        "--print-summary",
        "--fail-under-line=98",
        "--exclude-throw-branches",
        "--merge-lines",  # of a template, whichever instance is reached
        # Threads count without locks: a number may be wrong, but not whether there is one.
        "--gcov-ignore-parse-errors=negative_hits.warn_once_per_file",
        "--gcov-ignore-parse-errors=suspicious_hits.warn_once_per_file",
        "build/nox-coverage",
        "build/nox-coverage-core",
    )


@nox.session
def faults(session: nox.Session) -> None:
    """Every allocation of the core refused, one by one."""
    install_editable(session, "test")
    session.run("pytest", "tests/test_allocation_failures.py", env={"STAGENETS_FAULTS": "all"})


@nox.session
def mutate(session: nox.Session) -> None:
    """Small faults in the core's kernels: how many the tests find; arguments go to the script."""
    project = PROJECT["project"]
    needs = [*project["dependencies"], *project["optional-dependencies"]["test-wheel"]]
    needs += ["scipy-openblas32", "pytest-xdist"]
    session.install(*BUILD_TOOLS, *needs)
    session.run("python", "bench/mutate.py", "build/mutants", *session.posargs)


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
