"""Make the solids that ship with calderon: a bracket and a machine tool.

    python scripts/make_solids.py [FACTOR]

Bracket (m): an angle of 16 mm plates on a footprint of 120 x 80 mm, with a rib, a boss with a bore, four holes for
bolts and fillets in the corners. Machine tool (m): a bed with a slotted table, a column with two pockets at its back, a
head and a spindle. gmsh's OpenCASCADE kernel unites the parts. Written to mesh/data/NAME_{coarse,fine}.npz,
as float64 vertices, since faces have to stay plane, and uint16 triangles with one tag for each face. With a factor the
edges are so much longer, and NAME_{coarse,fine}.msh are written here instead, with tags and names: 0.22 gives the fine
machine tool some 80,000 unknowns, 0.12 some 250,000. Needs gmsh.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import gmsh
import numpy as np

from calderon.mesh import TriangleMesh

DATA = Path(__file__).resolve().parents[1] / "src" / "calderon" / "mesh" / "data"
Faces = Callable[[np.ndarray], np.ndarray]


def box(low: tuple[float, float, float], high: tuple[float, float, float]) -> tuple[int, int]:
    return 3, gmsh.model.occ.addBox(*low, *(b - a for a, b in zip(low, high, strict=True)))


def prism(points: list[tuple[float, float, float]], along: tuple[float, float, float]) -> tuple[int, int]:
    occ = gmsh.model.occ
    corners = [occ.addPoint(*point) for point in points]
    lines = [occ.addLine(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    face = occ.addPlaneSurface([occ.addCurveLoop(lines)])
    return next(each for each in occ.extrude([(2, face)], *along) if each[0] == 3)


def bracket() -> None:
    occ = gmsh.model.occ
    base, upright = box((-60, -40, 0), (60, 40, 16)), box((-60, -40, 8), (-44, 40, 90))
    top, boss = (3, occ.addCylinder(-60, 0, 90, 16, 0, 0, 40)), (3, occ.addCylinder(-60, 0, 90, 30, 0, 0, 28))
    rib = prism([(-50, -6, 10), (44, -6, 10), (44, -6, 20), (-40, -6, 72), (-50, -6, 72)], (0, 12, 0))
    body, _ = occ.fuse([base], [upright, top, boss, rib])
    holes = [(3, occ.addCylinder(x, y, -5, 0, 0, 40, 9)) for x in (-16, 40) for y in (-24, 24)]
    holes.append((3, occ.addCylinder(-70, 0, 90, 60, 0, 0, 17)))
    body, _ = occ.cut(body, holes)
    occ.synchronize()
    edges = [tag for _, tag in gmsh.model.getEntities(1) if _in_the_corner(tag)]
    occ.fillet([body[0][1]], edges, [8.0])
    occ.synchronize()


def _in_the_corner(edge: int) -> bool:
    """Whether an edge is where base and upright meet."""
    x0, y0, z0, x1, y1, z1 = gmsh.model.getBoundingBox(1, edge)
    return bool(np.allclose([x0, x1], -44, atol=0.1) and np.allclose([z0, z1], 16, atol=0.1) and y1 - y0 > 10)


def bracket_faces(corners: np.ndarray) -> np.ndarray:
    """Numbers of faces from corners (n, 3, 3) in mm: walls of holes have all three on the circle."""
    x, y, z = np.moveaxis(corners, 2, 0)
    bolts = np.zeros(len(x), bool)
    for cx in (-16, 40):
        for cy in (-24, 24):
            bolts |= (np.abs(np.hypot(x - cx, y - cy) - 9) < 1e-3).all(axis=1) & (np.ptp(z, axis=1) > 1e-3)
    bore = (np.abs(np.hypot(y, z - 90) - 17) < 1e-3).all(axis=1) & (np.ptp(x, axis=1) > 1e-3)
    return np.select([bolts, bore, (z < 1e-6).all(axis=1)], [2, 3, 1], 0)


def machine_tool() -> None:
    occ = gmsh.model.occ
    bed, column = box((-500, -900, 0), (500, 720, 350)), box((-340, 140, 300), (340, 720, 1900))
    table, head = box((-450, -700, 340), (450, -100, 470)), box((-210, -560, 1300), (210, 200, 1760))
    spindle = (3, occ.addCylinder(0, -380, 1100, 0, 0, 260, 110))
    body, _ = occ.fuse([bed], [column, table, head, spindle])
    pockets = [box((-240, 300, z), (240, 800, z + 620)) for z in (480, 1180)]
    slots = [box((-600, y - 25, 420), (600, y + 25, 500)) for y in (-560, -400, -240)]
    chamfer = prism([(-300, -600, 1560), (-300, -600, 1800), (-300, -300, 1800)], (600, 0, 0))
    occ.cut(body, [*pockets, *slots, chamfer])
    occ.synchronize()


def machine_faces(corners: np.ndarray) -> np.ndarray:
    """Numbers of faces from corners (n, 3, 3) in mm."""
    x, y, z = np.moveaxis(corners, 2, 0)
    nose = (np.abs(z - 1100) < 1e-6) & (np.hypot(x, y + 380) < 111)
    return np.select([each.all(axis=1) for each in (z < 1e-6, np.abs(z - 470) < 1e-6, nose)], [1, 2, 3], 0)


# by name: what builds it, the names of faces, their numbers, edge lengths in mm, triangles over a full turn
SOLIDS: dict[str, tuple[Callable[[], None], list[str], Faces, dict[str, tuple[float, int]]]] = {
    "bracket": (bracket, ["body", "base", "bolts", "bore"], bracket_faces, {"coarse": (30.0, 13), "fine": (14.0, 18)}),
    "machine_tool": (
        machine_tool,
        ["body", "floor", "table", "spindle"],
        machine_faces,
        {"coarse": (280.0, 10), "fine": (120.0, 18)},
    ),
}


def mesh_with(size: float, around: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles at an edge length."""
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.option.setNumber("Mesh.MeshSizeMin", size / 4)
    gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", around)
    gmsh.option.setNumber("Mesh.Algorithm", 6)
    gmsh.option.setNumber("Mesh.Smoothing", 20)
    gmsh.model.mesh.clear()
    gmsh.model.mesh.generate(2)
    numbers, coordinates, _ = gmsh.model.mesh.getNodes()
    position = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
    position[numbers.astype(np.int64)] = np.arange(len(numbers))
    triangles = position[gmsh.model.mesh.getElementsByType(2)[1].astype(np.int64)].reshape(-1, 3)
    used, inverse = np.unique(triangles, return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some faces of the kernel point inward
        mesh = TriangleMesh(coordinates.reshape(-1, 3)[used], inverse.reshape(-1, 3))
    return mesh.vertices, mesh.triangles


def main(factor: float | None) -> None:
    for name, (build, names, faces, resolutions) in SOLIDS.items():
        gmsh.initialize()
        gmsh.option.setNumber("General.Verbosity", 2)
        gmsh.option.setNumber("General.NumThreads", 1)
        build()
        for resolution, (size, around) in resolutions.items():
            scale = 1.0 if factor is None else factor
            vertices, triangles = mesh_with(scale * size, round(around / scale))
            tags = faces(vertices[triangles])
            print(name, resolution, len(triangles), np.bincount(tags))
            if factor is not None:
                TriangleMesh(vertices / 1e3, triangles, tags, {face: k for k, face in enumerate(names)}).write(
                    f"{name}_{resolution}.msh"
                )
                continue
            np.savez_compressed(
                DATA / f"{name}_{resolution}.npz",
                vertices=np.round(vertices, 6) / 1e3,
                triangles=triangles.astype(np.uint16),
                tags=tags.astype(np.uint8),
                names=np.array(names),
                values=np.arange(len(names)),
            )
        gmsh.finalize()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else None)
