"""Lengths that shapes are asked for."""

import numpy as np

from calderon.mesh.errors import MeshError


def positive(name: str, value: float) -> float:
    """The value as a positive finite float, or MeshError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise MeshError(f"{name} = {value!r}: a positive length is needed") from None
    if not (np.isfinite(number) and number > 0):
        raise MeshError(f"{name} = {value!r}: a positive, finite length is needed")
    return number
