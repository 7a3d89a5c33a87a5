"""Velocities that a structural code has computed, read from tables (.csv) and grids (.vtu), and brought to a mesh by
position."""

import logging
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.files import file_path
from calderon.mesh import TriangleMesh
from calderon.mesh.files.content import file_content
from calderon.mesh.units import METRES
from calderon.spaces.space import Tags, supported_triangles
from calderon.validation import instance, one_of, positive_length

TABLES = (".csv", ".txt", ".tsv")
TIME_FACTORS = ("exp(-i omega t)", "exp(+i omega t)")
HEADING = re.compile(r"([a-z]+)(?:[_ .](re|im|real|imag))? *(?:[\[(]([^\])]*)[\])])?", re.I)
"""Heading of a column: its name, the part of a complex number, and a unit in brackets."""
LONGEST_NAME = 100
"""Characters of a heading above which it is none of these."""
VELOCITIES = ("v", "vn", "velocity")
COLUMNS = (
    "x, y, z, then v or v_re and v_im along the normal into the fluid, or vx, vy, vz with the same endings, and "
    "frequency where there are several; units in brackets, x [mm]"
)
LONGEST_HEADING = 1 << 16


class Samples(NamedTuple):
    """Velocities at points of a file: points (n, 3) in m, values (f, n) along the normal or vectors (f, n, 3) in m/s,
    frequencies (f,) in Hz or None for one without a frequency."""

    points: NDArray[np.float64]
    values: NDArray[np.complex128]
    frequencies: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class VelocityTable:
    """Velocities on a mesh, at one frequency or several.

    values: (f, n) in m/s along the normal into the fluid, or vectors (f, n, 3), by vertex or triangle of the mesh, 0 on
    those that were left out. frequencies: (f,) in Hz, ascending, or None. largest_distance: in m, from a vertex or
    centroid to the point of the file whose value it has.
    """

    values: NDArray[np.complex128]
    frequencies: NDArray[np.float64] | None
    largest_distance: float

    def at(self, frequency: float) -> NDArray[np.complex128]:
        """The values (n,) or (n, 3) at a frequency in Hz, linear between those of the file; ValueError beyond them."""
        if self.frequencies is None:
            return self.values[0]
        low, high = self.frequencies[0], self.frequencies[-1]
        if not low * (1 - 1e-9) <= frequency <= high * (1 + 1e-9):
            raise ValueError(
                f"the velocity is given from {low:g} to {high:g} Hz, and the problem is at {frequency:g} Hz: read a "
                "file with this frequency"
            )
        place = float(np.interp(frequency, self.frequencies, np.arange(len(self.frequencies))))
        before = min(int(place), len(self.frequencies) - 1)
        after = min(before + 1, len(self.frequencies) - 1)
        part = place - before
        return np.asarray((1 - part) * self.values[before] + part * self.values[after])


def velocities_from_file(
    path: str | os.PathLike[str],
    mesh: TriangleMesh,
    tags: Tags,
    name: str,
    scale: float,
    unit: float,
    time_factor: str,
    tolerance: float | None,
) -> VelocityTable:
    """The velocities of a file on the part of a mesh with some tags; see `Velocity.from_file`."""
    instance(mesh, TriangleMesh, "velocities are brought to a mesh of triangles")
    place = file_path(path, "velocities", "engine.csv")
    lengths, speeds = positive_length(scale, "scale"), positive_length(unit, "unit")
    one_of(time_factor, TIME_FACTORS, "time_factor")
    most = mesh.mean_edge_length / 2 if tolerance is None else positive_length(tolerance, "tolerance")
    if not place.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    # text needs less than its length as numbers, and some passes over them
    require_memory(8 * place.stat().st_size, f"{place.name} with its numbers", "write fewer points or frequencies")
    if place.suffix.lower() in TABLES:
        table = read_table(place)
        found = [(table, "vertices"), (table, "triangles")]  # whichever the points are closer to
    else:
        found = read_grid(place, name)
    triangles = supported_triangles(mesh, tags)
    vertices = np.unique(mesh.triangles[triangles])
    options = {"vertices": (vertices, mesh.vertices[vertices]), "triangles": (triangles, mesh.centroids[triangles])}
    best: tuple[float, str, Samples, NDArray[np.int64]] | None = None
    for samples, where in found:
        distances, nearest = scipy.spatial.cKDTree(samples.points * lengths).query(options[where][1])
        if best is None or distances.max() < best[0]:
            best = float(distances.max()), where, samples, nearest
    assert best is not None
    distance, where, samples, nearest = best
    if distance > most:
        raise ValueError(_far_advice(place, samples.points * lengths, options[where][1], where, distance, most))
    numbers, count = options[where][0], mesh.number_of_vertices if where == "vertices" else mesh.number_of_triangles
    values = np.zeros((len(samples.values), count, *samples.values.shape[2:]), np.complex128)
    values[:, numbers] = speeds * samples.values[:, nearest]
    if time_factor == TIME_FACTORS[1]:
        values = values.conj()
    logging.getLogger("calderon").info(
        f"{place}: velocities of {len(samples.points)} points on {len(numbers)} {where}, the largest distance is "
        f"{distance:.3g} m"
    )
    return VelocityTable(values, samples.frequencies, distance)


def _far_advice(
    place: Path, given: NDArray[np.float64], wanted: NDArray[np.float64], where: str, distance: float, most: float
) -> str:
    """The text of an error about points that do not lie on the mesh."""
    spans = [" x ".join(f"{size:.3g}" for size in np.ptp(each, axis=0)) for each in (given, wanted)]
    return (
        f"{place}: of the {where} of the mesh one is {distance:.3g} m away from all points of the file, and {most:.3g} "
        f"m are accepted. The points span {spans[0]} m, these {where} {spans[1]} m: give scale=1e-3 for a file in mm, "
        "tags= of the part that moves, a mesh no finer than that of the structure, or a larger tolerance="
    )


def read_table(place: Path) -> Samples:
    """The samples of a table of text with one line of headings; ValueError with the path for what is none."""
    try:
        with place.open(encoding="utf-8-sig") as file:
            heading = file.readline(LONGEST_HEADING)
            delimiter = next((each for each in ";\t," if each in heading), None)
            columns, factors = _columns(heading.lstrip("#").split(delimiter))
            names = list(columns)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of no lines, which is refused below
                table = np.loadtxt(
                    file, delimiter=delimiter, usecols=[columns[each] for each in names], ndmin=2, quotechar='"'
                )
    except UnicodeDecodeError:
        raise ValueError(f"{place}: is no text; write a table with the columns {COLUMNS}") from None
    except ValueError as error:
        advice = "; numbers have a point, not a comma" if "convert" in str(error) else ""
        raise ValueError(f"{place}: {error}{advice}") from None
    if not table.size:
        raise ValueError(f"{place}: holds no lines below its headings; write a table with the columns {COLUMNS}")
    _require_finite(place, table)
    column = {each: table[:, number] * factors[each] for number, each in enumerate(names)}
    points = np.stack([column[each] for each in "xyz"], axis=1)
    parts = [column[f"{each}re"] + 1j * column.get(f"{each}im", 0.0) for each in _components(column)]
    values = np.stack(parts, axis=1) if len(parts) > 1 else parts[0]
    if "frequency" not in column:
        return Samples(points, values[None].astype(np.complex128), None)
    return _by_frequency(place, points, values.astype(np.complex128), column["frequency"])


def _columns(headings: list[str]) -> tuple[dict[str, int], dict[str, float]]:
    """The number of each column that is read by its name, x, frequency, vre, vxim, and its factor to SI units;
    ValueError for headings without a velocity, and for unknown units."""
    numbers, factors = dict[str, int](), dict[str, float]()
    for number, text in enumerate(headings):
        plain = text.strip().strip('"').strip()
        match = HEADING.fullmatch(plain) if len(plain) <= LONGEST_NAME else None
        if match is None:
            continue
        name, part, unit = match[1].lower(), (match[2] or "re").lower()[:2], (match[3] or "").strip()
        if name in ("f", "freq", "frequency"):
            key, known = "frequency", {"Hz": 1.0, "kHz": 1e3}
        elif name in ("x", "y", "z"):
            key, known = name, METRES
        elif name in (*VELOCITIES, "vx", "vy", "vz"):
            key, known = f"{'v' if name in VELOCITIES else name}{part}", {f"{u}/s": size for u, size in METRES.items()}
        else:
            continue
        if unit and unit not in known:
            raise ValueError(f"unknown unit [{unit}] of the column {name!r}: choose {', '.join(known)}")
        if key in numbers:
            raise ValueError(f"two columns are {text.strip()!r}")
        numbers[key], factors[key] = number, known[unit] if unit else 1.0
    if not {"x", "y", "z"} <= set(numbers) or not _components(numbers):
        shown = ", ".join(each.strip() for each in headings)[:200]
        raise ValueError(f"the columns {shown!r} hold no velocities at points: {COLUMNS}")
    return numbers, factors


def _components(columns: Any) -> list[str]:
    """The names of the components of the velocity, v alone or vx, vy, vz; none where they are not complete."""
    vectors, alone = [f"v{axis}" for axis in "xyz"], "vre" in columns
    if all(f"{each}re" in columns for each in vectors):
        return [] if alone else vectors
    return ["v"] if alone else []


def _by_frequency(
    place: Path, points: NDArray[np.float64], values: NDArray[np.complex128], hertz: NDArray[np.float64]
) -> Samples:
    """Samples of a table with a column of frequencies; ValueError where these have different points."""
    frequencies, counts = np.unique(hertz, return_counts=True)
    if frequencies[0] <= 0:
        raise ValueError(f"{place}: frequencies are positive, got {frequencies[0]:g} Hz")
    order = np.lexsort((points[:, 2], points[:, 1], points[:, 0], hertz))
    same = counts.min() == counts.max()
    if same:
        grouped = points[order].reshape(len(frequencies), counts[0], 3)
        same = np.abs(grouped - grouped[0]).max() <= 1e-9 * np.abs(points).max()
    if not same:
        raise ValueError(
            f"{place}: frequencies have different points, {counts.min()} to {counts.max()} of them: write all points "
            "for each frequency"
        )
    shaped = values[order].reshape(len(frequencies), counts[0], *values.shape[1:])
    return Samples(grouped[0], shaped, frequencies)


def read_grid(place: Path, name: str) -> list[tuple[Samples, str]]:
    """The samples of a grid by the name of its data, at points, or of cells at their centroids, with "vertices" or
    "triangles" to which they belong; ValueError where it has no such data."""
    content = file_content(place)
    found: list[tuple[Samples, str]] = []
    cells, points = [np.asarray(each.data) for each in content.cells], np.asarray(content.points, np.float64)
    try:
        merged = {key: np.concatenate([np.asarray(each) for each in data]) for key, data in content.cell_data.items()}
        centroids = np.concatenate([points[corners].mean(axis=1) for corners in cells] or [points[:0]])
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{place}: its cells do not fit their points or data ({error}); write it again") from None
    for data, where in ((content.point_data, "vertices"), (merged, "triangles")):
        key = next((each for each in (name, f"{name}_re", f"{name}_real") if each in data), None)
        if key is None:
            continue
        real = np.asarray(data[key])
        imaginary = next((data[f"{name}_{end}"] for end in ("im", "imag") if f"{name}_{end}" in data), 0.0)
        if np.shape(imaginary) not in ((), real.shape) or real.dtype.kind not in "fiuc":
            raise ValueError(f"{place}: {key!r} and its imaginary part are no numbers of one shape")
        values = np.asarray(real + 1j * np.asarray(imaginary), np.complex128)
        values = values.reshape(len(values)) if values.ndim == 2 and values.shape[1] == 1 else values
        places = points if where == "vertices" else centroids
        if values.shape[1:] not in ((), (3,)) or len(values) != len(places) or not len(places):
            raise ValueError(
                f"{place}: {key!r} has the shape {values.shape} for {len(places)} {where}: give one number along the "
                "normal into the fluid, or a vector, for each"
            )
        _require_finite(place, places)
        _require_finite(place, values)
        found.append((Samples(places, values[None], None), where))
    if not found:
        names = ", ".join(map(repr, [*content.point_data, *content.cell_data])) or "none"
        raise ValueError(
            f"{place}: holds no data {name!r}, nor {name + '_re'!r} with {name + '_im'!r}, but {names}: give name="
        )
    return found


def _require_finite(place: Path, values: NDArray[Any]) -> None:
    """ValueError for numbers that are NaN or infinite."""
    if wrong := np.count_nonzero(~np.isfinite(values)):
        raise ValueError(f"{place}: {wrong} of {values.size} numbers are NaN or infinite: write all values, 0 at rest")
