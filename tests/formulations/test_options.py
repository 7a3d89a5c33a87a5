"""Options, kept matrices, several right-hand sides, sweeps, and what is refused."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

import calderon
import calderon.mesh as meshes
from calderon.formulations import (
    DeltaGap,
    DielectricScattering,
    FluidTransmission,
    ImpedanceScattering,
    LaplaceDirichlet,
    PECAntenna,
    PECScattering,
    SoundHardScattering,
    SoundSoftScattering,
    frequency_sweep,
)
from calderon.formulations.checks import elements_per_wavelength
from calderon.mesh import AccuracyWarning
from calderon.solvers import ConvergenceError
from calderon.waves import PlaneWave, PointSource

K = 2.0
WAVE = PlaneWave([0, 0, 1], K)


@pytest.fixture(scope="module")
def sphere():
    return meshes.sphere(1.0, 0.35)


@pytest.fixture(scope="module")
def problem(sphere):
    return SoundHardScattering(sphere, K)


def test_matrix_and_factors_are_kept(sphere):
    problem = SoundHardScattering(sphere, K)
    first = problem.solve(WAVE, rtol=1e-6)
    matrix = problem.system.matrix
    assert first.info.assembly_seconds > 0
    second = problem.solve(WAVE, solver="lu")
    factors = problem.system.factors
    assert problem.system.matrix is matrix and second.info.assembly_seconds == 0
    assert second.info.factorisation_seconds > 0
    third = problem.solve(PlaneWave([1, 0, 0], K), solver="lu")
    assert problem.system.factors is factors and third.info.factorisation_seconds == 0
    assert np.allclose(first.surface.coefficients, second.surface.coefficients, atol=1e-5)
    single = problem.solve(WAVE, precision="single", rtol=1e-4)
    assert problem.system.matrix.dtype == np.complex64
    assert np.allclose(single.surface.coefficients, second.surface.coefficients, atol=1e-3)


def test_several_waves_at_once_are_those_one_by_one(problem):
    waves = [WAVE, PlaneWave([1, 1, 0], K, 3.0), PointSource([2, 0, 0], K), WAVE + 2 * PlaneWave([1, 0, 0], K)]
    together = problem.solve_all(waves)
    for wave, solution in zip(waves, together, strict=True):
        alone = problem.solve(wave)
        assert np.allclose(solution.surface.coefficients, alone.surface.coefficients, atol=1e-5)
        assert solution.incident is wave
        assert solution.info.iterations == alone.info.iterations
        assert len(solution.info.residuals) == solution.info.iterations + 1
    with pytest.raises(ValueError, match="at least one"):
        problem.solve_all([])


def test_info_and_problem_say_what_they_are(problem):
    text = str(problem)
    assert "Burton-Miller" in text and "wavenumber 2 1/m" in text
    assert f"{problem.unknowns} unknowns (P1)" in text
    assert f"{problem.elements_per_wavelength:.1f} elements per wavelength" in text
    info = problem.solve(WAVE, rtol=1e-6).info
    assert info.converged and info.residual < 1e-6
    assert "GMRES" in str(info) and "dense matrix" in str(info) and "iterations" in str(info)


def test_mass_preconditioner_keeps_iterations_low_on_a_graded_mesh():
    mesh = meshes.sphere(1.0, 0.35)
    stretched = mesh.vertices * (1 + 0.6 * mesh.vertices[:, 2:] ** 3)
    graded = meshes.TriangleMesh(stretched, mesh.triangles)
    problem = SoundSoftScattering(graded, 1.0)
    wave = PlaneWave([0, 0, 1], 1.0)
    assert problem.solve(wave).info.iterations < problem.solve(wave, preconditioner=None).info.iterations


def test_sweep_is_each_frequency_by_itself(sphere):
    problem = SoundHardScattering(sphere, 1.0)
    wave = PlaneWave([0, 0, 1], 1.0, amplitude=2.0)
    solutions = list(frequency_sweep(problem, wave, [0.5, 2.0], rtol=1e-5))
    assert [s.wavenumber for s in solutions] == [0.5, 2.0]
    direct = SoundHardScattering(sphere, 2.0).solve(PlaneWave([0, 0, 1], 2.0, amplitude=2.0), rtol=1e-5)
    assert np.allclose(solutions[1].surface.coefficients, direct.surface.coefficients, atol=1e-4)
    fluid = FluidTransmission(sphere, 1.0, 1.5, 2.0).at(2.0)
    assert fluid.interior_wavenumber == 3.0
    twice = next(frequency_sweep(problem, wave + wave, [0.5], rtol=1e-5)).surface.coefficients
    assert np.allclose(twice, 2 * solutions[0].surface.coefficients, atol=1e-4)
    with pytest.raises(TypeError, match="at\\(wavenumber\\)"):
        next(frequency_sweep(LaplaceDirichlet(sphere), wave, [1.0]))


def test_sweeps_of_conductors_and_antennas():
    plate = meshes.plate([1.0, 0.1], 0.1)
    conductor, wave = PECScattering(plate, 1.0, formulation="efie"), PlaneWave([0, 0, 1], 1.0, polarization=[1, 0, 0])
    swept = list(frequency_sweep(conductor, wave, [1.0, 2.0], solver="lu"))
    direct = conductor.at(2.0).solve(PlaneWave([0, 0, 1], 2.0, polarization=[1, 0, 0]), solver="lu")
    assert np.allclose(swept[1].surface.coefficients, direct.surface.coefficients, rtol=1e-12, atol=0)
    assert not np.allclose(swept[0].surface.coefficients, direct.surface.coefficients, rtol=0.1)
    antenna = PECAntenna(plate, 1.0, DeltaGap(line=[[0, -0.05, 0], [0, 0.05, 0]]))
    impedances = [each.input_impedance for each in frequency_sweep(antenna, 1.0, [1.0, 2.0])]
    assert impedances[1] == pytest.approx(antenna.at(2.0).solve().input_impedance, rel=1e-12)
    assert abs(impedances[0] - impedances[1]) > 10


def test_elements_per_wavelength_count_the_long_edges():
    cells, width = 20, 1 / 250
    grid = meshes.plate([1.0, 1.0], 1 / cells)
    strip = meshes.TriangleMesh(grid.vertices * [1, width, 1], grid.triangles)
    k = 2 * np.pi / 10
    assert elements_per_wavelength(strip, k) == pytest.approx(10 * cells, rel=0.01)
    for even in (grid, meshes.sphere(1.0, 0.3), meshes.cube(1.0, 0.2)):
        assert elements_per_wavelength(even, k) == pytest.approx(10 / even.mean_edge_length, rel=0.02)


KINDS = {
    "hard": SoundHardScattering,
    "soft": SoundSoftScattering,
    "impedance": lambda mesh, k: ImpedanceScattering(mesh, k, 1.0),
    "fluid": lambda mesh, k: FluidTransmission(mesh, k, k / 2, 2.0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_coarse_mesh_warns_with_the_number(kind, sphere):
    with pytest.warns(AccuracyWarning, match=r"^4\.\d elements per wavelength .*: at least 6") as caught:
        coarse = KINDS[kind](sphere, 4.0)
    assert caught[0].filename == __file__
    assert coarse.elements_per_wavelength < 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fine = KINDS[kind](sphere, 2.0)
    with pytest.warns(AccuracyWarning, match=r"^4\.\d elements"):
        fine.at(4.0)
    if kind == "fluid":  # the shorter wave of the two counts
        with pytest.warns(AccuracyWarning, match=r"^3\.\d elements"):
            FluidTransmission(sphere, 1.0, 5.0, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_unlikely_units_are_doubted(kind, sphere):
    with pytest.warns(meshes.MeshWarning, match="mesh in kilometres") as caught:
        KINDS[kind](sphere, 1e-4)
    assert caught[0].filename == __file__


def test_warnings_of_cached_properties_are_at_the_users_line():
    gap = calderon.DeltaGap(line=[[-0.01, 0, 0], [0.01, 0, 0]])
    with pytest.warns(meshes.MeshWarning, match="mesh in kilometres") as caught:
        calderon.PECAntenna(calderon.mesh.plate([0.02, 0.04], 0.02), 1e-6, gap).solve()
    assert {each.filename for each in caught} == {__file__}


@pytest.mark.parametrize("kind", KINDS)
def test_open_surface_is_refused_with_its_open_edges(kind, sphere):
    hole = meshes.TriangleMesh(sphere.vertices, sphere.triangles[1:])
    with pytest.raises(ValueError, match=f"closed surface, and 3 of {sphere.number_of_edges} edges"):
        KINDS[kind](hole, K)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wall_inside_of_a_body_is_refused(kind):
    cube, wall = meshes.cube(1.0, 0.5), meshes.plate((1.0, 1.0), 0.5)
    with pytest.raises(ValueError, match=r"boundary of a volume, and at 8 of \d+ edges .* a wall meets"):
        KINDS[kind](meshes.merge([cube, wall]).merged_vertices(), K)


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_begun(sphere, monkeypatch):
    problem = SoundHardScattering(sphere, K)
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"needs \d+\.\d MB and 1\.0 kB are free: try precision=\"single\""):
        problem.solve(WAVE)
    assert problem.system.matrix is None
    monkeypatch.undo()
    problem.solve(WAVE)
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="LU factorisation in addition to the matrix needs .* try solver='gmres'"):
        problem.solve(WAVE, solver="lu")
    assert problem.solve(WAVE).info.converged


@pytest.mark.parametrize("k", [0.0, -1.0, np.nan, np.inf, 1 - 0.1j, 2j])
def test_wavenumbers_that_are_no_wave_are_refused(k, sphere):
    with pytest.raises(ValueError, match="wavenumber"):
        SoundHardScattering(sphere, k)
    with pytest.raises(ValueError, match="wavenumber"):
        FluidTransmission(sphere, 1.0, k, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "hexmatrix"}, "unknown method 'hexmatrix'"),
        ({"solver": "cholesky"}, "unknown solver 'cholesky': choose 'gmres' or 'lu'"),
        ({"precision": "half"}, "precision"),
        ({"backend": "fortran"}, "backend"),
        ({"preconditioner": "ilu"}, "unknown preconditioner 'ilu'"),
        ({"rtol": 0.0}, "rtol"),
        (
            {"method": "dense", "compression_rtol": 1e-4},
            "compression_rtol= is supported by .* only: method 'dense' compresses nothing",
        ),
        (
            {"method": "hmatrix", "solver": "lu"},
            "solver='lu' is supported by method='dense' only",
        ),
    ],
)
def test_unknown_options_are_refused(options, message, sphere):
    with pytest.raises(ValueError, match=message):
        SoundHardScattering(sphere, K).solve(WAVE, **options)


def test_waves_that_do_not_fit_are_refused(problem):
    with pytest.raises(ValueError, match="wavenumber 3 and the problem 2"):
        problem.solve(PlaneWave([0, 0, 1], 3.0))
    with pytest.raises(TypeError, match="solve_all"):
        problem.solve([WAVE])
    with pytest.raises(TypeError, match="incident wave"):
        problem.solve(1.0)
    with pytest.raises(ValueError, match="inside the body"):
        problem.solve(WAVE + PointSource([0.1, 0.2, 0.0], K))
    with pytest.raises(ValueError, match="directions"):
        problem.monostatic_target_strength([[0.0, 0.0, 0.0]])


def test_problems_that_do_not_fit_are_refused(sphere):
    with pytest.raises(ValueError, match="unknown space 'P0': choose 'P1' or 'P2'"):
        SoundHardScattering(sphere, K, space="P0")
    with pytest.raises(TypeError, match="TriangleMesh"):
        SoundHardScattering("sphere.msh", K)
    with pytest.raises(ValueError, match="coupling"):
        SoundHardScattering(sphere, K, coupling=np.inf)
    with pytest.raises(ValueError, match="either admittance= .* or impedance="):
        ImpedanceScattering(sphere, K)
    with pytest.raises(ValueError, match="create energy"):
        ImpedanceScattering(sphere, K, -0.5)
    with pytest.raises(ValueError, match="sound-soft"):
        ImpedanceScattering(sphere, K, impedance=0)
    with pytest.raises(ValueError, match="density_ratio"):
        FluidTransmission(sphere, K, 3.0, -1.0)


def test_no_convergence_raises_with_the_history(problem):
    with pytest.raises(ConvergenceError) as caught:
        problem.solve(WAVE, maxiter=3)
    assert len(caught.value.residuals) == 4
    assert caught.value.solution.shape == (problem.unknowns, 1)


def test_sources_on_the_surface_are_refused_and_near_ones_told(sphere):
    problem = SoundHardScattering(sphere, K)
    for place in (sphere.vertices[3], sphere.centroids[5], sphere.vertices[sphere.edges[7]].mean(axis=0)):
        with pytest.raises(ValueError, match="lies on triangle .* of the surface: move it off"):
            problem.solve(PointSource(place, K))
    with pytest.warns(AccuracyWarning, match="is 0.05 from a triangle with edges of .*refine the mesh there"):
        problem.solve(PointSource(sphere.centroids[5] + 0.05 * sphere.normals[5], K))


def test_options_and_lists_that_are_none(sphere):
    problem = SoundHardScattering(sphere, K)
    with pytest.raises(TypeError, match="unknown options tolerance: choose from method, rtol, compression_rtol"):
        problem.solve(WAVE, tolerance=1e-3)
    with pytest.raises(TypeError, match="unknown options waves: .* other data come first"):
        problem.solve(WAVE, waves=WAVE)
    with pytest.raises(TypeError, match="solve_all accepts a list of waves or boundary data, got PlaneWave"):
        problem.solve_all(WAVE)
    solution = problem.solve(WAVE)
    for density in ("1000", True, np.nan, 0.0):
        with pytest.raises(ValueError, match="density must be a positive number"):
            solution.radiated_power(density, 1500.0)


def test_matrices_as_preconditioners(sphere):
    """A preconditioner is an array, a sparse matrix or an operator: the identity leaves the iterations as they
    are without a preconditioner."""
    light = PlaneWave([0, 0, 1], K, polarization=[1, 0, 0])
    posed = [
        (SoundHardScattering(sphere, K), WAVE),
        (PECScattering(sphere, K), light),
        (PECScattering(sphere, K, formulation="calderon"), light),
        (DielectricScattering(sphere, K / 2, 2.0), PlaneWave([0, 0, 1], K / 2, polarization=[1, 0, 0])),
    ]
    for problem, wave in posed:
        plain = problem.solve(wave, preconditioner=None, rtol=1e-3).info
        for form in (np.asarray, csr_array, aslinearoperator):
            given = problem.solve(wave, preconditioner=form(np.eye(problem.unknowns)), rtol=1e-3).info
            assert given.iterations == plain.iterations, problem


def test_values_of_another_kind_are_refused(sphere):
    light = PlaneWave([0, 0, 1], 1.0, polarization=[1, 0, 0])
    for weight in ("a", None, 0.5 + 0j, True, 1.0, np.nan):
        with pytest.raises(ValueError, match=r"weight must lie between 0 and 1 \(0.5 is usual\), got"):
            PECScattering(sphere, 1.0, weight=weight)
    solution = PECScattering(sphere, 1.0).solve(light, rtol=1e-2)
    with pytest.raises(ValueError, match="give vectors, or angles theta and phi in radians"):
        solution.rcs(0)
    for angles in (("a", 0), (0, 1j), ([0, 1], ["b", "c"])):
        with pytest.raises(TypeError, match="must be real numbers, angles in radians, got an array of"):
            solution.rcs(*angles)
    problem = SoundHardScattering(sphere, K)
    for wavenumbers in (None, 5, np.float64(2.0)):
        with pytest.raises(TypeError, match="a sweep needs the wavenumbers in 1/m, a list or an array, got"):
            next(frequency_sweep(problem, WAVE, wavenumbers))
    with pytest.raises(TypeError, match="an H-matrix is stored in a file, got 3: give a path such as 'matrix.h5'"):
        problem.solve(WAVE, method="hmatrix", matrix_file=3)
