"""E and H at points of currents on vertical metal in a stack of layers.

Triangles are cut into slices between the heights of their vertices, with Gauss points in z and along the chord of each
height: few heights, each with a table of the components of fields.
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.layers import Sections
from calderon.layers.field_table import field_table
from calderon.quadrature import gauss

ALONG = 6, 3.0, 24
"""Gauss points along a slice: at least, more for its size over the distance of the nearest point, and at most."""
Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]


class Slices(NamedTuple):
    """Ends (n, 2, 2, 3): at the lower and the upper height, both ends of the chord; the triangle of each, and its
    layer."""

    ends: Floats
    triangles: NDArray[np.int64]
    layers: NDArray[np.int64]

    @staticmethod
    def of(corners: Floats, layers: NDArray[np.int64]) -> "Slices":
        """The slices of vertical triangles with corners (n, 3, 3) in their layers (n,)."""
        order = np.argsort(corners[:, :, 2], axis=1)
        low, middle, high = np.take_along_axis(corners, order[:, :, None], axis=1).swapaxes(0, 1)
        part = (middle[:, 2] - low[:, 2]) / (high[:, 2] - low[:, 2])
        across = low + part[:, None] * (high - low)
        chord = np.stack([middle, across], axis=1)
        ends = np.concatenate([np.stack([np.stack([low, low], axis=1), chord], axis=1),
                               np.stack([chord, np.stack([high, high], axis=1)], axis=1)])  # fmt: skip
        numbers = np.tile(np.arange(len(corners)), 2)
        size = np.ptp(corners[:, :, 2], axis=1)[numbers]
        kept = ends[:, 1, 0, 2] - ends[:, 0, 0, 2] > 1e-9 * size
        return Slices(ends[kept], numbers[kept], layers[numbers[kept]])

    def groups(self) -> list["Slices"]:
        """Slices between the same heights, together."""
        keys = np.stack([self.ends[:, 0, 0, 2], self.ends[:, 1, 0, 2]], axis=1)
        keys = np.round(keys / np.ptp(keys), 9)
        number = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
        return [Slices(*(each[number == n] for each in self)) for n in range(number.max() + 1)]


def upright_fields(
    sections: Sections,
    corners: Floats,
    layers: NDArray[np.int64],
    currents: Complex,
    charges: Complex,
    points: Floats,
    z: float,
) -> Complex:
    """(n, 6) E / (i k0) for eta0 = 1 and mu H at points (n, 2) at the height z, of the currents (m, 3, 3) at the
    corners of vertical triangles (m, 3, 3), and their div J / k0^2 (m,)."""
    out, mu = np.zeros((len(points), 6), complex), complex(sections.mu[sections.layer_of(z)])
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    for slices in Slices.of(corners, layers).groups():
        # points on the slices, more of them the closer the field points are
        low, high = slices.ends[:, 0, 0, 2].mean(), slices.ends[:, 1, 0, 2].mean()
        size = max(high - low, float(np.linalg.norm(np.diff(slices.ends, axis=2), axis=3).max()))
        middles = slices.ends.mean(axis=(1, 2))
        distances, _ = scipy.spatial.cKDTree(middles).query(np.column_stack([points, np.full(len(points), z)]))
        near = distances.min() - size / 2
        rule = gauss(int(np.clip(np.ceil(ALONG[0] + ALONG[1] * size / max(near, 0.2 * size)), 1, ALONG[2])))
        # each height of the rule: points along its chords
        for t, w in zip(rule.points, rule.weights, strict=True):
            chord = slices.ends[:, 0] + t * (slices.ends[:, 1] - slices.ends[:, 0])
            places = chord[:, None, 0] + rule.points[:, None] * (chord[:, 1] - chord[:, 0])[:, None]
            width = np.linalg.norm(chord[:, 1] - chord[:, 0], axis=1)
            weights = (w * (high - low) * width[:, None] * rule.weights).ravel()
            # currents and charges at these points, with their weights
            shares = _barycentric(corners[slices.triangles], normals[slices.triangles], places)
            flow = np.einsum("nqk,nkc->nqc", shares, currents[slices.triangles]).reshape(-1, 3) * weights[:, None]
            charge = np.repeat(charges[slices.triangles], len(rule.points)) * weights
            # Green's functions by horizontal distance, and the fields
            d = points[:, None] - places.reshape(-1, 3)[:, :2]
            rho = np.linalg.norm(d, axis=2)
            reach = 1.001 * float(rho.max()) + 1e-12
            table = field_table(sections, z, float(low + t * (high - low)), 0.99 * float(rho.min()), reach,
                                int(slices.layers[0]))  # fmt: skip
            xx, xx_slope, xx_rise, slope, rise, zx, zx_slope, xz, zz, turn = table(rho.ravel()).reshape(-1, *rho.shape)
            along = d[..., 0] * flow[:, 0] + d[..., 1] * flow[:, 1]
            dx, dy = d[..., 0], d[..., 1]
            out[:, 0] += xx @ flow[:, 0] + (slope * dx) @ charge + (xz * dx) @ flow[:, 2]
            out[:, 1] += xx @ flow[:, 1] + (slope * dy) @ charge + (xz * dy) @ flow[:, 2]
            out[:, 2] += (zx * along).sum(axis=1) + rise @ charge + zz @ flow[:, 2]
            out[:, 3] += (zx - xx_rise) @ flow[:, 1] + (zx_slope * dy * along).sum(axis=1)
            out[:, 3] -= mu * ((turn * dy) @ flow[:, 2])
            out[:, 4] -= (zx - xx_rise) @ flow[:, 0] + (zx_slope * dx * along).sum(axis=1)
            out[:, 4] += mu * ((turn * dx) @ flow[:, 2])
            out[:, 5] += (xx_slope * dx) @ flow[:, 1] - (xx_slope * dy) @ flow[:, 0]
    return out


def _barycentric(corners: Floats, normals: Floats, places: Floats) -> Floats:
    """(n, q, 3) barycentric coordinates of points (n, q, 3) in triangles with normals of twice the area (n, 3)."""
    parts = [np.cross(corners[:, None, (k + 1) % 3] - places, corners[:, None, (k + 2) % 3] - places) for k in range(3)]
    square = np.einsum("nc,nc->n", normals, normals)
    return np.asarray(np.einsum("knqc,nc->nqk", np.stack(parts), normals) / square[:, None, None])
