"""Static potentials of bodies of varying constants: closed forms, charges, the field of a loop of current."""

from functools import cache

import numpy as np
import pytest

import calderon as cal
from calderon.coupling import InhomogeneousPotential

pytest.importorskip("skfem")
pytest.importorskip("gmsh")


@cache
def ball(h=0.5):
    return cal.mesh.ball(1.0, h)


@cache
def problem(space="P1"):
    return InhomogeneousPotential(ball(), 4.0, space=space)


@pytest.mark.parametrize("space, bound", [("P1", 0.03), ("P2", 0.03)])
def test_a_ball_in_a_uniform_field(space, bound):
    """u = -3 z / (eps + 2) inside, -z + z (eps - 1) / (eps + 2) / r^3 outside: 1.8 and 2.4 % on flat triangles."""
    solution = problem(space).solve(cal.UniformField([0, 0, 1.0]), method="dense")
    nodes = solution.interior.nodes
    assert np.abs(solution.interior.coefficients + 0.5 * nodes[:, 2]).max() < 0.5 * bound
    x = np.array([[0, 0, 2.0], [0.5, 1.5, -0.7]])
    outside = x[:, 2] * (-1 + 0.5 / np.linalg.norm(x, axis=1) ** 3)
    assert np.allclose(solution.field(x), outside, rtol=bound, atol=bound / 5)
    assert np.allclose(solution.strength([[0.1, 0, 0.3]]), [[0, 0, 0.5]], atol=2 * bound)


def test_a_charged_ball_of_a_dielectric():
    """rho = 1 nC/m^3 in a ball of eps: outside the potential of the whole charge."""
    charged = InhomogeneousPotential(ball(), 4.0, charge_density=1e-9, space="P1")
    solution = charged.solve(None, method="dense")
    charge = 4e-9 * np.pi / 3
    eps0 = cal.exact.VACUUM_PERMITTIVITY
    assert solution.field([2.0, 0, 0]) == pytest.approx(charge / (8 * np.pi * eps0), rel=1e-2)
    centre = charge / (4 * np.pi * eps0) * (1 + 1 / (2 * 4))
    assert solution.field([0.0, 0, 0]) == pytest.approx(centre, rel=5e-3)


@cache
def coated_metal(space="P1"):
    """A ball of metal with a dielectric around it, in a shell of another half of it: one electrode inside."""
    shell = cal.mesh.thickened(cal.mesh.sphere(1.0, h=0.4), 0.5, layers=2)
    return InhomogeneousPotential(shell, 3.0, electrodes={"core": "inner"}, space=space)


def test_capacitances_charges_and_voltages(tmp_path):
    """4 pi eps0 / ((1/a - 1/b) / eps + 1/b) = 4 pi eps0 0.75 m."""
    problem, exact = coated_metal(), 3 * np.pi * cal.exact.VACUUM_PERMITTIVITY
    c = problem.capacitance_matrix(method="dense")
    assert c.shape == (1, 1) and c[0, 0] == pytest.approx(exact, rel=0.015)
    held = problem.solve(voltages={"core": 2.0}, method="dense", rtol=1e-8)
    assert held.voltages["core"] == pytest.approx(2.0) and held.charges["core"] == pytest.approx(2 * c[0, 0], rel=1e-4)
    x = np.array([[0, 0, 0.2], [0, 0, 3.0]])
    assert held.field(x) == pytest.approx([2.0, 0.75 * 2 / 3], rel=0.015)
    floating = problem.solve(cal.UniformField([0, 0, 1.0]), method="dense")
    assert abs(floating.voltages["core"]) < 1e-2 and abs(floating.strength([[0, 0, 0.1]])).max() < 0.05
    floating.save(tmp_path / "core.h5")
    assert cal.load(tmp_path / "core.h5").voltages == floating.voltages
    with pytest.raises(ValueError, match="a voltage and a charge"):
        problem.solve(voltages={"core": 1.0}, charges={"core": 1.0})
    with pytest.raises(ValueError, match="electrode"):
        problem.solve(voltages={"shell": 1.0})
    with pytest.raises(ValueError, match="has no electrodes"):
        InhomogeneousPotential(ball(), 4.0, space="P1").capacitance_matrix()


def test_the_field_of_a_path_is_that_of_biot_and_savart():
    square = cal.CurrentPath([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]], current=3.0)
    assert square.magnetic_field([0.0, 0, 0])[0] == pytest.approx([0, 0, 3.0 * np.sqrt(2) / np.pi])
    angles = 2 * np.pi * np.arange(200) / 200
    ring = cal.CurrentPath(np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1), 1.0)
    x = np.array([[0, 0, 0.5], [0, 0, -2.0]])
    assert np.allclose(ring.magnetic_field(x)[:, 2], 0.5 / (1 + x[:, 2] ** 2) ** 1.5, rtol=1e-3)
    with pytest.raises(ValueError, match="keep points away"):
        square.magnetic_field([[1.0, 0.5, 0]])


def test_a_magnetic_ball_in_the_field_of_a_loop():
    """The reduced potential and, on the axis of a wide loop, 3 H_0 / (mu + 2) at the centre."""
    angles = 2 * np.pi * np.arange(64) / 64
    loop = cal.CurrentPath(4 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1), 8.0)
    solution = InhomogeneousPotential(ball(), permeability=4.0, space="P1").solve(loop, method="dense")
    centre = loop.magnetic_field([[0.0, 0, 0]])[0, 2]
    assert solution.strength([[0, 0, 0], [0.2, 0, 0.3]])[:, 2] == pytest.approx(np.full(2, centre / 2), rel=0.01)
    nothing = InhomogeneousPotential(ball(), permeability=1.0, space="P1").solve(loop, method="dense", solver="lu")
    assert np.abs(nothing.field([[0.1, 0.2, 0.3], [0, 0, 2.0]])).max() < 1e-12


@pytest.mark.variant
def test_two_materials_by_name_and_compressed_methods():
    mesh = ball()
    tags = (np.linalg.norm(mesh.centroids, axis=1) < 0.6).astype(int)
    layers = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"coat": 0, "core": 1})
    problem = InhomogeneousPotential(layers, {"coat": 2.0, "core": 5.0}, space="P1")
    dense = problem.solve(cal.UniformField([0, 0, 1.0]), method="dense", rtol=1e-8)
    compressed = problem.solve(cal.UniformField([0, 0, 1.0]), method="hmatrix", rtol=1e-6)
    assert np.abs(compressed.interior.coefficients - dense.interior.coefficients).max() < 1e-5


def test_a_multiple_of_the_unit_tensor_is_a_number():
    single = InhomogeneousPotential(ball(), lambda x: np.eye(3) * np.full((len(x), 1, 1), 4.0), space="P1")
    expected = problem_matrix(4.0)
    assert np.abs((single.elimination.matrix - expected).toarray()).max() < 1e-12


def problem_matrix(value):
    return InhomogeneousPotential(ball(), value, space="P1").elimination.matrix


def test_solutions_are_saved_with_the_volume(tmp_path):
    loop = cal.CurrentPath([[3, 0, 0], [0, 3, 0], [-3, 0, 0], [0, -3, 0]], 1.0)
    solution = InhomogeneousPotential(ball(), permeability=4.0, space="P1").solve(loop, method="dense")
    solution.save(tmp_path / "iron.h5")
    again = cal.load(tmp_path / "iron.h5")
    x = np.array([[0.1, 0.2, 0.3], [0, 0, 2.0]])
    assert np.array_equal(again.strength(x), solution.strength(x))
    assert "magnetic potential" in str(again)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, ValueError, "either permittivity= or permeability="),
        ({"permittivity": 2.0, "permeability": 2.0}, ValueError, "either"),
        ({"permittivity": -2.0}, ValueError, "no positive real part"),
        ({"permittivity": 2 + 1j}, ValueError, "is real"),
        ({"permeability": 2.0, "charge_density": 1.0}, ValueError, "magnetic charges"),
        ({"permittivity": "glass"}, TypeError, "a number, a table"),
        ({"permittivity": 2.0, "electrodes": {"a": "wall", "b": "wall"}}, ValueError, "touch"),
        ({"permittivity": 2.0, "electrodes": "wall"}, TypeError, "a table"),
    ],
)
def test_what_is_no_material_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        InhomogeneousPotential(ball(), **given, space="P1")


def test_what_excites_nothing_is_refused():
    with pytest.raises(ValueError, match="nothing excites"):
        problem().solve(None)
    with pytest.raises(ValueError, match="give permeability="):
        problem().solve(cal.CurrentPath([[3, 0, 0], [0, 3, 0], [-3, 0, 0]], 1.0))
    with pytest.raises(TypeError, match="not provided"):
        problem().solve(cal.PointCharge([0, 0, 2.0], 1e-9))
    with pytest.raises(TypeError, match="UniformField"):
        problem().solve(3.0)


def test_a_shield_of_high_permeability():
    """9 mu / ((2 mu + 1) (mu + 2) - 2 (a / b)^3 (mu - 1)^2) of the field outside: 4 % too little on this mesh, and 35 %
    if the slope has as much weight as the potential."""
    mu, shell = 1000.0, cal.mesh.thickened(cal.mesh.sphere(1.0, h=0.6), 0.2)
    shield = cal.InhomogeneousPotential(shell, permeability=mu)
    inside = shield.solve(cal.UniformField([0, 0, 1.0]), method="dense").strength([0, 0, 0])[0, 2]
    assert inside == pytest.approx(9 * mu / ((2 * mu + 1) * (mu + 2) - 2 * 0.8**3 * (mu - 1) ** 2), rel=5e-2)
