"""Limits of a Galerkin matrix: oscillations within a triangle, numbers beyond a precision."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from calderon.backends import require_memory
from calderon.greens import RadialGreen
from calderon.mesh.errors import MeshError

LARGEST_PHASE = 50.0
"""Radians, or skin depths, along an edge up to which there are rules for touching pairs."""


class Phases(NamedTuple):
    """Oscillations and shapes of triangles that can be integrated."""

    small_phase: float = 8.0
    """Radians up to which these rules take little memory."""
    needle: float = 2e5
    """Length of a triangle over its height, up to which its integrals are right to about 1e-5."""
    rule_bytes: int = 10_000
    product_bytes: int = 1_100
    """Bytes of such rules over the phase cubed, by measurement: in all, and for each product of shape functions."""


PHASES = Phases()


def resolved_triangles(green: RadialGreen, *spaces: Any) -> None:
    """Raise ValueError where a Green's function oscillates or decays too often along an edge for the rules of touching
    pairs, which is nearly always a mistake of units; MemoryError where there is no room for these rules; MeshError for
    needles."""
    for space in spaces:
        _refuse_needles(space)
    wavenumber = abs(complex(green.wavenumber))
    if wavenumber * max(space.mesh.largest_extents[0] for space in spaces) <= min(LARGEST_PHASE, PHASES.small_phase):
        return
    longest = max(float(space.mesh.diameters[space.triangles].max()) for space in spaces)
    phase = wavenumber * longest
    if phase > LARGEST_PHASE:
        raise ValueError(
            f"{green} changes by {phase:.3g} radians along the longest edge of {longest:.3g}, and triangles are "
            f"integrated up to {LARGEST_PHASE:g}: refine the mesh to edges of {longest * LARGEST_PHASE / phase:.3g} at "
            "most (a fiftieth of that resolves waves), or check the units: mesh in millimetres? read(path, scale=1e-3)"
        )
    if phase > PHASES.small_phase:
        products = math.prod(space.element.size for space in spaces)
        needed = int((PHASES.rule_bytes + PHASES.product_bytes * products) * phase**3)
        require_memory(
            needed, f"the rules of triangles of {phase:.3g} radians", "try a finer mesh, or a lower wavenumber"
        )


def _refuse_needles(space: Any) -> None:
    """MeshError for triangles whose length exceeds their height too often: rounding spoils their integrals."""
    mesh, numbers = space.mesh, space.triangles
    if mesh.largest_extents[1] <= PHASES.needle:  # of all triangles
        return
    ratio = mesh.diameters[numbers] ** 2 / (2 * mesh.areas[numbers])
    if not (thin := np.flatnonzero(ratio > PHASES.needle)).size:
        return
    worst = int(numbers[np.argmax(ratio)])
    length, height = float(mesh.diameters[worst]), float(2 * mesh.areas[worst] / mesh.diameters[worst])
    corners = mesh.vertices[mesh.triangles[worst]]
    shortest = float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).min())
    close = shortest < 2 * length / PHASES.needle
    if close:
        advice = f"two of its vertices are {shortest:.3g} apart: mesh.merged_vertices({2 * shortest:.1g}) unites them"
    else:
        advice = "one of its vertices lies on the opposite edge: move it, or exchange that edge of the two triangles"
    raise MeshError(
        f"{len(thin)} triangles are too thin to integrate, the thinnest is number {worst}, {length:.3g} long and "
        f"{height:.3g} high, and lengths up to {PHASES.needle:g} heights are allowed; {advice}"
    )


def checked_range(real: DTypeLike, smallest: float, largest: float, what: str) -> None:
    """Raise ValueError where numbers between the two, not zero, leave the range of a precision."""
    limits = np.finfo(real)
    least, most = float(limits.tiny), float(limits.max)
    if smallest < least or not largest <= most:
        number = smallest if smallest < least else largest
        raise ValueError(
            f"{what} needs numbers about {number:.1g}, and those of {limits.dtype} lie between {least:.0e} and "
            f"{most:.0e}: choose precision='double', or another unit of length, mesh.scaled(factor)"
        )
