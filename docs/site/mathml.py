"""Equations as MathML, which browsers draw by themselves: no script is loaded."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.logging import getLogger


def mathml(node, as_block):
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except Exception as error:  # docutils raises whatever its parser runs into
        getLogger(__name__).warning("docutils cannot make MathML of this equation: %s (%s)", node.astext(), error, location=node)
        return ""


def visit_inline(writer, node):
    writer.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(writer, node):
    writer.body.append(f'<div class="math">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
