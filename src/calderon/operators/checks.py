"""Checks of what operators are made of and asked for."""

from numbers import Complex
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.checks import as_complex, told
from calderon.spaces import Space

Index = NDArray[np.int64]


def checked_spaces(what: str, *spaces: Any, kind: type = Space) -> None:
    """TypeError for anything but spaces of that kind: of scalar functions, or of vector fields."""
    named, example = ("scalar functions", "P1") if kind is Space else ("tangential fields", "RWG")
    for space in spaces:
        if not isinstance(space, kind):
            raise TypeError(f"{what} needs a space of {named}, got {told(space)}: try {example}(mesh)")


def checked_factor(factor: Any) -> complex:
    """A finite number; TypeError or ValueError for what is none."""
    if not isinstance(factor, Complex) or isinstance(factor, bool):
        raise TypeError(
            f"an operator is multiplied by numbers, got {told(factor)}: A @ B composes operators, and "
            "A.assemble() @ x multiplies a vector"
        )
    if not np.isfinite(as_complex(factor, "the factor of an operator")):
        raise ValueError(f"the factor of an operator must be finite, got {factor!r}")
    return factor  # type: ignore[return-value]


def asked_numbers(asked: ArrayLike | slice, size: int, what: str) -> tuple[Index, Index]:
    """Distinct numbers, ascending, and the place of each asked one among them.

    asked: one number, a list of them in -size..size-1, a slice, or a mask (size,) of truth values.
    Raises TypeError for what is none of these, IndexError for numbers outside and for masks of another length.
    """
    given = np.arange(size)[asked] if isinstance(asked, slice) else np.atleast_1d(np.asarray(asked))
    if given.dtype.kind == "b":
        if given.shape != (size,):
            raise IndexError(f"a mask of the {size} {what}s has shape ({size},), got {given.shape}")
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise TypeError(
            f"{what}s are chosen by a list of integers, a slice or a mask, got an array of {given.dtype} of shape "
            f"{given.shape}"
        )
    outside = given[(given < -size) | (given >= size)] if given.size else given
    if outside.size:
        raise IndexError(f"{what} {outside[0]} is outside of the {size} {what}s: 0 to {size - 1}, or -1 for the last")
    return np.unique(given.astype(np.int64) % size, return_inverse=True)
