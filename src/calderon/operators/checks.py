"""Checks of what operators are made of and asked for."""

from numbers import Complex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.spaces import NodalVectorSpace, Space, VectorSpace
from calderon.validation import as_complex, describe

Index = NDArray[np.int64]


def checked_spaces(what: str, *spaces: Any, kind: type = Space) -> None:
    """TypeError for anything but spaces of that kind: scalar functions, vectors at nodes, or tangential fields."""
    named, example = {
        Space: ("scalar functions", "P1(mesh)"),
        NodalVectorSpace: ("vectors at nodes", "P1(mesh, components=3)"),
        VectorSpace: ("tangential fields", "RWG(mesh)"),
    }[kind]
    for space in spaces:
        if not isinstance(space, kind):
            raise TypeError(f"{what} needs a space of {named}, got {describe(space)}: try {example}")


def checked_factor(factor: Any) -> complex:
    """A finite number; TypeError or ValueError for what is none."""
    if not isinstance(factor, Complex) or isinstance(factor, bool):
        raise TypeError(
            f"an operator is multiplied by numbers, got {describe(factor)}: A @ B composes operators, and "
            "A.assemble() @ x multiplies a vector"
        )
    if not np.isfinite(as_complex(factor, "the factor of an operator")):
        raise ValueError(f"the factor of an operator must be finite, got {factor!r}")
    return factor  # type: ignore[return-value]
