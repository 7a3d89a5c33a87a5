"""Pages without what repeats on each of them: of 700, the whole tree of links was half of their bytes. Pictures become
WebP, which holds them in a quarter of the bytes of PNG.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

ALONE = "api/names/", "decisions/"
"""Folders of many pages that their first page lists: on them the sidebar shows that one."""
KEPT = re.compile(r"(<(pre|script|style|textarea)\b.*?</\2>)", re.DOTALL)
"""Elements in which blanks count."""
WORD = re.compile(r'<span class="(?:pre|w|p|n|o)">([^<]*)</span>')
PICTURE = re.compile(r"(?<=_images/)([^\s\"'<>?#]+)\.png\b")
SYMBOLS = re.compile(
    r'<svg xmlns="http://www.w3.org/2000/svg" style="display: none;">.*?'
    r'(?=<input type="checkbox")',
    re.DOTALL,
)


def own_branch(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """The sidebar opens the branch of its page alone; the pages of others are listed on their first one."""
    whole: Callable[..., str] = context["toctree"]
    depth = {"maxdepth": 1} if page.startswith(ALONE) else {}
    context["toctree"] = lambda **given: whole(**{**given, "collapse": True, **depth})


def without_blanks(text: str) -> str:
    """A page without indentation and blank lines, and without spans around words and blanks of code."""
    parts = KEPT.split(text)
    for n in range(0, len(parts), 3):  # text, an element that is kept, its name
        parts[n] = re.sub(r"\s*\n\s*", "\n", parts[n])
        for _ in range(2):  # a name in a signature is a span in a span
            parts[n] = WORD.sub(r"\1", parts[n])
    del parts[2::3]
    return "".join(parts)


def packed_pictures(folder: Path) -> set[str]:
    """Pack the PNG pictures of a folder as WebP in full colour; their names, without endings."""
    packed = set()
    for path in folder.glob("*.png"):
        with Image.open(path) as picture:
            colours = "RGBA" if picture.has_transparency_data else "RGB"
            small = picture.convert(colours)
        small.save(path.with_suffix(".webp"), quality=90, method=4)
        path.unlink()
        packed.add(path.stem)
    return packed


def shrink(app: Any, error: Exception | None) -> None:
    """Write all pages anew that are ready, and the symbols of the theme, the same on each, once."""
    if error is not None or app.builder.name != "html":
        return
    folder, symbols = Path(app.outdir), ""
    packed = packed_pictures(folder / "_images")
    for path in folder.rglob("*.html"):
        text = without_blanks(path.read_text(encoding="utf-8"))
        text = PICTURE.sub(
            lambda found: f"{found[1]}.webp" if found[1] in packed else found[0], text
        )
        if found := SYMBOLS.search(text):
            symbols = found[0]
            place = (
                "../" * (len(path.relative_to(folder).parts) - 1) + "_static/symbols.js"
            )
            text = text.replace(symbols, f'<script src="{place}"></script>')
        path.write_text(text, encoding="utf-8")
    script = f'document.body.insertAdjacentHTML("afterbegin", {json.dumps(symbols)})'
    (folder / "_static" / "symbols.js").write_text(script, encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("html-page-context", own_branch, priority=100)
    app.connect("build-finished", shrink)
