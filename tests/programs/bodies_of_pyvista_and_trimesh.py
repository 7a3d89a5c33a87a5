"""Bodies that PyVista and trimesh make, as conductors."""

import numpy as np
import pyvista
import trimesh

import calderon as cal

box = trimesh.creation.box(extents=[1, 1, 1]).subdivide().subdivide()
cube = cal.TriangleMesh.from_trimesh(box)
c = cal.LaplaceDirichlet(cube).capacitance_matrix()
assert abs(c[0, 0] / (4 * np.pi * 8.854e-12) - 0.6607) < 0.01  # of the unit cube, in units of 4 pi eps0
ball = cal.TriangleMesh.from_pyvista(pyvista.Sphere(radius=0.5, theta_resolution=16, phi_resolution=16))
solution = cal.LaplaceDirichlet(ball).solve(1.0)
assert abs(solution.field([[0, 0, 2.0]])[0] - 0.25) < 0.01
back = solution.surface.space.mesh.to_pyvista()
assert back.n_cells == ball.number_of_triangles
