"""Whether built pages need a network or much room: `python scripts/check_pages.py docs/_build`, file: reason, exit
status 1.

A link that a reader follows may lead out. What a page loads by itself (scripts, styles, fonts, pictures)
exists in its folder, and no formula is left as TeX.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGEST = 12e6
"""Bytes of all files of the documentation together."""
LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "video": "src", "audio": "src"}
FOLLOWED = {"canonical", "next", "prev", "search", "index", "author", "copyright", "help"}
"""Kinds of <link> that a browser does not load."""
OUTSIDE = re.compile(r"""(?:url\(\s*["']?|@import\s+["']|\bimport\(["']|\bfetch\(["'])((?:https?:)?//[^"')\s]+)""")
TEX = re.compile(r"\\(?:frac|int|sum|begin|operatorname|varphi|varepsilon|hat|partial)\b|\\\(|\\\[")


class Page(HTMLParser):
    """The addresses that a page loads, and its text without code."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.text: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.hidden += tag in ("script", "style", "pre", "code")
        key = LOADED.get(tag)
        if tag == "link" and not FOLLOWED & set((given.get("rel") or "").split()):
            key = "href"
        if key and given.get(key):
            self.loads.append(given[key] or "")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style", "pre", "code")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.text.append(data)


def problems(path: Path) -> list[str]:
    """Why a page, a style or a script would need a network, or shows TeX."""
    source = path.read_text(encoding="utf-8")
    found = [f"loads {address}" for address in OUTSIDE.findall(source)]
    if path.suffix != ".html":
        return found
    page = Page()
    page.feed(source)
    for address in page.loads:
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            found.append(f"loads {address}")
        elif not (path.parent / unquote(parts.path)).exists():
            found.append(f"loads {address}, which does not exist")
    return found + [f"shows TeX: {match[0]}" for match in TEX.finditer("".join(page.text))]


def main(folder: Path) -> int:
    """Print each finding; 1 if there is any."""
    pages = [path for path in sorted(folder.rglob("*")) if path.suffix in (".html", ".css", ".js")]
    if not any(path.suffix == ".html" for path in pages):
        raise SystemExit(f"no pages in {folder}")
    found = [f"{path.relative_to(folder)}: {one}" for path in pages for one in problems(path)]
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and ".doctrees" not in path.parts)
    if size > LARGEST:
        found.append(f"all files: {size / 1e6:.1f} MB, more than {LARGEST / 1e6:g} MB")
    print("\n".join(found) or f"{len(pages)} files of the documentation load nothing from elsewhere")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
