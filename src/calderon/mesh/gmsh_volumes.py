"""Volume meshes made by gmsh."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError


def concentric_spheres(
    radii: list[float], sizes: list[float]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Vertices, tetrahedra, layer of each (0 innermost) and outermost faces of concentric spheres."""
    gmsh = _gmsh()
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.add("concentric spheres")
        balls = [(3, gmsh.model.occ.addSphere(0, 0, 0, radius)) for radius in radii]
        if len(balls) > 1:
            gmsh.model.occ.fragment(balls[:1], balls[1:])
        gmsh.model.occ.synchronize()
        shells = sorted(gmsh.model.getEntities(3), key=lambda each: gmsh.model.getBoundingBox(*each)[3])
        _size_by_radius(gmsh, radii, sizes)
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.optimize("Netgen")
        number, points, _ = gmsh.model.mesh.getNodes()
        place = np.zeros(int(number.max()) + 1, np.int64)
        place[number.astype(np.int64)] = np.arange(len(number))
        groups = [
            place[gmsh.model.mesh.getElementsByType(4, tag)[1].astype(np.int64)].reshape(-1, 4) for _, tag in shells
        ]
        outermost = gmsh.model.getBoundary([shells[-1]], oriented=False)
        outer = max(outermost, key=lambda each: gmsh.model.getBoundingBox(*each)[3])[1]
        faces = place[gmsh.model.mesh.getElementsByType(2, outer)[1].astype(np.int64)].reshape(-1, 3)
    finally:
        gmsh.finalize()
    tags = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return points.reshape(-1, 3).copy(), np.concatenate(groups), tags, faces


def _size_by_radius(gmsh: Any, radii: list[float], sizes: list[float]) -> None:
    """Edge lengths as a function of the distance from the centre: the finer of both sides at an interface."""
    for option in ("MeshSizeFromPoints", "MeshSizeFromCurvature", "MeshSizeExtendFromBoundary"):
        gmsh.option.setNumber(f"Mesh.{option}", 0)

    def size(dim: int, tag: int, x: float, y: float, z: float, given: float) -> float:
        r = float(np.sqrt(x * x + y * y + z * z))
        near = [s for (low, high), s in zip(zip([0.0, *radii[:-1]], radii, strict=True), sizes, strict=True)
                if low * (1 - 1e-6) <= r <= high * (1 + 1e-6)]  # fmt: skip
        if near:
            low = max([0.0, *(each for each in radii if each < r * (1 - 1e-6))])
            fine = sizes[max(0, int(np.searchsorted(radii, low)))] if low else sizes[0]
            return min([*near, fine + GROWTH * (r - low)] if low else near)
        return sizes[-1]

    gmsh.model.mesh.setSizeCallback(size)


GROWTH = 0.4
"""How fast edges may grow away from a finer layer."""


def _gmsh() -> Any:
    try:
        import gmsh
    except ImportError:
        raise MeshError("this mesh is made by gmsh, which is not installed: pip install 'calderon[gmsh]'") from None
    return gmsh
