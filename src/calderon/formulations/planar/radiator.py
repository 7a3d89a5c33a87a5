"""Far fields of the functions of metal in layers, which are also what the functions receive of plane waves."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.floquet import transforms
from calderon.layers import Sections
from calderon.layers.radiation import SurfaceWave, residue_ratio, responses
from calderon.layers.sections import OPEN
from calderon.spaces import EdgeSpace

Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Radiator:
    """Edge functions of horizontal metal; the last ones are the currents of probes at the places (x, y), of 1 A, from
    the ground to `height` in m, the lowest metal."""

    sections: Sections
    space: EdgeSpace
    height: float
    places: list[Any]

    @cached_property
    def heights(self) -> Floats:
        """z in m of the interfaces with metal, that of the lowest metal first."""
        return np.unique(self._z)

    @cached_property
    def _z(self) -> Floats:
        """(dimension,) z of each function."""
        faces = self.sections.high[:-1]
        z = self.space.mesh.centroids[self.space.pairs[:, 0], 2]
        return np.asarray(faces[np.abs(z[:, None] - faces).argmin(axis=1)])

    def radiates(self, side: int) -> bool:
        """Whether there is a half-space without loss above (side -1) or below (0)."""
        return bool(self.sections.ends[side] == OPEN and self.sections.wavenumbers[side].imag == 0)

    def impedance(self, side: int) -> float:
        """Wave impedance in ohm of the half-space on a side."""
        return VACUUM_IMPEDANCE * float(np.sqrt(self.sections.mu[side] / self.sections.eps[side]).real)

    def amplitudes(self, radial: Floats, around: Floats, side: int) -> Complex:
        """(n, 2, dimension) F along theta-hat and phi-hat in V of each function, in directions (n, 3) of a half-space
        with phi-hat `around` (n, 3): E ~ F exp(i k r) / r, by stationary phase."""
        sections = self.sections
        k, face = sections.wavenumbers[side].real, float(sections.low[-1] if side else sections.high[0])
        c, size = radial[:, 2, None], k * np.linalg.norm(radial[:, :2], axis=1) + 0j
        outward = np.stack([around[:, 1], -around[:, 0]], axis=1)
        along, across = transforms(self.space, np.ascontiguousarray(k * radial[:, :2]), outward)
        found = [responses(sections, size, face, z, bool(self.places) and z == self.height) for z in self.heights]
        which = np.searchsorted(self.heights, self._z)
        along *= np.stack([each.tm for each in found], axis=1)[:, which]
        across *= np.stack([each.te for each in found], axis=1)[:, which]
        if self.places:
            along[:, -len(self.places) :] += found[0].vertical[:, None] * self._phases(k * radial[:, :2])
        factor = -1j * k * np.abs(c) / (2 * np.pi) * VACUUM_IMPEDANCE * np.exp(-1j * k * c * face)
        return np.stack([factor / c * along, factor * across], axis=1)

    def received(self, radial: Floats, around: Floats, side: int) -> Complex:
        """(n, 2, dimension) int f . E in V m of plane waves of 1 V/m from these directions, with the field that the
        stack reflects and transmits, polarised along theta-hat and phi-hat; the phase is 0 at the origin without the
        stack. By reciprocity 4 pi F / (i omega mu)."""
        mu = VACUUM_IMPEDANCE * self.sections.k0 * self.sections.mu[side]
        return np.asarray(4 * np.pi / (1j * mu) * self.amplitudes(radial, around, side))

    def launched(self, wave: SurfaceWave, phi: Floats) -> Complex:
        """(n, dimension) currents at the lowest metal that excite a surface wave as each function does, toward phi."""
        unit = np.stack([np.cos(phi), np.sin(phi)], axis=1)
        k = wave.k.real * unit
        parts = transforms(self.space, k, unit)
        out = parts[0 if wave.kind == "TM" else 1]
        ratios = np.array([residue_ratio(self.sections, wave, self.height, z) for z in self.heights])
        out *= ratios[np.searchsorted(self.heights, self._z)]
        if self.places:
            out[:, -len(self.places) :] += wave.vertical * self._phases(k)
        return out

    def _phases(self, k: Floats) -> Complex:
        """(n, probes) transforms of unit currents at the places of probes."""
        return np.asarray(np.exp(-1j * k @ np.array(self.places, dtype=float).T))
