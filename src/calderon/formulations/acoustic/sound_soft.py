"""A pressure-release (sound-soft) body: u = 0."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.acoustic.scattering import CombinedProblem
from calderon.formulations.linear_system import LinearSystem
from calderon.onsurface import SurfaceOperator
from calderon.operators import BoundaryOperator, adjoint_double_layer, identity, single_layer, transformed
from calderon.potentials import Potential, single_layer_potential
from calderon.spaces import Function


@dataclass(frozen=True, eq=False)
class SoundSoftScattering(CombinedProblem):
    """Normal derivative psi of the total field on a sound-soft body by the combined-field equation

        (I/2 + K' - i eta V) psi = du_inc/dn - i eta u_inc,      u_s = -(single-layer potential of psi),

    which has one solution at every frequency when Re(eta) is not 0. coupling: eta in 1/m, default Re k, but at least
    one over the longest side of the body's bounding box, as I/2 + K' has no inverse at k = 0 (Kress 1985); 0 leaves the
    equation that fails at interior Neumann resonances. space: "P1", "P0", "DP1" or "P2"; on bodies with edges, where
    psi jumps and is infinite, P0 and DP1 fit it better. A solution's `surface` is psi, in Pa/m.

    H. Brakhage and P. Werner, Arch. Math. 16 (1965) 325; R. Kress, Q. J. Mech. Appl. Math. 38 (1985) 323;
    S. N. Chandler-Wilde et al., Acta Numer. 21 (2012) 89, (2.69).
    """

    title: ClassVar[str] = "scattering by a sound-soft body"
    spaces: ClassVar[tuple[str, ...]] = ("P1", "P0", "DP1", "P2")
    unknown: ClassVar[str | None] = "slopes"

    @property
    def _usual_coupling(self) -> complex:
        low, high = self.surface.whole.bounds
        return max(float(np.real(self.wavenumber)), 1 / float((high - low).max()))

    @property
    def _is_definite(self) -> bool:
        return (self.eta / self.wavenumber).real > 0

    def _on_a_plane(self, dtn: SurfaceOperator) -> Any:
        return (dtn.inverse() * (1j * self.eta) + 1) * 0.5

    def _build_system(self) -> LinearSystem:
        green, space, eta, functions = self.green, self.function_space, self.eta, self.functions
        rows: BoundaryOperator = 0.5 * identity(space, functions.part) + adjoint_double_layer(
            green, space, functions.part
        )
        if eta != 0:
            rows = rows - 1j * eta * single_layer(green, space, functions.part)
        equation = f"combined field (I/2 + K' - i eta V) psi = du_inc/dn - i eta u_inc, eta = {eta:.4g} 1/m"
        return LinearSystem(equation, transformed(rows, right=functions.images), (functions,))

    def _rhs(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return derivative - 1j * self.eta * value

    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return -value

    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        slope = Function(self.function_space, coefficients, "normal derivative of the total pressure", "Pa/m")
        return slope, (single_layer_potential(self.green, -1 * slope),)
