"""A stack at one frequency: each layer is a section of two transmission lines, that of TM and that of TE waves."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

SLOWEST = 5e-3
"""Largest wavenumber times extent of metal below which Green's functions of vertical currents lose all digits to the
squares of wavenumbers; they are those at rest there, to the square of this number."""
OPEN, WALL, MAGNETIC_WALL = 0, 1, 2
"""Ends of a stack: a half-space, a wall with a surface impedance (that of a perfect conductor is 0), a magnetic one."""

TURN = 0.35
"""Im k over Re k from which on a medium is a conductor. Panels of the axis that grow by 1.5, with 16 points, are then
exact to 1e-11 next to its branch point (ellipse of analyticity: sum of semi-axes 1.4 + sqrt(1 + 1.4^2) > 3)."""


@dataclass(frozen=True, eq=False)
class Sections:
    """Layers from below, half-spaces at the ends included, at one frequency.

    k0: wavenumber of vacuum in 1/m. eps, mu (n,): relative, complex. low, high (n,): the faces of each layer, z in m;
    of a half-space both are its one face. ends (2,): OPEN, WALL or MAGNETIC_WALL below and above.
    walls (2,): impedances of walls, divided by that of vacuum.
    """

    k0: float
    eps: np.ndarray
    mu: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ends: np.ndarray
    walls: np.ndarray

    @property
    def data(self) -> tuple[Any, ...]:
        """The numbers, as compiled functions take them."""
        return self.k0, self.eps, self.mu, self.low, self.high, self.ends, self.walls

    def require_consistent(self) -> None:
        """ValueError for arrays, read from somewhere, that are not those of one stack."""
        n = len(self.eps)
        shapes = [np.shape(each) for each in (self.mu, self.low, self.high, self.ends, self.walls)]
        faces = np.stack([self.low, self.high], axis=1).ravel() if shapes[1:3] == [(n,), (n,)] else np.zeros(0)
        fits = n > 0 and shapes == [(n,), (n,), (n,), (2,), (2,)] and bool((np.diff(faces) >= 0).all())
        kinds = "".join(np.asarray(each).dtype.kind for each in self.data[1:])
        if not fits or kinds != "ccffic" or not np.isin(self.ends, (OPEN, WALL, MAGNETIC_WALL)).all():
            raise ValueError("layers that are not those of one stack")
        if not (np.isfinite(self.k0) and self.k0 > 0):
            raise ValueError(f"a wavenumber k0 = {self.k0}")

    @property
    def wavenumbers(self) -> np.ndarray:
        """k of each layer (n,) in 1/m."""
        return self.k0 * np.sqrt(self.eps * self.mu)

    @property
    def travels(self) -> np.ndarray:
        """(n,) whether waves travel in each layer, rather than decay within half a wavelength as in conductors."""
        k = self.wavenumbers
        return np.asarray(k.imag < TURN * k.real)

    @property
    def densest(self) -> float:
        """The largest |k| in 1/m of vacuum and of layers in which waves travel: no singularity of transforms beyond it
        is close to the real axis, and fields far from conductors do not vary faster."""
        return self.densest_of(np.arange(len(self.wavenumbers)))

    def densest_of(self, layers: ArrayLike) -> float:
        """The largest |k| in 1/m of vacuum and of those of some layers, by number, in which waves travel."""
        chosen = np.asarray(layers, dtype=int)
        return float(max(self.k0, np.abs(self.wavenumbers[chosen][self.travels[chosen]]).max(initial=0.0)))

    @property
    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """(n,) the lowest and the highest z in m of each layer, infinite in half-spaces."""
        bottom, top = self.low.astype(float), self.high.astype(float)
        if self.ends[0] == OPEN:
            bottom[0] = -np.inf
        if self.ends[1] == OPEN:
            top[-1] = np.inf
        return bottom, top

    def touching(self, low: np.ndarray, high: np.ndarray, near: float = 0.0) -> np.ndarray:
        """Numbers of the layers that something from low to high (m,), z in m, lies in or next to, up to `near` m."""
        bottom, top = self.spans
        near = min(near, float((top - bottom).min()) / 4)
        return np.flatnonzero(((low[:, None] <= top + near) & (high[:, None] >= bottom - near)).any(axis=0))

    def hastened(self, extent: float) -> tuple["Sections", float]:
        """These layers at so many times the wavenumber, at least 1, that waves vary over an extent in m by SLOWEST,
        and the factor; layers of vacuum, whose Green's functions are exact, as they are."""
        size = float(np.abs(self.wavenumbers).max()) * extent
        vacuum = np.all(self.eps == 1) and np.all(self.mu == 1) and np.all(self.ends == OPEN)
        factor = 1.0 if vacuum else max(1.0, SLOWEST / size)
        return replace(self, k0=factor * self.k0), factor

    def layer_of(self, z: float, side: str | None = None) -> int:
        """The number of the layer with height z. On an interface it is the layer above, or the one on the given side.

        Raises ValueError for heights outside of the stack.
        """
        below, above = self._reach
        inside = -below <= z <= above if np.isfinite(z) else False
        if not inside:
            raise ValueError(f"z = {z:g} m is outside of the stack, which reaches from {-below:g} to {above:g} m")
        faces = self.high[:-1]
        number = int(np.searchsorted(faces, z, side="left" if side == "below" else "right"))
        return min(number, len(self.eps) - 1)

    def is_interface(self, z: float) -> bool:
        """Whether two layers meet at height z."""
        return bool(np.any(self.high[:-1] == z))

    @property
    def _reach(self) -> tuple[float, float]:
        """How far the stack reaches downward and upward."""
        below = np.inf if self.ends[0] == OPEN else -self.low[0]
        above = np.inf if self.ends[1] == OPEN else self.high[-1]
        return float(below), float(above)
