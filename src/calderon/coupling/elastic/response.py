"""The response of a structure to pressures at one frequency, with its displacements eliminated."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.elastic.filled_holes import FilledHoles
from calderon.coupling.elastic.structures import Structure, nearest_modes
from calderon.coupling.elimination import Elimination
from calderon.formulations.acoustic.fluid import Fluid
from calderon.mesh.errors import warn_of_accuracy
from calderon.solvers.sparse_lu import SparseLU

RELEASE = 1e-8
"""The loss of the inertia where modes do not move the fluid: factors keep half of their digits."""


APART = 1e-6
"""The shift of the square of a frequency, relative to it, where modes are sought next to a resonance."""


@dataclass(frozen=True, eq=False)
class Response(Elimination):
    """(p, dp/dn) on the wet surface of a structure at an angular frequency omega in 1/s: A = S - omega^2 M,
    T u = n . u, dp/dn = rho omega^2 n . u, and y = -<q, psi>' p."""

    structure: Structure = None  # type: ignore[assignment]
    omega: complex = 0.0
    inertia: Any = 0.0  # or one of each function of n . u, (n_v, 1)

    limit: ClassVar[float] = 1e11
    """That of thin steel shells is 1e9 away from their resonances."""

    @classmethod
    def of(
        cls,
        structure: Structure,
        omega: complex,
        fluid: Fluid,
        pressures: NDArray[np.int64] | None = None,
        holes: FilledHoles | None = None,
    ) -> "Response":
        """The response in a fluid. Absorbing is p = rho c times the velocity, tested with functions of pressure over
        the sums of their mass matrix. pressures: the functions that have unknowns, all by default. holes: a fluid in
        these, whose pressures and n . u follow those of the wet surface."""
        tested = structure.pairing if pressures is None else structure.pairing[pressures]
        normal, density = structure.normal, np.array(fluid.density)
        whole, scale = tested, np.full(tested.shape[0], fluid.impedance)
        if holes is not None:
            normal = sp.csr_array(sp.vstack([normal, holes.normal]))
            whole = sp.csr_array(sp.block_diag([tested, holes.pairing]))
            scale = np.concatenate([scale, np.full(holes.space.dimension, holes.fluid.impedance)])
            sizes = structure.space.dimension, holes.slopes.dimension
            density = np.repeat([fluid.density, holes.fluid.density], sizes)[:, None]

        def absorbing() -> sp.csr_array:
            mass = abs(structure.pressures.mass_matrix()).sum(axis=1)
            mass = mass if pressures is None else mass[pressures]
            if holes is not None:
                mass = np.concatenate([mass, abs(holes.space.mass_matrix()).sum(axis=1)])
            return sp.csr_array(sp.diags_array(1j * omega * scale / mass) @ whole)

        pairing = sp.csr_array(-whole.T)
        return cls(structure.dynamic(omega**2), normal, pairing, absorbing, structure=structure, omega=omega,
                   inertia=density * omega**2)  # fmt: skip

    def state(
        self, unknowns: NDArray[Any], forces: NDArray[Any] | None = None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Displacements, pressures and slopes of the pressure, of unknowns (n,) and forces (N,)."""
        moved = self.volume(unknowns[:, None], None if forces is None else forces[:, None])
        value = self.trace @ moved
        pressures = self.primary(unknowns[:, None], value)
        slopes = self.fields(pressures, pressures[:0], value)[len(pressures) :]
        return moved[:, 0], pressures[:, 0], slopes[:, 0]

    def of_modes(self, number: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Fields (n_f, m) of the modes in vacuo nearest to the frequency, their dynamic stiffness (m, m), and the loads
        of the unknowns on them (m, n)."""
        factors, robin = self._inverse
        square, usable = float(np.real(self.omega)) ** 2, robin is None and factors.dtype.kind == "f"
        if not usable:
            square *= 1 + APART
        _, shapes = nearest_modes(self.structure, number, square, factors if usable else None)
        moved = self.trace @ shapes
        matrix = self.matrix if robin is None else self.with_surface(robin)
        primary = self.primary(np.zeros((self.size, moved.shape[1])), moved)
        fields = self.fields(primary, primary[:0], moved)
        return fields, shapes.T @ (matrix @ shapes), np.asarray(moved.T @ self.pairing)

    def _undamped(self) -> SparseLU:
        """Factors with a small loss, and an AccuracyWarning."""
        warn_of_accuracy(
            f"at {np.real(self.omega) / (2 * np.pi):.6g} Hz the structure has a mode in vacuo that does not move the "
            f"fluid, as torsion, which may have any amplitude: its inertia has a loss of {RELEASE:g} more, and the "
            "pressure is right"
        )
        lossy = self.structure.dynamic(self.omega**2 * (1 + 1j * RELEASE))
        return SparseLU(self.with_surface(self.absorbing()) - self.matrix + lossy)

    def fields(self, primary: NDArray[Any], others: NDArray[Any], value: NDArray[Any]) -> NDArray[Any]:
        """(p, dp/dn) of pressures p and n . u, with that of the rest."""
        if (rest := self.structure.rest) is not None:
            static = self.structure.static_factors.solve(self.structure.loads(primary))
            value = value - rest.response @ primary + self.structure.normal @ static
        return np.concatenate([primary, self.inertia * value])

    def weights(self, fields: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        structure = self.structure
        primary, slope = np.split(fields, [self.pairing.shape[1]])
        value = self.inertia * slope
        if structure.rest is not None:
            static = structure.static_factors.solve(structure.normal.T @ value)
            primary = primary - structure.rest.response.T @ value + structure.pairing @ (structure.normal @ static)
        return primary, primary[:0], value
