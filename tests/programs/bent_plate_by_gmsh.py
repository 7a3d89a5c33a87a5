"""A plate bent by 90 degrees, built with gmsh's own API, as a radar target with named faces."""

import gmsh
import numpy as np

import calderon as cal

gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
flat = gmsh.model.occ.addRectangle(0, 0, 0, 1.0, 0.5)
upright = gmsh.model.occ.addRectangle(0, 0, 0, 1.0, 0.5)
gmsh.model.occ.rotate([(2, upright)], 0, 0, 0, 1, 0, 0, np.pi / 2)
gmsh.model.occ.fragment([(2, flat)], [(2, upright)])
gmsh.model.occ.synchronize()
for number, name in ((flat, "flat"), (upright, "upright")):
    gmsh.model.addPhysicalGroup(2, [number], name=name)
gmsh.option.setNumber("Mesh.MeshSizeMax", 0.1)
gmsh.model.mesh.generate(2)
mesh = cal.TriangleMesh.from_gmsh()
gmsh.finalize()
assert set(mesh.names) == {"flat", "upright"} and abs(mesh.area - 1) < 1e-9
wave = cal.PlaneWave([0, -1, -1], polarization=[1, 0, 0])  # into the corner, which sends it back
solution = cal.PECScattering(mesh, frequency=150e6, formulation="efie").solve(wave, solver="lu")
assert solution.rcs(np.pi / 4, np.pi / 2) > 2 * solution.rcs(3 * np.pi / 4, np.pi / 2)
