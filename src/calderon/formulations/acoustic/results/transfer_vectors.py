"""Acoustic transfer vectors: pressures at few points for any velocities of the walls, by reciprocity.

With A x = -F r for the unknowns x and the slopes r = i omega rho v of moving walls, and p = d x + w r at a point,

    p = (w - F^T z) r,    A^T z = d:

one solution of the transposed equation for each point serves all velocities. It is the sound of a source at that point,
by a discrete equation whose results are those of direct solutions to the accuracy of both solutions, not only to that
of the mesh.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.data import Axis, LabelledArrays, Quantity
from calderon.data.labelled import Labelled
from calderon.formulations.acoustic.conditions.wall_conditions import SoundPressure, Velocity
from calderon.formulations.acoustic.conditions.walls import ConditionedWall, Conditions, walls_of
from calderon.formulations.acoustic.known_part import products_of
from calderon.formulations.acoustic.sound_equation import SoundEquation
from calderon.formulations.checks import sources_on_side, wave_attributes
from calderon.formulations.linear_system import LinearSystem, ThinTerm
from calderon.formulations.options import SolveOptions
from calderon.formulations.solution_info import SolutionInfo
from calderon.spaces import Function, Space
from calderon.spaces.lagrange import discontinuous
from calderon.waves import PointSource

Complex = NDArray[np.complex128]
DEGREE = 8
"""Degree of the rule for integrals of the field of a point over triangles: 1e-7 of them one edge away."""


@dataclass(frozen=True, eq=False)
class TransferVectors(Labelled):
    """Pressures at points (n, 3) per velocity of each wall, the others at rest, with impedances where the problem has
    them.

    frequency: in Hz. equation: of the walls. by_slope (n, triangles of the whole surface, 3): the pressure for dp/dnu
    of each linear function of each triangle, in m; by_pressure (n, m): for given pressures at nodes, or None. infos:
    the records of the solutions, one for each point.
    """

    points: NDArray[np.float64]
    frequency: float
    equation: SoundEquation
    by_slope: Complex
    by_pressure: Complex | None
    infos: tuple[SolutionInfo, ...]

    def pressure(self, conditions: Conditions = None) -> Complex:
        """The pressure (n,) in Pa at the points for velocities of the walls: `Velocity` for the whole surface, or {tag:
        Velocity}; by default the velocities and given pressures of the problem. ValueError for other conditions, and
        for velocities where the pressure is given."""
        walls = self._walls(conditions)
        return self._of_slopes(self._moving(walls)) + self._of_pressures(walls)

    def contributions(self, conditions: Conditions = None) -> dict[Any, Complex]:
        """{tag or its name: (n,)} what the velocities, and given pressures, of each tag add to the pressure in Pa at
        the points. Tags that neither move nor have a pressure are left out. conditions: as for `pressure`."""
        walls, mesh = self._walls(conditions), self.equation.surface.part
        moving, names = self._moving(walls), {number: name for name, number in mesh.names.items()}
        images, found = len(self.equation.surface.parities), dict[Any, Complex]()
        for number in np.unique(mesh.tags).tolist():
            own = mesh.tags == number
            if any((each.velocity or each.pressure) and own[each.triangles].any() for each in walls):
                among = [split for each in walls for split in _split(each, own)]
                slopes = self._of_slopes(moving, np.tile(own, images))
                found[names.get(number, number)] = slopes + self._of_pressures(among)
        return found

    def transfer(self, tag: Any) -> Complex:
        """The pressure (n,) in Pa s/m at the points over the velocity of a tag (number or name) that moves alone, with
        one velocity along nu."""
        numbers = self.equation.surface.part.tag_numbers(tag)
        return self.pressure({tuple(map(int, numbers)): Velocity(1.0)})

    @property
    def by_triangle(self) -> Complex:
        """(n, triangles) the pressure in Pa s/m at each point over a constant velocity along nu of each triangle of the
        mesh of the problem."""
        surface = self.equation.surface
        images = self.by_slope.sum(axis=2).reshape(len(self.points), len(surface.parities), -1)
        return np.asarray(self.equation.inertia * np.einsum("i,nit->nt", surface.parities, images))

    def arrays(self) -> LabelledArrays:
        """`by_triangle` by point and triangle, as `data.LabelledArrays`."""
        axes = Axis("point", np.arange(len(self.points))), Axis("triangle", np.arange(self.by_triangle.shape[1]))
        places = tuple(Quantity(each, self.points[:, n], "m", along=("point",)) for n, each in enumerate("xyz"))
        found = Quantity("transfer", self.by_triangle, "Pa s/m", "pressure over velocity")
        return LabelledArrays(axes, (found,), places, wave_attributes(self.equation.wavenumber, self.frequency))

    @property
    def brief(self) -> str:
        """The number of points and the frequency."""
        return f"transfer vectors to {len(self.points)} points at {self.frequency:.4g} Hz"

    def __str__(self) -> str:
        return f"{self.brief}\n{max(self.infos, key=lambda each: each.residual)}"

    def _walls(self, conditions: Conditions) -> list[ConditionedWall]:
        """The walls with what is given on them, those of the problem by default."""
        own = self.equation.walls
        if conditions is None:
            return list(own)
        silent = [replace(each, velocity=None, pressure=each.pressure and SoundPressure(0.0)) for each in own]
        given = walls_of(self.equation.surface.part, conditions, self.equation.sign)
        held = np.concatenate([np.zeros(0, int), *(each.triangles for each in own if each.pressure)])
        for each in given:
            if each.impedance or each.pressure:
                raise ValueError(
                    f"{each.name}: transfer vectors take velocities, {{tag: Velocity(...)}}; impedances and pressures "
                    "are those of the problem"
                )
            if np.isin(each.triangles, held).any():
                raise ValueError(f"{each.name} has a given pressure in the problem: it has no velocity besides")
        return [*given, *(each for each in silent if each.pressure)]

    def _moving(self, walls: list[ConditionedWall]) -> Function | None:
        return replace(self.equation, walls=walls).moving

    def _of_slopes(self, moving: Function | None, chosen: NDArray[np.bool_] | None = None) -> Complex:
        """(n,) the pressure by moving walls, or some of their triangles (triangles of the whole surface,)."""
        if moving is None:
            return np.zeros(len(self.points), np.complex128)
        space: Any = moving.space
        values = moving.coefficients[space.dofs]
        if chosen is not None:
            values = values * chosen[space.triangles, None]
        weights = self.by_slope[:, space.triangles]
        if values.shape[1] == 1:
            weights = weights.sum(axis=2, keepdims=True)
        return np.asarray(np.einsum("ntj,tj->n", weights, values))

    def _of_pressures(self, walls: list[ConditionedWall]) -> Complex:
        """(n,) the pressure by given pressures of walls."""
        equation = replace(self.equation, walls=walls)
        if self.by_pressure is None or equation.given is None:
            return np.zeros(len(self.points), np.complex128)
        return np.asarray(self.by_pressure @ equation.given.coefficients[equation.held])


def _split(wall: ConditionedWall, own: NDArray[np.bool_]) -> list[ConditionedWall]:
    """A wall with a given pressure on the triangles of a mask, and 0 on its others."""
    if not wall.pressure:
        return [wall]
    inside = own[wall.triangles]
    parts = (inside, wall.pressure), (~inside, SoundPressure(0.0))
    return [replace(wall, triangles=wall.triangles[some], pressure=given) for some, given in parts if some.any()]


def transfer_vectors(
    equation: SoundEquation, points: NDArray[np.float64], thin: ThinTerm | None, frequency: float, options: SolveOptions
) -> TransferVectors:
    """The vectors of points (n, 3) by solutions of the transposed equation with these options. thin: what is added to
    its matrix, or None. ValueError for points on the wrong side of the surface."""
    sources = [PointSource(each, equation.wavenumber) for each in points]
    if not equation.surface.is_baffle:
        for each in sources:
            sources_on_side(each, equation.surface.whole, "exterior" if equation.sign > 0 else "interior")
    moving = discontinuous(replace(equation.space, triangles=np.arange(len(equation.surface.whole.triangles))), 1)
    weights = Weights(equation, sources)
    pressures, unknowns = weights.of_pressures(), equation.unknowns
    rhs = [weights.of_slopes(equation.released)] if equation.released is not None else []
    if unknowns[0].space is not equation.released:
        rhs.insert(0, pressures[~equation.held])
    rhs = [each.summed(part) for each, part in zip(unknowns, rhs, strict=True)]
    added = None if thin is None else partial(ThinTerm, thin.name, thin.right, thin.left)
    system = LinearSystem("the transposed equation of the walls", equation.operator().T, unknowns, added)
    found, infos = system.solve(np.concatenate(rhs), options)
    del system
    tested = np.zeros((len(equation.order), len(points)), np.complex128)
    tested[equation.order] = found
    # what is known, tested with the solutions
    test = equation.functions.part
    slopes = weights.of_slopes(moving) - products_of(equation.fluxes(moving, test).T, options) @ tested
    known = None
    if equation.given is not None and np.any(equation.given.coefficients):
        operator = equation.pressures(equation.held, test).T
        known = (pressures[equation.held] - products_of(operator, options) @ tested).T
    by_slope = slopes.T.reshape(len(points), -1, 3)
    return TransferVectors(points, frequency, equation, by_slope, known, tuple(infos))


@dataclass(frozen=True, eq=False)
class Weights:
    """The pressure at the places of sources of unit strength, as weights of coefficients on the surface."""

    equation: SoundEquation
    sources: list[PointSource]

    def of_slopes(self, space: Space) -> Complex:
        """(dimension, n) weights of r = dp/dnu."""
        loads = space.loads(DEGREE)
        found = np.stack([loads @ each(loads.points) for each in self.sources], axis=1)
        return -2 * found if self.equation.surface.is_baffle else -found

    def of_pressures(self) -> Complex:
        """(dimension, n) weights of p, with r of the walls that yield to it."""
        space, reaction = self.equation.space, self.equation.reaction
        found = np.zeros((space.dimension, len(self.sources)), np.complex128)
        if not self.equation.surface.is_baffle:
            loads = space.loads(DEGREE)
            normal = [loads @ each.normal_derivative(loads.points, loads.normals) for each in self.sources]
            found += self.equation.sign * np.stack(normal, axis=1)
        if reaction is not None:
            found += reaction.of_pressure(np.arange(space.dimension)).T @ self.of_slopes(reaction.space)
        return found
