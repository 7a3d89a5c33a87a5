"""The report: one page without references to the outside, to be read on a screen or on paper."""

import base64
import io
import re
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from PIL import Image, WebPImagePlugin  # noqa: F401 (else all formats are imported when one is needed)

from calderon.report.folder import MARK
from calderon.report.formatting import Row, typeset
from calderon.report.kind import Result, kind_of, timed_headlines
from calderon.report.sheet import BestEffort, Picture, Sheet, small
from calderon.view import script, style

CARDS = 4
"""Numbers with a card each; all others are lines below."""
TEMPLATES = Path(__file__).parent / "templates"


def page(
    results: Result[Any],
    subtitle: str,
    sheet: Sheet,
    summary: dict[str, Any],
    files: BestEffort,
    folder: Path,
) -> str:
    """The page's text, with views, pictures, styles and programs inside it."""
    headlines = timed_headlines(replace(sheet, asides=[]), summary["seconds"])
    template = Template(_template("report.html"))
    names = sorted([*(path.name for path in folder.iterdir()), "report.html", MARK])
    return template.substitute(
        title=escape(summary["title"]),
        version=escape(summary["calderon"]),
        style=style() + _template("report.css"),
        script=script(_template("charts.js"), _template("chart_files.js"), _template("report.js")),
        kind=escape(kind_of(results.file).subject(results.file.case)),
        subtitle=escape(subtitle),
        notices=_notices(results.warnings),
        columns=str(max(2, min(CARDS, len(headlines)))),
        cards="\n".join(_card(*card) for card in headlines[:CARDS]),
        facts=_facts(headlines[CARDS:], sheet.asides) + _hints(sheet.hints),
        pictures=_pictures(files, folder),
        tables=sheet.tables,
        timings=_timings(summary["seconds"]),
        files="".join(f'<a href="{quote(name)}">{escape(name)}</a>' for name in names),
        case=escape(results.file.text.strip()),
        date=escape(summary["date"].replace("T", " ").replace("+00:00", " UTC")),
        machine=escape(f"{summary['machine']}, {summary['threads']} thread{'s' if summary['threads'] != 1 else ''}"),
    )


def _card(name: str, value: str, unit: str) -> str:
    value = typeset(value)
    letters = max(6, len(value) + len(unit) // 2 + 1)  # the unit is small
    shown = f'<div class="value" style="--letters:{letters}"><span>{escape(value)}</span>{small(unit).lstrip()}</div>'
    return f'<div class="card"><div class="fit">{shown}</div><div class="name">{escape(name)}</div></div>'


def _facts(rows: list[Row], asides: list[Row]) -> str:
    lines = [
        f"<div{kind}><dt>{escape(name)}</dt><dd>{escape(typeset(value))}{small(unit)}</dd></div>"
        for kind, group in (("", rows), (' class="aside"', asides))
        for name, value, unit in group
    ]
    return f'<dl class="facts">{"".join(lines)}</dl>' if lines else ""


def _hints(hints: list[tuple[str, str]]) -> str:
    """The commands by which more would be known, each copied by a click."""
    buttons = (
        f'<button type="button" class="hint" data-copy="calderon run case.toml {escape(options)}" title="copy the '
        f'command">{escape(text)}: <code>calderon run {escape(options)}</code></button>'
        for text, options in hints
    )
    return f'<p class="hints">{"".join(buttons)}</p>' if hints else ""


def _pictures(files: BestEffort, folder: Path) -> str:
    """Views, then charts and pictures that no view replaces, then charts of the solver."""
    replaced = {name for view in files.views for name in view.instead}
    shown = [picture for picture in files.pictures if picture.file not in replaced]
    parts = [view.html for view in files.views]
    parts += _figures("plot", [each for each in shown if each.chart and not each.last], _chart)
    parts += _figures("still", [each for each in shown if not each.chart], lambda each: _still(each, folder))
    parts += _figures("plot", [each for each in shown if each.last], _chart)
    return "\n".join(parts)


def _figures(kind: str, pictures: list[Picture], content: Callable[[Picture], str]) -> list[str]:
    """Pictures with their captions, two in a row; the last one is as wide as both where it stands alone."""
    figures = []
    for number, each in enumerate(pictures):
        wide = " wide" if number == len(pictures) - 1 and len(pictures) % 2 else ""
        caption = f"<figcaption>{escape(each.caption)}</figcaption>"
        figures.append(f'<figure class="{kind}{wide}">{content(each)}{caption}</figure>')
    return figures


def _chart(picture: Picture) -> str:
    data = f'<script type="application/json">{picture.chart}</script>'
    image = f'<noscript><img alt="{escape(picture.caption)}" src="{quote(picture.file)}"></noscript>'
    return f'<div class="chart">{data}{image}</div>'


def _still(picture: Picture, folder: Path) -> str:
    """A picture that becomes larger, in fewer bytes than its file."""
    with Image.open(folder / picture.file) as image:
        content, kind = (folder / picture.file).read_bytes(), picture.file[-3:]
        if kind == "png":
            small = image.convert("RGB")
            small.thumbnail((1800, 1800))  # the file next to the page has all pixels
            packed = io.BytesIO()
            small.save(packed, "WEBP", quality=88, method=4)
            content, kind = packed.getvalue(), "webp"
    data = base64.b64encode(content).decode("ascii")
    drawing = ' class="drawing"' if picture.file.startswith("smith") else ""  # of lines alone
    shown = f'<img{drawing} alt="{escape(picture.caption)}" src="data:image/{kind};base64,{data}">'
    return f'<button type="button" class="enlarge" aria-label="enlarge">{shown}</button>'


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _notices(texts: tuple[str, ...]) -> str:
    """The warnings; of those that differ in numbers alone the first, with the others folded below it."""
    if not texts:
        return ""
    alike: dict[str, list[str]] = {}
    for text in texts:
        alike.setdefault(re.sub(r"[-+.\de]*\d", "0", text), []).append(escape(text))
    items = "".join(f"<li>{first}{_folded(others)}</li>" for first, *others in alike.values())
    return f'<div class="notice"><strong>{"Warning" if len(texts) == 1 else "Warnings"}</strong><ul>{items}</ul></div>'


def _folded(texts: list[str]) -> str:
    if not texts:
        return ""
    lines = "".join(f"<li>{text}</li>" for text in texts)
    return f"<details><summary>{len(texts)} more with other numbers</summary><ul>{lines}</ul></details>"


def _timings(seconds: dict[str, float]) -> str:
    longest = max(seconds.values(), default=1.0) or 1.0
    rows = []
    for name, spent in seconds.items():
        bar = f'<div class="track"><div class="bar" style="width:{100 * spent / longest:.1f}%"></div></div>'
        rows.append(f'<div>{escape(name)}</div>{bar}<div class="seconds">{spent:.2f} s</div>')
    total = f'<div class="total">total</div><div></div><div class="seconds total">{sum(seconds.values()):.2f} s</div>'
    return f'<div class="bars">{"".join(rows)}{total}</div>'
