"""Periodic cells: metal in planes of a stack of layers, repeated without end."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.floquet import (
    BlochFunctions,
    ImageParts,
    Lattice,
    NearPart,
    Plane,
    PlaneParts,
    admittances,
    directions,
    voltages,
)
from calderon.formulations.checks import warn_long_edges
from calderon.formulations.options import PlanChoices, SolveChoices, named_options
from calderon.formulations.periodic.cell_solution import CellSolution, CellSweep, FloquetOrders
from calderon.formulations.periodic.equation import CellEquation, CellOperator, spectra_of
from calderon.galerkin.layered.metal import LayeredMetal
from calderon.layers import Layer, Sections, Stack
from calderon.mesh import MeshError, TriangleMesh
from calderon.operators.methods import Plan
from calderon.validation import (
    broadcast,
    finite_number,
    instance,
    one_of,
    positive_length,
    real_number,
)
from calderon.view import Described

SIDES = ("above", "below")
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PeriodicCell(Described):
    """Thin metal on interfaces of a stack, repeated with two periods, and plane waves of any direction.

    mesh: of one cell, horizontal, in metres; metal may go on across the border, where opposite sides must have the same
    edges. period: in m, of a square, two along x and y, or two vectors (2, 2). stack: a `Stack`. sheet: the surface
    impedance of the metal in ohm.

        cell = PeriodicCell(planar.jerusalem_cross(8e-3, 1e-3, 3.2e-3, z=board.top), 12.5e-3, board)
        cell.reflection(12e9, theta=0.3, phi=0.0)        # 2 x 2
        print(cell.solve(12e9).reflected)                # all orders

    The equation is <f, E> = Z_s <f, J> for all RWG functions f, with exp(-i omega t). Waves are TM, with the electric
    field in the plane of incidence, or TE; at normal incidence that of TM is along (cos phi, sin phi), that of TE along
    (-sin phi, cos phi). Raises MeshError for overlapping elements, ValueError for metal off the interfaces or on walls.

    T. Cwik, R. Mittra, IEEE Trans. Antennas Propag. 35 (1987) 1226.
    """

    mesh: TriangleMesh
    period: ArrayLike
    stack: Stack
    sheet: complex = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        instance(self.mesh, TriangleMesh, "a cell needs a TriangleMesh")
        instance(self.stack, Stack, "a cell needs a Stack of layers")
        if np.abs(self.mesh.normals[:, 2]).min() < 1 - 1e-9:
            raise MeshError("metal of a periodic cell is horizontal: all normals must be along z")
        if np.real(finite_number(self.sheet, "the sheet impedance in ohm")) < 0:
            raise ValueError(
                f"the sheet impedance must not have a negative real part, which is gain, got {self.sheet!r}"
            )
        for z, _, _ in self.functions.planes():
            self._interface(z)

    @cached_property
    def functions(self) -> BlochFunctions:
        """The edge functions of the current."""
        return BlochFunctions.of(self.mesh, Lattice.of(self.period))

    @property
    def brief(self) -> str:
        """Unknowns, period and stack."""
        period = " x ".join(f"{1e3 * length:.4g}" for length in np.linalg.norm(self.functions.lattice.periods, axis=1))
        return f"{self.functions.dimension} unknowns, period {period} mm, {self.stack.brief}"

    @named_options
    def reflection(
        self, frequency: float, theta: float = 0.0, phi: float = 0.0, side: str = "above",
        **options: Unpack[SolveChoices],
    ) -> NDArray[Any]:  # fmt: skip
        """(2, 2) R, of the order (0, 0): R[p, q] is the wave of polarisation p (0: TM, 1: TE) for an incident one of q.

        frequency: in Hz. theta, phi: where the wave comes from, theta from the normal of the side ("above" or "below"),
        in radians. Entries are ratios of transverse electric fields, at the upper face of the stack (lower one for
        "below"): -1 for a conductor there, for TM as for TE. R is unitary if nothing is lost or goes elsewhere. Options
        as in `solve`.
        """
        return self.solve(frequency, theta, phi, side, **options).reflection

    @named_options
    def transmission(
        self, frequency: float, theta: float = 0.0, phi: float = 0.0, side: str = "above",
        **options: Unpack[SolveChoices],
    ) -> NDArray[Any]:  # fmt: skip
        """(2, 2) T, as `reflection`, from one face of the stack to the other, for the power of the waves: ratios of
        transverse electric fields times the roots of the ratios of wave admittances. ValueError over a wall."""
        return self.solve(frequency, theta, phi, side, **options).transmission

    @named_options
    def sweep(
        self, frequency: ArrayLike, theta: ArrayLike = 0.0, phi: ArrayLike = 0.0, side: str = "above",
        **options: Unpack[SolveChoices],
    ) -> CellSweep:  # fmt: skip
        """Reflection at several frequencies and directions, arrays that are broadcast against each other. Options as in
        `solve`."""
        f, t, p = broadcast({"frequency": frequency, "theta": theta, "phi": phi}, "in Hz and radians")
        points = zip(f.ravel().tolist(), t.ravel().tolist(), p.ravel().tolist(), strict=True)
        found = [self.solve(*each, side=side, **options) for each in points]
        through = all(each.transmitted is not None for each in found)
        return CellSweep(
            f,
            t,
            p,
            np.reshape([each.reflection for each in found], (*f.shape, 2, 2)),
            np.reshape([each.transmission for each in found], (*f.shape, 2, 2)) if through else None,
            np.reshape([each.power for each in found], (*f.shape, 2)),
        )

    @named_options
    def plan(
        self, frequency: float, theta: float = 0.0, phi: float = 0.0, side: str = "above",
        **options: Unpack[PlanChoices],
    ) -> Plan:  # fmt: skip
        """The plan of a solution, before memory is taken: bytes, seconds and unknowns; arguments as of `solve`."""
        return self._equation(self._arrival(frequency, theta, phi, side), spectra_of(options)).plan(**options)

    @named_options
    def solve(
        self, frequency: float, theta: float = 0.0, phi: float = 0.0, side: str = "above",
        **options: Unpack[SolveChoices],
    ) -> CellSolution:  # fmt: skip
        """Currents and all waves for incident TM and TE waves; arguments as for `reflection`.

        Options are those of every problem (`Problem.solve`), of which a cell takes rtol: Floquet waves are left out
        that are smaller than 10 rtol, by which reflections change by a hundredth of rtol; and those that say that the
        matrix is dense and has LU factors. Raises ValueError for frequency 0, theta of 90 degrees or more, a side that
        is a wall or absorbs, metal on a layer that conducts well, and where an order travels exactly along the surface
        (Wood's anomaly).
        """
        wave = self._arrival(frequency, theta, phi, side)
        sections = wave.sections
        functions, equation = self.functions, self._equation(wave, spectra_of(options))
        field = functions.spectra(wave.transverse[None], wave.first[None], wave.transverse)[:, 0]
        sides = np.zeros((functions.dimension, 2), dtype=complex)
        for plane in self._planes:
            level = 2 * wave.admittance * voltages(sections, wave.size, plane.z, wave.face)[:, 0]
            sides[plane.members] = (level[:, None] * field[:, plane.members].conj()).T
        solved = equation.solve_all(list(sides.T), **options)
        current = np.stack([x for x, _ in solved], axis=1)
        waves = {name: self._leaving(end, wave, current) for name, end in wave.ends.items()}
        other = SIDES[1 - SIDES.index(side)]
        coefficients = functions.combination(wave.transverse) @ current / VACUUM_IMPEDANCE
        return CellSolution(
            float(frequency), wave.theta, wave.phi, waves[side], waves.get(other), functions.halves, coefficients,
            max((info for _, info in solved), key=lambda info: info.residual),
        )  # fmt: skip

    def _arrival(self, frequency: float, theta: float, phi: float, side: str) -> "Arrival":
        """Layers and incident wave; the errors of `solve`."""
        sections = self.stack.at(positive_length(frequency, "frequency in Hz"))
        theta, phi = real_number(theta, "theta in radians"), real_number(phi, "phi in radians")
        if not 0 <= theta < np.pi / 2 * (1 - 1e-9):
            raise ValueError(
                f"theta = {theta!r}: angles of incidence are in radians, from 0 to less than pi / 2, which is 90 "
                "degrees, at which a wave travels along the surface"
            )
        found = {"above": (len(sections.eps) - 1, self.stack.top), "below": (0, 0.0)}
        ends = {name: found[name] for name in SIDES if isinstance(getattr(self.stack, name), Layer)}
        if one_of(side, SIDES, "side") not in ends:
            raise ValueError(f"side={side!r}: no wave comes from there, the stack ends with a wall")
        layer, face = ends[side]
        square = sections.eps[layer] * sections.mu[layer]
        if abs(square.imag) > 1e-12 * abs(square) or square.real <= 0:
            raise ValueError(
                f"side={side!r}: the half-space absorbs (eps_r {sections.eps[layer]:g}), so that no plane wave comes "
                "through it: use a lossless one"
            )
        first = np.array([np.cos(phi), np.sin(phi)])
        transverse = -np.real(sections.wavenumbers[layer]) * np.sin(theta) * first if theta else np.zeros(2)
        size = np.atleast_1d(np.linalg.norm(transverse))
        for number, _ in ends.values():
            self._refuse_anomaly(sections, number, transverse)
        LayeredMetal(sections, self.functions.halves).refuse_conductors()
        self._warn_of_long_edges(sections)
        admittance = admittances(sections, size, layer)[:, 0]
        return Arrival(sections, ends, theta, phi, layer, face, transverse, first, size, admittance)

    def _equation(self, arrival: "Arrival", spectra: float) -> CellEquation:
        sections = arrival.sections
        given = self.functions, self._planes, sections, self._slow_part(sections), arrival.transverse
        return CellEquation(CellOperator(*given, self.sheet, spectra), self.mesh)

    def _leaving(self, end: tuple[int, float], wave: "Arrival", current: NDArray[Any]) -> FloquetOrders:
        """The waves that leave through a half-space, by the number of its layer and its face."""
        (layer, face), sections = end, wave.sections
        k = float(np.real(sections.wavenumbers[layer]))
        lattice = self.functions.lattice
        orders = lattice.orders(wave.transverse, k)
        orders = orders[np.argsort(orders.any(axis=1), kind="stable")]
        waves = wave.transverse + orders @ lattice.reciprocal
        size = np.linalg.norm(waves, axis=1)
        along = np.concatenate([wave.first[None], directions(waves[1:])])
        field = self.functions.spectra(waves, along, wave.transverse)
        amplitudes = np.zeros((len(orders), 2, 2), dtype=complex)
        for plane in self._planes:
            line = voltages(sections, size, face, plane.z)
            away = field[:, :, plane.members] @ current[plane.members]
            amplitudes -= (line[:, :, None] * away).swapaxes(0, 1) / lattice.area
        through = 2 * wave.admittance * voltages(sections, size[:1], face, wave.face)[:, 0]
        amplitudes[0] += np.diag(through - 1 if layer == wave.layer else through)
        out = np.real(admittances(sections, size, layer))
        amplitudes *= np.sqrt(out.T[:, :, None] / np.real(wave.admittance))
        theta = np.arcsin(np.minimum(size / k, 1.0))
        phi = np.where(size > 0, np.arctan2(waves[:, 1], waves[:, 0]), 0.0)
        return FloquetOrders(orders, theta if layer else np.pi - theta, phi, amplitudes)

    @cached_property
    def _planes(self) -> tuple[Plane, ...]:
        """Metal by height, from below."""
        return tuple(Plane(self._interface(z), members) for z, _, members in self.functions.planes())

    @cached_property
    def _near(self) -> tuple[NearPart, ...]:
        """Near parts of each plane, which depend on the mesh and the period alone."""
        return tuple(NearPart.of(self.functions, level) for _, level, _ in self.functions.planes())

    def _slow_part(self, sections: Sections) -> ImageParts | PlaneParts:
        """The part of the field that is summed in space, next to thin layers with their images."""
        heights = [plane.z for plane in self._planes]
        return ImageParts.of(self.functions, heights, sections) or PlaneParts(self._near, heights, sections)

    def _interface(self, z: float) -> float:
        """The interface of the stack at z; ValueError without, and for walls."""
        faces = self.stack.interfaces
        near = int(np.abs(faces - z).argmin())
        if abs(faces[near] - z) > 1e-6 * self.functions.lattice.spacing:
            text = ", ".join(f"{each:g}" for each in faces)
            raise ValueError(f"metal at z = {z:g} m is off every interface: those of this stack are at z = {text} m")
        for wall, number in ((self.stack.below, 0), (self.stack.above, len(faces) - 1)):
            if near == number and not isinstance(wall, Layer):
                raise ValueError(
                    f"metal at z = {z:g} m lies on the wall of the stack: put it on another interface, for example "
                    f"z=stack.top, here {self.stack.top:g} m"
                )
        return float(faces[near])

    def _refuse_anomaly(self, sections: Sections, layer: int, transverse: Floats) -> None:
        """ValueError where an order has k_z = 0 in that layer."""
        square = complex(sections.wavenumbers[layer]) ** 2
        orders = self.functions.lattice.orders(transverse, 1.01 * abs(square) ** 0.5)
        size = np.linalg.norm(transverse + orders @ self.functions.lattice.reciprocal, axis=1)
        found = np.flatnonzero(np.abs(size**2 - square) < 1e-9 * abs(square))
        if len(found):
            raise ValueError(
                f"the Floquet order {tuple(orders[found[0]].tolist())} travels exactly along the surface (Wood's "
                "anomaly), where the field is not determined: change the frequency or the angle a little"
            )

    def _warn_of_long_edges(self, sections: Sections) -> None:
        """A warning where edges are longer than an eighth of the wavelength next to the metal."""
        sides = [sections.layer_of(plane.z, side) for plane in self._planes for side in ("below", "above")]
        warn_long_edges(self.mesh, sections.densest_of(sides), 2**0.5)  # the diagonal of a square


class Arrival(NamedTuple):
    """A plane wave at a frequency: the layers, layer and face of each half-space by its side, its direction, its layer
    and face, k_t (2,) in 1/m, the unit vector `first` of the transverse electric field of TM, |k_t| (1,), and the wave
    admittances (2,) of TM and TE."""

    sections: Sections
    ends: dict[str, tuple[int, float]]
    theta: float
    phi: float
    layer: int
    face: float
    transverse: Floats
    first: Floats
    size: Floats
    admittance: NDArray[np.complex128]
