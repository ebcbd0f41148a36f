"""The site: python -m sphinx -W -n --keep-going docs build/site."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.ext.autodoc.mock import mock
from sphinx.util.fileutil import copy_asset

import pushrank
from pushrank.metrics import scorers

DOCS = Path(__file__).parent
GENERATED = DOCS / "generated"

project = "pushrank"
author = copyright = "The pushrank developers"  # noqa: A001
version = release = pushrank.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "myst_parser",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["generated/gallery/*.ipynb", "generated/gallery/*/*.ipynb"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(sklearn|scipy|numpy|lightgbm|xgboost)\..*")]

# Formulas are set by files of this site: of a package's MathJax, what TeX on a page needs.
MATHJAX = Path(import_module("sphinx-mathjax-offline").__file__).parent / "static" / "mathjax"
mathjax_path = "mathjax/tex-chtml-full.js"

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["fold.js"]
html_title = "pushrank"
# Parts of these are few, or their lines long.
WIDE = ("get_started", "index", "instead_of", "release_notes", "stories/**", "which_ranker")
html_sidebars = {page: [] for page in WIDE}
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
toc_object_entries_show_parents = "hide"
html_theme_options = {
    "check_switcher": False,
    "header_links_before_dropdown": 8,
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"index": [], "**": ["page-toc"]},
    "show_version_warning_banner": True,
    # Versions lie in folders side by side, whose list is beside them: it names those that came later.
    "switcher": {"json_url": "../switcher.json", "version_match": release},
}
smartquotes = False  # "push" is code in the types of parameters

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

autodoc_typehints = "none"
autodoc_mock_imports = [
    package for package in ("dask", "distributed", "skl2onnx", "torch") if not find_spec(package)
]
autosummary_ignore_module_all = False
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/gallery",
    "subsection_order": ["../examples/questions", "../examples/pictures"],
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("pushrank",),
    "download_all_examples": False,
    "reference_url": {"pushrank": None},
    "show_signature": False,
    "write_computation_times": False,
}
API = (DOCS / "api.md").read_text(encoding="utf-8")
MODULES = re.findall(r"^   (pushrank[a-z_.0-9]*)$", API, re.MULTILINE)
# Of some modules the application uses names that are not for users.
NAMES = re.findall(r"^   ~(pushrank[\w.]*)$", API, re.MULTILINE)
TAKEN = nodes.reference | nodes.title | addnodes.pending_xref  # a link, or what is no place for one
# Its page is that of the module where it lives.
ELSEWHERE = ["pushrank.PushObjective"]
SETTINGS = {
    name: (
        scorer._score_func.__name__,
        ", ".join(f"{key}={value!r}" for key, value in scorer._kwargs.items()),
    )
    for name, scorer in scorers.SCORERS.items()
}
autosummary_context = {"elsewhere": ELSEWHERE + MODULES, "scorers": SETTINGS}


def pages_of_names() -> dict[str, str]:
    """Return the page of each public name by what texts call it: with its module, or a class by itself."""
    pages = {module: module for module in MODULES}
    with mock(autodoc_mock_imports):
        names = [f"{module}.{name}" for module in MODULES for name in import_module(module).__all__]
    for page in names + NAMES:
        called = {page, page.removeprefix("pushrank."), page.rpartition(".")[2]}
        pages |= {call: page for call in called if "." in call or call[0].isupper()}
    return {name: page for name, page in pages.items() if page not in ELSEWHERE}


def link_names(app: Any, page: nodes.document) -> None:
    """Let the names in a text lead to their pages."""
    for literal in list(page.findall(nodes.literal)):
        name = re.match(r"[\w.]*", literal.astext())[0]
        # The text of a link to another page stands in an inline node of its link.
        taken = isinstance(literal.parent, TAKEN) or isinstance(literal.parent.parent, TAKEN)
        if name in app.pages_of_names and not taken:
            target = {"refdomain": "py", "reftype": "obj", "reftarget": app.pages_of_names[name]}
            link = addnodes.pending_xref(
                "", literal.deepcopy(), **target, refdoc=app.env.docname, refexplicit=True, refwarn=True
            )
            literal.replace_self(link)
    for link in list(page.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):  # Perceptron@k is no address
            link.replace_self(link.children)


def write_if_new(path: Path, text: str) -> None:
    """Write a page, unless it stands there already: what did not change is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def experiment_page(folder: str, name: str) -> str:
    """Return what the site calls a text of an experiment."""
    return f"{folder}.md" if name == "README" else f"{folder}_{name}.md"


def write_pages(app: Any) -> None:
    """Take the experiments' READMEs into the site."""
    app.pages_of_names = pages_of_names()
    for page in (DOCS.parent / "experiments").glob("*/*.md"):
        folder = page.parent.name
        pictures = rf"](../../../experiments/{folder}/\1)"
        text = re.sub(r"\]\((\w+\.png)\)", pictures, page.read_text(encoding="utf-8"))
        text = re.sub(r"\]\(\.\./(\w+)/README\.md\)", r"](/generated/experiments/\1.md)", text)
        text = re.sub(r"\]\(\.\./\.\./docs/", r"](/", text)
        text = re.sub(r"\]\((\w+)\.md\)", lambda found: f"]({experiment_page(folder, found[1])})", text)  # noqa: B023
        write_if_new(GENERATED / "experiments" / experiment_page(folder, page.stem), text)


def link_generated(_app: Any, _page: str, source: list[str]) -> None:
    """Let links to files of the repository lead to the pages of these, or be plain text if they have none."""
    text = re.sub(r"\]\((?:\.\./)+experiments/(\w+)/README\.md", r"](/generated/experiments/\1.md", source[0])
    text = re.sub(r"\]\((?:\.\./)+examples/([\w/]+)\.py", r"](/generated/gallery/\1.rst", text)
    source[0] = re.sub(r"\[([^]]*)\]\((?:\.\./)+(?:CONTRIBUTING|benchmarks/README)\.md[^)]*\)", r"\1", text)


def copy_mathjax(app: Any, error: Exception | None) -> None:
    """Lay MathJax and its fonts into the site."""
    if error is None and app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        copy_asset(MATHJAX / "tex-chtml-full.js", static / "mathjax")
        fonts = Path("output", "chtml", "fonts", "woff-v2")
        copy_asset(MATHJAX / fonts, static / "mathjax" / fonts)


def escape_fitted(_app: Any, _kind: str, _name: str, _member: Any, _options: Any, lines: list[str]) -> None:
    """Let no fitted attribute in a type, as in shape (n_iter_,), be taken for a link of reStructuredText."""
    for number, line in enumerate(lines):
        if re.match(r" *[\w, ]+ : .*shape", line):
            lines[number] = re.sub(r"(?<= |\()(\w+)_(?=[ ,)])", r"\1\_", line)


def setup(app: Any) -> None:
    """Register what is done before pages are read."""
    app.connect("autodoc-process-docstring", escape_fitted, priority=100)
    app.connect("build-finished", copy_mathjax)
    app.connect("builder-inited", write_pages, priority=100)
    app.connect("doctree-read", link_names)
    app.connect("source-read", link_generated)
