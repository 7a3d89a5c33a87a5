"""NASA almond and metallic ogive, the radar benchmarks of Woo, Wang, Schuh and Sanders (IEEE Antennas Propag. Mag.
35(1), 1993).

Both lie along x. With d the almond's length and x = t d, its section at t is an ellipse of semi-axes (along y, z)
    0.193333 d s, 0.064444 d s      with s = sqrt(1 - (t / 0.416667)^2)          for -0.416667 < t < 0,
    4.83345 d s,  1.61115 d s       with s = sqrt(1 - (t / 2.08335)^2) - 0.96    for 0 < t < 0.583333.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.shapes.grading import Projection, curvature_sizes
from calderon.mesh.shapes.remeshing import remeshed
from calderon.mesh.shapes.round import closest_on_ellipsoid, geodesic_sphere
from calderon.mesh.shapes.volume_kept import curved_mesh
from calderon.mesh.sizes import PEAK_BYTES, positive, room_for_surface
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.triangles import TriangleMesh


class Almond(NamedTuple):
    """Numbers of the almond in lengths, from Woo et al.: its ends; semi-axes of the blunt half; semi-axes, reach and
    shift of the tip."""

    blunt_end: float = -0.416667
    tip: float = 0.583333
    blunt_axes: NDArray[np.float64] = np.array([0.416667, 0.193333, 0.064444])
    tip_axes: NDArray[np.float64] = np.array([4.83345, 1.61115])
    tip_reach: float = 2.08335
    tip_shift: float = 0.96


ALMOND = Almond()


def almond(length: float = 0.2523744, h: float = 0.01, volume: bool = True) -> TriangleMesh:
    """NASA almond (default 9.936 inch) with its tip at +x, wide in y, thin in z, the origin in its widest section.

    Mean edge length h, longest edge at most 1.5 h; edges are shorter on the sharp edge and at the tip, which is a
    vertex. volume: move the other vertices off the surface so that the triangles enclose the almond's volume; False
    leaves them on it.
    """
    length, h = _checked("almond", length, h, 0.64)

    def project(points: NDArray) -> NDArray:
        x = np.clip(points / length, [ALMOND.blunt_end, -1, -1], [ALMOND.tip * (1 - TOLERANCES.same), 1, 1])
        blunt = closest_on_ellipsoid(x, ALMOND.blunt_axes)
        section = _almond_section(np.maximum(x[:, 0], 0))
        front = np.column_stack([x[:, 0], closest_on_ellipsoid(x[:, 1:], section)])
        return length * np.where(x[:, :1] < 0, blunt, front)

    return _graded(
        _almond_section, (ALMOND.blunt_end, ALMOND.tip), length, h, project, volume, lambda t: t > ALMOND.tip - 1e-12
    )


def _almond_section(t: NDArray) -> NDArray:
    """Semi-axes (n, 2) along y and z of the section at t, in lengths."""
    back = np.sqrt(np.maximum(1 - (t / ALMOND.blunt_end) ** 2, 0))[:, None] * ALMOND.blunt_axes[1:]
    front = (np.sqrt(1 - (t / ALMOND.tip_reach) ** 2) - ALMOND.tip_shift)[:, None] * ALMOND.tip_axes
    return np.where(t[:, None] < 0, back, np.maximum(front, 0))


def ogive(length: float = 0.254, h: float = 0.01, volume: bool = True) -> TriangleMesh:
    """Metallic ogive: a circular arc of half angle 22.62 degrees turned about x; default length 10 inch, radius
    length / 10.

    Mean edge length h, longest edge at most 1.5 h; edges are shorter at both tips, which are vertices, at x = -length
    / 2 and length / 2. volume: as for `almond`.
    """
    length, h = _checked("ogive", length, h, 0.44)
    # in units of length / 10 the arc has radius 13 and its centre lies 12 below the axis: 5^2 + 12^2 = 13^2
    radius, below = 1.3, 1.2

    def section(t: NDArray) -> NDArray:
        return np.repeat((np.sqrt(radius**2 - t**2) - below)[:, None], 2, axis=1)

    def project(points: NDArray) -> NDArray:
        x, around = points[:, 0] / length, points[:, 1:] / length
        distance = np.linalg.norm(around, axis=1)
        angle = np.arctan2(x, distance + below)
        x = np.clip(radius * np.sin(angle), -0.5, 0.5)
        return length * np.column_stack([x, around * (section(x)[:, :1] / np.maximum(distance, 1e-300)[:, None])])

    return _graded(section, (-0.5, 0.5), length, h, project, volume, lambda t: np.abs(t) > 0.5 - 1e-12)


def _graded(
    section: Callable[[NDArray], NDArray],
    ends: tuple[float, float],
    length: float,
    h: float,
    project: Projection,
    volume: bool,
    is_tip: Callable[[NDArray], NDArray],
) -> TriangleMesh:
    """The body with these sections in triangles that follow its curvature; is_tip(x / length): whether a point must
    stay a vertex."""
    fine, faces = _wrapped(section, ends, 0.5 * h / length)
    sizes = curvature_sizes(length * fine, faces, project, h)
    start, triangles = _wrapped(section, ends, h / length)
    # the longest edge that leaves none above 1.5 h: vertices that move off the surface of a coarse mesh lengthen them
    for longest in (1.48, 1.43, 1.38, 1.33):
        found = remeshed(length * start, triangles, h, project, is_tip(start[:, 0]), sizes, longest)
        mesh = curved_mesh(*found, project, volume, is_tip(found[0][:, 0] / length))
        if mesh.edge_lengths.max() <= 1.5 * h:
            break
    return mesh


def _checked(name: str, length: float, h: float, area: float) -> tuple[float, float]:
    """Length and h as numbers; errors for edges that are too long, or too many. area: of the body of length 1."""
    length, h = positive("length", length), positive("h", h)
    if h > (limit := 0.12 * length):
        raise MeshError(f"h = {h:g} is too large for this {name}: at most {limit:.4g} (thickness and tips are lost)")
    room_for_surface(area * length**2, h, PEAK_BYTES.remeshed)
    return length, h


def _wrapped(section: Callable[[NDArray], NDArray], ends: tuple[float, float], h: float) -> tuple[NDArray, NDArray]:
    """A geodesic sphere drawn over a body along x: latitude becomes arc length of the widest meridian; poles become
    the ends."""
    t = ends[0] + (ends[1] - ends[0]) * 0.5 * (1 - np.cos(np.linspace(0, np.pi, 2001)))
    axes = section(t)
    axes[[0, -1]] = 0
    steps = np.hypot(np.diff(t), np.diff(axes[:, 0]))
    arc = np.concatenate([[0], np.cumsum(steps)])
    area = np.sum(steps * np.pi * np.sqrt(2 * (axes[1:] ** 2).sum(axis=1)))
    frequency = max(2, round(np.sqrt(area / (20 * np.sqrt(3) / 4)) / h))
    points, triangles = geodesic_sphere(frequency)
    x = np.interp(1 - np.arccos(np.clip(points[:, 0], -1, 1)) / np.pi, arc / arc[-1], t)
    around = points[:, 1:] / np.maximum(np.linalg.norm(points[:, 1:], axis=1), 1e-300)[:, None]
    at = np.column_stack([np.interp(x, t, axes[:, i]) for i in (0, 1)])
    return np.column_stack([x, at * around]), triangles
