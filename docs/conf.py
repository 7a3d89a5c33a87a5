"""Sphinx configuration: prose in Markdown, reference from docstrings and case models, gallery from the examples.

Nothing is computed.
"""

import ast
import re
import sys
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from sphinx.util.typing import stringify_annotation

project = "calderon"
author = "calderon developers"
project_copyright = "calderon developers"
try:
    release = installed_version("calderon")
except PackageNotFoundError:
    release = "unreleased"

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "tools"))
import api_reference  # noqa: E402
import case_reference  # noqa: E402
import smaller_pages  # noqa: E402

extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "gallery/cards.txt"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["calderon.css"]
html_copy_source = False
html_use_index = False  # the search lists every name with its page
html_title = f"calderon {release}"
autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"
maximum_signature_line_length = 88

ARGUMENT = re.compile(r"^([A-Za-z_][\w, ]{0,60}?(?: \([^()]*\))?): (?=\S)")

CARD = """```{{figure}} pictures/gallery/{name}.png
:figclass: card
:target: gallery/{name}.html
:alt: {title}

{title}
```
"""


def write_gallery() -> None:
    """One page for each example: its docstring, the pictures that `python -m examples` left, its source; and a card of
    each with its thumbnail, made by docs/tools/make_pictures.py."""
    target = HERE / "gallery"
    target.mkdir(exist_ok=True)
    cards = []
    for old in target.glob("*.md"):
        old.unlink()
    for path in sorted((HERE.parent / "examples").glob("[!_]*.py")):
        text = (
            ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem
        )
        title, _, body = text.partition("\n")
        pictures = sorted((target / "pictures" / path.stem).glob("*.png"))
        shown = "\n\n".join(
            f"![{each.stem}](pictures/{path.stem}/{each.name})" for each in pictures
        )
        source = (
            f"```{{literalinclude}} ../../examples/{path.name}\n:language: python\n```"
        )
        page = f"# {title.rstrip('.')}\n\n{body.strip()}\n\n{shown}\n\n{source}\n"
        (target / f"{path.stem}.md").write_text(page, encoding="utf-8")
        cards.append(CARD.format(name=path.stem, title=title.rstrip(".")))
    (target / "cards.txt").write_text("\n".join(cards), encoding="utf-8")


def plain_text(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings are plain text, written to be read in an editor: mark them up here and escape the mathematics."""
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if not line.strip():
            paragraphs.append([])
            continue
        if (
            paragraphs[-1]
            and ARGUMENT.match(line)
            and paragraphs[-1][-1].rstrip().endswith((".", ";", ",", ":"))
        ):
            paragraphs.append([])
        paragraphs[-1].append(line.rstrip())
    lines.clear()
    for paragraph in filter(None, paragraphs):
        if all(line.startswith("  ") for line in paragraph):
            lines += ["::", "", *paragraph, ""]
            continue
        text = [line.strip() for line in paragraph]
        argument = ARGUMENT.match(text[0])
        if argument and len(lines):
            text[0] = text[0][argument.end() :]
            lines.append(f"**{escaped(argument[1])}**: {escaped(text[0])}")
            text = text[1:]
        lines += [*map(escaped, text), ""]


def short_types(
    app: Any,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    """NumPy's types by their names instead of what they stand for, and the default that depends on the problem."""
    signature = signature and signature.replace("= Ellipsis", "= preconditioners[0]")
    array = [stringify_annotation(ArrayLike | None, "smart").removesuffix(" | None")]
    array.append(array[0].replace("~", ""))
    shortened = []
    for text in (signature, returns):
        for each in array:
            text = text and text.replace(each, "ArrayLike")
        text = text and re.sub(
            r"~?numpy\.ndarray\[tuple\[[^\]]*\], ~?numpy\.dtype\[([^\]]*)\]\]",
            r"NDArray[\1]",
            text,
        )
        shortened.append(
            text
            and re.sub(r"~?\b(?:numpy|typing|collections\.abc)\.", "", text).replace(
                "~", ""
            )
        )
        shortened[-1] = shortened[-1] and re.sub(
            r"\bcalderon(?:\.\w+)*\.(\w+)", r"\1", shortened[-1]
        )
    return shortened[0], shortened[1]


def escaped(line: str) -> str:
    """One line of plain text as reStructuredText; `names` in backticks become code."""
    parts = re.split(r"`+([^`]+)`+", line)
    for i, part in enumerate(parts):
        parts[i] = f"``{part}``" if i % 2 else re.sub(r"([\\*_|`])", r"\\\1", part)
    return re.sub(
        r"^([A-Za-z])\. ", r"\1\\. ", "".join(parts)
    )  # an author's initial is not an enumeration


def setup(app: Any) -> None:
    write_gallery()
    case_reference.write(HERE / "cases")
    api_reference.write(HERE / "api" / "names")
    smaller_pages.setup(app)
    app.connect("source-read", api_reference.filled)
    app.connect("autodoc-process-docstring", plain_text)
    app.connect("autodoc-process-signature", short_types)
