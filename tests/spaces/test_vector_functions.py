"""Vector fields: conservation of charge, values on triangles, rotation, algebra and files."""

import meshio
import numpy as np
import pytest

import calderon as cal

SPHERE = cal.mesh.sphere(1.0, 0.4)


def anything(space, seed=0):
    real, imaginary = np.random.default_rng(seed).standard_normal((2, space.dimension))
    return cal.VectorFunction(space, real + 1j * imaginary, "J", "A/m")


@pytest.mark.parametrize("make", [cal.RWG, cal.BC])
def test_current_moment_is_minus_the_dipole_of_the_charge(make):
    """int J = - int x div J and int div J = 0 on a closed surface."""
    current = anything(make(SPHERE))
    space = current.space
    density = space.divergence_matrix() @ current.coefficients
    charge = density * space.base.mesh.areas
    assert abs(charge.sum()) < 1e-12
    assert np.allclose(current.integral(), -charge @ space.base.mesh.centroids, atol=1e-12)
    assert current.divergence() @ SPHERE.areas == pytest.approx(0, abs=1e-12)
    assert np.allclose(SPHERE.areas @ current.at_centroids(), current.integral(), atol=1e-12)


@pytest.mark.parametrize("make", [cal.RWG, cal.SNC, cal.BC, cal.RBC])
def test_fields_are_tangential_and_rotation_turns_them(make):
    current = anything(make(SPHERE))
    values = current.at_centroids()
    assert values.shape == (SPHERE.number_of_triangles, 3)
    assert np.abs((values * SPHERE.normals).sum(axis=1)).max() < 1e-13
    turned = current.perpendicular()
    assert np.allclose(turned.at_centroids(), np.cross(SPHERE.normals, values), atol=1e-13)
    assert turned.l2_norm() == pytest.approx(current.l2_norm(), rel=1e-12)
    again = turned.perpendicular()
    assert np.array_equal(again.coefficients, -current.coefficients)
    assert again.space.name == current.space.name


def test_algebra_and_norm():
    space = cal.RWG(SPHERE)
    a, b = anything(space, 1), anything(space, 2)
    assert np.allclose((2j * a - b).coefficients, 2j * a.coefficients - b.coefficients)
    assert isinstance(a + b, cal.VectorFunction) and ((a + b).label, (a + b).unit) == ("J", "A/m")
    zero = cal.VectorFunction(space, np.zeros(space.dimension))
    assert zero.l2_error([0, 0, 0]) == 0
    assert (a - a).l2_norm() == 0
    values = a.values(np.array([[1 / 6, 1 / 6], [2 / 3, 1 / 6], [1 / 6, 2 / 3]]))
    squares = (np.abs(values) ** 2).sum(axis=2).mean(axis=1) @ SPHERE.areas
    assert a.l2_norm() == pytest.approx(np.sqrt(squares), rel=1e-12)
    with pytest.raises(ValueError, match="same space, on one mesh object"):
        a + anything(cal.RWG(cal.TriangleMesh(SPHERE.vertices, SPHERE.triangles)))
    with pytest.raises(ValueError, match="coefficients of shape"):
        cal.VectorFunction(space, np.zeros(3))
    with pytest.raises(ValueError, match="perpendicular"):
        a.perpendicular().divergence()


def test_files_carry_vectors_and_charge_with_units(tmp_path):
    current = anything(cal.BC(SPHERE))
    current.write(tmp_path / "J.vtu")
    file = meshio.read(tmp_path / "J.vtu")
    data = {name: blocks[0] for name, blocks in file.cell_data.items()}
    values = current.at_centroids()
    assert len(file.points) == SPHERE.number_of_vertices
    assert np.allclose(data["J [A/m] real"] + 1j * data["J [A/m] imaginary"], values)
    assert np.allclose(data["J [A/m] magnitude"], current.plot_data()[1])
    assert np.allclose(data["J [A/m] magnitude"], np.linalg.norm(values, axis=1))
    assert np.allclose(data["div J [A/m^2] magnitude"], np.abs(current.divergence()))
    cal.VectorFunction(cal.SNC(SPHERE), np.ones(current.space.dimension)).write(tmp_path / "E.vtu")
    assert {"J", "J magnitude", "tag"} == set(meshio.read(tmp_path / "E.vtu").cell_data)


def test_pictures_show_the_magnitude():
    """|n x e_z| is nearly the distance from the axis on the unit sphere."""
    current = cal.VectorFunction.interpolate(cal.RWG(SPHERE), lambda x, n: np.cross(n, [0, 0, 1]), "J", "A/m")
    place, values = current.plot_data()
    assert place == "triangles"
    assert np.abs(values - np.hypot(*SPHERE.centroids.T[:2])).max() < 0.05
    cal.plots.surface(current)
