"""Pages without what repeats on each of them: of 700, the whole tree of links was half of their bytes. Pictures become
WebP, which holds them in a quarter of the bytes of PNG.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

ALONE = {
    "api/names/": ("../index.html", "Reference"),
    "decisions/": ("index.html", "Decisions"),
    "gallery/": ("../gallery.html", "Gallery"),
}
"""Folders of many pages: address and title of the page that lists them, which is all that the sidebar shows on them."""
KEPT = re.compile(r"(<(pre|script|style|textarea)\b.*?</\2>)", re.DOTALL)
"""Elements in which blanks count."""
WORD = re.compile(r'<span class="(?:pre|w|p|n|o)">([^<]*)</span>')
STYLE = re.compile(r"(?s)<style>(.*?)</style>(?=</head>)")
PLAIN = re.compile(r'<span class="[npw]">([^<]*)</span>')
"""Names, punctuation and blanks of programs, which have the colour of their block."""
PICTURE = re.compile(r"(?<=_images/)([^\s\"'<>?#]+)\.png\b")
TREE = re.compile(r'(<div class="sidebar-tree">).*?(</div>)', re.DOTALL)
REPEATED = re.compile(
    r' title="(?:Link to this [a-z]+|[\w.]+)"| notranslate(?=[ "])| class="tex2jax_ignore mathjax_ignore"| type="text/css"'
    r'|(?<=<code class=")docutils (?=literal">)'
)
"""Titles of links that repeat the text of the link, classes without a rule, and a type that all styles have."""
SYMBOLS = re.compile(
    r'<svg xmlns="http://www.w3.org/2000/svg" style="display: none;">.*?'
    r'(?=<input type="checkbox")',
    re.DOTALL,
)
ARRAY = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[([^\[\]]+)\]\]")
"""Types of properties, which autodoc writes as what NDArray stands for."""
ICONS = {
    ".theme-toggle": re.compile(
        r'(<button class="theme-toggle"[^>]*>)(.*?)(?=</button>)', re.DOTALL
    ),
    ".back-to-top": re.compile(
        r'(<a href="#" class="back-to-top[^>]*>)(.*?)(?=</a>)', re.DOTALL
    ),
}
"""Buttons, by selectors, that pages without scripts do not show: their icons."""
VIEWPORT = re.compile(r'<meta name="viewport"[^>]*>\s*(?=<meta name="color-scheme")')
"""A line that another one repeats."""
ALONE_ON_PAGE = re.compile(r'(<aside class="toc-drawer)(">).*?(?=</aside>)', re.DOTALL)
HERE = re.compile(r'<label class="toc-overlay-icon[^>]*>.*?</label>', re.DOTALL)
"""Contents of a page and what opens them, which the page of one name without members does not need."""


def own_branch(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """The sidebar opens the branch of its page alone."""
    whole: Callable[..., str] = context["toctree"]
    context["toctree"] = lambda **given: whole(**{**given, "collapse": True})


def first_page_alone(text: str, page: str) -> str:
    """A page of a folder of many pages without the tree of all others: a link to the page that lists them."""
    for folder, (address, title) in ALONE.items():
        if page.startswith(folder) and page != f"{folder}index.html":
            link = f'<ul><li class="toctree-l1"><a class="reference internal" href="{address}">{title}</a></li></ul>'
            text = TREE.sub(
                lambda found, link=link: f"{found[1]}{link}{found[2]}", text
            )
    return REPEATED.sub("", text)


def without_contents(text: str) -> str:
    """A page whose contents list no more than its title and one name, without them."""
    found = ALONE_ON_PAGE.search(text)
    if found is None or found[0].count("<li>") > 2:
        return text
    return ALONE_ON_PAGE.sub(r"\1 no-toc\2", HERE.sub("", text))


def without_blanks(text: str) -> str:
    """A page without indentation and blank lines, and without spans that change no colour around words and blanks of
    code."""
    parts = KEPT.split(text)
    for n in range(0, len(parts), 3):  # text, an element that is kept, its name
        parts[n] = re.sub(r"\s*\n\s*", "\n", parts[n])
        for _ in range(2):  # a name in a signature is a span in a span
            parts[n] = WORD.sub(r"\1", parts[n])
    parts[1::3] = [PLAIN.sub(r"\1", each) for each in parts[1::3]]
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
    """Write all pages anew that are ready, and the symbols and colours of the theme, the same on each, once."""
    if error is not None or app.builder.name != "html":
        return
    folder, symbols, style, icons = Path(app.outdir), "", "", {}
    packed = packed_pictures(folder / "_images")
    for path in folder.rglob("*.html"):
        text = without_blanks(path.read_text(encoding="utf-8"))
        text = PICTURE.sub(
            lambda found: f"{found[1]}.webp" if found[1] in packed else found[0], text
        )
        text = first_page_alone(text, path.relative_to(folder).as_posix())
        if found := SYMBOLS.search(text):
            symbols = found[0]
            place = (
                "../" * (len(path.relative_to(folder).parts) - 1) + "_static/symbols.js"
            )
            text = text.replace(symbols, f'<script src="{place}"></script>')
        for button, icon in ICONS.items():
            if found := icon.search(text):
                icons[button], text = found[2], icon.sub(r"\1", text)
        text = ARRAY.sub(r"NDArray[\1]", without_contents(VIEWPORT.sub("", text)))
        if found := STYLE.search(text):
            style, text = found[1], text.replace(found[0], "")
        path.write_text(text, encoding="utf-8")
    with (folder / "_static" / "calderon.css").open("a", encoding="utf-8") as rules:
        rules.write(style)
    (folder / "_static" / "symbols.js").write_text(
        f'document.body.insertAdjacentHTML("afterbegin", {json.dumps(symbols)});\n'
        'document.addEventListener("DOMContentLoaded", () => { for (const [button, icon] of Object.entries('
        f"{json.dumps(icons)})) document.querySelectorAll(button).forEach(each => each.innerHTML = icon); }});\n",
        encoding="utf-8",
    )
    for path in folder.rglob("*.map"):  # of tools of the theme's authors
        path.unlink()


def setup(app: Any) -> None:
    app.connect("html-page-context", own_branch, priority=100)
    app.connect("build-finished", shrink)
