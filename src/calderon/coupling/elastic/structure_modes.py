"""Vibrations that stay without sources: modes of a structure in vacuo, and its resonances in a fluid.

Pressures p around a structure without sources solve

    [R + rho omega^2 B G (omega^2 M - S)^-1 N'] p = 0,     omega = c k,

with the operators R and B of Burton and Miller, continued to complex k: null vectors by contour integrals. The inverse
of this matrix is a part of that of the whole system, so that modes in vacuo, where S - omega^2 M has none, are no poles
of it. The equation has null vectors of its own, fields inside of the surface with p + eta dp/dn = 0: they are left out.
"""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.coupling.elastic.response import Response
from calderon.coupling.elimination import EliminatedSystem
from calderon.formulations.source_free import LEAKS, Mode, SourceFree
from calderon.greens import Helmholtz
from calderon.potentials import Potential, double_layer_potential, single_layer_potential
from calderon.spaces import Function
from calderon.spaces.volume_function import VolumeFunction, write_together
from calderon.validation import of_any_shape, one_or_more_points

COLUMNS = 30
"""Modes that are expected in a band at least: shells have more than Weyl's law of solids says."""


@dataclass(frozen=True, eq=False)
class StructureMode(Mode):
    """A vibration that stays without sources, in vacuo or in a fluid, where it radiates.

    wavenumber, frequency: as of `Mode`, k of the fluid. surface: n . u in m on the wet surface. coefficients (n,): the
    unknowns of the structure, the largest 1. displacements: of a body, along x, y and z in m. layers: potentials whose
    sum is the pressure outside, none in vacuo.
    """

    surface: Function
    coefficients: NDArray[np.complex128]
    displacements: tuple[VolumeFunction, ...] = ()
    layers: tuple[Potential, ...] = ()

    @of_any_shape
    def field(self, points: ArrayLike) -> NDArray[np.complex128]:
        """The pressure (n,) in Pa at points (n, 3) outside; 0 in vacuo."""
        x = one_or_more_points(points)
        return np.sum([np.zeros(len(x), np.complex128), *(each.evaluate(x) for each in self.layers)], axis=0)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the tetrahedra and their displacement for ParaView (.vtu), vectors at the nodes, which its filters turn
        into an animation. ValueError for a `Structure`."""
        if not self.displacements:
            raise ValueError("a Structure has no places: take mode.coefficients with its own shapes")
        write_together(path, self.displacements, "displacement")


class WetStructure(SourceFree[StructureMode]):
    """The equation of a structure in a fluid without sources. problem: an `ElasticScattering`."""

    absorbs = True

    def __init__(self, problem: Any) -> None:
        self.mesh, self.images = problem.surface.whole, len(problem.surface.parities)
        self.unknowns, self.speed = problem.unknowns, problem.fluid.speed_of_sound
        self.degree = problem.function_space.element.degree
        self._problem = problem

    def _omega(self, wavenumber: complex) -> complex:
        fluid = self._problem.fluid
        return fluid.speed_of_sound * wavenumber / (1 + 1j * fluid.loss)

    def _response(self, wavenumber: complex) -> Response:
        return self._problem.response_at(self._omega(wavenumber))

    def system(self, wavenumber: complex) -> EliminatedSystem:
        problem, omega = self._problem, self._omega(wavenumber)
        operator = problem.operator(Helmholtz.continued(wavenumber), omega)
        text = "Burton-Miller (I/2 - K + eta D) p + rho omega^2 (V + eta (I/2 + K')) n.u = 0"
        return EliminatedSystem(text, operator, problem.unknown_functions, elimination=self._response(wavenumber))

    def mode(self, wavenumber: complex, coefficients: NDArray[Any]) -> StructureMode:
        moved, pressures, slopes = self._response(wavenumber).state(coefficients)
        size = moved[np.abs(moved).argmax()]
        found = self._problem.surface_fields(pressures / size, slopes / size)[:2]
        green = Helmholtz.continued(wavenumber)
        layers = double_layer_potential(green, found[0]), single_layer_potential(green, -1 * found[1])
        omega = self._omega(wavenumber)
        normal = found[1] * (1 / (self._problem.fluid.density * omega**2))
        return shape(self._problem, wavenumber, omega, moved / size, normal, layers)

    def sizes(self, mode: StructureMode, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(mode.field(points))

    def expected(self, wavenumber: float) -> float:
        """Weyl's law of an elastic solid without its surface, V omega^3 / (6 pi^2) (1 / c_L^3 + 2 / c_T^3)."""
        body = self._problem.body
        if body is None:
            return COLUMNS * self.images
        lame, shear, density = (np.real(each) for each in body.constants)
        fast, slow = np.sqrt((lame + 2 * shear) / density), np.sqrt(shear / density)
        found = body.volume.volumes @ (fast**-3 + 2 * slow**-3) * abs(self._omega(wavenumber)) ** 3 / (6 * np.pi**2)
        return float(max(found, COLUMNS)) * self.images

    def _is_outside(self, mode: StructureMode) -> bool:
        """Whether a null vector is a field inside of the surface, and so no mode."""
        inside, outside = self._largest_sizes(mode)
        return inside > LEAKS * outside


def shape(
    problem: Any,
    wavenumber: complex,
    omega: complex,
    moved: NDArray[Any],
    normal: Function,
    layers: tuple[Potential, ...] = (),
) -> StructureMode:
    """The mode of displacements (n,) of the unknowns of an `ElasticScattering`."""
    unknowns = moved.astype(np.complex128)
    found = () if problem.body is None else problem.body.functions(unknowns)
    normal = Function(normal.space, normal.coefficients, "normal displacement", "m")
    return StructureMode(complex(wavenumber), complex(omega / (2 * np.pi)), normal, unknowns, found, layers)
