"""Perfect conductors against Mie's series and general theorems."""

import warnings

import numpy as np
import pytest

import calderon as cal

K = 2 * np.pi
WAVE = cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=K)
THETA = np.linspace(0, np.pi, 91)


@pytest.fixture(scope="module")
def sphere():
    return cal.mesh.sphere(radius=0.5, h=0.1)


@pytest.fixture(scope="module")
def problems(sphere):
    with pytest.warns(cal.AccuracyWarning, match="'mfie' is wrong near resonances .* take formulation='cfie'") as seen:
        made = {name: cal.PECScattering(sphere, K, formulation=name) for name in ("efie", "mfie", "cfie")}
    assert len(seen) == 1
    return made


@pytest.fixture(scope="module")
def solutions(problems):
    return {name: problem.solve(WAVE, rtol=1e-6) for name, problem in problems.items()}


def mean_error(solution, radius=0.5, k=K):
    """Mean over both planes of the difference to the series, in dB."""
    exact = cal.exact.mie_pec_sphere(k, radius)
    ratios = [solution.rcs(THETA, phi) / exact.rcs(THETA, phi) for phi in (0.0, np.pi / 2)]
    return np.abs(10 * np.log10(ratios)).mean()


def test_formulations_agree_with_mie(solutions):
    errors = {name: mean_error(solution) for name, solution in solutions.items()}
    assert max(errors.values()) < 0.01, errors


def test_testing_with_the_functions_of_the_current_is_of_second_order():
    """The classical form, an order of magnitude less accurate than dual testing."""
    for formulation, bound in (("cfie", 0.08), ("mfie", 0.12)):
        errors = []
        for h in (0.17, 0.085):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cal.AccuracyWarning)
                problem = cal.PECScattering(cal.mesh.sphere(0.5, h), K, formulation=formulation, testing="primal")
            errors.append(mean_error(problem.solve(WAVE, rtol=1e-5)))
        assert errors[1] < bound and abs(rate(errors) - 2) < 0.5, errors


def test_a_benchmark_sphere_at_320_megahertz():
    """A sphere of 0.6 m with ten elements per wavelength: the lobes of a small body (k a = 2) feel its volume most.
    Asked are 0.13 and 0.20 dB; on inscribed triangles the equations miss them with 0.24 and 0.28."""
    k = 2 * np.pi * 320e6 / cal.exact.SPEED_OF_LIGHT
    mesh = cal.mesh.sphere(radius=0.3, h=2 * np.pi / k / 10)
    wave = cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=k)
    for formulation, bound in (("efie", 0.01), ("cfie", 0.01)):
        solution = cal.PECScattering(mesh, k, formulation=formulation).solve(wave)
        assert mean_error(solution, 0.3, k) < bound, formulation


@pytest.fixture(scope="module")
def refined():
    """Combined-field solutions at two mesh sizes, in a medium with the impedance of vacuum."""
    eta = cal.exact.VACUUM_IMPEDANCE
    wave = cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=K, impedance=eta)
    return [cal.PECScattering(cal.mesh.sphere(radius=0.5, h=h), K).solve(wave) for h in (0.17, 0.085)]


def rate(errors):
    return np.log2(errors[0] / errors[1])


def test_error_falls_faster_than_the_square_of_the_mesh_size(refined):
    errors = [mean_error(solution) for solution in refined]
    assert errors[1] < 0.003 and rate(errors) > 2, errors


def test_electric_equation_on_inscribed_triangles_is_of_second_order():
    """There the volume that lacks is the error; with it the field of the sphere is found twenty times better."""
    meshes = [cal.mesh.sphere(radius=0.5, h=h, volume=False) for h in (0.17, 0.085)]
    errors = [mean_error(cal.PECScattering(mesh, K, formulation="efie").solve(WAVE)) for mesh in meshes]
    assert errors[1] < 0.13 and abs(rate(errors) - 2) < 0.3, errors


def test_near_fields_converge_to_mie(refined):
    """Total fields in V/m and A/m a tenth of a metre off the surface; inside they vanish."""
    eta = cal.exact.VACUUM_IMPEDANCE
    exact = cal.exact.mie_pec_sphere(K, 0.5, impedance=eta)
    directions = np.random.default_rng(3).normal(size=(30, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for name, unit in (("electric", 1.0), ("magnetic", eta)):
        reference = getattr(exact, name)(0.6 * directions)
        outside = [np.linalg.norm(getattr(s, name)(0.6 * directions) - reference) for s in refined]
        assert outside[1] < 1.5e-3 * np.linalg.norm(reference) and rate(outside) > 2, outside
        inside = [unit * np.abs(getattr(s, name)(0.25 * directions)).max() for s in refined]
        assert inside[1] < 4.5e-4 and rate(inside) > 2, inside
    point = np.array([0.0, 0.3, 0.7])
    assert np.array_equal(refined[0].electric(point), refined[0].electric(point[None]))


def test_optical_theorem_of_the_combined_equation_converges(refined):
    """Exact for the electric equation on any mesh; with the magnetic one its error falls as the mesh is refined."""
    errors = []
    for solution in refined:
        errors.append(abs(solution.extinction_cross_section() / solution.scattering_cross_section() - 1))
    assert errors[1] < 1.5e-4 and rate(errors) > 2, errors


def test_energy_and_the_optical_theorem(solutions):
    """Scattered power equals what the forward amplitude says: 4 pi / k Im(conj(e) . F(d))."""
    for name, bound in (("efie", 1e-6), ("cfie", 3e-4), ("mfie", 3e-4)):
        solution = solutions[name]
        forward = solution.far_field([0, 0, 1])[0] @ np.array([1, 0, 0])
        scattered = solution.scattering_cross_section()
        assert abs(4 * np.pi / K * forward.imag - scattered) < bound * scattered, name


def test_a_dipole_nearby_is_scattered_reciprocally(problems):
    """m_1 . E_s of dipole 2 at 1 equals m_2 . E_s of dipole 1 at 2; inside the total field vanishes."""
    dipoles = [
        cal.ElectricDipole(position=[0.8, 0.1, -0.2], moment=[0.2, 1.0, 0.3], wavenumber=K),
        cal.ElectricDipole(position=[-0.3, -0.6, 0.5], moment=[1.0, -0.4, 0.1], wavenumber=K),
    ]
    for name, bound in (("efie", 1e-6), ("cfie", 1e-3)):
        pair = problems[name].solve_all(dipoles, rtol=1e-9)
        one, two = (
            d.moment @ s.scattered_electric(d.position)[0] for d, s in zip(dipoles, reversed(pair), strict=True)
        )
        assert abs(one - two) < bound * abs(one), (name, abs(one / two - 1))
    inside = np.array([[0.2, 0.0, 0.1], [0.0, -0.3, 0.0]])
    for solution, dipole in zip(pair, dipoles, strict=True):
        left = np.linalg.norm(solution.electric(inside)) / np.linalg.norm(dipole.electric(inside))
        assert left < 2e-2
    with pytest.raises(ValueError, match="inside the body"):
        problems["cfie"].solve(cal.ElectricDipole(position=[0.1, 0, 0], moment=[1, 0, 0], wavenumber=K))


def test_bodies_that_are_no_spheres_keep_energy_and_reciprocity():
    """Imbalance of the combined equation: 1e-3 on smooth bodies. The currents at edges and tips, which ten elements
    do not resolve, leave some times as much (tested with the functions of the current seven times that)."""
    bodies = {
        "ellipsoid": (cal.mesh.ellipsoid([0.4, 0.25, 0.2], 0.08), 1e-3),
        "cube": (cal.mesh.cube(0.5, 0.1), 6e-3),
    }
    theta, phi = np.array([0.5, 1.4, 2.2]), np.array([0.4, -1.0, 2.0])
    directions = [[0.0, 0, 1], [1.0, 0, 0]]
    waves = [cal.PlaneWave(direction=d, polarization=[0, 1, 0], wavenumber=K) for d in directions]
    for name, (mesh, bound) in bodies.items():
        problem = cal.PECScattering(mesh, K)
        solutions = problem.solve_all(waves, rtol=1e-6)
        for solution in solutions:
            assert abs(solution.extinction_cross_section() / solution.scattering_cross_section() - 1) < bound, name
        there, back = solutions[0].far_field([-1, 0, 0])[0][1], solutions[1].far_field([0, 0, -1])[0][1]
        assert abs(there - back) < bound * abs(there), (name, there, back)
        crossed = [problem.scattering_amplitude(theta, phi, pair) for pair in ("VH", "HV", "VV")]
        assert np.abs(crossed[0] - crossed[1]).max() < 2 * bound * np.abs(crossed[2]).max(), name


def test_far_field_is_transverse(solutions):
    directions = np.array([[1.0, 2, 3], [0, 0, -1], [3, -1, 0.5]])
    far = solutions["cfie"].far_field(directions)
    assert np.abs(np.sum(far * directions, axis=1)).max() < 1e-12 * np.abs(far).max()


def test_monostatic_equals_bistatic_and_is_reciprocal():
    mesh = cal.mesh.ellipsoid([0.5, 0.3, 0.2], 0.09)
    problem = cal.PECScattering(mesh, 4.0, formulation="efie")
    theta, phi = np.array([0.6, 1.2]), np.array([0.3, -0.7])
    monostatic = problem.monostatic_rcs(theta, phi, "VV")
    for n in range(2):
        r, v, _ = cal.exact.angular.line_of_sight(theta[n], phi[n])
        wave = cal.PlaneWave(direction=-r, polarization=v, wavenumber=4.0)
        bistatic = problem.solve(wave, rtol=1e-10).rcs(theta[n], phi[n], "V")
        assert abs(monostatic[n] - bistatic) < 1e-6 * bistatic
    crossed = problem.scattering_amplitude(theta, phi, "VH")
    assert np.abs(crossed - problem.scattering_amplitude(theta, phi, "HV")).max() < 1e-10 * np.abs(crossed).max()


def test_electric_equation_fails_at_a_resonance_and_the_combined_does_not():
    """The lowest cavity mode of a sphere, TM 1: k a = 2.74371, about where the volumes agree for a mesh."""
    mesh = cal.mesh.sphere(radius=1.0, h=0.35)
    k = 2.743707 * (4 * np.pi / 3 / mesh.volume) ** (1 / 3)
    conditions = {}
    for name in ("efie", "cfie"):
        worst = 0.0
        for shift in (-0.005, 0.0, 0.005):
            problem = cal.PECScattering(mesh, k * (1 + shift), formulation=name)
            matrix = problem.system.operator.assemble().to_array()
            worst = max(worst, np.linalg.cond(problem.function_space.solve_mass(matrix)))
        away = cal.PECScattering(mesh, 0.9 * k, formulation=name)
        usual = np.linalg.cond(away.function_space.solve_mass(away.system.operator.assemble().to_array()))
        conditions[name] = worst / usual
    assert conditions["efie"] > 10, conditions
    assert conditions["cfie"] < 2, conditions


def test_dual_preconditioner_keeps_iterations_bounded():
    iterations = {"efie": [], "calderon": []}
    for h in (0.4, 0.18):
        mesh = cal.mesh.sphere(radius=0.5, h=h)
        for name, counts in iterations.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cal.AccuracyWarning)
                problem = cal.PECScattering(mesh, 2.0, formulation=name)
            wave = cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=2.0)
            counts.append(problem.solve(wave, rtol=1e-6, maxiter=2000).info.iterations)
    assert iterations["calderon"][1] <= 1.3 * iterations["calderon"][0], iterations
    assert iterations["efie"][1] > 1.5 * iterations["efie"][0], iterations


@pytest.mark.parametrize("name", ["efie", "cfie"])
def test_entries_of_neighbours_halve_the_steps(name):
    """Steps of the electric equation on open surfaces, and of the combined one."""
    mesh = cal.mesh.sphere(radius=0.5, h=0.1) if name == "cfie" else cal.mesh.plate((1.0, 1.0), h=0.06)
    problem = cal.PECScattering(mesh, 1.5, formulation=name)
    wave = cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0])
    near, mass = (problem.solve(wave, rtol=1e-4, preconditioner=each) for each in ("near", "mass"))
    assert near.info.iterations <= 0.7 * mass.info.iterations
    assert problem.solve(wave, rtol=1e-4).info.iterations == near.info.iterations  # the usual one
    direction = [0.6, 0.0, 0.8]
    difference = near.far_field(direction) - mass.far_field(direction)
    assert np.linalg.norm(difference) < 2e-3 * np.linalg.norm(mass.far_field([0.0, 0.0, 1.0]))


def test_bad_input_is_refused(sphere):
    plate = cal.mesh.plate([1.0, 1.0], 0.3)
    with pytest.raises(ValueError, match="closed surface"):
        cal.PECScattering(plate, 2.0)
    with pytest.raises(ValueError, match="formulation"):
        cal.PECScattering(sphere, K, formulation="pmchwt")
    with pytest.raises(ValueError, match="without loss"):
        cal.PECScattering(sphere, K + 1j)
    with pytest.raises(ValueError, match="weight"):
        cal.PECScattering(sphere, K, weight=1.5)
    with pytest.raises(ValueError, match="unknown testing 'bc': choose 'dual' or 'primal'"):
        cal.PECScattering(sphere, K, testing="bc")
    problem = cal.PECScattering(sphere, K)
    with pytest.raises(TypeError, match="electromagnetic"):
        problem.solve(cal.PlaneWave(direction=[0, 0, 1], wavenumber=K))
    with pytest.raises(ValueError, match="same k"):
        problem.solve(cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=1.0))
    with pytest.raises(ValueError, match="preconditioner 'dual'"):
        cal.PECScattering(sphere, K, formulation="calderon").solve(WAVE, precision="single")
    for formulation, wrong in (("calderon", "mass"), ("efie", "dual")):
        with pytest.raises(ValueError, match=f"unknown preconditioner '{wrong}'"):
            cal.PECScattering(sphere, K, formulation=formulation).solve(WAVE, preconditioner=wrong)
    with pytest.raises(ValueError, match="polarization"):
        problem.monostatic_rcs(0.0, 0.0, "XX")
    with pytest.raises(ValueError, match=r"theta of shape \(2,\) and phi of shape \(3,\) do not go together"):
        problem.monostatic_rcs(np.zeros(2), np.zeros(3), "VV")


def test_open_plate_by_the_electric_equation():
    """Normal incidence on a plate of two wavelengths: physical optics is right within a decibel."""
    side = 2.0
    problem = cal.PECScattering(cal.mesh.plate([side, side], 0.1), K, formulation="efie")
    rcs = problem.monostatic_rcs(0.0, 0.0, "HH")
    optics = 4 * np.pi * side**4
    assert abs(10 * np.log10(rcs / optics)) < 1.0


def test_monostatic_rcs_of_a_thin_plate_converges():
    """A sheet of 6 inches at 2.56 GHz, 1.3 wavelengths, over theta: differences fall at least with the first power of
    the mesh size, which the singular currents along its boundary allow."""
    side, k = 0.1524, 2 * np.pi * 2.56e9 / cal.exact.SPEED_OF_LIGHT
    theta, cells = np.radians(np.arange(0, 91, 10)), np.array([8, 14, 20])
    meshes = [cal.mesh.plate([side, side], side / (n - 0.5)) for n in cells]
    problems = [cal.PECScattering(mesh, k, formulation="efie") for mesh in meshes]
    first_order = (1 / cells[0] - 1 / cells[1]) / (1 / cells[1] - 1 / cells[2])
    for polarization in ("VV", "HH"):
        amplitudes = [problem.scattering_amplitude(theta, 0.0, polarization) for problem in problems]
        coarse, fine = (np.linalg.norm(b - a) for a, b in zip(amplitudes, amplitudes[1:], strict=False))
        total = np.linalg.norm(amplitudes[-1])
        assert fine < 0.02 * total and coarse / fine > first_order, (coarse / total, fine / total)
        optics = 4 * np.pi * side**4 * (k / (2 * np.pi)) ** 2
        assert abs(10 * np.log10(4 * np.pi * abs(amplitudes[-1][0]) ** 2 / optics)) < 0.3  # broadside
