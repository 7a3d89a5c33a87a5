"""The field that a solution leaves inside of a body follows its error."""

import numpy as np

import calderon as cal
from calderon.kinds.surface.families import left_inside


def test_what_is_left_inside_follows_the_error_of_the_charge():
    found = []
    for h in (0.4, 0.2):
        mesh = cal.mesh.sphere(1.0, h)
        solution = cal.LaplaceDirichlet(mesh).solve(1.0)
        left = left_inside(mesh, lambda x, u=solution.field: u(x) - 1, lambda x: np.ones(len(x)))
        error = abs(solution.surface.integral() / (4 * np.pi) - 1)
        assert 0.3 < left / error < 3
        found.append(left)
    assert found[1] < found[0] / 4


def test_bodies_without_an_inside_have_no_estimate():
    for mesh in (cal.mesh.plate((1.0, 1.0), 0.5), cal.mesh.cube(1.0, 1.0)):
        assert left_inside(mesh, lambda x: x[:, 0], lambda x: np.ones(len(x))) is None
