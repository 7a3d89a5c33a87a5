"""The parts of a report, collected from panels: each adds rows, numbers, tables, files and pictures, which are written
each on its own: a failure is reported and the other files are kept."""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, reduce
from html import escape
from inspect import getattr_static
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.data import LabelledArrays, Quantity, Samples, rectangle_places
from calderon.report.charts import chart
from calderon.report.formatting import Column, Row, number, typeset, write_csv
from calderon.view import Scene
from calderon.view import figure as live


@dataclass(frozen=True)
class Picture:
    """A file in the result folder and its caption; chart: the JSON of its curves, empty for other pictures; last: below
    all others in the report, as what a solver says of itself."""

    file: str
    caption: str
    chart: str = ""
    last: bool = False


@dataclass(frozen=True)
class LiveView:
    """The HTML of a scene, and the pictures that it replaces in the report."""

    html: str
    instead: tuple[str, ...]


class BestEffort:
    """The files of a folder, written one by one: the pictures, and failures of files that could not be written, each
    with its reason; views: scenes for the report; charts: the JSON of the curves of a picture by its file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failures: list[str] = []
        self.pictures: list[Picture] = []
        self.views: list[LiveView] = []
        self.charts: dict[str, str] = {}

    @contextmanager
    def at(self, name: str, caption: str = "", last: bool = False) -> Iterator[Path]:
        """The path of a file, or a folder, that the block writes; of a picture with its caption; last: as of `Picture`.
        After any error but an interruption it is left out: after a solution of hours, no output file is worth losing
        the result.
        """
        path = self.folder / name
        try:
            yield path
            if caption:
                self.pictures.append(Picture(name, caption, self.charts.get(name, ""), last))
        except Exception as error:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            self.failures.append(f"{name} could not be written and is left out: {kind}{error}")

    def view(self, make: Callable[[], Scene], *instead: str) -> None:
        """Add the view of a scene that replaces pictures in the report; these stay where it cannot be made."""
        try:
            self.views.append(LiveView(live(make(), instead[0] if instead else ""), instead))
        except Exception as error:
            self.failures.append(f"a view is left out: {type(error).__name__}: {error}")


R = TypeVar("R", contravariant=True)
Output = Callable[[BestEffort], None]


@dataclass
class Sheet:
    """The parts of one report, in the order in which panels add them.

    headlines: the numbers that a reader needs first, the first four as cards; asides: numbers shown in grey below them;
    hints: what can be done next, with the options of a command; numbers: entries of summary.json, keys
    with units. Files and pictures are made when the result is written, each on its own: one that fails is left out and
    named. failures: panels that could not be drawn. errors: relative errors that the result states, by name.
    """

    headlines: list[Row] = field(default_factory=list)
    asides: list[Row] = field(default_factory=list)
    hints: list[tuple[str, str]] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    writings: list[Output] = field(default_factory=list)
    drawings: list[Output] = field(default_factory=list)
    errors: dict[str, float] = field(default_factory=dict)
    _blocks: dict[str, list[Row]] = field(default_factory=dict)
    _wide: list[str] = field(default_factory=list)
    _records: list[str] = field(default_factory=list)

    @property
    def tables(self) -> str:
        """All tables as HTML: wide ones, small ones side by side, equations and records."""
        small_ones = [
            f"<div><h2>{escape(name)}</h2>{_table(rows)}</div>" for name, rows in self._blocks.items() if rows
        ]
        return "".join([*self._wide, "\n".join(small_ones), *self._records])

    def headline(self, name: str, value: str, unit: str = "") -> None:
        """Add one of the first numbers."""
        self.headlines.append((name, value, unit))

    def aside(self, name: str, value: str, unit: str = "") -> None:
        """Add a number that is to be known and not to be judged by."""
        self.asides.append((name, value, unit))

    def hint(self, text: str, options: str) -> None:
        """Add what `calderon run` with these options would tell."""
        self.hints.append((text, options))

    def error(self, name: str, value: float, text: str = "") -> None:
        """Add a relative error, estimated or against a known solution, as one of the first numbers, and to `errors`.
        text: its percent, with two digits unless given."""
        self.headline(name, text or f"{100 * value:{'.0f' if abs(value) >= 0.995 else '.2g'}}", "%")
        self.errors[name] = abs(float(value))

    def number(self, key: str, value: Any) -> None:
        """Add an entry of summary.json; a dot leads into a group of entries: "mesh.triangles"."""
        *groups, last = key.split(".")
        reduce(lambda group, name: group.setdefault(name, {}), groups, self.numbers)[last] = value

    def fact(
        self, block: str, name: str, value: Any, unit: str = "", key: str = "", text: str = "", first: bool = False
    ) -> None:
        """Add a row to a small table, and what else is said of the same quantity.

        value: an integer, a number, which is shown with four digits, or a text; text: what is shown instead. key: of
        the value in summary.json. first: whether it is a headline, too.
        """
        shown = text or (number(value) if isinstance(value, float) else str(value))
        self._blocks.setdefault(block, []).append((name, shown, unit))
        if key:
            self.number(key, value)
        if first:
            self.headline(name, shown, unit)

    def block(self, name: str, rows: Sequence[Row]) -> None:
        """Add a small table of rows."""
        self._blocks.setdefault(name, []).extend(rows)

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table as wide as the page, unless it has no rows, without columns that say 0, (0, 0, 0) or nothing in
        every row, and without rows that say nothing."""
        rows = [row for row in rows if any(row[1:])]
        none = r"(0|\(0, 0, 0\).*)?" if len(rows) > 1 else ""
        kept = [k for k in range(len(columns)) if not all(re.fullmatch(none, row[k]) for row in rows)]
        columns, rows = [columns[k] for k in kept], [[row[k] for k in kept] for row in rows]
        head = "".join(f"<th>{escape(column)}</th>" for column in columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(typeset(cell))}</td>" for cell in row) + "</tr>" for row in rows)
        table = f'<table class="steps"><tr>{head}</tr>{body}</table>'
        if rows:
            self._wide.append(f'<div class="scroll"><h2>{escape(name)}</h2>{table}</div>')

    def equation(self, text: str) -> None:
        """Add the equation that was solved."""
        shown = f'<h2>Equation</h2><p class="equation">{escape(text)}</p>'
        self._records.append(f'<div class="whole">{shown}</div>')

    def record(self, name: str, text: str) -> None:
        """Add lines of text as they are."""
        shown = f'<h2>{escape(name)}</h2><pre class="record">{escape(text)}</pre>'
        self._records.append(f'<div class="whole">{shown}</div>')

    def file(self, name: str, write: Callable[[Path], object]) -> None:
        """Add a file or a folder of the result; write(path) makes it."""

        def written(files: BestEffort) -> None:
            with files.at(name) as path:
                write(path)

        self.writings.append(written)

    def columns(self, name: str, columns: Sequence[Column] | Callable[[], Sequence[Column]]) -> None:
        """Add a .csv file of columns; a function computes them when it is written."""
        self.file(name, lambda path: write_csv(path, columns() if callable(columns) else columns))

    def plane(self, name: str, points: NDArray[np.float64], *quantities: Quantity) -> None:
        """Add name.vti, for ParaView, and name.npz of quantities (rows, columns, ...) at the points (rows, columns, 3)
        of a rectangle."""
        for ending in ("vti", "npz"):
            self.file(f"{name}.{ending}", lambda path: _rectangle(points, quantities).write(path))

    def picture(self, name: str, caption: str, draw: Callable[[Path], object]) -> None:
        """Add a picture with its caption; draw(path) makes its file."""

        def drawn(files: BestEffort) -> None:
            with files.at(name, caption) as path:
                draw(path)

        self.drawings.append(drawn)

    def curves(
        self, name: str, caption: str, draw: Callable[[Path], Figure], incident: float | None = None, last: bool = False
    ) -> None:
        """Add a picture of curves, which are alive in the report; draw(path) makes its file and returns the figure;
        incident: as for `charts.chart`; last: below all other pictures."""

        def drawn(files: BestEffort) -> None:
            with files.at(name, caption, last) as path:
                files.charts[name] = chart(draw(path), incident)

        self.drawings.append(drawn)

    def cartesian(
        self,
        name: str,
        caption: str,
        x: NDArray[np.float64],
        curves: Mapping[str, NDArray[np.float64]],
        across: str,
        up: str,
        **options: Any,
    ) -> None:
        """Add curves over x by the texts of their legend; across, up: labels of the axes. Options: of
        `plots.cartesian`."""
        self.curves(name, caption, partial(plots.cartesian, x, dict(curves), across, up, **options))

    def view(self, make: Callable[[], Scene], *instead: str) -> None:
        """Add the live view of a scene, which replaces these pictures in the report."""
        self.drawings.append(lambda files: files.view(make, *instead))


def _rectangle(points: NDArray[np.float64], quantities: tuple[Quantity, ...]) -> Samples:
    places = rectangle_places(points)
    return Samples(places, LabelledArrays(places.axes, quantities, places.coordinates))


@dataclass(frozen=True)
class Panel(Generic[R]):
    """A part of a report.

    name: in messages. needs: attributes of a result, dots lead from one to the next ("problem.mesh"); the panel is left
    out where one is missing, None, false or empty. draw(result, sheet): adds its parts to the sheet.
    """

    name: str
    needs: tuple[str, ...]
    draw: Callable[[R, Sheet], None]

    def fits(self, result: Any) -> bool:
        """Whether a result has what the panel needs."""
        return all(_has(reduce(_attribute, need.split("."), result)) for need in self.needs)


def _attribute(owner: Any, name: str) -> Any:
    """The attribute of an owner, None for one that it does not have; an error within a property is not hidden."""
    return None if getattr_static(owner, name, None) is None else getattr(owner, name)


def panel(*needs: str) -> Callable[[Callable[[R, Sheet], None]], Panel[R]]:
    """Make a panel of the function below, which draws it and names it."""
    return lambda draw: Panel(draw.__name__.replace("_", " "), needs, draw)


def _has(value: Any) -> bool:
    return value is not None and value is not False and not (hasattr(value, "__len__") and len(value) == 0)


def collected(result: Any, panels: Sequence[Panel[Any]]) -> Sheet:
    """The sheet of all panels that fit a result; one that fails is named in its failures."""
    sheet = Sheet()
    for each in panels:
        try:
            if each.fits(result):
                each.draw(result, sheet)
        except Exception as error:  # after a solution of hours, no panel is worth losing the result
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            sheet.failures.append(f"the panel {each.name!r} is left out: {kind}{error}")
    return sheet


def _table(rows: Sequence[Row]) -> str:
    cells = [
        f'<tr><th scope="row">{escape(name)}</th><td>{_unbroken(value, unit)}</td></tr>' for name, value, unit in rows
    ]
    return f"<table>{''.join(cells)}</table>"


def _unbroken(value: str, unit: str) -> str:
    """A value with its unit, on one line unless it is long."""
    text = f"{escape(typeset(value))}{small(unit)}"
    return f'<span class="short">{text}</span>' if len(value + unit) <= 24 else text


def small(unit: str) -> str:
    """A unit in small letters, empty for none."""
    return f' <span class="unit">{escape(unit)}</span>' if unit else ""
