"""Numbers, levels, frequencies, times, planes and columns as text."""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calderon.files.spreadsheets import cell_text
from calderon.mesh import TriangleMesh

Row = tuple[str, str, str]
"""Name, value, unit."""
Column = tuple[str, Iterable[float | str]]
"""Name with unit, values."""


def decibels(level: float) -> str:
    """A tenth of a decibel, with a typographic minus sign."""
    return f"{round(level, 1) + 0.0:.1f}".replace("-", "\u2212")


def ohms(impedance: complex) -> str:
    """R + jX as engineers write it: Z = R - iX for exp(-i omega t)."""
    sign = "+" if impedance.imag <= 0 else "\u2212"
    return f"{impedance.real:.1f} {sign} j{abs(impedance.imag):.1f}"


def number(value: float) -> str:
    """Four digits, six for large values."""
    return f"{value:.4g}" if abs(value) < 9999.5 else f"{value:.6g}"


RAISED = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def typeset(text: str) -> str:
    """A text for a page, with the powers of ten of its numbers as they are printed: "1.2e-05" as 1.2 × 10⁻⁵."""
    return re.sub(r"(?<=\d)e([+-]?\d+)\b", lambda found: f"\u202f×\u202f10{str(int(found[1])).translate(RAISED)}", text)


def extent(vertices: NDArray[np.float64]) -> str:
    """The extent of vertices (n, 3) in metres, as a clause."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    spans = (f"{axis} from {a:.4g} to {b:.4g} m" for axis, a, b in zip("xyz", low, high, strict=True))
    return f"which has {', '.join(spans)}"


FREQUENCY_UNITS = ((1e9, "GHz"), (1e6, "MHz"), (1.0, "Hz"))


def _unit(value: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    """The largest of units (size, name) in which a value is at least 1, else the smallest one."""
    return next((unit for unit in units if value >= unit[0] * (1 - 1e-12)), units[-1])


def frequency_unit(hertz: float) -> tuple[float, str]:
    """Hertz per unit, and the unit in which a frequency has few digits."""
    return _unit(hertz, FREQUENCY_UNITS)


def frequency_text(hertz: float, digits: int = 6) -> str:
    """Six digits, or as many as given, and the unit: "200 Hz", "3.5 GHz"."""
    factor, unit = frequency_unit(hertz)
    return f"{hertz / factor:.{digits}g} {unit}"


def frequency_texts(hertz: Sequence[float]) -> list[str]:
    """Texts of several frequencies, with as many digits, six at least, as tell them apart."""
    for digits in range(6, 17):  # of a number in double precision
        texts = [frequency_text(each, digits) for each in hertz]
        if len(set(texts)) == len(set(hertz)):
            return texts
    return [f"{each!r} Hz" for each in hertz]


TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))


PREFIXES = (
    (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"), (1e-15, "f"),
    (1e-18, "a"),
)  # fmt: skip


def prefixed_unit(value: float, unit: str) -> tuple[float, str]:
    """How many of the unit the unit with a prefix is in which a value has few digits, and the latter: 1e-12, "pF"."""
    factor, prefix = _unit(abs(value), PREFIXES) if value else (1.0, "")
    return factor, f"{prefix}{unit}"


def prefixed(value: float, unit: str) -> tuple[str, str]:
    """Four digits and the unit with the prefix in which a value has few of them: "-18.3", "pF"."""
    factor, name = prefixed_unit(value, unit)
    return number(value / factor).replace("-", "\u2212"), name


POWER_UNITS = ((1.0, "W"), (1e-3, "mW"), (1e-6, "µW"), (1e-9, "nW"), (1e-12, "pW"))


def power_parts(watts: float) -> tuple[str, str]:
    """Four digits of a power, and the unit in which it has few of them: "0.48", "mW"."""
    factor, unit = _unit(abs(watts), POWER_UNITS)
    return number(watts / factor), unit


def time_unit(seconds: float) -> tuple[float, str]:
    """Seconds per unit, and the unit in which a time has few digits."""
    return _unit(seconds, TIME_UNITS)


def time_text(seconds: float) -> str:
    """Four digits and the unit: "11.12 ns"."""
    factor, unit = time_unit(seconds)
    return f"{seconds / factor:.4g} {unit}"


@dataclass(frozen=True)
class Level:
    """A quantity in decibels: its name, unit, and the name of its column or key in files."""

    name: str
    unit: str
    key: str

    def column(self, polarization: str = "") -> str:
        """The name of the column, of one polarisation if given."""
        unit = self.unit.replace("1 m", "1m").replace("²", "2").replace(" ", "_")
        return "_".join(filter(None, [self.key, polarization, unit]))


TARGET_STRENGTH = Level("target strength", "dB re 1 m", "target_strength")
CROSS_SECTION = Level("radar cross-section", "dB re 1 m²", "rcs")
GAIN = Level("gain", "dBi", "gain")


def decibels_of_power(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """10 log10 of values, at least -300 dB: zeros must not become infinities in files."""
    return 10 * np.log10(np.maximum(values, 1e-30))


def plane_equation(points: np.ndarray, length: str = "m") -> str:
    """A slice's plane by its equation, such as z = 0 m; length: the unit of the points."""
    flat = np.ptp(points.reshape(-1, 3), axis=0)
    axis = int(np.argmin(flat))
    return f"{'xyz'[axis]} = {round(float(points[0, 0, axis]), 6) + 0.0:.4g} {length}"


def write_csv(path: Path, columns: Sequence[Column]) -> None:
    """Columns (name with unit, values), numbers with ten digits; NaN is left empty, and texts are none that
    spreadsheets run. ValueError for two columns of one name."""
    names = [name for name, _ in columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two columns have the same name: {', '.join(twice)}")
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([cell_text(name) for name in names])
        for row in zip(*(values for _, values in columns), strict=True):
            writer.writerow([_cell(value) for value in row])


def _cell(value: float | str) -> str:
    if isinstance(value, str):
        return cell_text(value)
    return "" if np.isnan(value) else f"{value:.10g}"


def mesh_numbers(mesh: TriangleMesh) -> dict[str, float]:
    """The entries of summary.json on a mesh."""
    return {
        "triangles": mesh.number_of_triangles,
        "vertices": mesh.number_of_vertices,
        "area_m2": float(mesh.area),
        "shortest_edge_m": float(mesh.edge_lengths.min()),
        "longest_edge_m": float(mesh.edge_lengths.max()),
    }


def vector_text(x: Iterable[float]) -> str:
    """Components as text; those that are rounding errors of the largest are zero."""
    parts = [float(component) for component in x]
    least = 1e-12 * max(map(abs, parts))
    shown = (f"{0.0 if abs(part) < least else part:.4g}".replace("-", "\u2212") for part in parts)
    return f"({', '.join(shown)})"
