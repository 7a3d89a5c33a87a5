"""A head next to a phone: nested ellipsoids, a metallic box with a monopole, air around them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.constants import speed_of_light

from calderon.mesh.shapes.gmsh_session import gmsh_model
from calderon.mesh.shapes.gmsh_volumes import EDGE_GROWTH, MeshedModel, fill, keep_volume
from calderon.mesh.sizes import positive, positive_lengths, room_for_volume
from calderon.mesh.tetrahedra import TetrahedralMesh

TISSUES = ("skin", "skull", "csf", "brain")
"""From the outside in."""
PARTS = (*reversed(TISSUES), "air", "feed")
"""Names of the parts, by tag."""
REFRACTION = {"skin": 6.4, "skull": 3.5, "csf": 8.3, "brain": 7.3, "air": 1.0}
"""Wavelength in vacuum over that in tissue, about, at the frequencies of mobile phones."""
Corners = tuple[tuple[float, float, float], tuple[float, float, float]]


def phantom(
    frequency: float = 900e6,
    h: Mapping[str, float] | None = None,
    semi_axes: Sequence[float] = (0.100, 0.080, 0.115),
    thicknesses: Sequence[float] = (0.005, 0.007, 0.003),
    box: Sequence[float] = (0.050, 0.020, 0.110),
    distance: float = 0.010,
    width: float = 0.004,
    air_radius: float = 0.30,
) -> TetrahedralMesh:
    """A head next to a phone, in metres: x to the front, y to the ear, z up, the origin in the middle of the head.

    Parts "skin", "skull", "csf" and "brain" are nested ellipsoids (that of the skin has the given semi-axes, each
    further one is smaller by the layer's thickness), "air" surrounds them up to a sphere whose faces are called
    "outer". The phone is a metallic box with sides `box` at the `distance` from the ear, its top at z = 0, and on it a
    monopole: a bar of square cross-section, `width` wide, whose tip is a quarter of the vacuum wavelength above the
    box. Metal is not meshed; its faces are called "metal". The lowest piece of the monopole, as high as it is
    wide, is the part "feed": a port for `CurrentSource(part="feed", direction=[0, 0, 1], ...)`.

    h: lengths of edges in the parts, and at the "phone" and the "antenna", that replace those of `phantom_sizes`;
    edges grow slowly away from finer parts. Tissues have the volumes of the ellipsoids. Needs gmsh; runs for some
    seconds.

    Raises ValueError for lengths that are not positive, layers thicker than the head, a phone outside the
    air and unknown names in h; MemoryError for more tetrahedra than memory holds.
    """
    shape = _Shape(
        speed_of_light / positive("frequency", frequency) / 4,
        positive_lengths("semi_axes", semi_axes, 3),
        positive_lengths("thicknesses", thicknesses, 3),
        positive_lengths("box", box, 3),
        positive("distance", distance),
        positive("width", width),
        positive("air_radius", air_radius),
    )
    sizes = phantom_sizes(frequency, shape.width)
    if h is not None and not isinstance(h, Mapping):
        raise ValueError(f"h={h!r}: lengths by part are needed, such as h={{'brain': 0.008}}: {', '.join(sizes)}")
    for name, value in (h or {}).items():
        if name not in sizes:
            raise ValueError(f"h: unknown name {name!r}: choose {', '.join(map(repr, sizes))}")
        sizes[name] = positive(f"h[{name!r}]", value)
    shape.check()
    _require_room(shape, sizes)
    # tetrahedra, then ellipsoids of their exact volume
    vertices, groups, outer, metal = _meshed(shape, sizes)
    for n in range(len(TISSUES)):
        inside = np.concatenate([groups[each] for each in TISSUES[n:]])
        keep_volume(vertices, inside, shape.ellipsoids[n])
    # parts one after the other, in the order of PARTS
    counts = [len(groups[name]) for name in PARTS]
    return TetrahedralMesh(
        vertices,
        np.concatenate([groups[name] for name in PARTS]),
        np.repeat(np.arange(len(PARTS)), counts),
        {name: tag for tag, name in enumerate(PARTS)},
        np.concatenate([outer, metal]),
        np.repeat([0, 1], [len(outer), len(metal)]),
        {"outer": 0, "metal": 1},
    )


def phantom_sizes(frequency: float, width: float = 0.004) -> dict[str, float]:
    """Edge lengths of `phantom` in metres: five edges to the wavelength in tissue, at most a centimetre; ten in air,
    finer at the phone, the antenna and the feed."""
    wavelength, width = speed_of_light / positive("frequency", frequency), positive("width", width)
    sizes = {name: min(wavelength / REFRACTION[name] / 5, 0.010) for name in TISSUES}
    return sizes | {"air": wavelength / 10, "phone": wavelength / 28, "antenna": 1.5 * width, "feed": width}


@dataclass(frozen=True)
class _Shape:
    """Lengths in metres; monopole: from the box to its tip."""

    monopole: float
    semi_axes: list[float]
    thicknesses: list[float]
    box: list[float]
    distance: float
    width: float
    air_radius: float

    def check(self) -> None:
        if sum(self.thicknesses) >= min(self.semi_axes):
            raise ValueError(f"thicknesses={self.thicknesses!r}: their sum must be below the smallest semi-axis")
        if self.width >= min(self.box[:2]) or self.width >= self.monopole:
            raise ValueError(
                f"width={self.width!r} m: the monopole must be thinner than the box, {min(self.box[:2]):.4g} m, and "
                f"than its own length, a quarter of the wavelength, {self.monopole:.4g} m: choose a smaller width or a "
                "lower frequency"
            )
        corners = np.abs(np.array(self.metal)).max(axis=1)
        needed = max(*np.linalg.norm(corners, axis=1), *self.semi_axes)
        if self.air_radius <= needed:
            raise ValueError(
                f"air_radius={self.air_radius!r} m: more than {needed:.4g} m holds the head and the phone; all lengths "
                "are in metres"
            )

    @cached_property
    def ellipsoids(self) -> list[NDArray[np.float64]]:
        """Semi-axes from the skin to the brain."""
        return [np.array(self.semi_axes) - depth for depth in np.cumsum([0.0, *self.thicknesses])]

    @property
    def phone(self) -> Corners:
        x, y, z = self.box
        near = self.semi_axes[1] + self.distance
        return (-x / 2, near, -z), (x / 2, near + y, 0.0)

    @property
    def feed(self) -> Corners:
        return self._bar(0.0, self.width)

    @property
    def antenna(self) -> Corners:
        return self._bar(self.width, self.monopole)

    @property
    def metal(self) -> tuple[Corners, Corners]:
        return self.phone, self.antenna

    def _bar(self, low: float, high: float) -> Corners:
        middle, half = self.semi_axes[1] + self.distance + self.box[1] / 2, self.width / 2
        return (-half, middle - half, low), (half, middle + half, high)


def _require_room(shape: _Shape, sizes: dict[str, float]) -> None:
    """MemoryError if the mesh would not fit, estimated from edge lengths at 500 points of each part."""
    random, count = np.random.default_rng(0), 500
    directions = random.standard_normal((len(shape.ellipsoids) + 1, count, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    bounds = [np.full(3, shape.air_radius), *shape.ellipsoids, np.zeros(3)]
    contents, lengths = [], []
    for own, outer, inner in zip(directions, bounds[:-1], bounds[1:], strict=True):
        low = np.mean(inner / outer)
        part = np.cbrt(low**3 + (1 - low**3) * random.random((count, 1)))
        axes = inner + (outer - inner) * (part - low) / (1 - low)
        lengths += [_size(shape, sizes, *map(float, point)) for point in own * axes]
        contents += count * [4 / 3 * math.pi * float(np.prod(outer) - np.prod(inner)) / count]
    room_for_volume(contents, lengths)


def _meshed(
    shape: _Shape, sizes: dict[str, float]
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.int64]], NDArray[np.int64], NDArray[np.int64]]:
    """Vertices, tetrahedra by part, faces of the outer sphere and of the metal."""
    with gmsh_model("phantom") as gmsh:
        volumes = _volumes(gmsh, shape)
        fill(gmsh, lambda x, y, z: _size(shape, sizes, x, y, z))
        meshed = MeshedModel(gmsh)
        groups = {name: np.concatenate([meshed.elements(4, volume) for volume in own]) for name, own in volumes.items()}
        everything = [(3, volume) for own in volumes.values() for volume in own]
        surfaces = gmsh.model.getBoundary(everything, combined=True, oriented=False)
        outer = max(surfaces, key=lambda each: gmsh.model.getBoundingBox(*each)[3])[1]
        metal = np.concatenate([meshed.elements(3, surface) for _, surface in surfaces if surface != outer])
        return meshed.vertices, groups, meshed.elements(3, outer), metal


def _volumes(gmsh: Any, shape: _Shape) -> dict[str, set[int]]:
    """The model's volumes by part: a sphere without the metal, cut up by the feed and the ellipsoids."""
    occ = gmsh.model.occ
    metal = [_box(occ, *corners) for corners in shape.metal]
    rest = occ.cut([(3, occ.addSphere(0, 0, 0, shape.air_radius))], metal)[0]
    tools = [_box(occ, *shape.feed), *(_ellipsoid(occ, axes) for axes in shape.ellipsoids)]
    pieces = occ.fragment(rest, tools)[1]
    occ.synchronize()
    everything, feed, *heads = ({volume for _, volume in own} for own in pieces)
    inner = [*heads[1:], set()]
    tissues = {name: whole - less for name, whole, less in zip(TISSUES, heads, inner, strict=True)}
    return {**tissues, "feed": feed, "air": everything - feed - heads[0]}


def _box(occ: Any, low: Sequence[float], high: Sequence[float]) -> tuple[int, int]:
    return 3, occ.addBox(*low, *(b - a for a, b in zip(low, high, strict=True)))


def _ellipsoid(occ: Any, semi_axes: NDArray[np.float64]) -> tuple[int, int]:
    ball = 3, occ.addSphere(0, 0, 0, 1)
    occ.dilate([ball], 0, 0, 0, *semi_axes)
    return ball


def _size(shape: _Shape, sizes: dict[str, float], x: float, y: float, z: float) -> float:
    """Edge length at a point: the minimum of all parts' lengths, each of which grows with the distance from the
    part."""
    r = math.sqrt(x * x + y * y + z * z)
    levels = [math.sqrt((x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2) for a, b, c in shape.ellipsoids]
    found = sizes["air"]
    for n, tissue in enumerate(TISSUES):
        away = 0.0
        if levels[n] > 1:
            away = r * (1 - 1 / levels[n])
        elif n + 1 < len(levels) and 0 < levels[n + 1] < 1:
            away = r * (1 / levels[n + 1] - 1)
        found = min(found, sizes[tissue] + EDGE_GROWTH * away)
    for name, (low, high) in (("phone", shape.phone), ("antenna", shape.antenna), ("feed", shape.feed)):
        outside = (max(a - u, u - b, 0.0) for a, b, u in zip(low, high, (x, y, z), strict=True))
        found = min(found, sizes[name] + EDGE_GROWTH * math.hypot(*outside))
    return found
