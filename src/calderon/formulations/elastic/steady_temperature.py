"""A steady temperature inside a solid from temperatures and heat on its surface, and what it expands to.

On the surface the change of temperature T and its normal derivative q satisfy

    (1/2 + K) T = V q   (Laplace),

tested with linear functions where T is unknown and with constants on triangles where q is, of a stored matrix or by the
fast multipole method. Inside a solid without end
of which only the body is heated (J. N. Goodier 1937)

    u = (1 + nu) / (1 - nu) alpha w,   div w = T inside, 0 outside,

w from T and q on the surface (`potentials.heat`). This displacement is added to V t in the equation of the solid; no
traction of it is needed, and none of a temperature that edges make singular.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import thread_count
from calderon.formulations.elastic.body_loads import BodyLoad
from calderon.formulations.elastic.material import ElasticMaterial
from calderon.formulations.elastic.plan import ENTRY, FAST, OPERATION
from calderon.formulations.elastic.tested_rows import single_layer_sizes
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.mesh.locality import block_order
from calderon.operators import double_layer, single_layer
from calderon.potentials.heat import FEW, heat_displacements, heat_potentials
from calderon.solvers import gmres, lu
from calderon.spaces import P0, P1, Function, Space
from calderon.validation import describe, positive_length, real_number

Array = NDArray[np.float64]
LARGEST_DENSE = 4000
"""Unknowns up to which the matrix is stored and factorised."""
PRODUCTS, RTOL = 1e-5, 1e-6
"""Of products by the fast multipole method above, and of GMRES: displacements are not more accurate."""
STEPS = 20
"""Of GMRES, about."""
BLOCK, SELF = 128, 0.35
"""Triangles of a block of the preconditioner; distance of a triangle from itself in it, in roots of its area."""
PAIR, POINT = 1.6e-7, 1.1e-4
"""Processor seconds, in estimates, of a pair of point and triangle, and of a point of fast sums."""


@dataclass(frozen=True, eq=False)
class SteadyTemperature(BodyLoad):
    """A steady temperature, without sources of heat in the volume.

    temperatures: by tag (number or name) of the surface, in K or degrees C: a number, f(x) or f(x, n), vectorised.
    heat: the same in W/m^2, positive where it enters the solid; other tags are insulated. conductivity: in W/(m K), for
    heat. reference: the temperature of the state without stress.

    ValueError without any temperature (heat alone leaves a constant open), for a tag with both, and for heat without a
    conductivity.
    """

    temperatures: Mapping[Any, Any]
    heat: Mapping[Any, Any] | None = None
    conductivity: float | None = None
    reference: float = 0.0

    def __post_init__(self) -> None:
        for name in ("temperatures", "heat"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(f"{name} are given by tag, {name}={{tag: number or f(x)}}, got {describe(given)}")
        if not self.temperatures:
            raise ValueError(
                "a steady temperature needs the temperature of one tag at least: heat alone leaves it open"
            )
        object.__setattr__(self, "reference", real_number(self.reference, "reference"))
        if self.conductivity is not None:
            object.__setattr__(self, "conductivity", positive_length(self.conductivity, "conductivity"))
        elif self.heat:
            raise ValueError(
                "heat that enters a solid needs its conductivity: try SteadyTemperature(..., conductivity=)"
            )

    def check(self, material: ElasticMaterial) -> None:
        material.required("expansion", "a steady temperature")

    def on(self, mesh: TriangleMesh, centre: Array) -> BodyLoad:
        return HeatedBody(self, mesh, centre)


@dataclass(frozen=True, eq=False)
class HeatedBody(BodyLoad):
    """A steady temperature in one body, at points from its centre."""

    given: SteadyTemperature
    mesh: TriangleMesh
    centre: Array

    def __post_init__(self) -> None:
        for tag in (*self.given.temperatures, *(self.given.heat or {})):
            self.mesh.tag_numbers(tag)

    moves = True

    def temperature(self, x: Array) -> Array:
        vertices = self.mesh.vertices - self.centre
        if x.shape == vertices.shape and np.array_equal(x, vertices):
            return np.asarray(self.surface[0].on_mesh()[1])
        return self._potentials(x)[0]

    def source(self, x: Array, material: ElasticMaterial) -> Array:
        return self._factor(material) * heat_displacements(*self.surface, x + self.centre)

    def source_stress(self, x: Array, material: ElasticMaterial) -> Array:
        temperature, _, gradient = self._potentials(x)
        pressure = (3 * material.lame + 2 * material.shear_modulus) * self._expansion(material) * temperature
        return material.stress_of(self._factor(material) * gradient) - pressure[:, None, None] * np.eye(3)

    def free_expansion(self, x: Array, material: ElasticMaterial) -> Array:
        raise ValueError("a strain energy under a temperature that varies is not available: take stresses")

    def _expansion(self, material: ElasticMaterial) -> float:
        return material.required("expansion", "a steady temperature")

    def _factor(self, material: ElasticMaterial) -> float:
        ratio = material.poissons_ratio
        return (1 + ratio) / (1 - ratio) * self._expansion(material)

    def _potentials(self, x: Array) -> tuple[Array, Array, Array]:
        if not len(x):
            return np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3, 3))
        return heat_potentials(*self.surface, x + self.centre)

    @cached_property
    def surface(self) -> tuple[Function, Function]:
        """T, linear on triangles, and q, constant on them."""
        return self._equation.solve()

    def planned(self, points: int) -> tuple[float, int]:
        seconds, nbytes = self._equation.planned
        pairs = points * self.mesh.number_of_triangles
        return seconds + (PAIR * pairs if pairs <= FEW else POINT * points), nbytes

    @cached_property
    def _equation(self) -> "HeatEquation":
        return HeatEquation(self.mesh, *self._conditions())

    def _conditions(self) -> tuple[NDArray[np.bool_], Array, Array]:
        """Triangles with a given temperature; the given T at nodes and q on triangles, 0 where unknown."""
        mesh, given, nodes, faces = self.mesh, self.given, P1(self.mesh), P0(self.mesh)
        known, heated = np.zeros(len(mesh.tags), bool), np.zeros(len(mesh.tags), bool)
        total, count, q = np.zeros(nodes.dimension), np.zeros(nodes.dimension), np.zeros(len(mesh.tags))
        for tag, value in given.temperatures.items():
            chosen = np.isin(mesh.tags, mesh.tag_numbers(tag))
            own = np.unique(nodes.dofs[chosen])
            total[own] += np.asarray(nodes.node_values(value), float)[own] - given.reference
            count[own] += 1
            known |= chosen
        for tag, value in (given.heat or {}).items():
            chosen = np.isin(mesh.tags, mesh.tag_numbers(tag))
            means = np.asarray(faces.load_vector(value), float) / mesh.areas
            q[chosen] = means[chosen] / (given.conductivity or 1.0)
            heated |= chosen
        if (known & heated).any():
            raise ValueError(
                f"the tags {np.unique(mesh.tags[known & heated]).tolist()} have a temperature and heat: give either"
            )
        return known, total / np.maximum(count, 1), q


@dataclass(frozen=True, eq=False)
class HeatEquation:
    """(1/2 + K) T = V q on a closed surface. known (triangles,): those where T is given at all nodes; t (nodes,),
    q (triangles,): as far as they are given, else 0."""

    mesh: TriangleMesh
    known: NDArray[np.bool_]
    t: Array
    q: Array

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """(nodes,) where T is unknown."""
        found = np.ones(len(self.t), bool)
        found[P1(self.mesh).dofs[self.known]] = False
        return found

    @property
    def unknowns(self) -> int:
        return int(np.count_nonzero(self.free) + np.count_nonzero(self.known))

    @cached_property
    def acting(self) -> NDArray[np.bool_]:
        """(triangles,) where q is not zero."""
        return np.asarray(self.known | (self.q != 0))

    @cached_property
    def rows(self) -> list[tuple[Any, Any]]:
        """K of all T and V of the q that are not zero, tested with linear functions where T is unknown, and with
        constants where q is."""
        nodes, faces = P1(self.mesh), P0(self.mesh)

        def on(triangles: NDArray[np.bool_]) -> Space:
            count = int(np.count_nonzero(triangles))
            return replace(faces, triangles=np.flatnonzero(triangles), dofs=np.arange(count)[:, None], dimension=count)

        dofs = np.where(self.free, np.cumsum(self.free) - 1, -1)[nodes.dofs]
        kept = (dofs >= 0).any(axis=1)
        own = replace(
            nodes, triangles=nodes.triangles[kept], dofs=dofs[kept], dimension=int(np.count_nonzero(self.free))
        )
        constants = on(self.known)
        loaded = constants if np.array_equal(self.acting, self.known) else on(self.acting)
        tests = [own, constants] if own.dimension else [constants]
        return [(double_layer(Laplace(), nodes, test), single_layer(Laplace(), loaded, test)) for test in tests]

    @property
    def planned(self) -> tuple[float, int]:
        """Processor seconds and bytes."""
        count, layers = self.unknowns, [each for row in self.rows for each in row]
        if count <= LARGEST_DENSE:
            entries = sum(each.shape[0] * each.shape[1] for each in layers)
            return ENTRY * entries + OPERATION * 2 / 3 * count**3, 8 * (entries + 2 * count**2)
        plans = [each.plan(FAST, PRODUCTS, precision="single") for each in layers]
        seconds = sum(each.seconds + STEPS * each.product_seconds for each in plans) * thread_count()
        return seconds, sum(each.nbytes for each in plans) + STEPS * 8 * count

    def solve(self) -> tuple[Function, Function]:
        """T and q."""
        nodes, faces, fast = P1(self.mesh), P0(self.mesh), self.unknowns > LARGEST_DENSE
        options: dict[str, Any] = {"method": "dense"}
        if fast:
            options = {"method": FAST, "rtol": PRODUCTS, "precision": "single"}
        rows = [
            (double.assemble(**options), (0.5 * nodes.mass_matrix(double.test)).tocsr(), single.assemble(**options))
            for double, single in self.rows
        ]
        sizes = 0.5 * nodes.load_vector(1.0)[self.free], single_layer_sizes(self.mesh.areas[self.known])
        scale = 1 / np.concatenate(sizes)

        def tested(t: Array, q: Array) -> Array:
            parts = [double @ t + half @ t - single @ q[self.acting] for double, half, single in rows]
            return np.asarray(np.concatenate(parts))

        def product(x: Array) -> Array:
            columns = x.reshape(len(x), -1)
            t, q = np.zeros((len(self.t), columns.shape[1])), np.zeros((len(self.q), columns.shape[1]))
            t[self.free], q[self.known] = np.split(columns, [np.count_nonzero(self.free)])
            return np.asarray(scale[:, None] * tested(t, q)).reshape(x.shape)

        side = -scale * tested(self.t, self.q)
        if fast:
            operator = LinearOperator((len(side),) * 2, matvec=product, matmat=product, dtype=np.float64)
            x = gmres(operator, side, rtol=RTOL, preconditioner=self._inverse_layers(scale))[0]
        else:
            x = lu(product(np.eye(len(side)))).solve(side)
        t, q = self.t.copy(), self.q.copy()
        t[self.free], q[self.known] = np.split(x, [np.count_nonzero(self.free)])
        return Function(nodes, t), Function(faces, q)

    def _inverse_layers(self, scale: Array) -> LinearOperator:
        """A preconditioner: the identity where T is unknown, and the inverse blocks of V between neighbours where q is,
        with charges at the centroids of triangles, a softened distance apart."""
        first, areas, centres = len(scale) - np.count_nonzero(self.known), self.mesh.areas, self.mesh.centroids
        order = np.flatnonzero(self.known)[block_order(centres[self.known], BLOCK)]
        places = first + np.searchsorted(np.flatnonzero(self.known), order)
        blocks = []
        for low in range(0, len(order), BLOCK):
            own = order[low : low + BLOCK]
            apart = ((centres[own][:, None] - centres[own]) ** 2).sum(axis=2)
            sizes = SELF * np.sqrt(areas[own])
            charges = np.outer(areas[own], areas[own]) / np.sqrt(apart + np.outer(sizes, sizes)) / (4 * np.pi)
            blocks.append(np.linalg.inv(charges) / -scale[places[low : low + BLOCK]])
        cuts = np.arange(BLOCK, len(order), BLOCK)

        def product(x: Array) -> Array:
            found = x.ravel().copy()
            parts = zip(blocks, np.split(found[places], cuts), strict=True)
            found[places] = np.concatenate([block @ part for block, part in parts])
            return found

        return LinearOperator((len(scale),) * 2, matvec=product, dtype=np.float64)
