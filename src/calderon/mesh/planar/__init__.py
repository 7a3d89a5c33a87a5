"""Flat shapes of metal in planes of constant z, as on printed circuit boards, and vertical metal: `cal.planar`.

Currents grow without bound toward the edges of a strip, as one over the root of the distance, so cells become smaller
toward the edges. Elements that are symmetric have symmetric meshes: others would turn the polarisation of waves.
Lengths are in metres, normals point along +z.
"""

from calderon.mesh.planar.outlines import outline
from calderon.mesh.planar.patches import (
    jerusalem_cross,
    line_fed_patch,
    patch,
    rectangles,
    ring,
    spiral,
    strip_dipole,
)
from calderon.mesh.planar.upright import ribbon, via

__all__ = [
    "jerusalem_cross", "line_fed_patch", "outline", "patch", "rectangles", "ribbon", "ring", "spiral", "strip_dipole",
    "via",
]  # fmt: skip
