"""Resistances of bars of two conductors, whose potentials are linear: exact up to quadrature, on any mesh."""

import numpy as np
import pytest

import calderon as cal


@pytest.mark.parametrize("h", [0.5, 0.36])
def test_two_conductors_in_series(h):
    mesh = cal.mesh.layered_cuboid((1.0, 1.0), (0.7, 1.3), h)
    z, up = mesh.centroids[:, 2], np.abs(mesh.normals[:, 2]) > 0.5
    ends = [up & (z < z.min() + 1e-9), up & (z > z.max() - 1e-9)]
    mesh = cal.TriangleMesh(
        mesh.vertices, mesh.triangles, np.select(ends, [8, 9], mesh.tags), {**mesh.names, "low": 8, "high": 9}
    )
    regions = {
        "one": cal.Region(["layer 1", "joint 1", "low"], conductivity=4.0),
        "two": cal.Region(["layer 2", "joint 1", "high"], conductivity=1.0),
    }
    problem = cal.StaticProblem(mesh, regions, {"low": "low", "high": "high"}, outside=None)
    assert problem.resistance("low", "high") == pytest.approx(0.7 / 4 + 1.3, rel=1e-6)


def test_electrodes_that_nothing_connects():
    ball = cal.mesh.sphere(1.0, 0.7)
    inner = ball.scaled(0.5)
    parts = {"a": ball, "b": inner, "c": ball.translated([3, 0, 0]), "d": inner.translated([3, 0, 0])}
    mesh = cal.mesh.joined(parts)
    regions = {"left": cal.Region(["a", "b"], conductivity=1.0), "right": cal.Region(["c", "d"], conductivity=1.0)}
    problem = cal.StaticProblem(mesh, regions, {name: name for name in parts}, outside=None)
    assert problem.resistance("a", "b") == pytest.approx(problem.resistance("c", "d"), rel=1e-5)
    with pytest.raises(ValueError, match="no conductor connects the electrodes 'a' and 'd'"):
        problem.resistance("a", "d")
