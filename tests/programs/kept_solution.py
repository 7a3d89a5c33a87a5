"""A solution that is saved today and evaluated tomorrow."""

import numpy as np

import calderon as cal

problem = cal.SoundHardScattering(cal.mesh.sphere(radius=0.5, h=0.3), frequency=300.0, speed_of_sound=1500.0)
problem.solve(cal.PlaneWave([1, 0, 0])).save("today.h5")

tomorrow = cal.load("today.h5")
exact = cal.exact.rigid_sphere(problem.wavenumber, 0.5, [1, 0, 0])
theta = np.linspace(0, np.pi, 7)
assert np.allclose(tomorrow.far_field(theta, 0.0), exact.far_field(theta, 0.0), atol=0.02)
tomorrow.on_plane(normal=[0, 1, 0], size=3, points=21).write("plane.vti")
assert tomorrow.frequency == 300.0 and "relative residual" in str(tomorrow.info)
