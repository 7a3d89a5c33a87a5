"""A rigid (sound-hard) body: du/dn = 0."""

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from calderon.formulations.acoustic.scattering import CombinedProblem, hard_on_a_plane
from calderon.formulations.acoustic.sound_equation import of_values
from calderon.formulations.linear_system import LinearSystem
from calderon.onsurface import SurfaceOperator
from calderon.operators import BoundaryOperator, transformed
from calderon.potentials import Potential, double_layer_potential
from calderon.spaces import Function


@dataclass(frozen=True, eq=False)
class SoundHardScattering(CombinedProblem):
    """Total field phi on a rigid body by the equation of Burton and Miller,

        (I/2 - K + eta D) phi = u_inc + eta du_inc/dn,      u_s = (double-layer potential of phi),

    which has one solution at every frequency when Im(eta) is not 0. coupling: eta in m, default i/k, for a complex k
    i/Re k. With eta = -i/k it is solvable as well, but GMRES needs many more steps; eta = 0 fails at interior
    resonances. space: "P1" or "P2".

    A. J. Burton and G. F. Miller, Proc. R. Soc. Lond. A 323 (1971) 201; on the sign of the coupling S. Marburg,
    J. Comput. Acoust. 24 (2016) 1550016.
    """

    title: ClassVar[str] = "scattering by a sound-hard body"

    def _on_a_plane(self, dtn: SurfaceOperator) -> Any:
        return hard_on_a_plane(dtn, self.eta)

    def _build_system(self) -> LinearSystem:
        equation = f"Burton-Miller (I/2 - K + eta D) phi = u_inc + eta du_inc/dn, eta = {self.eta:.4g} m"
        functions = self.functions
        return LinearSystem(equation, transformed(self._rows(), right=functions.images), (functions,))

    def _rows(self) -> BoundaryOperator:
        """The operator of phi on the whole, tested with the functions of the part."""
        return of_values(self.green, self.function_space, self.functions.part, self.eta)

    def _rhs(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return value + self.eta * derivative

    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return derivative

    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        total = Function(self.function_space, coefficients, "total pressure", "Pa")
        return total, (double_layer_potential(self.green, total),)
