"""The equation of single traces by every method."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.preconditioners import SOFTENING, Media, layer_inverse, softened


def coated(permittivity, h=0.4):
    mesh = cal.mesh.joined({"core": cal.mesh.sphere(1.0, h), "coat": cal.mesh.sphere(1.5, 1.2 * h)})
    regions = {"coat": cal.Region(["core", "coat"], permittivity=permittivity)}
    return cal.StaticProblem(mesh, regions, {"core": "core"})


@pytest.mark.parametrize(
    "method, backend",
    [
        ("dense", "numba"),
        ("fmm", "numba"),
        pytest.param("hmatrix", "numba", marks=pytest.mark.variant),
        ("dense", "opencl"),
    ],
)
def test_methods_agree_with_factors(method, backend):
    problem, x, rtol = coated(4.0), np.array([[0, 0, 1.2], [0, 2.0, 0.5]]), 1e-6
    sources = [cal.PointCharge([0, 0, 2.0], 1e-11)]
    direct = problem.solve({"core": 1.0}, sources=sources)
    found = problem.solve({"core": 1.0}, sources=sources, method=method, backend=backend, solver="gmres", rtol=rtol)
    assert found.info.iterations > 0
    assert np.abs(found.field(x) / direct.field(x) - 1).max() < 10 * rtol
    assert found.totals["core"] == pytest.approx(direct.totals["core"], rel=10 * rtol)


def test_plans_and_texts():
    problem = coated(4.0)
    assert problem.plan(method="fmm").nbytes > 0 and "static field of 2 regions" in str(problem)


def test_regions_share_near_blocks_and_trees():
    """One single and one double layer are kept, for all regions; D is made of the single layer, and K' of K."""
    operator = coated(4.0).system.operator
    found = operator.assemble("fmm", rtol=1e-5)
    assert sorted(each.operator for each in found.info) == ["double_layer", "single_layer"]
    x = np.random.default_rng(0).standard_normal(operator.shape[1])
    exact = operator.assemble() @ x
    assert np.linalg.norm(found @ x - exact) < 1e-5 * np.linalg.norm(exact)


def nested():
    """A dielectric with a hollow in a shell of metal around it, and water around that: four spheres."""
    meshes = {name: cal.mesh.sphere(r, 0.8 * r) for name, r in (("a", 1.0), ("b", 1.5), ("c", 2.0), ("d", 2.5))}
    regions = {"air": cal.Region("a"), "resin": cal.Region(["a", "b"], permittivity=4.0)}
    regions["water"] = cal.Region(["c", "d"], permittivity=80.0)
    return cal.StaticProblem(cal.mesh.joined(meshes), regions, {"shell": ["b", "c"]})


def test_layers_of_the_skeleton_are_those_of_the_regions(monkeypatch):
    """Regions that share layers have the matrix of regions with layers of their own."""
    matrices = []
    for most in (0, 10):
        monkeypatch.setattr("calderon.formulations.statics.unknowns.SHARED", most)
        problem = nested()
        assert len(problem.functions.layers) == (1 if most else 4)
        matrices.append(problem.system.operator.assemble().to_array())
    assert np.abs(matrices[0] - matrices[1]).max() < 1e-7 * np.abs(matrices[0]).max()


def test_layers_of_closed_metal_are_known():
    """K of a constant is -1/2 on a closed surface, and minus its winding number elsewhere; here by quadrature."""
    problem = nested()
    found = problem.functions
    count = [len(each) for each in found.metal_bodies]
    assert count == [0, 1, 1, 0]
    for traces, bodies in zip(found.traces, found.metal_bodies, strict=True):
        for body in bodies:
            own = np.zeros(traces.potentials.dimension)
            own[traces.potentials.dofs[body.own]] = 1.0
            tested = cal.double_layer(cal.Laplace(), traces.potentials, traces.fluxes).assemble() @ own
            assert np.abs(tested / traces.surface.mesh.areas - body.double).max() < 1e-3


def test_steps_do_not_grow_with_the_contrast():
    """They are at most 15 to 1e-6; without preconditioner they are twice as many."""
    given = {"voltages": {"core": 1.0}, "method": "dense", "solver": "gmres", "rtol": 1e-6}
    steps = [coated(e).solve(**given).info.iterations for e in (1e-6, 1e-3, 1.0, 1e4, 1e6)]
    assert max(steps) <= 15
    assert coated(1e-3).solve(**given, preconditioner=None).info.iterations > 2 * steps[1]
    linear = replace(coated(4.0), space="P2")
    assert linear.solve(**given).info.iterations < 0.8 * linear.solve(**given, preconditioner=None).info.iterations


def test_solutions_pass_between_processes():
    """With their equations, in which sparse factors join regions: pickled, as by pools of processes."""
    found = coated(4.0).solve({"core": 1.0})
    copy = pickle.loads(pickle.dumps(found))
    x = [[0, 0, 1.2], [0, 2.0, 0.5]]
    assert np.array_equal(copy.field(x), found.field(x)) and copy.totals == found.totals
    operator = coated(4.0).system.operator
    again = pickle.loads(pickle.dumps(operator))
    assert np.array_equal(again.assemble().to_array(), operator.assemble().to_array())


@pytest.mark.parametrize("permittivities, bound", [((1.0, 1e4, 1.0, 100.0), 45), ((4.0, 11.7, 2.0, 8.0), 23)])
def test_thin_layers_between_others_take_few_steps(permittivities, bound):
    """With the diagonal of D instead of a Green's function there are 72 and 29 of them."""
    mesh = cal.mesh.layered_cuboid((1.0, 1.0), (0.3, 0.01, 0.3, 0.2), h=0.2)
    regions = {}
    for number, value in enumerate(permittivities, 1):
        tags = [f"layer {number}", *(f"joint {k}" for k in (number - 1, number) if 0 < k < 4)]
        regions[f"layer {number}"] = cal.Region(tags, permittivity=value)
    problem = cal.StaticProblem(mesh, regions)
    given = {"sources": [cal.UniformField([0.3, 0.2, 1.0])]}
    found = problem.solve(**given, method="dense", solver="gmres", rtol=1e-6)
    assert found.info.iterations <= bound


def test_walls_without_fluxes_have_the_preconditioner_too():
    """Only potentials are unknown in an insulated bar with two sources of current."""
    mesh = cal.mesh.joined({"wall": cal.mesh.cuboid((2.0, 1.0, 1.0), 0.4)})
    problem = cal.StaticProblem(mesh, {"bar": cal.Region(["wall"], conductivity=2.0)}, outside=None)
    given = {"sources": [cal.PointCharge([0.5, 0, 0], 1.0), cal.PointCharge([-0.5, 0, 0], -1.0)], "method": "dense"}
    x = [[0.5, 0.2, 0.3], [-0.8, 0, 0.1]]
    found, direct = problem.solve(**given, solver="gmres", rtol=1e-8), problem.solve(**given, solver="lu")
    assert np.abs(found.field(x) / direct.field(x) - 1).max() < 1e-6 and found.info.iterations < 20


@pytest.mark.parametrize("decay, bound", [(0.0, 2.6), (2.0, 1.4)])
def test_sparse_factors_know_charges_beyond_the_neighbours(decay, bound):
    """The quotient of U U^T for a constant potential of a sphere in V. Without these charges it is 4.5 and 1.8, and the
    first one grows with the number of unknowns."""
    mesh = cal.mesh.sphere(1.0, 0.085)
    points, n = mesh.centroids[:, None], mesh.number_of_triangles
    media = Media(np.zeros((n, 1), np.int64), np.ones((n, 1)), [1.0], [decay])
    entries = softened(points, SOFTENING * np.sqrt(mesh.areas), mesh.areas, media)
    lower = np.tril(entries(np.arange(n)[None])[0])
    matrix = lower + np.tril(lower, -1).T
    charges = matrix @ np.ones(n)
    quotient = charges @ (layer_inverse(mesh, np.arange(n), mesh.areas, media) @ charges) / charges.sum()
    assert 0.9 < quotient < bound
