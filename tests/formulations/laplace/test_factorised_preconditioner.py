"""Sparse factors of the inverse of single layers precondition potentials of conductors."""

import numpy as np
import pytest

import calderon as cal


@pytest.mark.parametrize("space", ["P0", "DP1"])
def test_graded_and_thin_conductors_take_a_third_of_the_steps(space):
    plate = cal.mesh.cuboid((1, 1, 0.05), h=0.25, grading=2.0)
    problem = cal.LaplaceDirichlet(plate, space=space)
    given = {"method": "dense", "solver": "gmres", "rtol": 1e-6}
    mass = problem.solve(lambda x: 1 + x[:, 0], preconditioner="mass", **given)
    found = problem.solve(lambda x: 1 + x[:, 0], **given)
    assert found.info.iterations < (0.4 if space == "P0" else 0.65) * mass.info.iterations
    x = np.array([[0.0, 0, 0.1], [1.0, 0.3, 0.8]])
    assert np.abs(found.field(x) - mass.field(x)).max() < 1e-5


def test_it_keeps_fields_even_in_mirrors():
    part = cal.mesh.cuboid((1, 1, 1), h=0.5).translated((0, 0, 0.75))
    above = cal.LaplaceDirichlet(part, mirrors={"z": "odd"})
    both = cal.LaplaceDirichlet(part.mirrored("z"))
    given = {"method": "dense", "solver": "gmres", "rtol": 1e-8}
    found = above.solve(1.0, **given)
    exact = both.solve(lambda x: np.sign(x[:, 2]), **given)
    assert found.info.iterations <= 10
    x = np.array([[0.0, 0, 2.0], [1.0, 0.3, 0.8]])
    assert np.abs(found.field(x) - exact.field(x)).max() < 1e-7
