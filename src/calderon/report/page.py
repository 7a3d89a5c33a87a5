"""The report: one page without references to the outside, to be read on a screen or on paper."""

import base64
import struct
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from calderon.report.folder import Picture
from calderon.report.formatting import Row
from calderon.report.placing import MARK

ROW = 2.0  # a row of pictures is full when their widths add up to this times its height
TEMPLATES = Path(__file__).parent / "templates"


def page(
    results: Any,
    subtitle: str,
    headlines: list[Row],
    tables: str,
    summary: dict[str, Any],
    pictures: list[Picture],
    folder: Path,
) -> str:
    """The page's text, with pictures and styles inside it; tables as HTML."""
    template = Template((TEMPLATES / "report.html").read_text(encoding="utf-8"))
    names = sorted([*(path.name for path in folder.iterdir()), "report.html", MARK])
    return template.substitute(
        title=escape(summary["title"]),
        version=escape(summary["calderon"]),
        style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
        kind=escape(results.file.case.physics.title),
        subtitle=escape(subtitle),
        notices=_notices(results.warnings),
        columns=str(_columns(len(headlines))),
        cards="\n".join(_card(*card) for card in headlines),
        pictures=_pictures(pictures, folder),
        tables=tables,
        timings=_timings(summary["seconds"]),
        files="".join(f"<code>{escape(name)}</code>" for name in names),
        case=escape(results.file.text.strip()),
        date=escape(summary["date"].replace("T", " ").replace("+00:00", " UTC")),
        machine=escape(f"{summary['machine']}, {summary['threads']} thread{'s' if summary['threads'] != 1 else ''}"),
    )


def blocks(named: list[tuple[str, list[Row]]]) -> str:
    """Tables of rows, each under its name."""
    return "\n".join(f"<div><h2>{escape(name)}</h2>{_table(rows)}</div>" for name, rows in named)


def wide_table(name: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a header, as wide as the page."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><h2>{name}</h2><table class="steps"><tr>{head}</tr>{body}</table></div>'


def equation(text: str) -> str:
    return f'<div class="whole"><h2>Equation</h2><p class="equation">{escape(text)}</p></div>'


def record(name: str, text: str) -> str:
    """Lines of text as they are, as wide as the page."""
    return f'<div class="whole"><h2>{escape(name)}</h2><pre>{escape(text)}</pre></div>'


def _table(rows: list[Row]) -> str:
    cells = [
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}{_unit(unit)}</td></tr>'
        for name, value, unit in rows
    ]
    return f"<table>{''.join(cells)}</table>"


def _unit(unit: str) -> str:
    return f' <span class="unit">{escape(unit)}</span>' if unit else ""


def _columns(cards: int) -> int:
    """Number of cards in a line, at most six, so that the last line is nearly full."""
    lines = -(-cards // 6)
    return -(-cards // lines)


def _card(name: str, value: str, unit: str) -> str:
    shown = f'<div class="value">{escape(value)}{_unit(unit).lstrip()}</div>'
    return f'<div class="card">{shown}<div class="name">{escape(name)}</div></div>'


def _pictures(pictures: list[Picture], folder: Path) -> str:
    """Pictures in rows of one height: each gets a width in proportion to its own."""
    rows: list[str] = []
    row, wide = "", 0.0
    for picture in pictures:
        content = (folder / picture.file).read_bytes()
        # a PNG or a GIF begins with its size
        still = picture.file.endswith(".png")
        width, height = struct.unpack(">II", content[16:24]) if still else struct.unpack("<HH", content[6:10])
        row += _figure(picture, content, width / height)
        wide += width / height
        if wide >= ROW or picture is pictures[-1]:
            alone = " alone" if wide < ROW else ""
            rows.append(f'<div class="row{alone}">{row}</div>')
            row, wide = "", 0.0
    return "\n".join(rows)


def _figure(picture: Picture, content: bytes, ratio: float) -> str:
    data = base64.b64encode(content).decode("ascii")
    caption = escape(picture.caption)
    image = f'<img alt="{caption}" src="data:image/{picture.file[-3:]};base64,{data}">'
    return f'<figure style="flex-grow:{ratio:.3f}">{image}<figcaption>{caption}</figcaption></figure>'


def _notices(texts: tuple[str, ...]) -> str:
    if not texts:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f'<div class="notice"><strong>{"Warning" if len(texts) == 1 else "Warnings"}</strong><ul>{items}</ul></div>'


def _timings(seconds: dict[str, float]) -> str:
    longest = max(seconds.values(), default=1.0) or 1.0
    rows = []
    for name, spent in seconds.items():
        bar = f'<div class="track"><div class="bar" style="width:{100 * spent / longest:.1f}%"></div></div>'
        rows.append(f'<div>{escape(name)}</div>{bar}<div class="seconds">{spent:.2f} s</div>')
    total = f'<div class="total">total</div><div></div><div class="seconds total">{sum(seconds.values()):.2f} s</div>'
    return f'<div class="bars">{"".join(rows)}{total}</div>'
