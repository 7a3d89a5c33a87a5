"""Closed form of the potential of a uniformly charged triangle: the reference for near pairs.

Wilton, Rao, Glisson, Schaubert, Al-Bundak, Butler, IEEE Trans. Antennas Propag. 32 (1984) 276.
"""

import numpy as np


def uniform_triangle_potential(corners, points):
    """int 1/|x - y| dS(y) over the triangle `corners` (3, 3) at points (n, 3) off its edges."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal /= np.linalg.norm(normal)
    height = (points - corners[0]) @ normal
    total = np.zeros(len(points))
    for i in range(3):
        a, b = corners[i], corners[(i + 1) % 3]
        along = (b - a) / np.linalg.norm(b - a)
        outward = np.cross(along, normal)
        p0 = (a - points) @ outward
        lower, upper = (a - points) @ along, (b - points) @ along
        r_lower, r_upper = np.linalg.norm(points - a, axis=1), np.linalg.norm(points - b, axis=1)
        r0 = p0**2 + height**2
        total += p0 * np.log((r_upper + upper) / (r_lower + lower))
        total -= np.abs(height) * (
            np.arctan2(p0 * upper, r0 + np.abs(height) * r_upper)
            - np.arctan2(p0 * lower, r0 + np.abs(height) * r_lower)
        )
    return total
