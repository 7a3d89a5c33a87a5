"""A steady temperature inside a solid from temperatures and heat on its surface, and what it expands to.

The change of temperature T and its normal derivative q on the surface are those of `HeatEquation`. Inside a solid
without end of which only the body is heated (J. N. Goodier 1937)

    u = (1 + nu) / (1 - nu) alpha w,   div w = T inside, 0 outside,

w from T and q on the surface (`potentials.heat`). This displacement is added to V t in the equation of the solid; no
traction of it is needed, and none of a temperature that edges make singular.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.elastic.loads.body_loads import BodyLoad
from calderon.formulations.elastic.loads.heat_equation import HeatEquation
from calderon.formulations.elastic.material import ElasticMaterial
from calderon.formulations.elastic.plan import COUNTS
from calderon.mesh import TriangleMesh
from calderon.potentials.heat import FEW, heat_displacements, heat_potentials
from calderon.products.cost import Cost
from calderon.spaces import P0, P1, Function
from calderon.validation import describe, positive_length, real_number

Array = NDArray[np.float64]


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
        plan, pairs = self._equation.plan, points * self.mesh.number_of_triangles
        sums = Cost(COUNTS.heat_pair * pairs if pairs <= FEW else COUNTS.heat_point * points)
        return plan.expected_seconds + sums.seconds, plan.nbytes

    @cached_property
    def _equation(self) -> HeatEquation:
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
