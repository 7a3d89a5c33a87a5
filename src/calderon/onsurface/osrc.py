"""On-surface radiation conditions: Dirichlet-to-Neumann maps of waves by sparse matrices.

Outgoing waves leave a plane with du/dn = ik sqrt(1 + Delta/k^2) u, Delta the Laplace-Beltrami operator. On a smooth
surface that holds to leading order; near grazing modes, where the root vanishes, curvature makes up for it, which a
damped wavenumber k_eps instead of k imitates (on the sphere to leading order). The root becomes a sum of fractions
(`square_root`), each of which is a sparse system (surface_operator.py).

X. Antoine and M. Darbas, ESAIM Math. Model. Numer. Anal. 41 (2007) 147; M. Darbas, E. Darrigrand and Y. Lafranche,
J. Comput. Phys. 236 (2013) 289.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.onsurface.surface_operator import PartialFractions, SurfaceOperator
from calderon.spaces import Space
from calderon.validation import finite_complex, real_number, whole_number

LARGEST_ORDER = 16
"""Fractions of a root that are chosen without a request: each costs a sparse factorisation and a solution in each
product."""


def osrc_dtn(
    space: Space,
    wavenumber: complex,
    order: int | None = None,
    *,
    error: float = 0.01,
    angle: float = np.pi / 2,
    damping: float | None = None,
    precision: str = "double",
) -> SurfaceOperator:
    """The Dirichlet-to-Neumann map of outgoing waves, du/dn ~ ik sqrt(1 + Delta/k_eps^2) u, by sparse matrices.

    space: P1 or P2, of a closed or an open surface; on the boundary of an open one functions that vanish there
    (boundary=False) carry u = 0, others du/dnu = 0 along the surface. wavenumber: k in 1/m, Re k > 0, Im k >= 0.
    order: number of fractions of the root, each a sparse system; None for the lowest with which the root errs by less
    than `error` up to the shortest waves of the mesh, at most 16. angle: of the branch cut, between 0 and pi; pi/2 is
    best for fine meshes, pi/3 for propagating modes. damping: Im(k_eps - k) in 1/m, default 0.4 k^(1/3) R^(-2/3) with
    R = 3 volume / area (of an open surface the radius of the sphere of equal area), R not below 1/k. precision: of the
    sparse factors, "double" or "single".

    The result maps coefficients of u to those of du/dn. It is geometrical optics: on a sphere of k R = 10 it errs by
    11 % in propagating modes, 14 % in evanescent and 20 % in grazing ones, of k R = 50 by 2, 5 and 31 %. See
    `SurfaceOperator` for its algebra. For example, a preconditioner of the equation of Burton and Miller,
    I/2 - K + eta D, which on a plane is (1 - eta DtN)/2:

        inverse = (0.5 * (1 - eta * osrc_dtn(space, k))).inverse()
        phi, info = gmres(burton_miller, rhs, preconditioner=inverse.tested)

    Raises ValueError for discontinuous functions, for another precision, and for a wavenumber, order or angle out of
    range.
    """
    if not (isinstance(space, Space) and space.is_continuous):
        name = space.name if isinstance(space, Space) else type(space).__name__
        raise ValueError(f"on-surface operators need continuous functions, got {name}: try P1(mesh) or P2(mesh)")
    k = finite_complex(wavenumber, "the wavenumber")
    if not (k.real > 0 and k.imag >= 0):
        raise ValueError(f"the wavenumber must have a positive real part and no negative imaginary one, got {k:.4g}")
    if not 0 < real_number(angle, "the angle of the branch cut") < np.pi:
        raise ValueError(f"the angle of the branch cut must lie between 0 and pi, got {angle!r}")
    if damping is not None and real_number(damping, "the damping") < 0:
        raise ValueError(f"the damping must be a number that is 0 or positive, in 1/m, got {damping!r}")
    damped = k + 1j * (usual_damping(space, k.real) if damping is None else damping)
    if not 0 < real_number(error, "the error") < 1:
        raise ValueError(f"the error must lie between 0 and 1, got {error!r}")
    if order is None:
        order = order_for(space, damped, angle, error)
    if not isinstance(precision, str) or precision not in ("double", "single"):
        raise ValueError(f"precision must be 'double' or 'single', got {precision!r}")
    order = whole_number(order, "the order must be at least 1: order", 1, 200)
    function = square_root(order, angle).scaled(1j * k)
    name = f"OSRC Dirichlet-to-Neumann map of order {order}, k = {k:.4g}"
    return SurfaceOperator(space, damped, function, name, precision=precision)


def osrc_ntd(
    space: Space,
    wavenumber: complex,
    order: int | None = None,
    *,
    error: float = 0.01,
    angle: float = np.pi / 2,
    damping: float | None = None,
    precision: str = "double",
) -> SurfaceOperator:
    """The Neumann-to-Dirichlet map of outgoing waves, u ~ (ik)^-1 (1 + Delta/k_eps^2)^(-1/2) du/dn, by sparse matrices:
    the inverse of `osrc_dtn`, with the same arguments.

    The approximant of the root is inverted as a function, so that a product solves as many sparse systems as one with
    `osrc_dtn`, and both undo each other exactly.
    """
    options: dict[str, Any] = {"error": error, "angle": angle, "damping": damping, "precision": precision}
    inverse = osrc_dtn(space, wavenumber, order, **options).inverse()
    name = f"OSRC Neumann-to-Dirichlet map of order {inverse.order}, k = {complex(wavenumber):.4g}"
    return SurfaceOperator(space, inverse.wavenumber, inverse.functions, name, precision=precision)


def usual_damping(space: Space, k: float) -> float:
    """0.4 k^(1/3) R^(-2/3) in 1/m, R = 3 volume / area or the radius of equal area, but at least 1/k: the best fit on
    the sphere."""
    mesh = space.mesh
    radius = 3 * mesh.volume / mesh.area if mesh.is_closed else np.sqrt(mesh.area / (4 * np.pi))
    return float(0.4 * k ** (1 / 3) * max(radius, 1 / k) ** (-2 / 3))


def order_for(space: Space, wavenumber: complex, angle: float, error: float) -> int:
    """The lowest order at which the root errs by less than `error` in every mode that an even mesh of about as many
    triangles carries, at most `LARGEST_ORDER`.
    """
    stiffness, mass = space.laplace_beltrami_matrix().diagonal().sum(), space.mass_matrix().diagonal().sum()
    # the highest eigenvalue of the Laplace-Beltrami matrices is 3 times the ratio of their traces
    modes = -(np.linspace(0, 1, 200) ** 2) * 3.0 * stiffness / mass / wavenumber**2
    for order in range(1, LARGEST_ORDER):
        if square_root_error(order, angle, modes).max() < error:
            return order
    return LARGEST_ORDER


def square_root(order: int, angle: float) -> PartialFractions:
    """The Pade approximant of sqrt(1 + X) with numerator and denominator of degree `order`, branch cut rotated by
    `angle`:

        sqrt(1 + X) = e^(i angle/2) sqrt(1 + Y),  Y = (1 + X) e^(-i angle) - 1,
        sqrt(1 + Y) ~ 1 + sum_j a_j Y / (1 + b_j Y),  a_j = 2/n sin^2(j pi/n),  b_j = cos^2(j pi/n),  n = 2 order + 1.

    Its relative error is 2 w^n / (1 - w^n) with w = (1 - s) / (1 + s), s = sqrt(1 + Y), so that it converges for all X
    but those on the ray 1 + X = -t e^(i angle), where the cut lies; without rotation that would be the evanescent
    modes.

    F. A. Milinazzo, C. A. Zala and G. H. Brooke, J. Acoust. Soc. Am. 101 (1997) 760.
    """
    n = 2 * order + 1
    j = np.arange(1, order + 1)
    a, b = 2 / n * np.sin(j * np.pi / n) ** 2, np.cos(j * np.pi / n) ** 2
    turn = np.exp(-1j * angle)
    at_zero = 1 + b * (turn - 1)  # the denominators at X = 0
    # e^(i angle/2) a_j Y / (1 + b_j Y) tends to e^(i angle/2) a_j / b_j, from which it differs by a simple fraction
    limits = np.exp(0.5j * angle) * a / b
    constant = np.exp(0.5j * angle) + limits.sum()
    return PartialFractions(complex(constant), -limits / at_zero, b * turn / at_zero)


def square_root_error(order: int, angle: float, X: ArrayLike) -> NDArray[np.float64]:
    """|approximant / sqrt(1 + X) - 1| of `square_root`, from its closed form."""
    s = np.sqrt(1 + np.asarray(X, dtype=complex)) * np.exp(-0.5j * angle)
    power = ((1 - s) / (1 + s)) ** (2 * order + 1)
    return np.asarray(np.abs(2 * power / (1 - power)))
