"""Checks of what operators and potentials are made of and asked for."""

import math
from numbers import Complex
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from calderon.backends import require_memory
from calderon.exact.checks import as_complex, one_or_more_points
from calderon.greens import Green
from calderon.mesh import TriangleMesh
from calderon.operators.options import Quadrature
from calderon.spaces import Space

Index = NDArray[np.int64]
FARTHEST = 1e15
"""Diameters of the surface within which points may lie: squares of their distances fit into single precision, from
which the kernels start their square roots."""


LARGEST_PHASE, SMALL_PHASE = 50.0, 8.0
"""Radians, or skin depths, along an edge: up to which there are rules for touching pairs, and up to which these take
little memory."""
RULE_BYTES, PRODUCT_BYTES = 10_000, 1_100
"""Bytes of such rules over the phase cubed, by measurement: in all, and for each product of shape functions."""


def checked_spaces(what: str, *spaces: Any, kind: type = Space) -> None:
    """TypeError for anything but spaces of that kind: of scalar functions, or of vector fields."""
    named, example = ("scalar functions", "P1") if kind is Space else ("tangential fields", "RWG")
    for space in spaces:
        if not isinstance(space, kind):
            raise TypeError(f"{what} needs a space of {named}, got {told(space)}: try {example}(mesh)")


def checked_quadrature(what: str, green: Any, quadrature: Any) -> Quadrature:
    """The quadrature, the default one for None; TypeError for what is none, and for what is no Green's function."""
    if isinstance(green, type) or not callable(getattr(green, "radial", None)):
        raise TypeError(
            f"{what} needs a Green's function, got {told(green)}: try Laplace(), Helmholtz(k) or ModifiedHelmholtz(w)"
        )
    if not isinstance(quadrature, Quadrature | None):
        raise TypeError(f"{what} needs a Quadrature or None, got {told(quadrature)}: try Quadrature(regular=6)")
    return Quadrature() if quadrature is None else quadrature


def checked_points(points: ArrayLike, mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points (n, 3) from points (n, 3) or (3,); TypeError for what is not real, ValueError for another shape, NaN,
    infinity and points too far from the mesh for a kernel."""
    x = one_or_more_points(points)
    away = np.abs(x - mesh.vertices[0]).max(axis=1)
    if len(far := np.flatnonzero(away > FARTHEST * mesh.diameter)):
        raise ValueError(
            f"{len(far)} of {len(x)} points are farther than {FARTHEST:g} diameters from the surface, the first is "
            f"number {far[0]} at {x[far[0]].tolist()}: check their unit, or take far_field(directions)"
        )
    return x


def resolved_triangles(green: Green, *spaces: Any) -> None:
    """ValueError where a Green's function oscillates or decays too often along an edge for the rules of touching pairs,
    which is nearly always a mistake of units; MemoryError where there is no room for these rules."""
    longest = max(float(space.mesh.diameters[space.triangles].max()) for space in spaces)
    phase = abs(complex(green.wavenumber)) * longest
    if phase > LARGEST_PHASE:
        raise ValueError(
            f"{green} changes by {phase:.3g} radians along the longest edge of {longest:.3g}, and triangles are "
            f"integrated up to {LARGEST_PHASE:g}: refine the mesh to edges of {longest * LARGEST_PHASE / phase:.3g} at "
            "most (a fiftieth of that resolves waves), or check the units: mesh in millimetres? read(path, scale=1e-3)"
        )
    if phase > SMALL_PHASE:
        products = math.prod(space.element.size for space in spaces)
        needed = int((RULE_BYTES + PRODUCT_BYTES * products) * phase**3)
        require_memory(
            needed, f"the rules of triangles of {phase:.3g} radians", "try a finer mesh, or a lower wavenumber"
        )


def checked_range(real: DTypeLike, smallest: float, largest: float, what: str) -> None:
    """ValueError where numbers between the two, not zero, leave the range of a precision."""
    limits = np.finfo(real)
    least, most = float(limits.tiny), float(limits.max)
    if smallest < least or not largest <= most:
        number = smallest if smallest < least else largest
        raise ValueError(
            f"{what} needs numbers about {number:.1g}, and those of {limits.dtype} lie between {least:.0e} and "
            f"{most:.0e}: choose precision='double', or another unit of length, mesh.scaled(factor)"
        )


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


def told(value: Any) -> str:
    """What came, in an error: by its value where that is short, else by its kind."""
    short = isinstance(value, str | int | float | complex | type | None)
    return repr(value) if short else f"{type(value).__name__}"
