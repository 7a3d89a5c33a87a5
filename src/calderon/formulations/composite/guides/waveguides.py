"""Waveguide ports of composite bodies: planes at which the guide goes on, with its modes as fields.

On the plane of a port, with the normal n into the region and modes e_n of int |e|^2 = 1 and the admittances Y_n, waves
of the amplitudes a into the region and b out of it are

    E_t = sum v_n e_n,  v = a + b,      n x H = J,  int e_n . J = -Y_n (a_n - b_n),      M = -sum v_n n x e_n.      (1)

Behind the plane there is no field: principal values are half the traces. So the modes are magnetic currents of
`equation`, with the unknowns v, and to its matrix comes

    [[0, -B / 2], [-B' / 2, Y]],      B_fn = int f . e_n,        to its right-hand side 2 Y a in the rows of v,     (2)

which stays complex symmetric. Decaying modes have a = 0. n x e is projected on the edge functions of the plane, and e
so scaled that this has the norm 1: J holds as much of a mode, and a guide that goes on does not reflect (WR-90 at 10
GHz, 3.5 mm triangles: -62 dB; without the scale -35 dB).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.composite.guides.modes import POINTS, Mode, aligned, waveguide_modes
from calderon.formulations.composite.junctions import Junctions, RegionTraces
from calderon.formulations.composite.surfaces import WaveguidePort
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.solvers import sparse_inverse

Complex = NDArray[np.complex128]
DECAY = 30.0
"""Decay in dB over half of the width of the plane up to which modes are kept."""


@dataclass(frozen=True, eq=False)
class Opening:
    """The modes of one port. region: its number; weights (dimension, n): int f . e of the functions of the region, and
    currents (dimension, n): the coefficients of -n x e."""

    region: int
    modes: tuple[Mode, ...]
    weights: NDArray[np.float64]
    currents: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Waveguides:
    """The ports of a body with their modes; media: of its regions, with wavenumbers and relative impedances."""

    junctions: Junctions
    media: tuple[Region, ...]
    ports: tuple[WaveguidePort, ...]
    numbers: tuple[int, ...]
    """(p,) the number of the surface of each port."""

    @cached_property
    def openings(self) -> tuple[Opening, ...]:
        """The modes of each port."""
        return tuple(self._opening(*each) for each in zip(self.ports, self.numbers, strict=True))

    @property
    def dimension(self) -> int:
        """Number of all modes."""
        return sum(len(each.modes) for each in self.openings)

    @cached_property
    def admittances(self) -> Complex:
        """(modes,) Y relative to the admittance of the surroundings."""
        return np.array(
            [
                mode.admittance(self.media[each.region].wavenumber) / self.media[each.region].impedance
                for each in self.openings
                for mode in each.modes
            ]
        )

    @cached_property
    def driven(self) -> NDArray[np.int64]:
        """(d,) numbers of the modes that are fed, those of each port in turn."""
        starts = np.cumsum([0, *(len(each.modes) for each in self.openings)])
        found = [start + np.arange(port.waves) for start, port in zip(starts, self.ports, strict=False)]
        return np.concatenate(found).astype(np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        """(d,) of the modes that are fed."""
        tags = list(self.junctions.skeleton.surfaces)
        found = []
        for port, number, opening in zip(self.ports, self.numbers, self.openings, strict=True):
            called = str(tags[number])
            kinds = [f"{called}, {mode.kind} {n}" for n, mode in enumerate(opening.modes[: port.waves], 1)]
            found += [called] if port.waves == 1 else kinds
        return tuple(found)

    @property
    def _places(self) -> NDArray[np.int64]:
        """(d,) numbers of the unknowns of fed modes: modes follow the functions of surfaces."""
        return self.junctions.dimension + self.driven

    def traces(self, given: Sequence[RegionTraces]) -> tuple[RegionTraces, ...]:
        """Currents of the regions, with those of modes as the last unknowns."""
        low = before = self.junctions.dimension
        found = [each.widened(before + self.dimension) for each in given]
        for each in self.openings:
            own, count = found[each.region], len(each.modes)
            columns = sp.csr_array(each.currents)
            shape = (columns.shape[0], before + self.dimension - low - count)
            placed = sp.hstack([sp.csr_array((columns.shape[0], low)), columns, sp.csr_array(shape)])
            found[each.region] = replace(own, magnetic=(own.magnetic + placed).tocsr())
            low += count
        return tuple(found)

    def matrix(self, given: Sequence[RegionTraces]) -> sp.csr_array:
        """(unknowns, unknowns) equation (2), with the traces of all regions."""
        unknowns = given[0].electric.shape[1]
        low, high = self.junctions.dimension, self.junctions.dimension + self.dimension
        parts = [given[each.region].electric.T @ sp.csr_array(each.weights) for each in self.openings]
        b = sp.hstack([sp.csr_array((unknowns, low)), *parts, sp.csr_array((unknowns, unknowns - high))]).tocsr()
        diagonal = np.concatenate([np.zeros(low), self.admittances, np.zeros(unknowns - high)])
        return (sp.diags_array(diagonal) - 0.5 * (b + b.T)).tocsr()

    def _volts(self, amplitudes: Complex, ohms: float) -> tuple[Complex, Complex]:
        """(d,) the amplitudes a of equation (1) in V, and Y in S."""
        y = self.admittances[self.driven] / ohms
        return amplitudes / np.sqrt(y.real), y

    def right_hand_side(self, amplitudes: Complex, unknowns: int, ohms: float) -> Complex:
        """(unknowns,) of equation (2); ohms: the impedance around."""
        found = np.zeros(unknowns, np.complex128)
        a, y = self._volts(amplitudes, ohms)
        found[self._places] = 2 * y * ohms * a
        return found

    def terminals(self, amplitudes: Complex, x: Complex, ohms: float) -> tuple[Complex, Complex]:
        """(d,) v in V and Y (a - b) in A of fed modes, whose power is Re v conj(i) / 2; x: all unknowns."""
        a, y = self._volts(amplitudes, ohms)
        v = x[self._places]
        return v, y * (2 * a - v)

    def waves(self, v: Complex, i: Complex, ohms: float) -> tuple[Complex, Complex]:
        """The waves a into the region and b out of it, in W^(1/2), from the `terminals` (d, n) of solutions."""
        y = (self.admittances[self.driven] / ohms)[:, None]
        root = np.sqrt(y.real) / 2
        return (v + i / y) * root, (v - i / y) * root

    def _opening(self, port: WaveguidePort, number: int) -> Opening:
        skeleton, region = self.junctions.skeleton, self.junctions.skeleton.names.index(port.region)
        chosen = np.flatnonzero(skeleton.kinds[skeleton.triangles_of(region)] == number)
        walls, space = skeleton.walls[region], self.junctions.traces[region].space
        mesh, triangles = walls.mesh, walls.mesh.triangles[chosen]
        normals = mesh.normals[chosen]
        if port.into is None:
            normals = -walls.outward[chosen]
        else:
            normals = normals * np.sign(normals @ np.asarray(port.into))[:, None]
        normal = normals.mean(axis=0)
        if not np.allclose(normals, normal, atol=1e-6):
            raise ValueError(f"the waveguide port {self._called(number)!r} is not flat: cut the guide by a plane there")
        span = float(np.linalg.norm(np.ptp(mesh.vertices[triangles.ravel()], axis=0)))
        k = self.media[region].wavenumber
        decay = DECAY / 8.686 / (span / 2)
        modes = waveguide_modes(mesh.vertices, triangles, normal, float(np.hypot(abs(k), decay)))
        areas = mesh.areas[chosen]
        barycentric = np.column_stack([1 - POINTS.sum(axis=1), POINTS])
        places = np.einsum("ql,mlc->mqc", barycentric, mesh.vertices[triangles])
        modes = aligned(modes, areas, None if port.polarization is None else np.asarray(port.polarization), places)
        self._require_waves(port, number, modes, k)
        # fields at the points of all triangles of the region
        fields = np.zeros((len(modes), mesh.number_of_triangles, 3, 3))
        fields[:, chosen] = [each.field for each in modes]
        scale = np.repeat(mesh.areas[space.support] / 3, 3)
        parts = [part.T.tocsr() for part in space.expansion(POINTS)]
        tested = [sum(parts[c] @ (scale * each[space.support][:, :, c].ravel()) for c in range(3)) for each in fields]
        turned = -np.cross(normal, fields)
        loads = np.column_stack(
            [sum(parts[c] @ (scale * each[space.support][:, :, c].ravel()) for c in range(3)) for each in turned]
        )
        # projection on functions of which both triangles are in the plane
        inside = np.isin(space.pairs, chosen).all(axis=1)
        kept = np.flatnonzero(inside)
        mass = space.mass_matrix()[kept][:, kept]
        currents = np.zeros((space.dimension, len(modes)))
        currents[kept] = sparse_inverse(mass.tocsr()).matmat(loads[kept].astype(complex)).real
        norms = np.sqrt(np.einsum("fn,fn->n", currents, space.mass_matrix() @ currents))
        return Opening(region, tuple(modes), np.column_stack(tested) / norms, currents / norms)

    def _called(self, number: int) -> str:
        return str(list(self.junctions.skeleton.surfaces)[number])

    def _require_waves(self, port: WaveguidePort, number: int, modes: Sequence[Mode], k: complex) -> None:
        travelling = sum(abs(mode.beta(k).imag) <= abs(mode.beta(k).real) for mode in modes)
        if travelling < port.waves:
            cutoff = f"{modes[min(port.waves, len(modes)) - 1].cutoff:.5g}"
            raise ValueError(
                f"the waveguide port {self._called(number)!r} has {travelling} travelling mode(s) and feeds "
                f"{port.waves}: the cutoff of the last one is k = {cutoff} 1/m, and here k is {abs(k):.5g} 1/m: raise "
                "the frequency"
            )
