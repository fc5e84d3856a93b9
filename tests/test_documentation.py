"""Every example in the manual, in the README and in the docstrings runs and prints what it says."""

import doctest
import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import stagenets

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
# A fence may be preceded by a comment that names what must be installed for it.
FENCE = re.compile(
    r"^(?:<!-- needs (\w+) -->\n)?```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
WITH_EXAMPLES = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.fixture(autouse=True)
def _pictures_go_nowhere(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def fences(page, language):
    """(modules needed, text, line) of the page's blocks in this language."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        if match[2] == language:
            yield match[1], match[3], text.count("\n", 0, match.start(3))


def run_doctest(text, namespace, name, line=0):
    """Run a string of examples; the namespace keeps what they define."""
    test = doctest.DocTestParser().get_doctest(text, namespace, name, name, line)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    report = []
    runner.run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    assert runner.failures == 0, "".join(report)
    return runner.tries


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_python_on_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": page.stem}
    for module, text, line in fences(page, "python"):
        if module and not find_spec(module):
            continue
        if ">>>" in text:
            assert run_doctest(text, namespace, page.name, line) > 0
        else:
            exec(compile("\n" * line + text, str(page), "exec"), namespace)


@pytest.mark.skipif(
    shutil.which("bash") is None or not os.environ.get("STAGENETS_DOCS_COMMANDS"),
    reason="starts many processes; `nox -s docs` runs it",
)
def test_commands_of_the_command_line_page_run(tmp_path):
    # `stagenets` and `python` are this interpreter's, installed or not.
    script = f'set -eu\npython() {{ "{sys.executable}" "$@"; }}\n'
    script += 'stagenets() { python -m stagenets "$@"; }\n'
    script += "\n".join(text for _, text, _ in fences(ROOT / "docs" / "command_line.md", "sh"))
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 41


def test_every_public_name_is_in_the_api_page():
    words = set(re.findall(r"\w+", (ROOT / "docs" / "api.md").read_text(encoding="utf-8")))
    assert set(stagenets.__all__) <= words


@pytest.mark.parametrize("name", stagenets.__all__)
def test_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    thing = getattr(stagenets, name)
    if not inspect.isclass(thing) and not inspect.isroutine(thing):
        pytest.skip("a constant")
    monkeypatch.chdir(tmp_path)
    own = (value for value in vars(thing).values()) if inspect.isclass(thing) else ()
    for member in [thing, *filter(inspect.isroutine, own)]:
        if ">>>" in (doc := inspect.getdoc(member) or ""):
            run_doctest(doc, {}, f"{name}: {member.__name__}")
    assert ">>>" in inspect.getdoc(thing) or issubclass(thing, Exception)
