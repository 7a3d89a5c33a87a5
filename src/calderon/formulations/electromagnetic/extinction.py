"""Extinction: what bodies take from a wave, over its intensity, and what is left of it within them, an error.

Within bodies the field of the outer currents is minus the incident one: with J = n x H and M = -n x E of the total
field, E_inc + T J - K M = 0 (P. P. Ewald 1912, C. W. Oseen 1915), and so for H. What is left of the incident wave there
is a residual that no equation on the surface contains, taken where it is smooth; near a resonance it grows as the error
of the resonant field does. Spheres, ellipsoids and cubes with permittivities from -8 to 1000, resonant and not: fields
outside were wrong by 0.05 to 9 times as much. Conductors (M = 0) by equations with the magnetic field, spheres, rings,
cubes, almonds, k d from 1e-4 to 9: 0.1 to 3.5 times. The electric equation has resonances inside that do not radiate,
and is not judged so.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.exact.angular import radar_cross_section
from calderon.formulations.checks import reference_amplitude
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn_of_accuracy
from calderon.validation import one_of, one_or_more_points
from calderon.waves import ElectromagneticPlaneWave

PROBE_DEPTH, CONDUCTOR_DEPTH = 1.0, 0.7
"""Mean edges from the surface within which fields show single elements, of J and M, and of J alone."""
ACCEPTED = 0.01
"""Part of the incident wave that may be left."""


class CrossSections:
    """Powers of an incident wave, over its intensity, and what a body keeps of it.

    incident: the wave, which a solution has, with `far_field`, and `electric` and `magnetic` of the total field.
    """

    incident: Any
    wavenumber: Any
    far_field: Callable[..., NDArray[np.complex128]]
    electric: Callable[..., NDArray[np.complex128]]
    magnetic: Callable[..., NDArray[np.complex128]]

    is_lossless: ClassVar[bool] = False
    """Whether the body certainly absorbs nothing."""

    @property
    def incident_amplitude(self) -> float:
        """|E_inc| at the origin of coordinates, in V/m: the amplitude of a plane wave, above a ground without its
        reflection. ValueError where ports feed wires."""
        return reference_amplitude(self._wave.electric(np.zeros((1, 3))), "field", "cross-section")

    @property
    def _wave(self) -> Any:
        """The incident wave; ValueError where there is none."""
        if self.incident is None:
            raise ValueError(
                "these wires are fed by their ports, and cross-sections and shielding are those of an incident wave"
            )
        return self.incident

    @abstractmethod
    def scattering_cross_section(self) -> float: ...

    def shielding_effectiveness(self, points: ArrayLike, field: str = "electric") -> NDArray[np.float64]:
        """20 log10 |E_inc| / |E| (n,) in dB at points (n, 3), what a body keeps away from them, infinite where there is
        no field; field="magnetic": of H. ValueError where ports feed wires. IEEE Std 299-2006."""
        one_of(field, ("electric", "magnetic"), "field")
        x = one_or_more_points(points)
        without, there = (np.linalg.norm(getattr(each, field)(x), axis=-1) for each in (self._wave, self))
        with np.errstate(divide="ignore"):
            return np.asarray(20 * np.log10(without / there))

    def rcs(
        self, theta: ArrayLike, phi: ArrayLike | None = None, polarization: str | None = None
    ) -> NDArray[np.float64]:
        """Bistatic radar cross-section 4 pi |F|^2 / |E_inc|^2 in m^2; directions as for `far_field`.

        polarization: "V" or "H" counts what a receiver along theta-hat or phi-hat sees; None counts both.
        """
        return radar_cross_section(self.far_field, self.incident_amplitude, theta, phi, polarization)

    def extinction_cross_section(self) -> float:
        """Power taken from a plane wave over its intensity in m^2, by the optical theorem 4 pi / k Im(conj(e) . F(d)) /
        E0; scattering and absorption add up to it as far as the equation conserves energy. ValueError for other waves.

        Of bodies much smaller than the wavelength Im is a small part of F and has the error of F. Below 1e-3 of it the
        scattering cross-section is returned for bodies without loss, and an AccuracyWarning is given for others.
        """
        wave = self._wave
        if not isinstance(wave, ElectromagneticPlaneWave):
            raise ValueError(
                f"extinction is that of one plane wave, got {wave}: add scattering_cross_section() and "
                "absorption_cross_section()"
            )
        forward = self.far_field(wave.direction)[0]
        at_origin = wave.electric(np.zeros((1, 3)))[0]
        amplitude = np.vdot(at_origin, forward) / self.incident_amplitude**2
        if abs(amplitude.imag) < 1e-3 * np.linalg.norm(forward) / self.incident_amplitude:
            if self.is_lossless:
                return self.scattering_cross_section()
            warn_of_accuracy(
                f"the imaginary part of the forward amplitude, which gives the extinction, is "
                f"{abs(amplitude.imag / amplitude):.1g} of it and has its error: add scattering_cross_section() and "
                "absorption_cross_section()"
            )
        return float(4 * np.pi / np.real(self.wavenumber) * amplitude.imag)


def probe_points(mesh: TriangleMesh, least: float = PROBE_DEPTH) -> NDArray[np.float64]:
    """Points (n, 3) deep inside of the largest parts of a closed surface, at `least` times the mean edge; none of parts
    that are thin."""
    candidates, probes = 400, 12  # points drawn in the box around a part, and those of them farthest from its surface
    parts = np.argsort(-np.bincount(mesh.components, weights=mesh.areas))[:4]
    tree, rng, found = scipy.spatial.KDTree(mesh.centroids), np.random.default_rng(0), [np.zeros((0, 3))]
    for part in parts:
        corners = mesh.vertices[mesh.triangles[mesh.components == part]].reshape(-1, 3)
        low, high = corners.min(axis=0), corners.max(axis=0)
        x = low + (high - low) * rng.random((candidates, 3))
        depth = tree.query(x)[0]
        x = x[np.argsort(-depth)][: np.count_nonzero(depth > least * mesh.mean_edge_length)]
        found.append(x[mesh.contains(x)][:probes] if len(x) else x)
    return np.concatenate(found)


def remainder(solution: Any, points: NDArray[np.float64]) -> float:
    """Rest of the incident field at points (n, 3) inside, relative to it: the larger of E and H."""
    incident, currents = solution.incident, solution.currents
    pairs = [(incident.electric(points), currents.electric(points)),
             (incident.magnetic(points), currents.magnetic(points))]  # fmt: skip
    tiny = np.finfo(float).tiny
    return max(float(np.linalg.norm(wave + own) / max(np.linalg.norm(wave), tiny)) for wave, own in pairs)


def warn_of_remainder(solution: Any, points: NDArray[np.float64], advice: str, accepted: float = ACCEPTED) -> None:
    """AccuracyWarning where more than `accepted` of the incident wave is left at the points."""
    if len(points) == 0 or (left := remainder(solution, points)) <= accepted:
        return
    warn_of_accuracy(
        f"the currents leave {100 * left:.2g} % of the incident wave inside of the bodies, where they should "
        f"extinguish it: fields outside have errors of that order ({20 * np.log10(1 + left):.2g} dB); {advice}"
    )


def warn_unjudged(advice: str) -> None:
    """AccuracyWarning for bodies whose meshes are too coarse for such points."""
    warn_of_accuracy(
        f"no point inside is {CONDUCTOR_DEPTH:g} edges away from the surface, so that the error is not known, and it "
        f"may be several per cent; {advice}"
    )
