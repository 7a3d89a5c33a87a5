"""Complex values and vectors as the real arrays by name that files for ParaView hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Fields = dict[str, NDArray[Any]]


def named_fields(label: str, unit: str, values: NDArray[Any]) -> Fields:
    """Real arrays by name for values (n,) or vectors (n, 3): themselves, or real part, imaginary part, magnitude and,
    of complex numbers, phase in rad. The magnitude of a vector is the square root of the sum of |components|^2.
    """
    name = f"{label} [{unit}]" if unit else label
    vectors = values.ndim == 2
    size = np.linalg.norm(values, axis=1) if vectors else np.abs(values)
    magnitude = {f"{name} magnitude": size.astype(float)}
    if not np.iscomplexobj(values):
        return {name: values.astype(float)} | (magnitude if vectors else {})
    fields = {f"{name} real": values.real.astype(float), f"{name} imaginary": values.imag.astype(float)} | magnitude
    return fields if vectors else fields | {f"{label} phase [rad]": np.angle(values).astype(float)}
