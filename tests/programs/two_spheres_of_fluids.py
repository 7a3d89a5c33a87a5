"""A bubble-like and a heavy sphere next to each other, each of its own fluid."""

import numpy as np

import calderon as cal

ball = cal.mesh.sphere(radius=0.5, h=0.3)
light = cal.TriangleMesh(ball.vertices, ball.triangles, 0 * ball.tags + 1, {"light": 1})
heavy = cal.TriangleMesh(ball.vertices + [2.0, 0, 0], ball.triangles, 0 * ball.tags + 2, {"heavy": 2})
problem = cal.FluidTransmission(
    cal.mesh.merge([light, heavy]),
    frequency=300.0,
    speed_of_sound=1500.0,
    interior_speed_of_sound={"light": 1200.0, "heavy": 2000.0},
    density_ratio={"light": 0.7, "heavy": 2.5},
)
solution = problem.solve(cal.PlaneWave([0, 0, 1]))
inside = solution.at_points([[0, 0, 0], [2.0, 0, 0], [1.0, 0, 0]]).arrays["pressure"]
assert np.isfinite(inside).all() and abs(inside[0] - inside[1]) > 0.05
absorbed = solution.absorption_cross_section()
assert abs(absorbed) < 0.02 * solution.scattering_cross_section()  # fluids without loss absorb nothing
