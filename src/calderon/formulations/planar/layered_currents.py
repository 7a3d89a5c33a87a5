"""Currents on metal in a stack of layers: far field and power."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.angular import line_of_sight
from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.formulations.planar.radiator import Radiator
from calderon.formulations.saving.solution_file import SavedSolution
from calderon.formulations.solution_info import SolutionInfo
from calderon.layers import Sections
from calderon.layers.radiation import SurfaceWave, outside_wavenumber, surface_waves
from calderon.potentials.layered import layered_fields
from calderon.quadrature import gauss
from calderon.spaces import VectorFunction
from calderon.validation import of_any_shape, place_in_plane, points_in_space, positive_length
from calderon.view import Described

THETAS, PHIS = 24, 48
"""Directions in a half-space for the power, and around the axis."""
PRODUCTS_AT_ONCE = 1 << 18
"""Directions times functions at a time."""
Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class LayeredCurrents(SavedSolution, Described):
    """Currents of one frequency in Hz, peak values, time factor exp(-i omega t).

    surface: the surface current in A/m, that of contacts included. height: z in m at which probes end; probes: the
    places and currents in A of vertical currents from the ground to it. info: the record of the solver.
    """

    sections: Sections
    frequency: float
    surface: VectorFunction
    height: float
    probes: list[tuple[Any, complex]]
    info: SolutionInfo

    saved_classes: ClassVar[Sequence[type]] = (Sections,)

    @property
    def brief(self) -> str:
        """Frequency and unknowns."""
        return f"{self.frequency / 1e9:.6g} GHz, {len(self.surface.coefficients)} unknowns"

    @cached_property
    def radiator(self) -> Radiator:
        """The functions that carry the currents."""
        space: Any = self.surface.space
        return Radiator(self.sections, space, self.height, [place for place, _ in self.probes])

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> Complex:
        """F (..., 3) in V: E ~ F exp(i k r) / r in an open half-space, by stationary phase.

        theta, phi: in radians, or vectors, as for `exact.unit_directions`. k is that of the half-space. F is zero
        behind a wall, in a lossy half-space, and along the layers at theta = pi / 2.
        """
        radial, theta_hat, phi_hat = line_of_sight(theta, phi)
        flat, around = radial.reshape(-1, 3), phi_hat.reshape(-1, 3)
        out = np.zeros((len(flat), 2), complex)
        step = max(1, PRODUCTS_AT_ONCE // len(self.surface.coefficients))
        for side, sign in ((-1, 1.0), (0, -1.0)):
            chosen = np.flatnonzero(sign * flat[:, 2] > 0)
            for low in range(0, len(chosen) if self.radiator.radiates(side) else 0, step):
                some = chosen[low : low + step]
                out[some] = self.radiator.amplitudes(flat[some], around[some], side) @ self.surface.coefficients
        out = out.reshape(*radial.shape[:-1], 2)
        return np.asarray(out[..., :1] * theta_hat + out[..., 1:] * phi_hat)

    @of_any_shape
    def electric(self, points: ArrayLike) -> Complex:
        """E (n, 3) in V/m at points (n, 3) in m, in any layer; on an interface that above it.

        Each height of points takes seconds, all points of one height hardly more: planes of constant z are cheap.
        The current of a probe is on its axis, and flows on around its contact: at the distance d from one of radius a
        errors are about (a / d)^2 / 4. Raises ValueError for points closer to metal than a quarter of the edges there,
        or outside of the layers.
        """
        return self._near_fields(points_in_space(points))[0]

    @of_any_shape
    def magnetic(self, points: ArrayLike) -> Complex:
        """H (n, 3) in A/m, as `electric`."""
        return self._near_fields(points_in_space(points))[1]

    def _near_fields(self, points: NDArray[np.float64]) -> tuple[Complex, Complex]:
        """E and H of the currents."""
        return layered_fields(self.sections, self.surface, self.probes, self.height, points)

    @cached_property
    def surface_waves(self) -> list[SurfaceWave]:
        """The surface waves that horizontal currents at `height` excite; none that decays faster along the layers than
        it is slower than waves above: its power is part of what is lost; and none in layers that are together thinner
        than 1e-3 over their wavenumber: of power radiated over a wall they carry twice that at most."""
        faces, thickness = self.sections.high[:-1], 0.0
        if len(faces):
            thickness = float(faces[-1] - min(faces[0], self.sections.low[0]))
        if float(np.abs(self.sections.wavenumbers).max()) * thickness < 1e-3:
            return []
        found = surface_waves(self.sections, self.height, bool(self.probes))
        return [wave for wave in found if wave.k.imag < wave.k.real - outside_wavenumber(self.sections)]

    def radiated_power(self) -> float:
        """int |F|^2 / (2 eta) in W over the open half-spaces."""
        cosines, weights = gauss(THETAS).points, gauss(THETAS).weights
        phi = 2 * np.pi * np.arange(PHIS) / PHIS
        total = 0.0
        for side, sign in ((-1, 1.0), (0, -1.0)):
            if self.radiator.radiates(side):
                field = self.far_field(np.arccos(sign * cosines)[:, None], phi)
                square = (np.abs(field) ** 2).sum(axis=(1, 2)) * 2 * np.pi / PHIS
                total += float(weights @ square) / (2 * self.radiator.impedance(side))
        return total

    def carried_power(self) -> float:
        """Power in W of surface waves: half of the real part of i pi times the residue, over all directions."""
        phi, total = 2 * np.pi * np.arange(PHIS) / PHIS, 0.0
        for wave in self.surface_waves:
            along = self.radiator.launched(wave, phi) @ self.surface.coefficients
            mean = float(np.mean(np.abs(along) ** 2))
            total += VACUUM_IMPEDANCE * wave.k.real / 4 * mean * (-1j * wave.residue).real
        return total

    def _require_consistent(self) -> None:
        self.sections.require_consistent()
        positive_length(self.frequency, "frequency")
        for place, _ in self.probes:
            place_in_plane(place, "the place of a probe")
        if len(self.probes) >= len(self.surface.coefficients):
            raise ValueError(f"{len(self.probes)} probes and {len(self.surface.coefficients)} functions")
