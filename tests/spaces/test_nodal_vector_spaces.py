"""Nodal spaces with vectors as values against their scalar spaces, component by component."""

import meshio
import numpy as np
import pytest

import calderon as cal
from calderon.spaces import NodalVectorSpace
from catalogue import NODAL_SPACES


@pytest.fixture(scope="module")
def mesh():
    return cal.mesh.sphere(1.0, 0.5)


def field(x, n):
    """Linear in x."""
    return np.stack([x[:, 0] - 2 * x[:, 1], 1 + x[:, 2], 3 * x[:, 0] + x[:, 1]], axis=1)


@pytest.mark.parametrize("name", NODAL_SPACES)
def test_unknowns_are_interleaved_and_components_are_those_of_the_scalar_space(mesh, name):
    scalar, space = NODAL_SPACES[name](mesh), NODAL_SPACES[name](mesh, components=3)
    assert isinstance(space, NodalVectorSpace)
    assert (
        space.scalar is scalar
        and NODAL_SPACES[name](mesh, components=3) is space
        and NODAL_SPACES[name](mesh, components=1) is scalar
    )
    assert space.dimension == 3 * scalar.dimension
    u = cal.Function.project(space, field)
    for c in range(3):
        one = cal.Function.project(scalar, lambda x, n, c=c: field(x, n)[:, c])
        np.testing.assert_allclose(u.coefficients[c::3], one.coefficients, rtol=0, atol=1e-13)
        points = np.array([[0.2, 0.3], [0.6, 0.1]])
        np.testing.assert_allclose(u.values(points)[..., c], one.values(points), rtol=0, atol=1e-13)
        np.testing.assert_allclose(
            u.surface_gradient(points)[:, :, c], one.surface_gradient(points), rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(
            space.expansion(points)[c] @ u.coefficients, one.values(points).ravel(), rtol=0, atol=1e-13
        )
        assert u.integral()[c] == pytest.approx(one.integral(), abs=1e-13)
    assert (space.nodes[1::3] == scalar.nodes).all()
    assert (space.dofs.reshape(*scalar.dofs.shape, 3)[:, :, 2] == 3 * scalar.dofs + 2).all()
    assert len(space.carriers.of(np.array([5]))) == len(scalar.carriers.of(np.array([1])))


@pytest.mark.parametrize("name", ["P1", "DP1", "P2"])
def test_fields_of_the_space_are_met_exactly(mesh, name):
    space = NODAL_SPACES[name](mesh, components=3)
    for u in (cal.Function.interpolate(space, field), cal.Function.project(space, field)):
        assert u.l2_error(field) < 1e-13
    assert cal.Function.interpolate(space, [1.0, 2.0, 2j]).l2_norm() == pytest.approx(3 * np.sqrt(mesh.area))


def test_the_identity_is_the_scalar_one_for_each_component(mesh):
    trial, test = cal.P1(mesh, components=3), cal.P0(mesh, components=3)
    matrix = cal.identity(trial, test).assemble().to_array()
    one = cal.identity(trial.scalar, test.scalar).assemble().to_array()
    assert matrix == pytest.approx(np.kron(one, np.eye(3)), abs=1e-16)
    x = np.random.default_rng(1).standard_normal((trial.dimension, 2)) * (1 + 1j)
    assert trial.solve_mass(trial.mass_matrix() @ x) == pytest.approx(x, abs=1e-12)


def test_other_operators_refuse_vectors_at_nodes_by_name(mesh):
    space = cal.P1(mesh, components=3)
    with pytest.raises(TypeError, match=r"single_layer needs a space of scalar functions, got .*try P1\(mesh\)"):
        cal.single_layer(cal.Laplace(), space)
    with pytest.raises(TypeError, match="vectors at nodes, got"):
        cal.identity(space, cal.P1(mesh))
    with pytest.raises(ValueError, match="is that of a scalar density"):
        cal.single_layer_potential(cal.Laplace(), cal.Function.interpolate(space, field))
    with pytest.raises(ValueError, match="fields of as many components"):
        space.mass_matrix(cal.P1(mesh, components=2))
    with pytest.raises(ValueError, match="components=0"):
        cal.P1(mesh, components=0)
    with pytest.raises(TypeError, match="components=2.5 is not an integer"):
        cal.P1(mesh, components=2.5)


@pytest.mark.parametrize("name", ["P0", "P1"])
def test_files_hold_vectors_and_pictures_magnitudes(mesh, name, tmp_path):
    u = cal.Function.interpolate(NODAL_SPACES[name](mesh, components=3), field, label="u", unit="m")
    u.write(tmp_path / "u.vtu")
    written = meshio.read(tmp_path / "u.vtu")
    values = written.point_data["u [m]"] if name == "P1" else written.cell_data["u [m]"][0]
    assert values == pytest.approx(u.coefficients.reshape(-1, 3))
    assert u.plot_data()[1] == pytest.approx(np.linalg.norm(values, axis=1))
    figure = cal.plots.surface(u)
    assert figure is not None


def test_half_of_the_support_leaves_the_rest_out(tmp_path):
    plate = cal.mesh.plate((1.0, 1.0), 0.4)
    space = cal.P1(plate, boundary=False, components=2)
    u = cal.Function.interpolate(space, lambda x: x[:, :2])
    assert (space.dofs < 0).any() and space.dofs.max() == space.dimension - 1
    assert np.isfinite(u.on_mesh()[1]).all()
