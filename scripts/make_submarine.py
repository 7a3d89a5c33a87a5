"""Make the submarine that ships with calderon: a generic 62 m hull with sail, sail planes and a cruciform tail.

    python scripts/make_submarine.py

The hull is a body of revolution about x: a bow of half an ellipsoid (8 m long, radius 3.5 m, pole at x = -31 m), a
parallel middle body, a parabolic stern and a small elliptic cap at x = +31 m. Sail, planes and rudders are tapered
NACA 00xx profiles with sharp trailing edges and flat tips. gmsh's OpenCASCADE kernel unites the solids, so that the
surface is one closed manifold. Written to src/calderon/mesh/data/submarine_{coarse,fine}.npz as float32 vertices and
uint16 triangles with one tag per part. Needs gmsh.
"""

from pathlib import Path

import gmsh
import numpy as np

DATA = Path(__file__).resolve().parents[1] / "src" / "calderon" / "mesh" / "data"
BOW, STERN, RADIUS = -31.0, 31.0, 3.5
BOW_END, STERN_START = BOW + 8.0, 9.0
CAP_START, CAP_RADIUS = 30.1, 0.6
SEAM = 1.15 * np.pi  # turns the seam of the revolved faces away from sail and rudders
NAMES = {"hull": 1, "sail": 2, "sail planes": 3, "rudders": 4}
RESOLUTIONS = {"coarse": 1.09, "fine": 0.54}  # edge length asked of gmsh, in metres
METHODS = ("Laplace2D",)
ON_SMALL_PARTS = 0.72  # the same on planes, rudders and the cap of the tail, as a fraction


def hull_radius(x: float) -> float:
    """Radius of the stern at x, a parabola tangent to the middle body."""
    s = (x - STERN_START) / (CAP_START - STERN_START)
    return RADIUS - (RADIUS - CAP_RADIUS) * s * s


def add_hull() -> int:
    occ = gmsh.model.occ
    pole, centre = occ.addPoint(BOW, 0, 0), occ.addPoint(BOW_END, 0, 0)
    shoulder, aft = occ.addPoint(BOW_END, 0, RADIUS), occ.addPoint(STERN_START, 0, RADIUS)
    stern = [occ.addPoint(x, 0, hull_radius(x)) for x in np.linspace(STERN_START, CAP_START, 9)[1:]]
    cap_centre, end = occ.addPoint(CAP_START, 0, 0), occ.addPoint(STERN, 0, 0)
    bow = occ.addEllipseArc(pole, centre, pole, shoulder)
    middle = occ.addLine(shoulder, aft)
    taper = occ.addSpline([aft, *stern])
    cap = occ.addEllipseArc(stern[-1], cap_centre, end, end)
    axis = occ.addLine(end, pole)
    section = occ.addPlaneSurface([occ.addCurveLoop([bow, middle, taper, cap, axis])])
    bodies = occ.revolve([(2, section)], 0, 0, 0, 1, 0, 0, 2 * np.pi)
    occ.remove([(2, section)])
    hull = next(tag for dim, tag in bodies if dim == 3)
    occ.rotate([(3, hull)], 0, 0, 0, 1, 0, 0, SEAM)
    return hull


def add_foil(root: tuple[float, float, float], tip: tuple[float, float, float], thickness: float) -> int:
    """Tapered wing along +z: root and tip are (leading edge x, chord, z); NACA four-digit thickness fraction."""
    occ = gmsh.model.occ
    wires = []
    for x, chord, z in (root, tip):
        s = 0.5 * (1 - np.cos(np.linspace(0, np.pi, 12)))
        half = 5 * thickness * (0.2969 * np.sqrt(s) - 0.126 * s - 0.3516 * s**2 + 0.2843 * s**3 - 0.1036 * s**4)
        half[-1] = 0
        upper = [occ.addPoint(x + chord * a, chord * b, z) for a, b in zip(s, half, strict=True)]
        lower = [
            upper[0],
            *(occ.addPoint(x + chord * a, -chord * b, z) for a, b in zip(s[1:-1], half[1:-1], strict=True)),
        ]
        lower.append(upper[-1])
        wires.append(occ.addWire([occ.addSpline(upper), occ.addSpline(lower[::-1])]))
    bodies = occ.addThruSections(wires, makeSolid=True, makeRuled=True)
    return next(tag for dim, tag in bodies if dim == 3)


def add_parts() -> None:
    """All solids, united to one volume."""
    occ = gmsh.model.occ
    hull = add_hull()
    sail = add_foil((-13.5, 11.0, 2.0), (-12.7, 9.6, 7.2), 0.19)
    parts = [sail]
    for angle in (np.pi / 2, -np.pi / 2):
        plane = add_foil((-11.0, 3.0, 0.0), (-10.4, 2.0, 3.6), 0.17)
        occ.rotate([(3, plane)], 0, 0, 0, 1, 0, 0, angle)
        occ.translate([(3, plane)], 0, 0, 5.6)
        parts.append(plane)
    for angle in np.arange(4) * np.pi / 2:
        rudder = add_foil((22.6, 4.6, 0.0), (24.0, 2.8, 4.2), 0.17)
        occ.rotate([(3, rudder)], 0, 0, 0, 1, 0, 0, angle)
        parts.append(rudder)
    occ.fuse([(3, hull)], [(3, part) for part in parts])
    occ.synchronize()


def part_of(surface: int) -> str:
    """Which part a CAD face belongs to, from its bounding box (that of the untrimmed face)."""
    x0, y0, z0, x1, y1, z1 = gmsh.model.getBoundingBox(2, surface)
    if x0 > 20 and x1 < 28:
        return "rudders"
    if x0 > 29:
        return "tail cap"
    if x0 > -14 and x1 < 0 and z0 > 1.9:
        return "sail planes" if max(-y0, y1) > 2 else "sail"
    return "hull"


def mesh_with(size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, triangles and tags at an edge length."""
    field = gmsh.model.mesh.field
    gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", 0)
    gmsh.option.setNumber("Mesh.MeshSizeFromPoints", 0)
    gmsh.option.setNumber("Mesh.Algorithm", 6)
    gmsh.option.setNumber("Mesh.Smoothing", 20)
    small = [tag for _, tag in gmsh.model.getEntities(2) if part_of(tag) in ("rudders", "sail planes", "tail cap")]
    distance = field.add("Distance")
    field.setNumbers(distance, "SurfacesList", small)
    threshold = field.add("Threshold")
    field.setNumber(threshold, "InField", distance)
    for key, value in [("SizeMin", ON_SMALL_PARTS * size), ("SizeMax", size), ("DistMin", 0.2), ("DistMax", 1.5)]:
        field.setNumber(threshold, key, value)
    field.setAsBackgroundMesh(threshold)
    gmsh.model.mesh.clear()
    gmsh.model.mesh.generate(2)
    for method in METHODS:
        gmsh.model.mesh.optimize(method, niter=5)
    numbers, coordinates, _ = gmsh.model.mesh.getNodes()
    position = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
    position[numbers.astype(np.int64)] = np.arange(len(numbers))
    triangles, tags = [], []
    for _, surface in gmsh.model.getEntities(2):
        _, nodes = gmsh.model.mesh.getElementsByType(2, surface)
        triangles.append(position[nodes.astype(np.int64)].reshape(-1, 3))
        tags.append(np.full(len(triangles[-1]), NAMES.get(part_of(surface), NAMES["hull"])))
    triangles, tags = np.concatenate(triangles), np.concatenate(tags)
    used, inverse = np.unique(triangles, return_inverse=True)
    return coordinates.reshape(-1, 3)[used], inverse.reshape(-1, 3), tags


def main() -> None:
    gmsh.initialize()
    gmsh.option.setNumber("General.Verbosity", 3)
    gmsh.option.setNumber("General.NumThreads", 1)
    add_parts()
    DATA.mkdir(exist_ok=True)
    for name, size in RESOLUTIONS.items():
        vertices, triangles, tags = mesh_with(size)
        np.savez_compressed(
            DATA / f"submarine_{name}.npz",
            vertices=vertices.astype(np.float32),
            triangles=triangles.astype(np.uint16),
            tags=tags.astype(np.uint8),
            names=np.array(list(NAMES)),
            values=np.array(list(NAMES.values())),
        )
    gmsh.finalize()


if __name__ == "__main__":
    main()
