"""The input of NumCalc, the solver of Mesh2HRTF: NC.inp, and the files of nodes and elements that it names.

Header: title, frequencies as a curve over steps, sizes, fluid. NODES and ELEMENTS name files; elements have the
property 0 on the body and 2 on evaluation grids. SYMMETRY says in which planes the mesh is a part of the whole: a line
with 0 (none), 1 or 3 (even), 2 or 4 (odd) for x, y and z, and one with their coordinates; sources have images. BOUNDARY
has lines ELEM a TO b with VELO (m/s along the normal), PRES (Pa), ADMI (rho c / Z) or IMPE (Z / (rho c)); real and
imaginary part each have the number of a curve over frequency, by which they are multiplied, or -1. PLANE WAVES and
POINT SOURCES give amplitudes a of a exp(ik d x), a exp(ikr) / (4 pi r). W. Kreuzer et al., Eng. Anal. Bound. Elem. 161
(2024) 157.

A file need not be trusted: sizes are checked, numbers are finite, and files are read within the folder of the project
only, two levels above NC.inp.
"""

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.kinds.numcalc.lines import Line, Lines, ProjectError
from calderon.mesh import TriangleMesh
from calderon.validation import callers_level

BODY, GRID = 0, 2
"""Properties of elements: of the surface, and of evaluation grids."""
KINDS = ("VELO", "PRES", "ADMI", "IMPE")
PARITIES = {1: "even", 2: "odd", 3: "even", 4: "odd"}
"""Sound in planes by the numbers under SYMMETRY."""
MOST_FREQUENCIES = 100_000
SOURCE = re.compile(r"source_(\d{1,6})")
"""Folders of the sources of a project."""


class Curve(NamedTuple):
    """Factors (n,) at ascending frequencies (n,) in Hz, linear between them and constant beyond."""

    frequencies: NDArray[np.float64]
    factors: NDArray[np.float64]


class Amplitude(NamedTuple):
    """A complex number whose parts may follow curves by number, -1 for none."""

    value: complex
    real_curve: int = -1
    imaginary_curve: int = -1


class Boundary(NamedTuple):
    """A line of BOUNDARY: its kind out of KINDS, its triangles, and its value."""

    kind: str
    triangles: NDArray[np.int64]
    value: Amplitude


class Source(NamedTuple):
    """A source: whether it is a plane wave, its direction or place (3,), and its amplitude in Pa or Pa m."""

    is_plane: bool
    vector: NDArray[np.float64]
    amplitude: Amplitude


class Grid(NamedTuple):
    """An evaluation grid: the name of its folder, numbers of its nodes (n,) and their places (n, 3)."""

    name: str
    numbers: NDArray[np.int64]
    points: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Project:
    """A project as NC.inp describes it; time factor exp(-i omega t), or exp(+i omega t) where `conjugate` is True.

    frequencies: (f,) in Hz. speed_of_sound, density: of the fluid. side: "exterior" or "interior". mesh: of the body,
    with tags 0 and, where line b of BOUNDARY gives a pressure, b + 1. mirrors: planes in which it is a part of the
    whole, as of `AcousticProblem`.
    """

    path: Path
    title: str
    frequencies: NDArray[np.float64]
    speed_of_sound: float
    density: float
    conjugate: bool
    side: str
    mesh: TriangleMesh
    boundary: tuple[Boundary, ...]
    sources: tuple[Source, ...]
    curves: dict[int, Curve]
    grids: tuple[Grid, ...]
    mirrors: dict[str, str]


class _Counts(NamedTuple):
    """Numbers that the header promises."""

    elements: int
    nodes: int
    planes: int
    plane_waves: int
    point_sources: int


def is_project(path: Path) -> bool:
    """Whether a path is an input of NumCalc by its name, or the folder of a project with some."""
    return path.suffix.lower() == ".inp" or (path / "NumCalc").is_dir()


def read_projects(path: Path) -> list[Project]:
    """The project of an NC.inp, or those of all sources in the folder of a project, by their numbers."""
    if not path.is_dir():
        return [read_project(path)]
    found = [(SOURCE.fullmatch(each.name), each / "NC.inp") for each in (path / "NumCalc").iterdir()]
    numbered = sorted((int(match[1]), place) for match, place in found if match is not None)
    if not numbered:
        raise ProjectError(f"{path}: has no folders NumCalc/source_1, ... with NC.inp")
    return [read_project(place) for _, place in numbered]


def read_project(path: Path) -> Project:
    """The project of an NC.inp; ProjectError, with the line, for what is wrong, and for other cards."""
    lines = Lines(path)
    first = lines.next("'Mesh2HRTF' with a version")
    if first.words[0] != "Mesh2HRTF":
        first.refuse("an input of NumCalc begins with Mesh2HRTF and a version; meshes are read by calderon mesh")
    title = " ".join(lines.next("the title").words)
    lines.next("control parameters I")
    frequencies = _frequencies(lines)
    counts, side, (speed, density, conjugate) = _main_parameters(lines)
    root = path.absolute().parent.parent.parent
    card = lines.next("NODES")
    nodes, card = _files(lines, card, "NODES", path, root, counts.nodes)
    elements, card = _files(lines, card, "ELEMENTS", path, root, counts.elements)
    mirrors, card = _symmetry(lines, card, counts.planes)
    mesh, numbers, grids = _geometry(path, nodes, elements)
    boundary, card = _boundary(lines, card, numbers)
    tags = np.zeros(mesh.number_of_triangles, np.int64)
    for number, each in enumerate(boundary, 1):
        if each.kind == "PRES":
            tags[each.triangles] = number
        elif tags[each.triangles].any():
            text = f"{path}: elements with a pressure (PRES) have {each.kind} in a later line"
            if each.kind == "VELO":
                raise ProjectError(f"{text}: give one of the two")
            warnings.warn(f"{text}, which does not count", UserWarning, stacklevel=callers_level())
    sources, card = _sources(lines, card, counts)
    curves = _curves(lines, card)
    used = [each.value for each in boundary] + [each.amplitude for each in sources]
    for amplitude in used:
        missing = {amplitude.real_curve, amplitude.imaginary_curve} - {-1, *curves}
        if missing:
            raise ProjectError(f"{path}: curve {min(missing)} is used and not given under CURVES")
    return Project(
        path=path,
        title=title,
        frequencies=frequencies,
        speed_of_sound=speed,
        density=density,
        conjugate=conjugate,
        side=side,
        mesh=TriangleMesh(mesh.vertices, mesh.triangles, tags),
        boundary=boundary,
        sources=sources,
        curves=curves,
        grids=grids,
        mirrors=mirrors,
    )


def _frequencies(lines: Lines) -> NDArray[np.float64]:
    """The frequencies of control parameters II, number, increment and first step, by the curve that follows."""
    control = lines.next("control parameters II")
    count = control.whole(1, "the number of frequencies", 1)
    if count > MOST_FREQUENCIES:
        control.refuse(f"at most {MOST_FREQUENCIES} frequencies are solved")
    steps = control.real(3, "the first step") + control.real(2, "the increment") * np.arange(1, count + 1)
    head = lines.next("the frequency curve")
    points = [lines.next("a point of the frequency curve") for _ in range(head.whole(1, "the number of points", 1))]
    at = np.array([each.real(0, "a step") for each in points])
    hertz = np.array([each.real(1, "a frequency") for each in points])
    if (np.diff(at) <= 0).any():
        head.refuse("the steps of the frequency curve ascend")
    found = np.interp(steps, at, hertz)
    if (found <= 0).any():
        control.refuse(f"frequencies are positive, got {found.min():g} Hz: sound at 0 Hz has no wavelength")
    if len(np.unique(found)) < len(found):
        control.refuse("two steps have one frequency: does the frequency curve reach as far as the steps?")
    return np.asarray(found)


def _main_parameters(lines: Lines) -> tuple[_Counts, str, tuple[float, float, bool]]:
    """The counts, the side of the sound, and speed, density and whether the time factor is exp(+i omega t)."""
    first = lines.next("main parameters I")
    elements, nodes = first.whole(1, "the number of elements", 1), first.whole(2, "the number of nodes", 1)
    planes = first.whole(4, "the number of symmetry planes")
    second = lines.next("main parameters II")
    counts = _Counts(
        elements, nodes, planes, second.whole(0, "the number of plane waves"),
        second.whole(1, "the number of point sources"),
    )  # fmt: skip
    inside = second.whole(2, "the kind of problem, 0 outside, 1 inside,")
    if inside > 1:
        second.refuse("the kind of problem is 0 outside and 1 inside")
    lines.next("main parameters III")
    fluid = lines.next("main parameters IV")
    speed, density = fluid.real(0, "the speed of sound"), fluid.real(1, "the density")
    if speed <= 0 or density <= 0:
        fluid.refuse("the speed of sound and the density are positive")
    return counts, "interior" if inside else "exterior", (speed, density, fluid.real(2, "the time factor") == -1.0)


def _files(
    lines: Lines, card: Line, name: str, path: Path, root: Path, count: int
) -> tuple[list[tuple[Path, list[Line]]], Line]:
    """The lines of the files that a card names, each with its path, and the next card."""
    if card.words[0] != name:
        card.refuse(f"the card {name} is expected here")
    found: list[tuple[Path, list[Line]]] = []
    total = 0
    while True:
        line = lines.next("a file, or the next card")
        if line.words[0] in ("ELEMENTS", "SYMMETRY", "BOUNDARY"):
            break
        given = " ".join(line.words).replace("\\", "/")
        if "\0" in given:
            line.refuse("no path has a zero character")
        place = (path.absolute().parent / given).resolve()
        if not place.is_relative_to(root.resolve()):
            line.refuse(f"the file lies outside of the project, {root}: move it there")
        rows = Lines(place)
        size = rows.next("the number of lines").whole(0, "the number of lines")
        total += size
        if total > count:
            line.refuse(f"the files have {total} lines, and the header promises {count}")
        found.append((place, [rows.next(f"line {number + 1} of {size}") for number in range(size)]))
    if total != count:
        card.refuse(f"the files have {total} lines, and the header promises {count}")
    return found, line


def _symmetry(lines: Lines, card: Line, count: int) -> tuple[dict[str, str], Line]:
    """The planes of the card SYMMETRY with their parities, and the next card. count: that the header promises."""
    if (card.words[0] == "SYMMETRY") != (count > 0):
        card.refuse(
            f"the header promises {count} symmetry planes, which are under SYMMETRY, between ELEMENTS and BOUNDARY"
        )
    if not count:
        return {}, card
    kinds, places = lines.next("three numbers of planes"), lines.next("three coordinates of planes")
    found = {}
    for place, axis in enumerate("xyz"):
        kind = kinds.whole(place, "a kind of plane")
        if kind and kind not in PARITIES:
            kinds.refuse("a kind of plane is 0 (none), 1 or 3 (even), 2 or 4 (odd)")
        if kind and places.real(place, "a coordinate") != 0:
            places.refuse(
                f"mirrors go through the origin, and this one is {axis} = {places.words[place]}: move the mesh"
            )
        if kind:
            found[axis] = PARITIES[kind]
    if len(found) != count:
        kinds.refuse(f"the header promises {count} symmetry planes, and {len(found)} are given")
    return found, lines.next("BOUNDARY")


def _geometry(
    path: Path, nodes: list[tuple[Path, list[Line]]], elements: list[tuple[Path, list[Line]]]
) -> tuple[TriangleMesh, NDArray[np.int64], tuple[Grid, ...]]:
    """The surface, the number of the element of each triangle (n,), and the evaluation grids."""
    rows = [(line, place) for place, several in nodes for line in several]
    numbers = np.array([line.whole(0, "the number of a node") for line, _ in rows])
    points = np.array([[line.real(axis, "a coordinate") for axis in (1, 2, 3)] for line, _ in rows])
    order = np.argsort(numbers, kind="stable")
    if (same := np.flatnonzero(np.diff(numbers[order]) == 0)).size:
        rows[order[same[0] + 1]][0].refuse("another node has this number")
    triangles, owners, on_grid = list[list[int]](), list[int](), set[int]()
    for _, several in elements:
        for line in several:
            if not 7 <= len(line.words) <= 8:
                line.refuse("an element has its number, 3 or 4 nodes, its property, 0, and its group")
            element, *corners = (line.whole(place, "a node") for place in range(len(line.words) - 3))
            kind = line.whole(len(line.words) - 3, "the property")
            if kind == GRID:
                on_grid.update(corners)
            elif kind == BODY:
                triangles += [corners[:3]] if len(corners) == 3 else [corners[:3], [corners[0], *corners[2:]]]
                owners += [element] * (len(corners) - 2)
            else:
                line.refuse(f"elements have the property {BODY} on the body or {GRID} on a grid, got {kind}")
    if not triangles:
        raise ProjectError(f"{path}: no element has the property {BODY}, of the surface of a body")
    corners_of = np.array(triangles)
    used, local = np.unique(corners_of, return_inverse=True)
    wanted = np.concatenate([used, np.fromiter(on_grid, np.int64, len(on_grid))])
    there = np.searchsorted(numbers[order], wanted)
    known = numbers[order][np.minimum(there, len(numbers) - 1)] == wanted
    if not known.all():
        raise ProjectError(f"{path}: an element has node {wanted[~known][0]}, which no file of NODES has")
    mesh = TriangleMesh(points[order[there[: len(used)]]], local.reshape(corners_of.shape).astype(np.int64))
    if mesh.number_of_triangles != len(triangles):
        raise ProjectError(f"{path}: some elements have no area or occur twice: mend the mesh")
    grids, start = list[Grid](), 0
    for place, several in nodes:
        own = np.arange(start, start + len(several))
        start += len(several)
        own = own[np.isin(numbers[own], wanted[len(used) :])]
        if len(own):
            grids.append(Grid(place.parent.name, numbers[own], points[own]))
    return mesh, np.array(owners), tuple(grids)


def _amplitude(line: Line, place: int) -> Amplitude:
    """The value of a line from a place on: real part and its curve, imaginary part and its curve."""
    parts = line.words[place:]
    if "IMAG" in parts or "NEGA" in parts:
        line.refuse("the words IMAG and NEGA are not supported: write real part, curve, imaginary part, curve")
    if len(parts) != 4:
        line.refuse(f"a value has real part, curve, imaginary part and curve, -1 for none, got {len(parts)} words")
    curves = line.whole(place + 1, "a curve", -1), line.whole(place + 3, "a curve", -1)
    if (curves[0] == -1) != (curves[1] == -1):
        line.refuse("both parts have a curve, or none: -1 twice")
    return Amplitude(complex(line.real(place, "a real part"), line.real(place + 2, "an imaginary part")), *curves)


def _boundary(lines: Lines, card: Line, numbers: NDArray[np.int64]) -> tuple[tuple[Boundary, ...], Line]:
    """The lines of BOUNDARY, and the next card. numbers (n,): of the elements of triangles."""
    if card.words[0] != "BOUNDARY":
        card.refuse("the card BOUNDARY is expected here")
    found = list[Boundary]()
    while (line := lines.next("RETU, the end of BOUNDARY")).words[0] != "RETU":
        if line.words[0] != "ELEM" or line.words[2:3] != ("TO",) or len(line.words) < 6:
            line.refuse("a condition is ELEM first TO last KIND with a value")
        low, high, kind = line.whole(1, "an element"), line.whole(3, "an element"), line.words[4]
        if kind not in KINDS:
            line.refuse(f"the condition {kind} is not supported: {', '.join(KINDS)} are")
        value = _amplitude(line, 5)
        if kind == "IMPE" and (value.real_curve != -1 or value.value == 0):
            line.refuse("IMPE is a number that is not 0, without curves: give ADMI, its reciprocal")
        triangles = np.flatnonzero((numbers >= low) & (numbers <= high))
        if not len(triangles):
            line.refuse(f"the body has no elements from {low} to {high}")
        found.append(Boundary(kind, triangles, value))
    return tuple(found), lines.next("sources, CURVES, POST PROCESS or END")


def _sources(lines: Lines, card: Line, counts: _Counts) -> tuple[tuple[Source, ...], Line]:
    """The plane waves and point sources, and the next card."""
    found = list[Source]()
    for name, count in (("PLANE", counts.plane_waves), ("POINT", counts.point_sources)):
        if card.words[0] != name:
            if count:
                card.refuse(f"the header promises {count} under {name} {'WAVES' if name == 'PLANE' else 'SOURCES'}")
            continue
        for _ in range(count):
            line = lines.next(f"{count} lines of {name}")
            vector = np.array([line.real(place, "a coordinate") for place in (1, 2, 3)])
            if name == "PLANE" and not vector.any():
                line.refuse("the direction of a plane wave has a length")
            found.append(Source(name == "PLANE", vector, _amplitude(line, 4)))
        card = lines.next("CURVES, POST PROCESS or END")
    return tuple(found), card


def _curves(lines: Lines, card: Line) -> dict[int, Curve]:
    """The curves by number; ProjectError for cards other than CURVES, POST PROCESS and END."""
    found = dict[int, Curve]()
    if card.words[0] == "CURVES":
        count = lines.next("the number of curves").whole(0, "the number of curves")
        for _ in range(count):
            head = lines.next(f"{count} curves")
            points = [lines.next("a point of a curve") for _ in range(head.whole(1, "the number of points", 1))]
            at = np.array([each.real(0, "a frequency") for each in points])
            if (np.diff(at) <= 0).any():
                head.refuse("the frequencies of a curve ascend")
            found[head.whole(0, "the number of a curve")] = Curve(
                at, np.array([each.real(1, "a factor") for each in points])
            )
        card = lines.next("POST PROCESS or END")
    while card.words[0] == "POST":
        card = lines.next("END")
        card = card if card.words == ("END",) else Line(card.path, card.number, ("POST",))  # its lines say nothing here
    if card.words[0] != "END":
        card.refuse("this card is not supported: NODES, ELEMENTS, BOUNDARY, PLANE WAVES, POINT SOURCES, CURVES are")
    return found
