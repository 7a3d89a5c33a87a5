"""Formulas as MathML, written into the pages when they are built: a reader needs no network and no script."""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.locale import _
from sphinx.util.math import get_node_equation_number

UNKNOWN = re.compile(r"<mi[^>]*>(\\[A-Za-z]+)</mi>")
TAG = re.compile(r"\\tag\{([^}]*)\}")
REPLACED = {
    '"negativethinmathspace"': '"-0.167em"',  # a name of MathML 3, which browsers do not know
    '<mo stretchy="false">&#x0007C;</mo>': '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;</mo>',
}


def mathml(tex: str, block: bool = False) -> str:
    """A formula as MathML. ValueError naming the command where there is no symbol for it."""
    try:
        result = convert(
            TAG.sub("", tex).strip(), display="block" if block else "inline"
        )
    except Exception as error:
        raise ValueError(
            f"no MathML of the formula {tex!r}: {type(error).__name__}: {error}"
        ) from error
    if unknown := UNKNOWN.findall(result):
        raise ValueError(
            f"no MathML of {', '.join(unknown)} in the formula {tex!r}: write it with other commands"
        )
    for old, new in REPLACED.items():
        result = result.replace(old, new)
    return result


def inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def displayed(writer: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own, with its number on the right."""
    tex = node.astext()
    number = node["number"] and get_node_equation_number(writer, node)
    shown = TAG.search(tex)
    label = shown[1] if shown else number
    writer.body.append(
        f"{writer.starttag(node, 'div', CLASS='math')}<div>{mathml(tex, block=True)}</div>"
    )
    if label:
        writer.body.append(f'<span class="eqno">({label})')
        if number:
            writer.add_permalink_ref(node, _("Link to this equation"))
        writer.body.append("</span>")
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
