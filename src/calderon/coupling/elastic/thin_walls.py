"""Walls of one layer of quadratic tetrahedra: whether they bend as plates do at the frequency of a problem.

Waves of bending of a plate of thickness t have the wavenumber k, D k^4 = rho t omega^2, D = E t^3 / (12 (1 - nu^2)).
On a wall of Gaussian curvature K, a spherical one, the membrane carries E K / rho of omega^2, so that there are none
below its ring frequency (E. Reissner, Q. Appl. Math. 13 (1955) 169). Straight quadratic tetrahedra with n elements in a
wavelength have frequencies of such modes that are 2.1 / n^2 too high, whatever the thickness, as a strip of them says.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.coupling.elastic.elastic_volumes import ElasticVolume
from calderon.formulations.elastic.material import ElasticMaterial
from calderon.mesh import TriangleMesh, box
from calderon.mesh.errors import MeshError, warn_of_accuracy
from calderon.mesh.tetrahedra import FACES

FLATTEST = 50.0
"""Longest edge over thickness of a tetrahedron, above which rounding and shear in quadratic functions leave nothing of
its bending."""
WALL = 3.0
"""Longest edge over thickness, from which a tetrahedron with all of its vertices on the boundary is one of a wall."""
ACCEPTED = 0.05
"""Error of the frequency of a mode of bending that passes without a warning, with 6.5 elements in a wavelength."""
ENOUGH = 10.0
"""Elements in a wavelength, from which no mode is compared."""


def check_walls(body: ElasticVolume, omega: float) -> None:
    """MeshError for tetrahedra that are too flat; an AccuracyWarning where a wall of one of them bends too little at an
    angular frequency in 1/s."""
    volume = body.volume
    corners = volume.vertices[volume.tetrahedra][:, FACES]
    sides = np.cross(corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0])
    area = np.linalg.norm(sides, axis=2).max(axis=1) / 2
    thickness, longest = 3 * volume.volumes / area, volume.longest_edges
    if (flat := longest > FLATTEST * thickness).any():
        raise MeshError(
            f"{flat.sum()} of {len(flat)} tetrahedra are up to {(longest / thickness).max():.0f} times longer than "
            f"thick, at most {FLATTEST:g} is allowed: refine the surface, or take the matrices of shell elements, "
            "cal.Structure"
        )
    outside = np.zeros(len(volume.vertices), bool)
    outside[volume.boundary.vertices] = True
    wall = np.flatnonzero(outside[volume.tetrahedra].all(axis=1) & (longest > WALL * thickness))
    if not len(wall):
        return
    lame, shear, density = (np.real(each)[wall] for each in body.constants)
    stiffness = shear * (3 * lame + 2 * shear) / (lame + shear)
    square = omega**2 - stiffness / density * gaussian_curvature(volume.boundary.mesh)
    bending = 4 * shear * (lame + shear) / (lame + 2 * shear) * thickness[wall] ** 2 / 12
    wavelength = 2 * np.pi * (bending / (density * np.maximum(square, 1e-12 * omega**2))) ** 0.25
    edge = np.sqrt(2 * area[wall])  # of squares of two triangles
    worst = int(np.argsort(wavelength / edge)[len(wall) // 10])  # apart from slivers
    elements, ratio = float(wavelength[worst] / edge[worst]), float(thickness[wall][worst] / edge[worst])
    if elements > ENOUGH:
        return
    poisson = float(lame[worst] / (2 * (lame[worst] + shear[worst])))
    error = bending_error(elements, ratio, poisson)
    if error > ACCEPTED:
        finer = edge[worst] * elements / (ENOUGH * 0.8)
        warn_of_accuracy(
            f"tetrahedra of {edge[worst]:.3g}, one through a wall {thickness[wall][worst]:.3g} thick, bend too little: "
            f"waves of bending at {omega / (2 * np.pi):.4g} Hz have a wavelength of {wavelength[worst]:.3g}, and modes "
            f"with it are {100 * error:.0f} % too high or more: refine the surface to edges of {finer:.2g}, or take "
            "the matrices of shell elements, cal.Structure"
        )


def bending_error(elements: float, ratio: float, poisson: float) -> float:
    """How much too high, relative to it, the frequency of a mode of bending is with so many elements in a wavelength,
    one layer through a plate of a thickness of `ratio` times their edge, by a strip of a quarter of the wavelength from
    a crest to a node, against R. D. Mindlin, J. Appl. Mech. 18 (1951) 31."""
    count, quarter = max(1, round(elements / 4)), elements / 4
    width = quarter / count
    strip = ElasticVolume.of(
        box([0, 0, 0], [quarter, width, ratio], (count, 1, 1)), ElasticMaterial(1.0, poisson, density=1.0)
    )
    x, y, _ = strip.basis.doflocs
    node = np.isclose(x, quarter)
    held = np.concatenate([x == 0, (y == 0) | np.isclose(y, width) | node, node])
    free = np.flatnonzero(~held)
    stiffness, mass = (each[free][:, free].toarray() for each in (strip.structure.stiffness, strip.structure.mass))
    lowest = scipy.linalg.eigh(stiffness, mass, eigvals_only=True, subset_by_index=[0, 0])[0]
    return float(np.sqrt(lowest / _plate(2 * np.pi / elements, ratio, poisson)) - 1)


def _plate(k: float, thickness: float, poisson: float) -> float:
    """omega^2 of bending with the wavenumber k of a plate of E = rho = 1, with shear and rotation."""
    inertia, bending = thickness**3 / 12, thickness**3 / 12 / (1 - poisson**2)
    shear = 5 / 6 * thickness / (2 * (1 + poisson))
    linear = thickness * (bending * k**2 + shear) + inertia * shear * k**2
    return float(min(np.roots([thickness * inertia, -linear, shear * bending * k**4]).real))


def gaussian_curvature(mesh: TriangleMesh) -> float:
    """The median over the vertices of what is missing of their angles to 2 pi, over a third of the areas around them,
    in 1/m^2, at least 0: 1/R^2 of spheres, 0 of plates and cylinders."""
    corners = mesh.vertices[mesh.triangles]
    ahead = np.roll(corners, -1, axis=1) - corners
    ahead /= np.linalg.norm(ahead, axis=2, keepdims=True)
    angles: NDArray[np.float64] = np.arccos(np.clip(-(ahead * np.roll(ahead, 1, axis=1)).sum(axis=2), -1, 1))
    number, used = mesh.number_of_vertices, mesh.used_vertices
    missing = 2 * np.pi - np.bincount(mesh.triangles.ravel(), angles.ravel(), number)[used]
    areas = np.bincount(mesh.triangles.ravel(), np.repeat(mesh.areas, 3), number)[used]
    return max(0.0, float(np.median(3 * missing / areas)))
