"""Laplace's equation inside a sphere by an own equation, (-I/2 + K) phi = g, u = double layer of phi."""

import numpy as np

import calderon as cal

mesh = cal.mesh.sphere(radius=1.0, h=0.25)
space, green = cal.P1(mesh), cal.Laplace()
operator = -0.5 * cal.identity(space) + cal.double_layer(green, space)
phi, info = cal.gmres(operator.assemble(), space.load_vector(lambda x: x[:, 0] + 2.0), rtol=1e-8)
u = cal.double_layer_potential(green, cal.Function(space, phi))
points = np.random.default_rng(0).uniform(-0.4, 0.4, (3, 4, 3))
assert np.allclose(u(points), points[..., 0] + 2.0, atol=0.02)
assert np.allclose((2 * u - u)(points[0, 0]), u(points)[0, 0])
