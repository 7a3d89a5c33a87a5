"""Waves and bodies of varying permittivity: traces, Mie series, resonances, the whole system, methods, files."""

from functools import cache

import numpy as np
import pytest
import scipy.linalg

import calderon as cal
from calderon.coupling import InhomogeneousDielectric
from calderon.coupling.edge_elements import EdgeElements

pytest.importorskip("skfem")
pytest.importorskip("gmsh")
THETA = np.linspace(0, np.pi, 19)
WAVE = cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0])
PLACES = np.array([[0.1, 0.2, 0.3], [0, 0, -0.4], [0, 1.5, 0.2]])


@cache
def ball(h=0.8):
    return cal.mesh.ball(1.0, h)


@cache
def solved(formulation="symmetric"):
    """122 edges and 90 functions of currents."""
    problem = InhomogeneousDielectric(ball(), 1.0, permittivity=2.0, formulation=formulation)
    return problem, problem.solve(WAVE)


def error(solution, exact):
    far, expected = (np.stack([each.far_field(THETA, phi) for phi in (0.0, np.pi / 2)]) for each in (solution, exact))
    return np.abs(far - expected).max() / np.abs(expected).max()


def test_the_trace_is_exact_for_linear_fields():
    """E = c + w x r: the coefficients of E x n, its divergence n . curl E, values and curls in the volume."""
    elements = EdgeElements.of(cal.mesh.box([0, 0, 0], [1.0, 0.8, 0.6], 2))
    c, w = np.array([0.3, -0.2, 0.5]), np.array([0.7, 0.4, -0.9])
    vertices, basis, space = elements.volume.vertices, elements.basis, elements.space
    ends = np.sort(basis.mesh.edges.T, axis=1)
    along, middles = vertices[ends[:, 1]] - vertices[ends[:, 0]], vertices[ends].mean(axis=1)
    coefficients = np.zeros(elements.dimension)
    coefficients[basis.edge_dofs[0]] = np.einsum("ni,ni->n", c + np.cross(w, middles), along)
    traced = elements.trace @ coefficients
    exact = space.interpolation(lambda x, n: np.cross(c + np.cross(w, x), n))
    assert np.abs(traced - exact.coefficients).max() < 1e-14
    assert np.abs(space.divergence_matrix() @ traced - space.mesh.normals @ (2 * w)).max() < 1e-13
    function = elements.function(coefficients, "E", "V/m")
    x = np.random.default_rng(0).random((20, 3)) * [1, 0.8, 0.6]
    found = function.find(x)
    assert np.abs(function.values(*found) - c - np.cross(w, x)).max() < 1e-13
    assert np.abs(function.curls(*found) - 2 * w).max() < 1e-13


@pytest.mark.parametrize("formulation", ["symmetric", "johnson-nedelec"])
def test_a_ball_of_glass(formulation):
    problem = InhomogeneousDielectric(ball(0.48), 1.0, permittivity=4.0, formulation=formulation)
    solution, exact = problem.solve(WAVE), cal.exact.mie_dielectric_sphere(1.0, 1.0, 4.0)
    assert error(solution, exact) < 2.5e-2
    assert np.abs(solution.electric(PLACES) - exact.electric(PLACES)).max() < 0.03


@pytest.mark.filterwarnings("ignore:.*elements per wavelength")
def test_a_resonance_of_the_surface():
    """k = 2.7437 is one of this mesh with the medium outside, as the least singular value of T_k says: 3.5 % there and
    3.4 % at 0.99 k."""
    errors = []
    for k in (2.7437, 0.99 * 2.7437):
        solution = InhomogeneousDielectric(ball(0.34), k, permittivity=2.0).solve(WAVE)
        errors.append(error(solution, cal.exact.mie_dielectric_sphere(k, 1.0, 2.0)))
    assert errors[0] < 1.1 * errors[1] < 0.04


@pytest.mark.filterwarnings("ignore:.*elements per wavelength")
def test_the_same_material_in_other_words():
    mesh = ball()
    named = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, np.full(len(mesh.tetrahedra), 3), {"glass": 3})
    expected = InhomogeneousDielectric(mesh, 1.0, permittivity=2.0, permeability=1.5).elimination.matrix
    for permittivity, permeability in (
        ({"glass": 2.0}, {3: 1.5}),
        (lambda x: 2.0 + 0 * x[:, 0], 1.5 * np.eye(3)),
        (2.0 * np.eye(3), lambda x: 1.5 * np.eye(3) * np.ones((len(x), 1, 1))),
    ):
        other = InhomogeneousDielectric(named, 1.0, permittivity=permittivity, permeability=permeability)
        assert abs(other.elimination.matrix - expected).max() < 1e-12


def test_methods_several_waves_and_radars_agree():
    problem, dense = solved()
    for options in ({"method": "hmatrix", "rtol": 1e-6}, {"method": "dense", "solver": "gmres", "rtol": 1e-6}):
        assert error(problem.solve(WAVE, **options), dense) < 1e-4
    waves = [WAVE, cal.PlaneWave([0, 0, -1], polarization=[1, 0, 0])]
    expected = problem.solve_all(waves)[1].rcs(0.0, 0.0)
    for formulation in ("symmetric", "johnson-nedelec"):
        problem, _ = solved(formulation)
        single = problem.solve(waves[1]).rcs(0.0, 0.0)
        assert problem.monostatic_rcs(0.0, 0.0) == pytest.approx(single, rel=1e-5)
        assert single == pytest.approx(expected, rel=1e-2)
    plan = problem.plan(method="dense")
    assert plan.nbytes > problem.elimination.estimated_bytes and "volume" in dict(plan.lines)
    assert "edges of" in str(problem) and "eliminated by sparse LU" in str(dense.info)


def test_a_residual_does_not_depend_on_the_unit_of_length():
    """Iterated solutions of a ball of a micrometre are those of a metre."""
    found = [
        InhomogeneousDielectric(
            cal.TetrahedralMesh(size * ball().vertices, ball().tetrahedra), 1 / size, permittivity=2.0
        )
        .solve(cal.PlaneWave([0, 0, 1], 1 / size, polarization=[1, 0, 0]), method="dense", solver="gmres")
        .far_field(THETA, 0.0)
        / size
        for size in (1.0, 1e-6)
    ]
    assert np.abs(found[1] - found[0]).max() < 1e-9 * np.abs(found[0]).max()


def test_loss_is_absorbed():
    """By the flow of power through the boundary and by the optical theorem."""
    solution = InhomogeneousDielectric(ball(0.48), 1.0, permittivity=2.0 + 1.0j).solve(WAVE)
    exact = cal.exact.mie_dielectric_sphere(1.0, 1.0, 2.0 + 1.0j)
    assert solution.absorption_cross_section() == pytest.approx(exact.absorption_cross_section(), rel=0.02)
    both = solution.absorption_cross_section() + solution.scattering_cross_section()
    assert solution.extinction_cross_section() == pytest.approx(both, rel=1e-3)


@pytest.mark.filterwarnings("ignore:.*elements per wavelength")
@pytest.mark.parametrize("formulation", ["symmetric", "johnson-nedelec"])
def test_the_whole_system_is_solved_at_resonances_of_the_volume(formulation):
    """Where A has no inverse, E and J are those of the dense matrix of the whole."""
    elements = EdgeElements.of(ball())
    one = np.ones(elements.points.shape[:2])
    stiffness = elements.matrix(0.0, one, one).toarray()
    mass = stiffness - elements.matrix(1.0, 2 * one, one).toarray()
    squares = scipy.linalg.eigvalsh(stiffness, mass)
    k = float(np.sqrt(squares[squares > 1e-6 * squares[-1]][0]))
    problem = InhomogeneousDielectric(ball(), k, permittivity=2.0, formulation=formulation)
    solution = problem.solve(WAVE)
    assert "behind an absorbing surface" in str(solution.info)
    rows, rhs = problem.system.assembled.to_array(), problem._right_hand_side(WAVE.at(k))
    trace, inside, n = elements.trace.toarray(), stiffness - k**2 * mass, elements.space.dimension
    if formulation == "symmetric":
        loads = 1j * k * trace.T
        load, rhs = loads @ rows[:n, n:], [*loads @ rhs[:n], *rhs[n:]]
        inside, rows = inside + loads @ rows[:n, :n] @ trace, rows[n:]
    else:
        load, rhs = -trace.T @ problem.elimination.pairing, [*np.zeros(len(inside)), *rhs]
    whole = np.linalg.solve(np.block([[inside, load], [rows[:, :n] @ trace, rows[:, n:]]]), rhs)
    expected = elements.function(whole[: len(inside)], "E", "V/m").coefficients
    assert np.abs(solution.interior.coefficients - expected).max() < 1e-8 * np.abs(expected).max()
    assert np.abs(solution.surface.coefficients - whole[len(inside) :]).max() < 1e-7


def test_solutions_are_saved_with_the_volume(tmp_path):
    _, solution = solved()
    solution.save(tmp_path / "glass.h5")
    again = cal.load(tmp_path / "glass.h5")
    for name in ("electric", "magnetic"):
        assert np.array_equal(getattr(again, name)(PLACES), getattr(solution, name)(PLACES))
    assert np.array_equal(again.far_field(THETA, 0.0), solution.far_field(THETA, 0.0))
    plane = again.on_plane(normal=[0, 1, 0], size=[3, 3], points=[3, 3])
    assert np.isfinite(plane.arrays["electric"]).all()


def test_sweeps_are_in_vacuum():
    frequency = cal.exact.SPEED_OF_LIGHT / (2 * np.pi)
    problem = InhomogeneousDielectric(ball(), frequency=frequency, permittivity=2.0)
    last = problem.sweep([0.9 * frequency, frequency], WAVE)[-1]
    assert error(last, solved()[1]) < 1e-9
    assert last.surface.unit == "A/m"


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({}, TypeError, "needs permittivity="),
        ({"permittivity": -2.0}, ValueError, "no positive real part"),
        ({"permittivity": 2 - 1j}, ValueError, "Im >= 0"),
        ({"permittivity": lambda x: np.where(x[:, 0] > 0, np.inf, 2.0)}, ValueError, "not finite"),
        ({"permittivity": 2.0, "permeability": {"iron": 2.0}}, ValueError, "the volume has the tags"),
        ({"permittivity": [[2, 1, 0], [0, 2, 0], [0, 0, 2]]}, ValueError, "not symmetric"),
        ({"permittivity": 2.0, "formulation": "pmchwt"}, ValueError, "formulation"),
        ({"permittivity": 2.0, "wavenumber": 1 + 0.1j}, ValueError, "surroundings without loss"),
    ],
)
def test_what_is_no_material_is_refused(given, kind, message):
    with pytest.raises(kind, match=message):
        InhomogeneousDielectric(ball(), **{"wavenumber": 1.0} | given)


def test_other_traces_of_edge_functions_are_refused():
    basis = EdgeElements.of(ball()).basis
    with pytest.raises(TypeError, match="have theirs in RWG"):
        cal.coupling.trace(basis, cal.SNC(ball().surface()))
    with pytest.raises(TypeError, match="choose ElementTetP1"):
        cal.coupling.trace(basis, cal.P1(ball().surface()))
