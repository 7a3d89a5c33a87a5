"""Sources of static fields: point charges and dipoles in a medium, and uniform fields."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.validation import one_or_more_points, one_point, real_number
from calderon.waves.given import Given

Vectors = NDArray[np.float64]
LARGEST_DECAY = 1e100
"""In 1/m; its square is a number."""


def checked_decay(value: float) -> float:
    """A finite number that is not negative."""
    number = float(real_number(value, "the decay"))
    if not 0 <= number <= LARGEST_DECAY:
        raise ValueError(f"the decay is from 0 to {LARGEST_DECAY:g} in 1/m, got {value!r}")
    return number


@dataclass(frozen=True, eq=False)
class PointCharge:
    """A charge q in C at a point x (3,) in m; where materials are conductivities a current in A that enters there."""

    position: Given
    charge: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", one_point(self.position, "the position of a point charge"))
        object.__setattr__(self, "charge", real_number(self.charge, "the charge of a point charge"))

    def potential(self, x: ArrayLike, decay: float = 0.0) -> NDArray[np.float64]:
        """q exp(-w r) / (4 pi r) at points (n, 3): the potential times the constant of the material; w: the decay."""
        r, decay = np.linalg.norm(one_or_more_points(x) - self.position, axis=1), checked_decay(decay)
        return np.asarray(self.charge * np.exp(-decay * r) / (4 * np.pi * r))

    def gradient(self, x: ArrayLike, decay: float = 0.0) -> Vectors:
        """The gradient (n, 3) of `potential`."""
        d, decay = one_or_more_points(x) - self.position, checked_decay(decay)
        r = np.linalg.norm(d, axis=1)
        factor = -self.charge * np.exp(-decay * r) * (1 + decay * r) / (4 * np.pi * r**3)
        return np.asarray(factor[:, None] * d)


@dataclass(frozen=True, eq=False)
class StaticDipole:
    """A dipole of moment m (3,) at a point x (3,) in m: in C m, where materials are conductivities in A m (a current
    dipole, as of active nerve cells), where they are permeabilities in A m^2 (a small magnet)."""

    position: Given
    moment: Given

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", one_point(self.position, "the position of a dipole"))
        object.__setattr__(self, "moment", one_point(self.moment, "the moment of a dipole"))

    def potential(self, x: ArrayLike, decay: float = 0.0) -> NDArray[np.float64]:
        """m . d (1 + w r) exp(-w r) / (4 pi r^3), d = x - position, at points (n, 3): the potential times the constant
        of the material; w: the decay."""
        d, decay = one_or_more_points(x) - self.position, checked_decay(decay)
        r = np.linalg.norm(d, axis=1)
        return np.asarray(np.exp(-decay * r) * (1 + decay * r) * (d @ self.moment) / (4 * np.pi * r**3))

    def gradient(self, x: ArrayLike, decay: float = 0.0) -> Vectors:
        """The gradient (n, 3) of `potential`."""
        d, decay = one_or_more_points(x) - self.position, checked_decay(decay)
        r, along = np.linalg.norm(d, axis=1)[:, None], (d @ self.moment)[:, None]
        w = decay * r
        fall = np.exp(-w) / (4 * np.pi * r**3)
        return np.asarray(fall * ((1 + w) * self.moment - (3 + 3 * w + w * w) * along * d / r**2))


@dataclass(frozen=True, eq=False)
class UniformField:
    """A uniform field (3,) far from all bodies: E in V/m, where materials are permeabilities H in A/m."""

    field: Given

    def __post_init__(self) -> None:
        object.__setattr__(self, "field", one_point(self.field, "a uniform field"))

    def potential(self, x: ArrayLike) -> NDArray[np.float64]:
        """-E . x at points (n, 3)."""
        return np.asarray(-(one_or_more_points(x) @ self.field))

    def gradient(self, x: ArrayLike) -> Vectors:
        """-E (n, 3)."""
        return np.broadcast_to(-self.field, one_or_more_points(x).shape)
