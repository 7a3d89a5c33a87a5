"""Tolerances of geometry in one table, each relative to the size of what is compared.

Coordinates in double precision have relative errors of 1e-16, in single precision 6e-8. Differences of coordinates lose
as many digits as a triangle is smaller than its distance from the origin, so limits of identity keep away from both.
"""

from typing import NamedTuple

import numpy as np


class Tolerances(NamedTuple):
    """Limits of identity, then limits of shape."""

    determinant: float = 1e-14
    """Rounding error of determinants of three unit vectors: some tens of units in the last place."""
    rounding: float = 1e-12
    """Lengths that differ by less are equal: quotients such as size / h, extents of triangles, after some steps."""
    flat_tetrahedron: float = 1e-12
    """Volume over the cube of the longest edge, below which a tetrahedron has no volume: sides of the size 1e-4."""
    flat_triangle: float = 1e-10
    """Area over the square of the longest edge, below which a triangle has no usable normal: six digits are left."""
    same: float = 1e-9
    """Computed points nearer to a plane, a side or a face lie on it; triangles that overlap by less only touch."""
    joined: float = 1e-7
    """Vertices nearer than that of the diameter are one, which files in single precision give at two places."""
    near: float = 1e-6
    """Given points nearer to a vertex, a line or a level, against the size, are meant to be there."""
    sharp: float = float(np.radians(30.0))
    """Angle between the normals of two triangles above which their edge is sharp: polygons of 12 sides are smooth."""
    sliver_angle: float = float(np.radians(1.0))
    """Angle of a triangle below which entries of a matrix lose digits."""
    sliver_quality: float = 0.1
    """Quality of a tetrahedron, 1 for a regular one, below which it dictates the time step."""


TOLERANCES = Tolerances()
