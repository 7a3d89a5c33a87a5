"""Quadrature over all directions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.quadrature.segment import gauss


def sphere_rule(degree: int, upper: bool = False) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Directions (n, 3) and weights (n,) with sum 4 pi, exact for spherical harmonics up to `degree`.

    Gauss-Legendre in cos(theta), trapezoid in phi. upper: directions with z > 0, sum 2 pi.
    """
    rule = gauss(degree // 2 + 1)
    cosine, weight = (rule.points, rule.weights) if upper else (2 * rule.points - 1, 2 * rule.weights)
    phi = 2 * np.pi * np.arange(degree + 1) / (degree + 1)
    sine = np.sqrt(1 - cosine**2)
    directions = np.stack(
        [np.outer(sine, np.cos(phi)), np.outer(sine, np.sin(phi)), np.outer(cosine, np.ones_like(phi))], axis=-1
    )
    weights = np.repeat(weight * 2 * np.pi / (degree + 1), degree + 1)
    return directions.reshape(-1, 3), weights


def far_field_square(
    far_field: Callable[[NDArray[np.float64]], NDArray[Any]],
    points: NDArray[np.float64],
    wavenumber: complex,
    upper: bool = False,
) -> float:
    """int |F|^2 over all directions for F = far_field(directions (n, 3)), (n,) or (n, 3), of a body between points.

    upper: over those with z > 0 alone, where F is smooth.

    The degree resolves |F|^2 to about 1e-8: twice that of the field, k R + 6 (k R)^(1/3) + 4, R the radius about the
    centre of the bounding box, since moving the origin changes the phase of F only.
    """
    return float(far_field_products([far_field], points, wavenumber, upper)[0, 0].real)


def far_field_products(
    far_fields: Sequence[Callable[[NDArray[np.float64]], NDArray[Any]]],
    points: NDArray[np.float64],
    wavenumber: complex,
    upper: bool = False,
) -> NDArray[np.complex128]:
    """int F_i . conj(F_j) (m, m) over all directions, or upper ones, as `far_field_square`."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    size = abs(wavenumber) * float(np.linalg.norm(points - middle, axis=1).max())
    directions, weights = sphere_rule(2 * int(np.ceil(size + 6 * size ** (1 / 3) + 4)), upper)
    values = np.stack([each(directions).reshape(len(weights), -1) for each in far_fields])
    return np.asarray(np.einsum("d,idc,jdc->ij", weights, values, values.conj()), np.complex128)
