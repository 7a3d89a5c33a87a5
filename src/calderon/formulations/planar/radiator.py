"""Far fields of the functions of metal in layers, which are also what the functions receive of plane waves."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.floquet import transforms
from calderon.layers import Sections
from calderon.layers.parts import MetalParts, parts_of
from calderon.layers.radiation import SurfaceWave, residue_ratio, residue_ratios, responses, source_responses
from calderon.layers.rest_tables import Heights, height_at, heights_in
from calderon.layers.sections import OPEN
from calderon.quadrature import triangle_rule
from calderon.spaces import EdgeSpace

Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]


class Upright(NamedTuple):
    """Points (P, 2) of metal, their shares (P, nodes) of the nodes in z, and sparse (P, dimension) weights
    times the components x, y, z of functions there, and their divergence."""

    sections: Sections
    heights: Heights
    points: Floats
    shares: Floats
    parts: list[sp.csr_array]

    @staticmethod
    def of(sections: Sections, part: EdgeSpace, heights: Heights) -> "Upright":
        """The points of some rows of a table of functions, all within these heights."""
        rule = triangle_rule(8)
        corners = part.mesh.vertices[part.mesh.triangles[part.triangles]]
        places = (rule.barycentric @ corners).reshape(-1, 3)
        weights = (2 * rule.weights * part.mesh.areas[part.triangles, None]).ravel()
        values = part.values(rule.points)
        charges = np.broadcast_to(2 * part.scale[:, :, None], values.shape[:3])
        columns = np.broadcast_to(part.dofs[:, :, None], charges.shape)
        numbers = np.arange(len(places)).reshape(len(corners), 1, -1)
        kept, shape = columns >= 0, (len(places), part.dimension)
        coords = np.broadcast_to(numbers, charges.shape)[kept], columns[kept]
        parts = [
            sp.coo_array((each[kept] * weights[coords[0]], coords), shape).tocsr()
            for each in (values[..., 0], values[..., 1], values[..., 2], charges)
        ]
        return Upright(sections, heights, places[:, :2], heights.weights(places[:, 2]), parts)

    def responses(self, k: Complex, z: float) -> list[Any]:
        """Fields at the height z of currents at the nodes, for wavenumbers k (n,)."""
        return [source_responses(self.sections, k, z, node) for node in self.heights.nodes.tolist()]

    def ratios(self, wave: SurfaceWave, z: float) -> list[Any]:
        """How strongly currents at the nodes excite a wave, relative to horizontal ones at the height z."""
        return [residue_ratios(self.sections, wave, z, node) for node in self.heights.nodes.tolist()]

    def add(self, along: Complex, across: Complex, waves: Floats, unit: Floats, found: list[Any]) -> None:
        """Add E along the unit vectors (n, 2) of waves K (n, 2) and across them, of each function, (n, dimension):
        found: by nodes, what the current, the vertical current and the divergence make."""
        phases = np.exp(-1j * waves @ self.points.T)
        u, v = unit.T[:, :, None]
        for share, each in zip(self.shares.T, found, strict=True):
            x, y, z, charge = ((phases * share) @ part for part in self.parts)
            level, upright, divergence = (np.asarray(one).reshape(-1, 1) for one in each)
            along += level * (u * x + v * y) + upright * z + divergence * charge
            across += level * (u * y - v * x)


@dataclass(frozen=True, eq=False)
class Radiator:
    """Edge functions of metal; the last ones are the currents of probes at the places (x, y), of 1 A, from the ground
    to `height` in m, the lowest horizontal metal."""

    sections: Sections
    space: EdgeSpace
    height: float
    places: list[Any]

    @cached_property
    def _parts(self) -> MetalParts:
        return parts_of(self.sections, self.space.mesh, self.space.triangles)

    @cached_property
    def levels(self) -> list[tuple[float, EdgeSpace]]:
        """Heights z in m of interfaces with metal, from below, and the parts of functions there that stay there: what
        their charges radiate follows from their currents."""
        ends = ~np.isin(self.space.dofs, self._joining)
        return [(z, _only(self.space, rows, ends)) for z, rows in self._rows]

    @cached_property
    def upright(self) -> list[Upright]:
        """Vertical metal by layers, and the parts at interfaces of functions that join it."""
        rows, layers, joining = self._parts.vertical, self._parts.layers, np.isin(self.space.dofs, self._joining)
        found = []
        for n in np.unique(layers).tolist():
            z = self._z[rows[layers == n]]
            heights = heights_in(self.sections, n, float(z.min()), float(z.max()))
            found.append(Upright.of(self.sections, self.space.taken(rows[layers == n]), heights))
        for z, rows in self._rows if len(self._joining) else []:
            some = rows[joining[rows].any(axis=1)]
            if len(some):
                part = _only(self.space, some, joining)
                found.append(Upright.of(self.sections, part, height_at(self.sections, z, 0)))
        return found

    @cached_property
    def _joining(self) -> NDArray[np.int64]:
        """Functions of horizontal and of vertical triangles."""
        dofs = self.space.dofs
        both = np.intersect1d(dofs[self._parts.horizontal], dofs[self._parts.vertical])
        return np.asarray(both[both >= 0])

    @cached_property
    def _z(self) -> Floats:
        """(n, 3) heights of the vertices of each row."""
        return np.asarray(self.space.mesh.vertices[self.space.mesh.triangles[self.space.triangles], 2])

    @cached_property
    def _rows(self) -> list[tuple[float, NDArray[np.int64]]]:
        """Heights of interfaces with metal, from below, and the rows there."""
        rows, faces = self._parts.horizontal, self.sections.high[:-1]
        if not len(rows):
            return []
        numbers = np.abs(self._z[rows, :1] - faces).argmin(axis=1)
        return [(float(faces[n]), rows[numbers == n]) for n in np.unique(numbers)]

    def _plane(self, side: int) -> float:
        """The height above or below which there is no metal and no layer."""
        if side:
            return max(float(self.sections.low[-1]), float(self._z.max()))
        return min(float(self.sections.high[0]), float(self._z.min()))

    def radiates(self, side: int) -> bool:
        """Whether there is a half-space without loss above (side -1) or below (0)."""
        return bool(self.sections.ends[side] == OPEN and self.sections.wavenumbers[side].imag == 0)

    def impedance(self, side: int) -> float:
        """Wave impedance in ohm of the half-space on a side."""
        return VACUUM_IMPEDANCE * float(np.sqrt(self.sections.mu[side] / self.sections.eps[side]).real)

    def amplitudes(self, radial: Floats, around: Floats, side: int) -> Complex:
        """(n, 2, dimension) F along theta-hat and phi-hat in V of each function, in directions (n, 3) of a half-space
        with phi-hat `around` (n, 3): E ~ F exp(i k r) / r, by stationary phase."""
        sections = self.sections
        k, plane = sections.wavenumbers[side].real, self._plane(side)
        c, size = radial[:, 2, None], k * np.linalg.norm(radial[:, :2], axis=1) + 0j
        outward = np.stack([around[:, 1], -around[:, 0]], axis=1)
        waves = np.ascontiguousarray(k * radial[:, :2])
        along, across = np.zeros((2, len(radial), self.space.dimension), complex)
        for z, part in self.levels:
            found = responses(sections, size, plane, z, bool(self.places) and z == self.height)
            both = transforms(part, waves, outward)
            along += found.tm[:, None] * both[0]
            across += found.te[:, None] * both[1]
            if self.places and z == self.height:
                along[:, -len(self.places) :] += found.vertical[:, None] * self._phases(waves)
        for upright in self.upright:
            upright.add(along, across, waves, outward, upright.responses(size, plane))
        factor = -1j * k * np.abs(c) / (2 * np.pi) * VACUUM_IMPEDANCE * np.exp(-1j * k * c * plane)
        return np.stack([factor / c * along, factor * across], axis=1)

    def received(self, radial: Floats, around: Floats, side: int) -> Complex:
        """(n, 2, dimension) int f . E in V m of plane waves of 1 V/m from these directions, with the field that the
        stack reflects and transmits, polarised along theta-hat and phi-hat; the phase is 0 at the origin without the
        stack. By reciprocity 4 pi F / (i omega mu)."""
        mu = VACUUM_IMPEDANCE * self.sections.k0 * self.sections.mu[side]
        return np.asarray(4 * np.pi / (1j * mu) * self.amplitudes(radial, around, side))

    def launched(self, wave: SurfaceWave, phi: Floats) -> Complex:
        """(n, dimension) currents at the lowest metal that excite a surface wave as each function does, toward phi."""
        unit = np.stack([np.cos(phi), np.sin(phi)], axis=1)
        k, number = wave.k.real * unit, 0 if wave.kind == "TM" else 1
        both = np.zeros((2, len(phi), self.space.dimension), complex)
        for z, part in self.levels:
            both[number] += residue_ratio(self.sections, wave, self.height, z) * transforms(part, k, unit)[number]
        for upright in self.upright:
            upright.add(both[0], both[1], k, unit, upright.ratios(wave, self.height))
        out = both[number]
        if self.places:
            out[:, -len(self.places) :] += wave.vertical * self._phases(k)
        return np.asarray(out)

    def _phases(self, k: Floats) -> Complex:
        """(n, probes) transforms of unit currents at the places of probes."""
        return np.asarray(np.exp(-1j * k @ np.array(self.places, dtype=float).T))


def _only(space: EdgeSpace, rows: NDArray[np.int64], kept: NDArray[np.bool_]) -> EdgeSpace:
    """Some rows of the table, with the local functions that are kept (n, 3)."""
    part = space.taken(rows)
    return replace(part, dofs=np.where(kept[rows], part.dofs, -1), signs=np.where(kept[rows], part.signs, 0.0))
