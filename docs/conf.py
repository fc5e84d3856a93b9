"""How the manual is built: ``nox -s docs``, or ``sphinx-build -W docs docs/_build/html``."""

import os
import re
from pathlib import Path
from typing import Any

from sphinx_gallery.sorting import ExplicitOrder

import stagenets

# The examples draw into files.
os.environ["MPLBACKEND"] = "Agg"

project = "stagenets"
author = "The stagenets developers"
copyright = author
version = release = stagenets.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# A copied example has neither prompts nor what it prints.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections have the types in words
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "subsection_order": ExplicitOrder(["*"]),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = f"stagenets {release}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_theme_options = {
    "source_repository": "https://github.com/stagenets/stagenets/",
    "source_branch": "main",
    "source_directory": "docs/",
}
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False


def _ours_only(_app: Any, _what: str, _name: str, member: Any, skip: bool, _options: Any) -> bool:
    """Leave out what classes inherit from scikit-learn: it is described there."""
    target = getattr(member, "fget", member)
    return skip or not str(getattr(target, "__module__", "stagenets")).startswith("stagenets")


def _words_with_underscores(
    _app: Any, _what: str, _name: str, _thing: Any, _options: Any, lines: list[str]
) -> None:
    """Keep ``n_hidden_`` in running text from being taken for a link."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = re.sub(r"`[^`]*`|\b\w+_(?!\w)", _escaped, line)


def _escaped(word: re.Match[str]) -> str:
    return word[0] if word[0].startswith("`") else word[0][:-1] + r"\_"


def _add_study(_app: Any, page: str, source: list[str]) -> None:
    """Put the study's reports on the page about its subject, once docs/study holds any."""
    reports = sorted(Path(__file__).parent.glob("study/**/*.md"))
    if page == "guided" and reports:
        names = [path.relative_to(Path(__file__).parent).with_suffix("") for path in reports]
        links = "\n".join(name.as_posix() for name in names)
        source[0] += f"\n## The study\n\n```{{toctree}}\n:titlesonly:\n\n{links}\n```\n"


def setup(app: Any) -> None:
    """Connect what stands above."""
    app.connect("autodoc-skip-member", _ours_only)
    app.connect("autodoc-process-docstring", _words_with_underscores, priority=900)
    app.connect("source-read", _add_study)
