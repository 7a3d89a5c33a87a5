"""Meshes of surfaces and volumes: triangles, tetrahedra, shapes by name, files, samples, checks."""

from calderon.mesh import planar as planar
from calderon.mesh.checks.inspection import Finding, MeshReport, check
from calderon.mesh.errors import AccuracyWarning, MeshError, MeshWarning
from calderon.mesh.faces.selection import Selection
from calderon.mesh.faces.table import SurfaceFace, SurfaceFaces
from calderon.mesh.files.cad import CAD_FORMATS, read_cad
from calderon.mesh.files.reading import read, sample
from calderon.mesh.files.tetrahedral_reading import holds_tetrahedra, read_tetrahedra
from calderon.mesh.files.writing import write
from calderon.mesh.shapes.flat import cube, cuboid, cylinder, disc, layered_cuboid, plate, tube
from calderon.mesh.shapes.phantom import phantom, phantom_sizes
from calderon.mesh.shapes.radar_targets import almond, ogive
from calderon.mesh.shapes.round import ellipsoid, hemisphere, hollow_sphere, sphere, torus
from calderon.mesh.shapes.tetrahedral import ball, box, layered_ball
from calderon.mesh.shapes.walls import spherical_shell, thickened
from calderon.mesh.solid_models.booleans import difference, intersection, union
from calderon.mesh.solid_models.solid import Solid
from calderon.mesh.solid_models.walls import solids
from calderon.mesh.tetrahedra import TetrahedralMesh, without_part
from calderon.mesh.tetrahedral.dispersion import ColeCole, Debye, Drude, Lorentz, PermittivityTable
from calderon.mesh.tetrahedral.known_materials import material
from calderon.mesh.tetrahedral.material import Material
from calderon.mesh.tetrahedral.step_report import StepReport, step_report
from calderon.mesh.triangles import BarycentricRefinement, TriangleMesh, joined, merge
from calderon.mesh.units import metres_per, warn_wavenumber

__all__ = [
    "CAD_FORMATS",
    "AccuracyWarning",
    "BarycentricRefinement",
    "ColeCole",
    "Debye",
    "Drude",
    "Finding",
    "Lorentz",
    "Material",
    "MeshError",
    "MeshReport",
    "MeshWarning",
    "PermittivityTable",
    "Selection",
    "Solid",
    "StepReport",
    "SurfaceFace",
    "SurfaceFaces",
    "TetrahedralMesh",
    "TriangleMesh",
    "almond",
    "ball",
    "box",
    "check",
    "cube",
    "cuboid",
    "cylinder",
    "difference",
    "disc",
    "ellipsoid",
    "hemisphere",
    "hollow_sphere",
    "holds_tetrahedra",
    "intersection",
    "joined",
    "layered_ball",
    "layered_cuboid",
    "material",
    "merge",
    "metres_per",
    "ogive",
    "phantom",
    "phantom_sizes",
    "plate",
    "read",
    "read_cad",
    "read_tetrahedra",
    "sample",
    "solids",
    "sphere",
    "spherical_shell",
    "step_report",
    "thickened",
    "torus",
    "tube",
    "union",
    "warn_wavenumber",
    "without_part",
    "write",
]
