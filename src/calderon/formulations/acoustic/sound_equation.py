"""The equation of sound on one side of a surface whose walls move, yield, or have a given pressure.

With nu the unit normal into the fluid, s = 1 outside and -1 inside of the surface, n = s nu its own normal, and
r = dp/dnu,

    (I/2 - s K + eta D) p + (V + eta (I/2 + K')) r = p_inc + eta dp_inc/dn,    p = p_inc + s (double layer of p)
                                                                                  - (single layer of r),

eta = i / Re k outside (Burton and Miller), 0 inside. r = i omega rho (v - p / Z) where a velocity v or an impedance Z
is given, and there p is unknown; boundary layers have a sparse operator of p instead of 1 / Z (`Losses`); where p is
given, r is. All rows are tested with continuous functions on the whole surface. Trial functions of r live on their part
alone, so that it may jump between parts: by functions that are cut along the edges of parts (`Pieces`). With mirrors
all spaces are on the whole surface, unknowns are those of functions of the part with their images
(`MirroredFunctions`), and rows are those of the part. A. J. Burton and G. F. Miller, Proc. R. Soc. Lond. A 323 (1971)
201.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.acoustic.conditions.impedances import admitted
from calderon.formulations.acoustic.conditions.losses import Losses, joined
from calderon.formulations.acoustic.conditions.wall_conditions import SoundPressure
from calderon.formulations.acoustic.conditions.wall_values import is_constant, values_on
from calderon.formulations.acoustic.conditions.walls import ConditionedWall
from calderon.formulations.acoustic.fluid import Fluid
from calderon.formulations.mirrors import MirroredSurface
from calderon.greens import Helmholtz
from calderon.operators import (
    BoundaryOperator,
    adjoint_double_layer,
    blocks,
    double_layer,
    hypersingular,
    identity,
    single_layer,
)
from calderon.operators.blocks import transformed
from calderon.potentials import Potential, double_layer_potential, single_layer_potential
from calderon.spaces import Function, Space
from calderon.spaces.lagrange import discontinuous
from calderon.spaces.mirror_images import MirroredFunctions
from calderon.spaces.pieces import Pieces

Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Reaction:
    """r = -i omega rho p / Z of walls that yield.

    space: functions that are cut along parts. whole (n,): the function of pressure that each is a piece of. slopes
    (n,): -i omega rho / Z at their nodes, in 1/m.
    """

    space: Space
    whole: NDArray[np.int64]
    slopes: Complex

    def of_pressure(self, functions: NDArray[np.int64]) -> sp.csr_array:
        """(n, m) r from the coefficients of some functions of pressure (m,), distinct and ascending."""
        place = np.searchsorted(functions, self.whole)
        rows = np.flatnonzero(functions[np.minimum(place, len(functions) - 1)] == self.whole)
        return sp.csr_array((self.slopes[rows], (rows, place[rows])), shape=(len(self.whole), len(functions)))

    @cached_property
    def mean(self) -> complex:
        """The mean of -i omega rho / Z over the whole surface."""
        return complex(self.space.load_vector(1.0) @ self.slopes / self.space.mesh.areas.sum())


@dataclass(frozen=True, eq=False)
class SoundEquation:
    """The equation for the unknown coefficients of p and of r.

    space: P1 or P2, of pressures, and of all test functions, on the whole surface. wavenumber: k. fluid: rho and c.
    sign: s. eta: in m. walls: those of the part that are not rigid. surface: the part and the whole. continued: whether
    k may be any complex number near the real axis, at which omega is complex, too, and impedances are continued by
    their laws.
    """

    space: Space
    wavenumber: complex
    fluid: Fluid
    sign: float
    eta: complex
    walls: Sequence[ConditionedWall]
    surface: MirroredSurface
    continued: bool = False

    @property
    def green(self) -> Helmholtz:
        return Helmholtz.continued(self.wavenumber) if self.continued else Helmholtz(self.wavenumber)

    @property
    def omega(self) -> complex:
        """The angular frequency in 1/s; c k / (1 + i loss) where it is continued."""
        if self.continued:
            return self.fluid.speed_of_sound * self.wavenumber / (1 + 1j * self.fluid.loss)
        return self.fluid.angular_frequency(self.wavenumber)

    @property
    def inertia(self) -> complex:
        """i omega rho: the slope of the pressure over the velocity, both along nu."""
        return 1j * self.omega * self.fluid.density

    def homogeneous(self, wavenumber: complex, fluid: Fluid) -> "SoundEquation":
        """This equation without what is known, continued to a complex wavenumber in a fluid with loss."""
        silent = [
            replace(each, velocity=None, pressure=None if each.pressure is None else SoundPressure(0.0))
            for each in self.walls
        ]
        return replace(self, wavenumber=wavenumber, fluid=fluid, walls=silent, continued=True)

    def layers(self, pressure: Function, *slopes: Function | None) -> tuple[Potential, ...]:
        """Potentials whose sum is the field of p, and r in parts, on the surface without that of sources."""
        parts = [each for each in slopes if each is not None]
        if self.surface.is_baffle:  # the image of a plate in the plane is the plate
            return tuple(single_layer_potential(self.green, -2 * each) for each in parts)
        return (
            double_layer_potential(self.green, self.sign * pressure),
            *(single_layer_potential(self.green, -1 * each) for each in parts),
        )

    @cached_property
    def moving(self) -> Function | None:
        """i omega rho v of walls with a velocity, in Pa/m; None without any. P0 where all are constant on triangles,
        else DP1."""
        walls = [each for each in self.walls if each.velocity is not None]
        if not walls:
            return None
        part = self.surface.part
        given = [each.velocity.at(self.omega) for each in walls]  # type: ignore[union-attr, arg-type]
        constant = all(is_constant(each, part) for each in given)
        space = discontinuous(self._part(np.concatenate([each.triangles for each in walls])), 0 if constant else 1)
        values = np.zeros((part.number_of_triangles, space.element.size), np.complex128)
        for wall, velocity in zip(walls, given, strict=True):
            values[wall.triangles] = values_on(wall, space.element.nodes, velocity, "a velocity")
        slopes = self.inertia * self.surface.extended(values, space.element)[space.triangles].ravel()
        return Function(space, slopes, "slope of the pressure by moving walls", "Pa/m")

    @cached_property
    def reaction(self) -> Reaction | None:
        """Walls with an impedance; None without any."""
        walls = [each for each in self.walls if each.impedance is not None]
        if not walls:
            return None
        part = self._part(np.concatenate([each.triangles for each in walls]))
        total, size = self.surface.part.number_of_triangles, part.element.size
        group, slopes, groups = np.zeros(total, np.int64), np.zeros((total, size), np.complex128), 0
        for wall in walls:
            given = wall.impedance.at(self.omega, self.fluid)  # type: ignore[union-attr]
            z = values_on(wall, part.element.nodes, given, "an impedance", infinite=True)
            gain = wall.impedance.gain or self.continued  # type: ignore[union-attr]
            own = admitted(z, wall.name, gain, "for Z = 0 take SoundPressure(0)") * -self.inertia
            slopes[wall.triangles] = own
            number = np.zeros(len(own), np.int64)
            if np.ndim(given):  # values by triangle jump between triangles, too
                by_triangle = len(given) == total
                number = np.unique(own[:, 0], return_inverse=True)[1].ravel() if by_triangle else number
            group[wall.triangles] = groups + number
            groups += int(number.max()) + 1
        group = np.tile(group, len(self.surface.parities))
        slopes = self.surface.extended(slopes, part.element, scalar=True)
        pieces = Pieces.of(part, group[part.triangles], groups)
        cut: Any = pieces.space
        whole = len(cut.triangles) == len(group) and groups == 1
        space = self.space if whole else replace(part, dofs=cut.dofs, dimension=cut.dimension)
        # a piece has the mean of its triangles, weighted by their areas
        weights = np.repeat(part.mesh.areas[cut.triangles], size)
        numbers, values = space.dofs.ravel(), slopes[cut.triangles].ravel() * weights
        parts = [np.bincount(numbers, each, space.dimension) for each in (values.real, values.imag, weights)]
        return Reaction(space, pieces.whole, (parts[0] + 1j * parts[1]).astype(np.complex128) / parts[2])

    @cached_property
    def losses(self) -> Losses | None:
        """Walls with boundary layers; None without any."""
        walls = [each for each in self.walls if each.layers is not None]
        if not walls:
            return None
        found = [
            (self.surface.images_of(each.triangles), each.layers.thickness(self.omega, self.fluid))  # type: ignore[union-attr]
            for each in walls
        ]
        return Losses.of(self._part(np.concatenate([each.triangles for each in walls])), found, self.wavenumber)

    @cached_property
    def given(self) -> Function | None:
        """The pressure in Pa at nodes of walls where it is given, between different ones the mean by area, and 0
        elsewhere; None without such walls."""
        walls = [each for each in self.walls if each.pressure is not None]
        if not walls:
            return None
        space, number = self.space, self.surface.part.number_of_triangles
        values, held = np.zeros((number, space.element.size), np.complex128), np.zeros(number, bool)
        for wall in walls:
            values[wall.triangles] = values_on(wall, space.element.nodes, wall.pressure.value, "a sound pressure")  # type: ignore[union-attr]
            held[wall.triangles] = True
        values = self.surface.extended(values, space.element)
        areas = np.repeat(space.mesh.areas * np.tile(held, len(self.surface.parities)), space.element.size)
        total, weight = np.zeros(space.dimension, np.complex128), np.zeros(space.dimension)
        np.add.at(total, space.dofs.ravel(), values.ravel() * areas)
        np.add.at(weight, space.dofs.ravel(), areas)
        return Function(space, total / np.where(weight > 0, weight, 1.0), "given pressure", "Pa")

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """(dimension,) whether the pressure of a function is given."""
        found = np.zeros(self.space.dimension, bool)
        for wall in self.walls:
            if wall.pressure is not None:
                found[self.space.dofs[self.surface.images_of(wall.triangles)]] = True
        return found

    @cached_property
    def released(self) -> Space | None:
        """The space of unknown r, where the pressure is given; None without such walls. As many functions as pressures
        are given, in the same order."""
        triangles = [each.triangles for each in self.walls if each.pressure is not None]
        if not triangles:
            return None
        part = self._part(np.concatenate(triangles))
        numbers = np.cumsum(self.held) - 1
        return replace(part, dofs=numbers[part.dofs], dimension=int(np.count_nonzero(self.held)))

    @cached_property
    def functions(self) -> MirroredFunctions:
        """The functions of pressure of the part, by which all is tested, with their images."""
        return self.surface.functions(self.space)

    @cached_property
    def unknowns(self) -> tuple[MirroredFunctions, ...]:
        """The functions of the unknowns: of p, and of r."""
        free = self.functions.among(~self.held)
        found = [free] if free.dimension else []
        return (*found, *([] if self.released is None else [self.surface.functions(self.released)]))

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The test functions in the order of the rows: those of unknown p, and those of unknown r."""
        held = self.held[self.functions.functions]
        return np.concatenate([np.flatnonzero(~held), np.flatnonzero(held)])

    def operator(self) -> BoundaryOperator:
        """The operator of the unknowns."""
        free, table = ~self.held, []
        for rows in (self.functions.among(free), self.functions.among(self.held)):
            if not rows.dimension:
                continue
            test, row = rows.part, []
            for each in self.unknowns:
                whole = self.fluxes(each.space, test) if each.space is self.released else self.pressures(free, test)
                row.append(transformed(whole, right=each.images))
            table.append(row)
        return table[0][0] if len(table) == 1 else blocks(table)

    def known(self) -> tuple[BoundaryOperator, Complex] | None:
        """The operator of what is known, tested with the functions of the part, and its coefficients; None where
        nothing is."""
        row, values, test = [], [], self.functions.part
        if self.given is not None and np.any(self.given.coefficients):
            row.append(self.pressures(self.held, test))
            values.append(self.given.coefficients[self.held])
        if self.moving is not None and np.any(self.moving.coefficients):
            row.append(self.fluxes(self.moving.space, test))
            values.append(self.moving.coefficients)
        if not row:
            return None
        return (row[0] if len(row) == 1 else blocks([row])), np.concatenate(values)

    def pressures(self, functions: NDArray[np.bool_], test: Space) -> BoundaryOperator:
        """The operator of some functions of p (dimension,), with r of the walls that yield to them."""
        trial, green = self.space.selected(functions), self.green
        if self.surface.is_baffle:  # K of a plane is 0
            found: BoundaryOperator = 0.5 * identity(trial, test)
        else:
            found = of_values(green, trial, test, self.eta, self.sign)
        if self.losses is not None and (slopes := self.losses.of_pressure(trial, functions)) is not None:
            found = found + self.fluxes(self.losses.space, test) @ slopes
        if (reaction := self.reaction) is None:
            return found
        diagonal = reaction.of_pressure(np.flatnonzero(functions))
        if not diagonal.nnz:
            return found
        if reaction.space is trial and np.ptp(reaction.slopes) == 0:
            return found + complex(reaction.slopes[0]) * self.fluxes(trial, test)
        return transformed(self.fluxes(reaction.space, test), right=diagonal) + found

    def fluxes(self, trial: Any, test: Space) -> BoundaryOperator:
        """V + eta (I/2 + K') of functions of r."""
        return of_slopes(self.green, trial, test, self.eta)

    def fields(self, coefficients: Complex) -> tuple[Function, Function | None, Function | None]:
        """p on the whole surface, and r where walls yield and where the pressure is given, of a solution."""
        pressure = np.zeros(self.space.dimension, np.complex128)
        free, count = self.unknowns[0], 0
        if free.space is not self.released:
            pressure[~self.held] = free.extended(coefficients[: free.dimension])
            count = free.dimension
        if self.given is not None:
            pressure[self.held] = self.given.coefficients[self.held]
        released, yielding, slopes = None, None, []
        if self.reaction is not None:
            slopes.append((self.reaction.space, self.reaction.slopes * pressure[self.reaction.whole]))
        if self.losses is not None:
            slopes.append((self.losses.space, self.losses.slopes(pressure)))
        if slopes:
            yielding = Function(*joined(slopes), "slope of the pressure at yielding walls", "Pa/m")
        if self.released is not None:
            unknown = self.unknowns[-1].extended(coefficients[count:])
            released = Function(self.released, unknown, "slope of the pressure where it is given", "Pa/m")
        return Function(self.space, pressure, "pressure", "Pa"), yielding, released

    def _part(self, triangles: NDArray[np.int64]) -> Space:
        """The space of pressures on some triangles of the part and their images, with the numbers of the whole one."""
        own = self.surface.images_of(np.sort(triangles))
        return replace(self.space, triangles=own, dofs=self.space.dofs[own])


def of_values(green: Any, trial: Any, test: Any, eta: complex, sign: float = 1.0) -> BoundaryOperator:
    """I/2 - s K + eta D, the row of Burton and Miller for values on a surface; eta = 0 without D."""
    found: BoundaryOperator = 0.5 * identity(trial, test) - sign * double_layer(green, trial, test)
    return found + eta * hypersingular(green, trial, test) if eta != 0 else found


def of_slopes(green: Any, trial: Any, test: Any, eta: complex) -> BoundaryOperator:
    """V + eta (I/2 + K'), the row of Burton and Miller for normal derivatives."""
    found: BoundaryOperator = single_layer(green, trial, test)
    if eta == 0:
        return found
    return found + eta * adjoint_double_layer(green, trial, test) + (0.5 * eta) * identity(trial, test)
