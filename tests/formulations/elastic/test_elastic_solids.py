"""Elastic solids against closed forms: linear displacements, spheres, weights, heat; every kind of condition."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Turn

import calderon as cal

STEEL = cal.ElasticMaterial(2.1, 0.3, density=0.7, expansion=0.02, yield_strength=3.0)
SIDES = {"left": -1, "right": 1, "front": -2, "back": 2, "bottom": -3, "top": 3}
GRADIENT = np.array([[0.3, -0.5, 0.8], [0.1, 0.4, -0.2], [0.6, 0.9, -0.7]])


def box(lengths=(1.0, 1.0, 1.0), h=0.5, turn=None):
    """A cuboid around the origin whose sides are tagged by name, turned afterwards."""
    mesh = cal.mesh.cuboid(lengths, h)
    middle = mesh.vertices - mesh.bounds.mean(axis=0)
    side = np.rint(mesh.normals @ [1, 2, 3]).astype(int)
    names = {name: number for number, name in enumerate(SIDES)}
    numbers = {SIDES[name]: number for name, number in names.items()}
    tags = np.array([numbers[each] for each in side])
    mesh = cal.TriangleMesh(middle, mesh.triangles, tags, names)
    return mesh if turn is None else mesh.rotated(turn)


def stress_of(gradient, material=STEEL):
    strain = (gradient + gradient.T) / 2
    return material.lame * np.trace(strain) * np.eye(3) + 2 * material.shear_modulus * strain


def error(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


@pytest.fixture(scope="module")
def cube():
    return box()


@pytest.mark.parametrize("space", ["P1", pytest.param("P2", marks=pytest.mark.variant)])
def test_a_linear_displacement_under_mixed_conditions(cube, space):
    """One side follows it, one only along x and z, a third along its normal; the others have its tractions."""
    stress = stress_of(GRADIENT)
    exact = cal.Traction(lambda x, n: n @ stress.T)
    supports = {
        "left": cal.elastic.Prescribed(lambda x: x @ GRADIENT.T),
        "bottom": cal.elastic.Prescribed(lambda x: x @ GRADIENT.T),
    }
    loads = {name: exact for name in SIDES if name not in supports}
    solution = cal.ElasticSolid(cube, STEEL, supports, loads, space=space).solve()
    nodes = solution.displacement.space.scalar.nodes
    assert error(solution.displacement.at_nodes, nodes @ GRADIENT.T) < 1e-4
    traction = solution.traction.values(np.array([[0.3, 0.3]]))[:, 0]
    assert error(traction, cube.normals @ stress.T) < 1e-4
    points = np.array([[0.1, 0.2, -0.3], [0.0, 0.45, 0.0]])
    assert error(solution.field(points), points @ GRADIENT.T) < 1e-4
    assert error(solution.stress(points), np.broadcast_to(stress, (2, 3, 3))) < 1e-4
    assert error(solution.surface_stress, np.broadcast_to(stress, solution.surface_stress.shape)) < 3e-4
    assert solution.strain_energy == pytest.approx(0.5 * np.sum(stress * GRADIENT), rel=1e-4)
    force = np.array([-1.0, 0.0, 0.0]) @ stress.T
    assert error(solution.reactions["left"].force, force) < 1e-4
    assert error(solution.resultants["top"].force, np.array([0.0, 0.0, 1.0]) @ stress.T) < 1e-4
    assert solution.equilibrium < 1e-4
    assert solution.info.rotation_error < 1e-4


@pytest.mark.variant
def test_finer_rules_reach_six_digits(cube):
    stress = stress_of(GRADIENT)
    supports = {"left": cal.elastic.Prescribed(lambda x: x @ GRADIENT.T)}
    loads = {name: cal.Traction(lambda x, n: n @ stress.T) for name in SIDES if name != "left"}
    solid = cal.ElasticSolid(cube, STEEL, supports, loads, quadrature=cal.Quadrature(regular=8, singular=11, near=2.0))
    solution = solid.solve()
    assert error(solution.displacement.at_nodes, cube.vertices @ GRADIENT.T) < 1e-6


def test_rubber_hardly_changes_its_volume(cube):
    """A linear displacement at nu = 0.49."""
    rubber = cal.ElasticMaterial(1.0, 0.49)
    stress = stress_of(GRADIENT, rubber)
    supports = {"left": cal.elastic.Prescribed(lambda x: x @ GRADIENT.T)}
    loads = {name: cal.Traction(lambda x, n: n @ stress.T) for name in SIDES if name != "left"}
    solution = cal.ElasticSolid(cube, rubber, supports, loads).solve()
    assert error(solution.displacement.at_nodes, cube.vertices @ GRADIENT.T) < 1e-3


def test_an_inclined_roller_and_turned_axes():
    """A bar in uniaxial tension on three planes of symmetry, turned in space; its displacement turns with it."""
    turn = Turn.from_euler("xyz", [0.4, -0.7, 1.1]).as_matrix()
    mesh = box((2.0, 1.0, 1.0), turn=turn)
    planes = {
        "left": cal.elastic.SymmetryPlane(),
        "front": cal.elastic.Roller(),
        "bottom": cal.elastic.Roller(turn @ [0.0, 0.0, 1.0]),
    }
    solution = cal.ElasticSolid(mesh, STEEL, planes, {"right": cal.elastic.Force(turn @ [0.42, 0.0, 0.0])}).solve()
    strain = 0.42 / STEEL.youngs_modulus * np.diag([1.0, -0.3, -0.3])
    exact = (mesh.vertices @ turn + [1.0, 0.5, 0.5]) @ strain @ turn.T
    assert error(solution.displacement.at_nodes, exact) < 1e-4
    assert error(turn.T @ solution.reactions["left"].force, [-0.42, 0.0, 0.0]) < 1e-4
    assert np.abs(solution.von_mises / 0.42 - 1).max() < 1e-3
    assert solution.safety_factor == pytest.approx(3.0 / 0.42, rel=1e-3)
    assert np.abs(solution.principal_stresses / 0.42 - [1, 0, 0]).max() < 1e-3


def test_a_column_hangs_by_its_weight():
    """rho g: u_z = gamma (z^2 + nu (x^2 + y^2) - H^2) / (2 E) below a top that stress gamma z pulls, z from below."""
    mesh = box((1.0, 1.0, 2.0), h=0.3)
    gamma = STEEL.density * 9.81

    def exact(x):
        z = x[:, 2] + 1.0
        across = gamma * z[:, None] * x[:, :2] * -STEEL.poissons_ratio / STEEL.youngs_modulus
        down = gamma * (z**2 + STEEL.poissons_ratio * (x[:, 0] ** 2 + x[:, 1] ** 2) - 4) / (2 * STEEL.youngs_modulus)
        return np.column_stack([across, down])

    gravity = cal.elastic.Gravity([0.0, 0.0, -9.81])
    solid = cal.ElasticSolid(mesh, STEEL, {"top": cal.elastic.Prescribed(exact)}, body=[gravity])
    solution = solid.solve()
    x = np.array([[0.0, 0.0, -0.5], [0.2, 0.1, 0.4]])
    assert error(solution.field(x), exact(x)) < 1e-2
    assert solution.stress(x)[:, 2, 2] == pytest.approx(gamma * (x[:, 2] + 1), rel=0.02)
    assert error(solution.reactions["top"].force, [0.0, 0.0, 2 * gamma]) < 5e-3
    assert solution.equilibrium < 5e-3
    energy = gamma**2 / (2 * STEEL.youngs_modulus) * 8 / 3
    assert solution.strain_energy == pytest.approx(energy, rel=1e-2)


def test_a_heated_free_body_expands_without_stress(cube):
    solution = cal.ElasticSolid(cube, STEEL, body=[cal.elastic.TemperatureChange(50.0)]).solve()
    assert error(solution.displacement.at_nodes, cube.vertices * 0.02 * 50) < 1e-8
    assert np.abs(solution.surface_stress).max() < 1e-8 * STEEL.youngs_modulus
    assert solution.info.displacement_error < 1e-8
    assert abs(solution.strain_energy) < 1e-12


def test_a_spinning_body_pulls_at_nothing(cube):
    """Centrifugal forces of a body around its centre are balanced; mean stresses follow from the forces' moments:
    int s_xx dV = int x f_x dV."""
    solution = cal.ElasticSolid(cube, STEEL, body=[cal.elastic.Spin(1.5)]).solve()
    points = np.stack(np.meshgrid(*[[-0.35, 0.0, 0.35]] * 3), axis=-1).reshape(-1, 3)
    mean = solution.stress(points)[:, 0, 0].mean()
    assert mean == pytest.approx(STEEL.density * 1.5**2 / 12, rel=0.15)
    assert solution.equilibrium < 1e-10
    step = np.array([5.0, -2.0, 1.0])
    moved = cal.ElasticSolid(cube.translated(step), STEEL, body=[cal.elastic.Spin(1.5, centre=step)]).solve()
    assert error(moved.stress(points + step), solution.stress(points)) < 1e-6


@pytest.mark.parametrize("method", ["dense", pytest.param("hmatrix", marks=pytest.mark.variant)])
def test_load_cases_share_one_matrix(cube, method):
    """Each is the solution of its loads alone, with loads on different tags, and a linear function of its loads."""
    supports = {"bottom": cal.elastic.Fixed(), "left": cal.elastic.ElasticSupport(0.3)}
    pull, push = (
        {"top": cal.elastic.Force([0.1, 0.0, 0.2])},
        {"right": cal.Pressure(0.3), "top": cal.Traction([0.0, 0.1, 0.0])},
    )
    cases = {"pull": pull, "push": cal.elastic.LoadCase(push, [cal.elastic.Gravity([0.0, 0.0, -2.0])])}
    solid = cal.ElasticSolid(cube, STEEL, supports, pull)
    alone = [solid.solve(), cal.ElasticSolid(cube, STEEL, supports, push, cases["push"].body).solve()]
    found = solid.solve_cases(cases, method=method, rtol=1e-8)
    assert list(found) == ["pull", "push"]
    for each, one in zip(found.values(), alone, strict=True):
        assert error(each.displacement.coefficients, one.displacement.coefficients) < 1e-6
        assert error(each.traction.coefficients, one.traction.coefficients) < 1e-6
        assert each.reactions["bottom"].force == pytest.approx(one.reactions["bottom"].force, rel=1e-5, abs=1e-7)
    with pytest.raises(TypeError, match="a load case is a LoadCase or loads by tag"):
        solid.solve_cases({"pull": cal.Pressure(1.0)})
    with pytest.raises(ValueError, match="no load cases"):
        solid.solve_cases({})


def test_a_block_on_springs_sinks_by_its_load(cube):
    solution = cal.ElasticSolid(
        cube, STEEL, {"bottom": cal.elastic.ElasticSupport(0.5)}, {"top": cal.elastic.Force([0.1, 0.0, -0.2])}
    ).solve()
    assert error(solution.reactions["bottom"].force, [-0.1, 0.0, 0.2]) < 1e-12
    force = solution.resultants["bottom"].force
    assert error(force, [-0.1, 0.0, 0.2]) < 0.01
    assert solution.equilibrium < 0.01
    bottom = solution.displacement.values(np.array([[1 / 3, 1 / 3]]))[cube.tags == cube.names["bottom"], 0]
    weights = cube.areas[cube.tags == cube.names["bottom"]]
    assert error(weights @ bottom, -force / 0.5) < 1e-8


def test_a_moment_twists_a_bar():
    """By the angle M L / (0.1406 mu a^4) of Saint-Venant for a square of side a, less near the fixed end."""
    mesh = box((1.0, 1.0, 3.0), h=0.34)
    solution = cal.ElasticSolid(
        mesh, STEEL, {"bottom": cal.elastic.Fixed()}, {"top": cal.elastic.Moment([0, 0, 0.05])}
    ).solve()
    assert solution.resultants["top"].moment == pytest.approx([0, 0, 0.05], abs=1e-12)
    assert solution.reactions["bottom"].moment[2] == pytest.approx(-0.05, rel=1e-9)
    assert solution.resultants["bottom"].moment[2] == pytest.approx(-0.05, rel=0.02)
    top = np.isclose(mesh.vertices[:, 2], 1.5)
    x, u = mesh.vertices[top], solution.displacement.at_nodes[top]
    angle = np.sum(np.cross(x, u)[:, 2]) / np.sum(x[:, :2] ** 2)
    assert angle == pytest.approx(0.05 * 3 / (STEEL.shear_modulus * 0.1406), rel=0.05)


@pytest.fixture(scope="module")
def shell():
    """A hollow sphere 1, 2 under inner pressure."""
    mesh = cal.mesh.merge([cal.mesh.sphere(2.0, 0.7), cal.mesh.sphere(1.0, 0.35)])
    return cal.ElasticSolid(mesh, cal.ElasticMaterial(2000.0, 0.3), loads={1: cal.Pressure(1.0)}).solve()


def test_a_hollow_sphere_under_pressure(shell):
    """Lame: hoop stress (1 + (b / r)^3 / 2) p / ((b / a)^3 - 1)."""
    x = np.array([[1.5, 0.0, 0.0], [0.0, 0.0, -1.5]])
    hoop = (1 + 4 / 1.5**3) / 7
    assert shell.stress(x)[0, 1, 1] == pytest.approx(hoop, rel=0.01)
    radial = np.abs(shell.field(x)).max(axis=1)
    assert radial == pytest.approx(1.5 * (0.7 * hoop - 0.3 * (1 - 8 / 1.5**3) / 7) / 2000, rel=0.005)
    assert shell.largest_stress[0] == pytest.approx(12 / 7, rel=0.1)
    assert np.linalg.norm(shell.largest_stress[1]) == pytest.approx(1.0, rel=0.05)
    assert shell.info.free_motions == 6
    assert shell.info.free_tags == ("0",)
    mesh = shell.solid.mesh
    assert (np.einsum("ni,ni->n", mesh.normals, mesh.centroids)[mesh.tags == 1] < 0).all()


def pressed_sphere(h, space="P1"):
    """Radii 1 and 2, edges h and 2 h, under inner pressure."""
    mesh = cal.mesh.merge([cal.mesh.sphere(2.0, 2 * h), cal.mesh.sphere(1.0, h)])
    return cal.ElasticSolid(mesh, cal.ElasticMaterial(2000.0, 0.3), loads={1: cal.Pressure(1.0)}, space=space).solve()


def test_errors_of_a_hollow_sphere_fall_with_the_square_of_the_edge():
    """The error of the largest stress falls; the displacement inside is better still, as the meshes keep the volume."""
    errors = []
    for h in (0.5, 0.25):
        solution = pressed_sphere(h)
        hoop, radial = (1 + 4 / 1.5**3) / 7, (1 - 8 / 1.5**3) / 7
        displacement = solution.field([[0.0, 1.5, 0.0]])[0, 1] / (1.5 * (0.7 * hoop - 0.3 * radial) / 2000)
        errors.append([abs(solution.largest_stress[0] * 7 / 12 - 1), abs(displacement - 1)])
    orders = np.log2(np.divide(*errors))
    assert orders[0] == pytest.approx(2.0, abs=0.3)
    assert orders[1] > 1.7
    assert errors[1][1] < 1e-3


@pytest.mark.parametrize(
    ("space", "h"), [("P1", 0.5), ("P1", 0.25), pytest.param("P2", 0.5, marks=pytest.mark.variant)]
)
def test_errors_are_estimated_within_a_factor_of_three(space, h):
    """On the surface of a hollow sphere, in the mean, of displacement and stress against those of the true radii."""
    solution = pressed_sphere(h, space)
    x = solution.displacement.space.scalar.nodes
    distance = np.linalg.norm(x, axis=1)
    r = np.where(distance < 1.5, 1.0, 2.0)
    radial = np.einsum("ni,ni->n", solution.displacement.coefficients.reshape(-1, 3), x / distance[:, None])
    lame = r * (0.7 * (1 + 4 / r**3) - 0.3 * (1 - 8 / r**3)) / 14000
    assert 1 / 3 < solution.info.displacement_error / error(radial, lame) < 3
    mesh = solution.solid.mesh
    radii = np.where(np.linalg.norm(mesh.vertices, axis=1) < 1.5, 1.0, 2.0)
    wanted = 12 / 7 / radii[mesh.triangles] ** 3
    assert 1 / 3 < solution.info.stress_error / error(solution.von_mises, wanted) < 3


def test_results_are_written(shell, tmp_path):
    meshio = pytest.importorskip("meshio")
    shell.write(tmp_path / "shell.vtu")
    read = meshio.read(tmp_path / "shell.vtu")
    assert np.abs(read.point_data["displacement [m]"] - shell.displacement.at_nodes).max() < 1e-12
    assert read.cell_data["stress [Pa]"][0].shape == (shell.solid.mesh.number_of_triangles, 9)


def test_points_outside_and_on_the_surface_are_refused(shell):
    for wrong in ([0.0, 0.0, 0.0], [3.0, 0.0, 0.0], shell.solid.mesh.centroids[0]):
        with pytest.raises(ValueError, match="1 of 2 points are not inside the material, the first is number 1"):
            shell.stress([[1.5, 0.0, 0.0], wrong])
    with pytest.raises(ValueError, match="safety factor needs the yield_strength"):
        _ = shell.safety_factor


def test_a_cavity_under_pressure_in_a_solid_without_end():
    """u = p a (1 + nu) / (2 E), and at a distance u a^2 / r^2."""
    sphere = cal.mesh.sphere(1.0, 0.18)
    solution = cal.ElasticSolid(sphere, STEEL, loads={0: cal.Pressure(0.1)}, exterior=True).solve()
    exact = 0.1 * 1.3 / (2 * 2.1)
    radial = np.einsum("ni,ni->n", solution.displacement.at_nodes, sphere.vertices)
    assert np.abs(radial / exact - 1).max() < 0.01
    assert solution.field([[0.0, 2.0, 0.0]])[0, 1] == pytest.approx(exact / 4, rel=0.01)
    with pytest.raises(ValueError, match="points are not inside the material"):
        solution.field([[0.0, 0.5, 0.0]])
    with pytest.raises(ValueError, match="bears any force at infinity"):
        _ = solution.equilibrium


@pytest.mark.parametrize("h, bound", [(0.25, 0.08), pytest.param(0.12, 0.02, marks=pytest.mark.variant)])
def test_a_cavity_concentrates_a_remote_tension(h, bound):
    """The largest stress is (27 - 15 nu) / (2 (7 - 5 nu)) times the remote one, at the equator."""
    sphere = cal.mesh.sphere(1.0, h)
    tension = cal.elastic.RemoteStress(np.diag([0.0, 0.0, 0.01]))
    solution = cal.ElasticSolid(sphere, STEEL, body=[tension], exterior=True).solve()
    equator = np.abs(sphere.vertices[sphere.triangles][:, :, 2]) < 0.3 * h
    found = solution.surface_stress[equator][:, 2, 2].mean() / 0.01
    assert found == pytest.approx((27 - 15 * 0.3) / (2 * (7 - 5 * 0.3)), rel=bound)
    near = solution.stress([[1.5, 0.0, 0.0]])[0, 2, 2] / 0.01
    assert near == pytest.approx(1 + 2.5 / 11 / 1.5**3 + 9 / 11 / 1.5**5, rel=1e-3)
    far = solution.stress([[0.0, 0.0, 30.0]])[0] / 0.01
    assert np.abs(far - np.diag([0.0, 0.0, 1.0])).max() < 1e-3
