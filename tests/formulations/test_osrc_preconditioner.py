"""Iterations with the on-surface preconditioner hardly depend on the mesh and grow slowly with the wavenumber."""

import numpy as np
import pytest

import calderon.mesh as meshes
from calderon.formulations import ImpedanceScattering, LaplaceDirichlet, SoundHardScattering, SoundSoftScattering
from calderon.waves import PlaneWave
from catalogue import cases

KINDS = {
    "hard": SoundHardScattering,
    "soft": SoundSoftScattering,
    "impedance": lambda mesh, k, **options: ImpedanceScattering(mesh, k, 1.0, **options),
}


def steps(kind, mesh, k, preconditioner, **options):
    problem = KINDS[kind](mesh, k, **options)
    return problem.solve(PlaneWave([1, 0.2, 0.1], k), rtol=1e-6, preconditioner=preconditioner).info.iterations


@pytest.mark.parametrize("shape", ["ellipsoid", "cylinder"])
def test_iterations_do_not_depend_on_the_mesh(shape):
    counts = {name: [] for name in ("mass", "osrc")}
    for h in (0.3, 0.15):
        mesh = meshes.ellipsoid((2.0, 0.4, 0.4), h) if shape == "ellipsoid" else meshes.cylinder(0.5, 3.0, h)
        for name, found in counts.items():
            found.append(steps("hard", mesh, 3.0, name))
    assert counts["osrc"][1] <= counts["osrc"][0] + 1 <= 11, counts
    assert counts["mass"][1] > 1.4 * counts["mass"][0], counts


def test_iterations_grow_slowly_with_the_wavenumber():
    """Slender body, eight elements per wavelength, k times length from 12 to 24."""
    counts = {"hard": [], "soft": []}
    for k in (3.0, 6.0):
        mesh = meshes.ellipsoid((2.0, 0.4, 0.4), 2 * np.pi / 8 / k if k > 3 else 0.2)
        for kind, found in counts.items():
            found.append(steps(kind, mesh, k, "osrc"))
    assert all(found[1] <= found[0] + 2 <= 14 for found in counts.values()), counts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", cases([3.0, 3.0 + 0.5j], [3.0]))
def test_fewer_steps_to_the_same_solution(kind, k):
    problem, wave = KINDS[kind](meshes.cube(1.0, 0.25), k), PlaneWave([1, 0.5, 0.2], k)
    direct = problem.solve(wave, solver="lu").surface.coefficients
    by_name = {name: problem.solve(wave, rtol=1e-8, preconditioner=name) for name in ("osrc", "mass")}
    for solution in by_name.values():
        assert np.linalg.norm(solution.surface.coefficients - direct) < 1e-6 * np.linalg.norm(direct)
    assert by_name["osrc"].info.iterations < by_name["mass"].info.iterations


@pytest.mark.parametrize("space", ["P1", pytest.param("P2", marks=pytest.mark.variant)])
def test_surfaces_that_absorb_all_take_as_few_steps_as_others(space):
    """b = 1 makes both factors of the equation on a plane vanish at the same places."""
    mesh, counts = meshes.cube(1.0, 0.25), {}
    for admittance in (0.5, 1.0, 1 + 0.01j):
        problem = ImpedanceScattering(mesh, 3.0, admittance, space=space)
        counts[admittance] = problem.solve(PlaneWave([1, 0.5, 0.2], 3.0), rtol=1e-8).info.iterations
    assert max(counts.values()) <= min(counts.values()) + 2 <= 15, counts


def test_it_is_the_usual_one_and_the_record_says_so():
    mesh, wave = meshes.sphere(1.0, 0.4), PlaneWave([0, 0, 1], 2.0)
    for kind in KINDS.values():
        problem = kind(mesh, 2.0)
        assert problem.preconditioners == ("osrc", "mass")
        assert "OSRC of" in problem.solve(wave).info.method
        assert problem.solve(wave, preconditioner="mass").info.method.endswith(": mass")
        assert "precond" not in problem.solve(wave, preconditioner=None).info.method


@pytest.mark.parametrize("impedance", [0.5, 2.0, 0.3 - 1.5j, {0: 0.2, 1: 3.0}])
def test_impedance_surfaces(impedance):
    mesh = meshes.sphere(1.0, 0.3)
    if isinstance(impedance, dict):
        lower = (mesh.centroids[:, 2] < 0).astype(np.int64)
        mesh = meshes.TriangleMesh(mesh.vertices, mesh.triangles, lower)
    problem, wave = ImpedanceScattering(mesh, 3.0, impedance=impedance), PlaneWave([0, 0, 1], 3.0)
    by_name = {name: problem.solve(wave, preconditioner=name) for name in ("osrc", "mass")}
    difference = by_name["osrc"].surface.coefficients - by_name["mass"].surface.coefficients
    assert np.abs(difference).max() < 1e-4
    assert by_name["osrc"].info.iterations < by_name["mass"].info.iterations


@pytest.mark.parametrize(
    "problem",
    [
        lambda mesh: SoundHardScattering(mesh, 2.0, coupling=-0.5j),  # 1 - eta DtN vanishes for the constant
        lambda mesh: SoundHardScattering(mesh, 2.0, coupling=0),
        lambda mesh: SoundSoftScattering(mesh, 2.0, coupling=-2.0),
        pytest.param(lambda mesh: SoundSoftScattering(mesh, 2.0, space="P0"), marks=pytest.mark.variant),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(problem):
    posed, wave = problem(meshes.sphere(1.0, 0.4)), PlaneWave([0, 0, 1], 2.0)
    assert posed.preconditioners == ("mass",)
    with pytest.raises(ValueError, match="unknown preconditioner 'osrc': choose 'mass'"):
        posed.solve(wave, preconditioner="osrc")
    assert posed.solve(wave).info.converged


def test_other_problems_refuse_it():
    with pytest.raises(ValueError, match="unknown preconditioner 'osrc': choose 'factorised' or 'mass'"):
        LaplaceDirichlet(meshes.sphere(1.0, 0.4)).solve(1.0, preconditioner="osrc")


def test_monostatic_sweep_by_iteration_is_the_one_by_factors():
    """With the echoes of more directions than are iterated together."""
    problem = SoundHardScattering(meshes.ellipsoid((1.0, 0.5, 0.5), 0.3), 3.0)
    angles = np.linspace(0, np.pi, 20)
    directions = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    factors = problem.monostatic_target_strength(directions)
    for options in ({"solver": "gmres"}, {"solver": "gmres", "preconditioner": "mass"}, {"method": "matrix-free"}):
        iterated = problem.monostatic_target_strength(directions, rtol=1e-7, **options)
        assert np.abs(iterated - factors).max() < 1e-3
    strongest = problem.solve(PlaneWave([-1, 0, 0], 3.0)).target_strength([[1.0, 0, 0]])
    assert np.abs(strongest - factors[0]).max() < 1e-3
