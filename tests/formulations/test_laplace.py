"""Laplace problems against point charges and closed forms."""

import numpy as np
import pytest

import calderon.exact as exact
import calderon.mesh as meshes
from calderon.dense import assemble_dense
from calderon.formulations import FluidTransmission, LaplaceDirichlet, LaplaceNeumann
from calderon.operators import methods

INSIDE = exact.point_sources([[0.2, 0.1, -0.1], [-0.1, 0.0, 0.2]], [1.0, -0.4])
OUTSIDE = exact.point_sources([[1.5, 0.4, 0.0], [-0.3, -1.4, 1.0]], [1.0, 2.0])
FAR = np.array([[1.2, 0.3, -0.4], [-2.0, 0.5, 1.0]])
NEAR_CENTRE = np.array([[0.0, 0.0, 0.0], [0.2, -0.1, 0.15]])
CASES = {"exterior": (INSIDE, FAR), "interior": (OUTSIDE, NEAR_CENTRE)}


@pytest.fixture(scope="module")
def cube():
    return meshes.cube(1.0, 0.2)


@pytest.mark.parametrize("side", CASES)
@pytest.mark.parametrize("space", ["P0", "P1"])
def test_boundary_values_of_charges_give_their_field(side, space, cube):
    field, points = CASES[side]
    solution = LaplaceDirichlet(cube, side=side, space=space).solve(field, rtol=1e-8)
    reference = field(points)
    assert np.abs(solution.field(points) - reference).max() < 5e-3 * np.abs(reference).max()
    slopes = field.gradient(points)
    assert np.abs(solution.gradient(points) - slopes).max() < 2e-2 * np.abs(slopes).max()


@pytest.mark.parametrize("side", CASES)
def test_fluxes_of_charges_give_their_field(side, cube):
    field, points = CASES[side]
    solution = LaplaceNeumann(cube, side=side).solve(lambda x, n: field.normal_derivative(x, n))
    values, reference = solution.field(points), field(points)
    if side == "interior":  # known up to a constant, fixed by a zero mean on the surface
        assert abs(solution.surface.integral()) < 1e-10
        values, reference = values - values[0], reference - reference[0]
    assert np.abs(values - reference).max() < 1e-2 * np.abs(reference).max()


@pytest.mark.parametrize("solver", ["gmres", "lu"])
def test_solvers_agree(solver, cube):
    problem = LaplaceNeumann(cube, side="interior")
    data = lambda x, n: OUTSIDE.normal_derivative(x, n)  # noqa: E731
    solution = problem.solve(data, rtol=1e-9, solver=solver)
    assert np.allclose(solution.surface.coefficients, problem.solve(data, rtol=1e-9).surface.coefficients, atol=1e-7)


def test_both_matrices_of_a_flux_are_assembled_as_asked(monkeypatch, cube):
    """I/2 - K and the V of the right-hand side alike, each once for the same options."""
    asked = []

    def build(operator, *, rtol, **options):
        asked.append((operator.shape, options["precision"], rtol))
        return assemble_dense(operator, **options | {"precision": "double"})  # whose kernels other tests need

    monkeypatch.setattr(methods, "_methods", dict(methods.table()))
    methods.register(methods.Method("recorded", build, compresses=True))
    problem = LaplaceNeumann(cube)
    nodes, triangles = cube.number_of_vertices, cube.number_of_triangles
    both = {((nodes, nodes), "single", 1e-5), ((nodes, triangles), "single", 1e-5)}
    for again in (False, True):
        solution = problem.solve(1.0, method="recorded", precision="single", rtol=1e-4)
        assert len(asked) == 2 and set(asked) == both
        assert (solution.info.assembly_seconds == 0) == again
    exact_one = problem.solve(1.0, rtol=1e-8)
    assert len(asked) == 2
    assert np.allclose(solution.surface.coefficients, exact_one.surface.coefficients, rtol=1e-3)


def test_density_converges_with_order_one_and_potential_with_order_two():
    """On the unit sphere V Y = Y / (2n + 1), so the charge of z is 3 z; outside, u = z / r^3 has du/dr = -2 z."""
    charge, potential, sizes = [], [], []
    for h in (0.45, 0.225):
        mesh = meshes.sphere(1.0, h)
        sizes.append(mesh.mean_edge_length)
        dirichlet = LaplaceDirichlet(mesh).solve(lambda x: x[:, 2], rtol=1e-8)
        charge.append(dirichlet.surface.l2_error(lambda x: 3 * x[:, 2] / np.linalg.norm(x, axis=1)))
        neumann = LaplaceNeumann(mesh).solve(lambda x: -2 * x[:, 2] / np.linalg.norm(x, axis=1))
        potential.append(neumann.surface.l2_error(lambda x: x[:, 2] / np.linalg.norm(x, axis=1)))
    finer = np.log(sizes[0] / sizes[1])
    assert np.log(charge[0] / charge[1]) / finer == pytest.approx(1, abs=0.3)
    assert np.log(potential[0] / potential[1]) / finer == pytest.approx(2, abs=0.3)


def test_capacitances_of_sphere_and_plate():
    solution = LaplaceDirichlet(meshes.sphere(1.0, 0.3)).solve(1.0)
    assert solution.surface.integral() / (4 * np.pi) == pytest.approx(1.0, rel=0.02)
    plate = LaplaceDirichlet(meshes.plate((1.0, 1.0), 0.1)).solve(1.0)  # an open surface is fine here
    assert plate.surface.integral() / (4 * np.pi) == pytest.approx(0.3667896, rel=0.02)  # Read, J. Comput. Phys. 1997


def test_two_bodies_inside_each_has_its_own_constant():
    mesh = meshes.merge([meshes.sphere(0.5, 0.3), meshes.sphere(0.5, 0.3).translated([2.0, 0.0, 0.0])])
    solution = LaplaceNeumann(mesh, side="interior").solve(lambda x, n: n[:, 2], rtol=1e-8)
    points = np.array([[0.0, 0.0, 0.2], [2.0, 0.0, 0.2]])
    assert np.allclose(solution.field(points), 0.2, atol=0.01)


def test_incompatible_flux_is_refused(cube):
    problem = LaplaceNeumann(cube, side="interior")
    with pytest.raises(ValueError, match=r"integral of du/dn over component 0 of the surface is 6, it must be 0"):
        problem.solve(1.0)
    assert LaplaceNeumann(cube, side="exterior").solve(1.0).info.converged


def test_open_surfaces_and_unknown_sides_are_refused():
    plate = meshes.plate((1.0, 1.0), 0.5)
    with pytest.raises(ValueError, match="needs a closed surface, and 8 of 16 edges"):
        LaplaceNeumann(plate)
    with pytest.raises(ValueError, match="needs a closed surface"):
        LaplaceDirichlet(plate, side="interior")
    with pytest.raises(ValueError, match="unknown side 'outside': choose 'exterior' or 'interior'"):
        LaplaceDirichlet(plate, side="outside")
    with pytest.raises(ValueError, match="unknown space 'P3': choose"):
        LaplaceDirichlet(plate, space="P3")


def test_data_that_are_no_numbers_are_refused():
    with pytest.raises(TypeError, match="numbers, or a function of points"):
        LaplaceDirichlet(meshes.cube(1.0, 0.5)).solve("1 V")


@pytest.mark.parametrize("side", ["interior", "exterior"])
def test_parts_within_others_have_no_side(side):
    shell = meshes.merge([meshes.sphere(1.0, 0.6), meshes.sphere(0.3, 0.3)])
    with pytest.raises(ValueError, match="LaplaceNeumann needs parts next to each other, and 1 of the 2 .* number 1"):
        LaplaceNeumann(shell, side=side)
    with pytest.raises(ValueError, match="lies within .* and both have one fluid"):
        FluidTransmission(shell, 1.0, 1.5, 2.0)


def test_dirichlet_data_on_a_shell_give_the_field_between_its_spheres():
    shell = meshes.merge([meshes.sphere(1.0, 0.4), meshes.sphere(0.4, 0.2)])
    solution = LaplaceDirichlet(shell, side="interior").solve(lambda x: 1 / np.linalg.norm(x, axis=1))
    assert solution.field([[0, 0, 0.7]])[0] == pytest.approx(1 / 0.7, rel=1e-3)
