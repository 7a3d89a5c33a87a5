"""Far fields in many directions from those in few: the pattern of a body is band-limited.

With sources within a distance R of a point, the phases e^{-i k d.y} about that point have degrees l in the direction d
with the factors (2 l + 1) j_l(k R), which fall below rounding a little beyond k R (O. M. Bucci and G. Franceschetti,
IEEE Trans. Antennas Propag. 35 (1987) 1445). A pattern of degree L is a trigonometric polynomial of degree L in both
angles: theta goes around the whole circle, as (-theta, phi) is the direction (theta, phi + pi) (S. A. Orszag, Mon.
Weather Rev. 102 (1974) 56). Its values in 2 (L + 1)^2 directions give it in all others.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]
FarSums = Callable[[Array], NDArray[np.complex128]]
"""Values (n, values) of a far field in unit directions (n, 3)."""

ROUNDING = 1e-16
"""Factors of degrees that count as zero."""
PHASES = 2
"""Degrees beyond those of phases: sources with normals and components have at most one more."""
PRODUCT = 0.6
"""Time of the interpolation for one direction and pair of frequencies, over that of one source in one direction: .3
with 202 frequencies, 1 with 52 (two threads)."""
AT_ONCE = 4096
"""Directions that are interpolated at a time."""


class Body(NamedTuple):
    """Sources of a far field: their wavenumber k, a centre (3,), the largest distance from it, and their number."""

    wavenumber: float
    centre: Array
    radius: float
    sources: int

    def degree(self, most: int) -> int | None:
        """The degree of its pattern; None where it is more than `most`."""
        size = abs(self.wavenumber) * self.radius
        if size > most:
            return None
        l = np.arange(most + 1)
        needed = np.flatnonzero((2 * l + 1) * np.abs(scipy.special.spherical_jn(l, size)) > ROUNDING)
        degree = int(needed.max(initial=0)) + PHASES
        return degree if degree <= most else None


def in_directions(sums: FarSums, body: Body, directions: Array) -> NDArray[np.complex128]:
    """The values (n, values) of a far field in unit directions (n, 3): interpolated from fewer directions where that
    takes less time, to rounding errors of the largest value that sources of these strengths could have."""
    degree = body.degree(int(np.sqrt(len(directions) / 2)))
    if degree is None or not _is_faster(degree, len(directions), body.sources):
        return sums(directions)
    grid = _grid(degree)
    about = np.exp(1j * body.wavenumber * (grid @ body.centre))
    pattern = interpolated(about[:, None] * sums(grid), degree, directions)
    return np.exp(-1j * body.wavenumber * (directions @ body.centre))[:, None] * pattern


def _is_faster(degree: int, directions: int, sources: int) -> bool:
    """Whether values in 2 (degree + 1)^2 directions and their interpolation take less time than those in all."""
    frequencies = 2 * (degree + 1)
    return sources * frequencies**2 / 2 + PRODUCT * directions * frequencies**2 < sources * directions


def _grid(degree: int) -> Array:
    """(2 (L + 1)^2, 3) directions: L + 1 polar angles between the poles, by 2 L + 2 azimuths."""
    theta = (np.arange(degree + 1) + 0.5) * np.pi / (degree + 1)
    phi = np.arange(2 * degree + 2) * np.pi / (degree + 1)
    theta, phi = (each.ravel() for each in np.meshgrid(theta, phi, indexing="ij"))
    return np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=1)


def interpolated(values: NDArray[np.complex128], degree: int, directions: Array) -> NDArray[np.complex128]:
    """A pattern with these values (2 (L + 1)^2, values) in the directions of `_grid`, in unit directions (n, 3)."""
    rows, columns = degree + 1, 2 * degree + 2
    half = values.reshape(rows, columns, -1)
    # polar angles from 0 to 2 pi: on the other half the azimuth is turned by pi
    whole = np.concatenate([half, np.roll(half, rows, axis=1)[::-1]])
    factors = np.fft.fft2(whole, axes=(0, 1)) / (columns * columns)
    # frequencies -L - 1 .. L; angles of rows begin half a step beyond 0
    frequencies = np.fft.fftfreq(columns, 1 / columns)
    factors *= np.exp(-0.5j * np.pi / rows * frequencies)[:, None, None]
    factors = np.fft.fftshift(factors, axes=(0, 1))
    out = np.empty((len(directions), factors.shape[2]), complex)
    for low in range(0, len(directions), AT_ONCE):
        x, y, z = directions[low : low + AT_ONCE].T
        along, around = (_waves(angle, columns) for angle in (np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)))
        for value in range(out.shape[1]):
            out[low : low + AT_ONCE, value] = np.einsum("nj,nj->n", along @ factors[:, :, value], around)
    return out


def _waves(angle: Array, count: int) -> NDArray[np.complex128]:
    """(n, count) e^{i m angle} of the frequencies m from -count / 2 on."""
    return np.vander(np.exp(1j * angle), count, increasing=True) * np.exp(-0.5j * count * angle)[:, None]
