"""A body of another fluid: sound passes through its surface."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.checks import separate_parts
from calderon.formulations.linear_system import LinearSystem, SolutionInfo
from calderon.formulations.medium import wavenumber_and_frequency
from calderon.formulations.scattering import ScatteringProblem
from calderon.formulations.scattering_solution import ScatteringSolution
from calderon.greens import Helmholtz
from calderon.mesh import AccuracyWarning
from calderon.operators import adjoint_double_layer, blocks, double_layer, hypersingular, identity, single_layer
from calderon.potentials import Potential, double_layer_potential, single_layer_potential
from calderon.spaces import Function
from calderon.validation import callers_level, finite_complex

LARGEST_ECHO_ERROR = 0.02  # fraction of an echo that may be lost without a warning


@dataclass(frozen=True, eq=False)
class FluidTransmission(ScatteringProblem):
    """Total field u and slope t = du/dn (outside) on a fluid body; u and (1/rho) du/dn are continuous.

    With q = t / |k| and r = density_ratio (indices e outside, i inside), by equations of Mueller's kind, in which the
    hypersingular parts cancel, so that the system is of the second kind:

        (I - K_e + K_i) u + |k| (V_e - r V_i) q                  = u_inc
        s (D_e - D_i) u / |k| + (I + s (K'_e - r K'_i)) q        = s du_inc/dn / |k|,   s = 2 / (1 + r).

    The first row is the sum of the representations outside and inside, the second the difference of their normal
    derivatives. It has one solution for real wavenumbers and for loss inside: a null vector would be a field with the
    media exchanged and the density ratio 1.

    interior_wavenumber: omega over the speed of sound inside, Im > 0 for loss; or interior_speed_of_sound= in m/s, with
    frequency=. density_ratio: inside over outside,
    positive (complex for a lossy equivalent fluid). space: "P1" or "P2".

    C. Mueller, Grundprobleme der mathematischen Theorie elektromagnetischer Schwingungen (1957); R. Kress and
    G. F. Roach, J. Math. Phys. 19 (1978) 1433.
    """

    interior_wavenumber: complex = None  # type: ignore[assignment]
    density_ratio: complex = None  # type: ignore[assignment]
    interior_speed_of_sound: float | None = field(default=None, kw_only=True)

    title: ClassVar[str] = "scattering by a body of another fluid"
    unknown: ClassVar[str | None] = None

    @property
    def _medium(self) -> dict[str, Any]:
        outside, speed = super()._medium, self.interior_speed_of_sound
        names = "interior_speed_of_sound", "interior_wavenumber"
        frequency = None if speed is None else outside["frequency"]
        inside = wavenumber_and_frequency(self.interior_wavenumber, frequency, speed, *names)[0]
        return {**outside, "interior_wavenumber": inside}

    def _check_fields(self) -> None:
        super()._check_fields()
        separate_parts(self.mesh, "FluidTransmission")
        if self.density_ratio is None:
            raise TypeError("FluidTransmission needs density_ratio=, the density inside over that outside")
        if finite_complex(self.density_ratio, "density_ratio").real <= 0:
            raise ValueError(f"density_ratio (inside over outside) must be positive, got {self.density_ratio!r}")

    @property
    def _largest_wavenumber(self) -> complex:
        return max(self.wavenumber, self.interior_wavenumber, key=abs)

    def at(self, wavenumber: complex) -> Self:
        """The same problem at another wavenumber, the two in the same ratio (fluids without dispersion)."""
        inside = self.interior_wavenumber * wavenumber / self.wavenumber
        return replace(self, wavenumber=wavenumber, interior_wavenumber=inside, frequency=None)

    def _build_system(self) -> LinearSystem:
        space, k, r = self.function_space, abs(self.wavenumber), self.density_ratio
        outside, inside = self.green, Helmholtz(self.interior_wavenumber)
        scale = 2 / (1 + r)
        one = identity(space)
        values = one - double_layer(outside, space) + double_layer(inside, space)
        jumps = k * single_layer(outside, space) - (k * r) * single_layer(inside, space)
        slopes = (scale / k) * hypersingular(outside, space) - (scale / k) * hypersingular(inside, space)
        fluxes = one + scale * adjoint_double_layer(outside, space) - (scale * r) * adjoint_double_layer(inside, space)
        equation = (
            "Mueller's equations for u and du/dn / |k|, "
            f"k inside {self.interior_wavenumber:.6g} 1/m, density ratio {self.density_ratio:.4g}"
        )
        return LinearSystem(equation, blocks([[values, jumps], [slopes, fluxes]]), (space, space))

    def _rhs(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        scale = 2 / (1 + self.density_ratio) / abs(self.wavenumber)
        return np.concatenate([value, scale * derivative])

    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([derivative, -abs(self.wavenumber) * value])

    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        total, slope = self._unknowns(coefficients)
        return total, (double_layer_potential(self.green, total), single_layer_potential(self.green, -1 * slope))

    def _unknowns(self, coefficients: NDArray[Any]) -> tuple[Function, Function]:
        space, (value, scaled) = self.function_space, np.split(coefficients, 2)
        total = Function(space, value, "total pressure", "Pa")
        slope = abs(self.wavenumber) * scaled
        return total, Function(space, slope, "normal derivative of the total pressure", "Pa/m")

    def _warn_of_faint_echo(self, residual: float) -> None:
        """AccuracyWarning where the residual, or rounding, is not small compared with the echo of a body much smaller
        than the wavelength, which is (k a)^2 of the wave and comes from slopes of its order."""
        low, high = self.mesh.bounds
        size = abs(self.wavenumber) * float((high - low).max()) / 2
        lost = residual / size + float(np.finfo(float).eps) / size**2
        if lost > LARGEST_ECHO_ERROR:
            warnings.warn(
                f"the echo of a body of k a = {size:.2g} is about {size**2:.1g} of the wave, and a residual of "
                f"{residual:.1g} leaves it uncertain by {min(lost, 1.0):.1g}: take a smaller rtol, or solver='lu' "
                "(down to k a = 1e-6)",
                AccuracyWarning,
                stacklevel=callers_level(),
            )

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> ScatteringSolution:
        self._warn_of_faint_echo(info.residual)
        total, slope = self._unknowns(coefficients)
        inside = Helmholtz(self.interior_wavenumber)
        interior = (
            double_layer_potential(inside, -1 * total),
            single_layer_potential(inside, self.density_ratio * slope),
        )
        layers = self._potentials(coefficients)[1]
        return ScatteringSolution(
            data, self.mesh, self.wavenumber, info, total, layers, interior, slope, self.frequency
        )
