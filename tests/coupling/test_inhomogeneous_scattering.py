"""Sound and bodies whose density and speed of sound vary: series, formulations that agree, methods, files."""

from functools import cache

import numpy as np
import pytest
import scipy.linalg

import calderon as cal
from calderon.coupling import InhomogeneousScattering

pytest.importorskip("skfem")
pytest.importorskip("gmsh")
THETA = np.linspace(0, np.pi, 19)
WAVE = cal.PlaneWave([0, 0, 1])
SERIES = cal.exact.fluid_sphere(1.0, 1.0, 1 / 0.7, 2.0)
GEL = {"density_ratio": 2.0, "interior_wavenumber": 1 / 0.7}


@cache
def ball(h=0.5):
    return cal.mesh.ball(1.0, h)


@cache
def solved(space="P1", formulation="burton-miller"):
    problem = InhomogeneousScattering(ball(), 1.0, **GEL, space=space, formulation=formulation)
    return problem, problem.solve(WAVE, method="dense")


def error(solution, exact=SERIES):
    far, expected = (each.far_field(THETA, 0.0) for each in (solution, exact))
    return np.abs(far - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("formulation", ["burton-miller", "johnson-nedelec", "symmetric"])
def test_a_ball_of_another_fluid(formulation):
    """204 tetrahedra: 4.3 % by linear functions, 0.4 % by quadratic ones."""
    assert error(solved("P1", formulation)[1]) < 0.05


def test_quadratic_functions_are_ten_times_as_accurate():
    assert error(solved("P2")[1]) < 5e-3


def test_a_wave_passes_where_nothing_is():
    """a = n = 1: the pressure and its gradient are those of the wave, in the tetrahedra and around them."""
    solution = InhomogeneousScattering(ball(), 1.0).solve(WAVE, method="dense")
    x = np.array([[0, 0, 0.5], [0.3, -0.2, 0.1], [0, 0, -1.5], [0.5, 1.2, 0.4]])
    assert np.abs(solution.field(x) - WAVE.at(1.0)(x)).max() < 2e-3
    assert np.abs(solution.gradient(x) - WAVE.at(1.0).gradient(x)).max() < 3e-2
    plane = solution.on_plane(normal=[0, 1, 0], size=[3, 3], points=[7, 7])
    assert np.isfinite(plane.arrays["pressure"]).all()
    assert np.abs(solution.far_field(THETA, 0.0)).max() < 2e-3


def test_the_same_material_in_other_words():
    """Numbers, tables by material, functions, tensors and the coefficients themselves."""
    mesh = ball()
    named = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, np.full(len(mesh.tetrahedra), 3), {"gel": 3})
    given = [
        {"density_ratio": {"gel": 2.0}, "interior_wavenumber": {3: 1 / 0.7}},
        {"density_ratio": lambda x: 2.0 + 0 * x[:, 0], "interior_wavenumber": 1 / 0.7},
        {"a": 0.5, "n": 0.5 / 0.7**2},
        {"a": 0.5 * np.eye(3), "n": lambda x: np.full(len(x), 0.5 / 0.7**2)},
    ]
    expected = solved()[0].elimination.matrix.toarray()
    for words in given:
        matrix = InhomogeneousScattering(named, 1.0, **words, space="P1").elimination.matrix
        assert np.abs(matrix.toarray() - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("method", ["hmatrix", "mlfmm", "matrix-free"])
def test_compressed_methods(method):
    problem, dense = solved()
    assert error(problem.solve(WAVE, method=method, rtol=1e-5), dense) < 1e-4


def test_a_residual_does_not_depend_on_the_unit_of_length():
    """A ball of a micrometre: rows of pressures and of their derivatives count as they do at a metre."""
    size = 1e-6
    mesh = cal.TetrahedralMesh(size * ball().vertices, ball().tetrahedra)
    given = {"density_ratio": 2.0, "interior_wavenumber": 1 / 0.7 / size, "space": "P1", "formulation": "symmetric"}
    small = InhomogeneousScattering(mesh, 1 / size, **given).solve(WAVE, method="dense")
    far, (_, large) = small.far_field(THETA, 0.0) / size, solved("P1", "symmetric")
    assert np.abs(far - large.far_field(THETA, 0.0)).max() < 1e-9 * np.abs(far).max()


def test_direct_solutions_and_several_waves():
    problem, dense = solved()
    waves = [WAVE, cal.PlaneWave([0, 0, -1])]
    forward, backward = problem.solve_all(waves, method="dense", solver="lu")
    assert error(forward, dense) < 1e-4
    strength = problem.monostatic_target_strength([0.0, np.pi], 0.0)  # the sonar above sends its wave down
    assert strength == pytest.approx(
        [backward.target_strength(0.0, 0.0), forward.target_strength(np.pi, 0.0)], abs=1e-3
    )
    symmetric = solved("P1", "symmetric")[0]
    echoes = symmetric.monostatic_target_strength([0.0], 0.0)
    assert echoes == pytest.approx(symmetric.solve(waves[1], method="dense").target_strength([0.0], 0.0), abs=1e-3)


def test_loss_is_absorbed():
    """By the flux through the surface and by the optical theorem, 4 pi Im F(forward) / k = scattered + absorbed."""
    problem = InhomogeneousScattering(ball(), 1.0, density_ratio=2.0, interior_wavenumber=1.4 + 0.2j, space="P2")
    solution = problem.solve(WAVE, method="dense", rtol=1e-8)
    extinction = 4 * np.pi * solution.far_field(0.0, 0.0).imag
    absorbed = solution.absorption_cross_section()
    assert absorbed > 0.3
    assert extinction == pytest.approx(absorbed + solution.scattering_cross_section(), rel=0.01)


@pytest.mark.parametrize("formulation", ["burton-miller", "symmetric"])
def test_the_whole_system_is_solved_at_resonances_of_the_volume(formulation):
    """Where it has no inverse behind a rigid surface, u and lambda are those of the dense matrix of the whole."""
    given = {"a": 0.5, "n": 1.02, "space": "P1", "formulation": formulation}
    elements = InhomogeneousScattering(ball(), 1.0, **given).elements
    one = np.ones(elements.points.shape[:2])
    stiffness, mass = elements.stiffness(0.5 * one).toarray(), elements.mass(1.02 * one).toarray()
    k = float(np.sqrt(scipy.linalg.eigvalsh(stiffness, mass)[2]))
    problem = InhomogeneousScattering(ball(), k, **given)
    solution = problem.solve(WAVE, method="dense", rtol=1e-10)
    assert "behind an absorbing surface" in str(solution.info)
    rows, rhs = problem.system.assembled.to_array(), problem._right_hand_side(WAVE.at(k))
    trace, inside = elements.trace.toarray(), stiffness - k**2 * mass
    n, size = trace.shape
    if formulation == "symmetric":  # A u + T' (D T u - (M/2 - K') lambda) = T' f
        load, rhs = trace.T @ rows[:n, n:], [*trace.T @ rhs[:n], *rhs[n:]]
        inside, rows = inside + trace.T @ rows[:n, :n] @ trace, rows[n:]
    else:
        load, rhs = -trace.T @ elements.pairing.toarray(), [*np.zeros(size), *rhs]
    whole = np.linalg.solve(np.block([[inside, load], [rows[:, :n] @ trace, rows[:, n:]]]), rhs)
    assert np.abs(solution.surface.coefficients - trace @ whole[:size]).max() < 1e-7
    assert np.abs(solution.derivative.coefficients - whole[size:]).max() < 1e-6


def test_solutions_are_saved_with_the_volume(tmp_path):
    _, solution = solved()
    solution.save(tmp_path / "gel.h5")
    again = cal.load(tmp_path / "gel.h5")
    x = np.array([[0.1, 0.2, 0.3], [0, 0, 2.0]])
    assert np.array_equal(again.field(x), solution.field(x))
    assert np.array_equal(again.far_field(THETA, 0.0), solution.far_field(THETA, 0.0))
    assert again.interior.mesh.number_of_tetrahedra == ball().number_of_tetrahedra


def test_sweeps_keep_the_speeds():
    inside = {"density_ratio": 2.0, "interior_wavenumber": lambda x: 0.5 / 0.7 + 0 * x[:, 0]}
    problem = InhomogeneousScattering(ball(), 0.5, **inside, speed_of_sound=2 * np.pi, space="P1")
    last = problem.sweep([0.5, 1.0], WAVE, method="dense")[-1]
    assert error(last, solved()[1]) < 1e-4


def test_the_plan_counts_the_factors():
    problem = solved()[0]
    plan = problem.plan(method="dense")
    assert plan.nbytes > problem.elimination.estimated_bytes and "volume" in dict(plan.lines)
    assert "eliminated by sparse LU" in str(solved()[1].info)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"density_ratio": -1.0}, "no positive real part"),
        ({"density_ratio": {"steel": 2.0}}, "the volume has the tags"),
        ({"interior_wavenumber": 1 - 0.1j}, "Im >= 0"),
        ({"a": 1 + 0.1j}, "Im <= 0"),
        ({"n": lambda x: np.where(x[:, 0] > 0, np.nan, 1.0)}, "not finite"),
        ({"n": lambda x: x}, "one number"),
        ({"a": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, "not symmetric"),
        ({"a": 1.0, "density_ratio": 2.0}, "not both"),
        ({"formulation": "costabel"}, "formulation"),
        ({"space": "P0"}, "space"),
    ],
)
def test_what_is_no_material_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        InhomogeneousScattering(ball(), 1.0, **{"space": "P1"} | given)


def test_factors_that_do_not_hold_the_volume_are_refused():
    with pytest.raises(ValueError, match="hierarchical factors"):
        solved()[0].solve(WAVE, method="hmatrix", preconditioner="hlu")
