"""Currents as scalar sums, for boxes with equivalent sources.

With G = exp(i k r) / (4 pi r), A(x) = sum_q G J_q and phi = div A = -sum_q J_q.grad_y G,

    E = A + grad(phi) / k^2    (plane waves: (I - d d) J)        H = curl(A) / (i k)    (d x J),

so that the three components of A and phi are four sums of charges and dipoles, and fields are values and gradients.
Sources d x J, of transposed products, have A = (i / k) sum_q grad_y G x J_q, which has no divergence. Plane waves have
A alone, as its part along d has no field: where they pass to boxes with equivalent sources, phi is zero.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SUMS, WAVES = 4, 3
"""Scalar sums of a column, and those of them that plane waves have."""
PARTS = np.arange(4)
"""Of each sum: value and derivatives."""


def to_sums(numbers: NDArray[Any], kinds: Sequence[str], k: complex) -> NDArray[Any]:
    """Charges and dipoles (points, columns, SUMS, PARTS) of currents (points, columns, components), complex ones in two
    parts, flat."""
    table = table_of(kinds, k, True)
    given = numbers.view(np.result_type(numbers, np.complex64)).reshape(-1, table.shape[1])
    return (given @ table.T.astype(given.dtype)).view(numbers.dtype).ravel()


def from_sums(numbers: NDArray[Any], kinds: Sequence[str], k: complex) -> NDArray[Any]:
    """Fields (points, columns, components) from values and gradients of the sums, likewise."""
    table = table_of(kinds, k, False)
    given = numbers.view(np.result_type(numbers, np.complex64)).reshape(-1, len(table))
    return (given @ table.astype(given.dtype)).view(numbers.dtype).ravel()


def table_of(kinds: Sequence[str], k: complex, outward: bool) -> NDArray[np.complex128]:
    """(SUMS * PARTS, components): what components send, or the transposed of what they receive."""
    parts = [(_sent if outward else _received)(kind, k) for kind in kinds]
    return np.concatenate(parts, axis=2).reshape(SUMS * len(PARTS), -1)


def _sent(kind: str, k: complex) -> NDArray[np.complex128]:
    """(SUMS, PARTS, 3): of the components of a current."""
    found = np.zeros((SUMS, len(PARTS), 3), complex)
    if kind == "electric":
        found[:3, 0], found[3, 1:] = np.eye(3), -np.eye(3)
    else:
        found[:3, 1:] = 1j / k * _CROSS
    return found


def _received(kind: str, k: complex) -> NDArray[np.complex128]:
    """(SUMS, PARTS, 3): for the components of a field."""
    found = np.zeros((SUMS, len(PARTS), 3), complex)
    if kind == "electric":
        found[:3, 0], found[3, 1:] = np.eye(3), np.eye(3) / k**2
    else:
        found[:3, 1:] = -1j / k * _CROSS.transpose(2, 1, 0)
    return found


_CROSS = np.array([[[(c - a) * (a - b) * (b - c) / 2 for b in range(3)] for a in range(3)] for c in range(3)])
"""(c, a, b): 1 and -1 for even and odd permutations."""
