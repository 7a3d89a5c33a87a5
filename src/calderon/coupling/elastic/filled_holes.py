"""A fluid in the holes of an elastic body: a second region of boundary elements.

With the normal n out of the body, into the hole, and q the pressure there,

    (I/2 + K) q + V dq/dn = 0,      dq/dn = rho omega^2 n . u,      sigma n = -q n,

K by the normals of the wall of a hole as a closed surface, which are -n. It has a solution q for each n . u but at
resonances of the hole with rigid walls, which the elastic wall moves elsewhere.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.elastic.elastic_volumes import ElasticVolume
from calderon.formulations.acoustic.fluid import Fluid
from calderon.formulations.acoustic.sound_equation import of_slopes, of_values
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh
from calderon.operators import BoundaryOperator
from calderon.potentials import Potential, double_layer_potential, single_layer_potential
from calderon.spaces import DP2, P2, Function, Space


@dataclass(frozen=True, eq=False)
class FilledHoles:
    """The fluid in the holes of a body. mesh: their walls, normals into the body."""

    body: ElasticVolume
    fluid: Fluid
    mesh: TriangleMesh

    @cached_property
    def space(self) -> Space:
        """The space of pressures."""
        return P2(self.mesh)

    @cached_property
    def slopes(self) -> Space:
        """The space of n . u."""
        return DP2(self.mesh)

    @cached_property
    def normal(self) -> sp.csr_array:
        """G (slopes.dimension, unknowns) from displacements to n . u, n into the fluid."""
        return -self.body.normal_displacements(self.slopes)

    @cached_property
    def pairing(self) -> sp.csr_array:
        """<q, psi> of functions of pressures (rows) and of n . u (columns)."""
        return sp.csr_array(self.slopes.mass_matrix(self.space))

    def green(self, omega: complex) -> Helmholtz:
        """The Green's function of the fluid, continued to complex frequencies."""
        k = self.wavenumber(omega)
        return Helmholtz.continued(k) if np.imag(omega) else Helmholtz(k)

    def wavenumber(self, omega: complex) -> complex:
        """k in 1/m, with the loss of the fluid."""
        k = omega / self.fluid.speed_of_sound
        return k * (1 + 1j * self.fluid.loss) if self.fluid.loss else k

    def operators(self, omega: complex) -> tuple[BoundaryOperator, BoundaryOperator]:
        """I/2 + K and V."""
        green = self.green(omega)
        return of_values(green, self.space, self.space, 0j, -1.0), of_slopes(green, self.slopes, self.space, 0j)

    def layers(self, omega: float, pressure: NDArray[Any], slope: NDArray[Any]) -> tuple[Potential, ...]:
        """Potentials whose sum is the pressure in the holes, from coefficients of q and dq/dn."""
        green = self.green(omega)
        q = Function(self.space, -pressure, "pressure in the holes", "Pa")
        moved = Function(self.slopes, -slope, "slope of the pressure in the holes", "Pa/m")
        return double_layer_potential(green, q), single_layer_potential(green, moved)

    def solve_half(self, tested: NDArray[Any]) -> NDArray[Any]:
        """The inverse of I/2, tested."""
        return np.asarray(2 * self.space.solve_mass(tested))
