"""The ear as a source, in one equation with the head: by reciprocity its sound is what it hears.

The pressure that a source exp(ikR) / R at x causes at a point e of a surface is -4 pi p(x), p the sound of the wall
with dp/dnu = M^-1 e, M the mass matrix and e the values of the continuous functions at the point: all directions from
one solution.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.acoustic.acoustic_problem import AcousticProblem
from calderon.formulations.acoustic.conditions.wall_conditions import Velocity
from calderon.formulations.acoustic.conditions.walls import ConditionedWall
from calderon.formulations.acoustic.known_part import KnownPart
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveChoices
from calderon.mesh import TriangleMesh
from calderon.potentials.near_evaluation import point_distances
from calderon.spaces import P1
from calderon.validation import one_point

NEGLIGIBLE = 1e-10
"""Part of the largest value of M^-1 e below which a triangle does not move: it falls by about 4 from node to node."""


class Ear(NamedTuple):
    """A point of a surface: its name, the triangle, the point (3,), and the values (3,) of the corners' functions."""

    name: str
    triangle: int
    point: NDArray[np.float64]
    weights: NDArray[np.float64]


def ear_at(mesh: TriangleMesh, name: str, place: ArrayLike) -> Ear:
    """The point of a surface next to a place (3,); ValueError for a place farther off than its triangle is large."""
    x = one_point(place, f"the ear {name!r}")
    distances = point_distances(np.broadcast_to(x, (mesh.number_of_triangles, 3)), mesh.vertices[mesh.triangles])
    nearest = int(distances.argmin())
    if distances[nearest] > mesh.diameters[nearest]:
        raise ValueError(
            f"the ear {name!r} at {x.tolist()} is {distances[nearest]:.4g} m from the surface, whose edges are about "
            f"{mesh.mean_edge_length:.3g} m: give a point of the mesh (bounds {mesh.bounds.round(6).tolist()})"
        )
    corners = mesh.vertices[mesh.triangles[nearest]]
    along = np.stack([corners[1] - corners[0], corners[2] - corners[0]], axis=1)
    s, t = np.linalg.lstsq(along, x - corners[0], rcond=None)[0]
    weights = np.clip([1 - s - t, s, t], 0.0, None)  # off the triangle by the curvature of what it stands for
    weights /= weights.sum()
    return Ear(name, nearest, weights @ corners, weights)


@dataclass(frozen=True, eq=False)
class SpeakingEars:
    """Ears of a body that speak in turn, as a problem whose solution is what they hear.

    problem: the body. ears: points of its surface. toward (n, 3): places in m, or directions where `far` is True.
    centre (3,): where the free field is taken.
    """

    problem: AcousticProblem
    ears: tuple[Ear, ...]
    toward: NDArray[np.float64]
    far: bool
    centre: NDArray[np.float64]

    @property
    def system(self) -> LinearSystem:
        """The discrete equation of the body."""
        return self.problem.system

    @property
    def unknowns(self) -> int:
        """Number of unknowns."""
        return self.problem.unknowns

    def at(self, wavenumber: complex) -> Self:
        """The ears at another wavenumber."""
        return replace(self, problem=self.problem.at(wavenumber))

    @cached_property
    def _walls(self) -> list[ConditionedWall]:
        """Each ear as a wall that moves, dp/dnu = M^-1 e."""
        mesh, found = self.problem.mesh, []
        tested = np.zeros((mesh.number_of_vertices, len(self.ears)))
        for number, ear in enumerate(self.ears):
            tested[mesh.triangles[ear.triangle], number] = ear.weights
        slopes = P1(mesh).solve_mass(tested)
        for ear, slope in zip(self.ears, slopes.T, strict=True):
            moves = np.abs(slope) > NEGLIGIBLE * np.abs(slope).max()
            triangles = np.flatnonzero(moves[mesh.triangles].any(axis=1))
            velocity = Velocity(slope / self.problem.equation.inertia)
            found.append(ConditionedWall(mesh, triangles, self.problem.sign, f"ear {ear.name!r}", velocity=velocity))
        return found

    def solve(self, data: None = None, **options: Unpack[SolveChoices]) -> NDArray[np.complex128]:
        """Pressures at the ears over that of the free field at the centre (n, ears); options as in
        `AcousticProblem.solve`."""
        problem, chosen = self.problem, self.problem._options(options)
        silent = problem.equation
        equations = [replace(silent, walls=[*silent.walls, wall]) for wall in self._walls]
        loads = []
        for equation in equations:
            known = KnownPart(equation)
            known.compute(chosen)
            loads.append(-known.load)
        coefficients, _ = problem.system.solve(np.stack(loads, axis=1), chosen)
        transfers = []
        for equation, unknowns in zip(equations, np.ascontiguousarray(coefficients.T), strict=True):
            pressure, *slopes = equation.fields(unknowns)
            layers = equation.layers(pressure, equation.moving, *slopes)
            transfers.append(-4 * np.pi * np.sum([self._values(layer) for layer in layers], axis=0) / self._free)
        return np.stack(transfers, axis=1)

    def _values(self, layer: Any) -> NDArray[np.complex128]:
        """The field of a layer (n,), or far away its amplitude."""
        return np.asarray(layer.far_field(self.toward) if self.far else layer.evaluate(self.toward))

    @property
    def _free(self) -> NDArray[np.complex128]:
        """exp(ikr) / r (n,) of the places and the centre; far away its amplitude about the origin of coordinates."""
        k = self.problem.wavenumber
        if self.far:
            return np.asarray(np.exp(-1j * k * (self.toward @ self.centre)))
        r = np.linalg.norm(self.toward - self.centre, axis=1)
        return np.asarray(np.exp(1j * k * r) / r)
