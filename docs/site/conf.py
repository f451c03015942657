"""How Sphinx makes the site from the pages that docs/site.sh lays out."""

import pathlib
import re
import sys

from sphinx.pycode import ModuleAnalyzer

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs" / "site"), str(ROOT / "python")]

project = "headwave"
author = "headwave developers"
copyright = "headwave developers, MIT licence"
release = version = (ROOT / "VERSION").read_text().strip()

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml"]
html_theme = "furo"
html_title = f"headwave {release}"
html_static_path = [str(ROOT / "docs" / "site" / "static")]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"
highlight_language = "text"
smartquotes = False  # they would make one dash of the two before an option

# The pages are read on a forge too, by its rules: names of headings, fences of equations, dollars around short ones.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
nb_execution_mode = "off"
nb_ipywidgets_js = {}

# The extension module is compiled; everything that users call is Python.
autodoc_mock_imports = ["headwave._core", "numpy", "torch", "transformers", "triton", "h5py"]
autodoc_typehints = "signature"
python_maximum_signature_line_length = 110


# Overloads are for type checkers; readers want the arguments.
analyze = ModuleAnalyzer.analyze


def analyze_without_overloads(self):
    analyze(self)
    self.overloads = {}


ModuleAnalyzer.analyze = analyze_without_overloads


def link_headers(app, name, source):
    """Links into the source tree: a header to its page in the C++ reference, another file to its name alone."""

    def link(found):
        text, path = found.groups()
        if path.startswith("CONTRIBUTING.md"):
            return f"[{text}]({path.replace('CONTRIBUTING', 'contributing')})"
        if not path.endswith(".h"):
            return text
        page = pathlib.PurePath(path).name.replace("_", "__").replace(".", "_8")
        return f'<a href="cpp/{page}.html">{text}</a>'

    source[0] = re.sub(r"\[([^]]*)\]\(\.\./([^)]*)\)", link, source[0])


def plain_docstring(app, what, name, thing, options, lines):
    """Docstrings are plain text: `code` in single backticks, |t| without a meaning of its own, pages by their files' names."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            line = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line.replace("|", r"\|").replace("*", r"\*"))
            lines[i] = re.sub(r"docs/([a-z-]+)\.md", r":doc:`\1`", line)
    if "Returns:" in lines:  # what stands before a colon there is no type
        i = lines.index("Returns:")
        lines[i : i + 2] = [":returns: " + lines[i + 1].strip()]


def colon_after_parameter(app, page, template, context, tree):
    if "body" in context:
        context["body"] = context["body"].replace("</strong> -- ", "</strong>: ")


def setup(app):
    app.connect("html-page-context", colon_after_parameter)
    app.connect("source-read", link_headers)
    app.connect("autodoc-process-docstring", plain_docstring, priority=0)
