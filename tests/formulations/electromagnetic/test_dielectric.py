"""Penetrable bodies against Mie's series and general theorems."""

import warnings

import numpy as np
import pytest

import calderon as cal

THETA = np.linspace(0, np.pi, 181)
SIZE = 2.0  # index times k a
CASES = {"glass": 2.25, "lossy": 4 + 0.1j, "water": 78.44 + 1.225j}


def along_z(k, **options):
    return cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=k, **options)


def mean_error(solution, exact):
    """Mean over both planes of the difference of cross-sections, in dB."""
    ratios = [solution.rcs(THETA, phi) / exact.rcs(THETA, phi) for phi in (0.0, np.pi / 2)]
    return np.abs(10 * np.log10(ratios)).mean()


@pytest.fixture(scope="module")
def sphere():
    """Ten elements per interior wavelength."""
    return cal.mesh.sphere(radius=1.0, h=2 * np.pi / SIZE / 10)


@pytest.fixture(scope="module")
def solutions(sphere):
    found = {}
    for name, permittivity in CASES.items():
        k = SIZE / abs(np.sqrt(complex(permittivity)))
        for formulation in ("pmchwt", "muller"):
            problem = cal.DielectricScattering(sphere, k, permittivity, formulation=formulation)
            found[name, formulation] = problem.solve(along_z(k), rtol=1e-6)
        found[name, "exact"] = cal.exact.mie_dielectric_sphere(k, 1.0, permittivity)
    return found


@pytest.fixture(scope="module")
def small():
    return cal.mesh.sphere(radius=0.5, h=0.25)


@pytest.fixture(scope="module")
def pair(small):
    """Two spheres of different materials, away from the origin's symmetries."""
    other = cal.mesh.sphere(radius=0.4, h=0.2).translated([1.1, 0.2, 0.3])
    return cal.DielectricScattering([small, other], 2.5, [2.5, 4.0], [1.0, 1.5])


@pytest.mark.parametrize("name", CASES)
def test_cross_sections_are_those_of_mie(solutions, name):
    exact = solutions[name, "exact"]
    assert mean_error(solutions[name, "pmchwt"], exact) < 0.03
    assert mean_error(solutions[name, "muller"], exact) < 0.15


@pytest.mark.parametrize("name", ["lossy", "water"])
def test_absorbed_power_is_that_of_mie(solutions, name):
    exact = solutions[name, "exact"].absorbed_power()
    assert abs(solutions[name, "pmchwt"].absorbed_power()[0] - exact) < 0.01 * exact


@pytest.mark.parametrize("name", CASES)
def test_energy_is_conserved(solutions, name):
    """Extinction by the optical theorem is what is scattered and absorbed."""
    solution = solutions[name, "pmchwt"]
    extinction = solution.extinction_cross_section()
    scattered, bounds = solution.scattering_cross_section(), {"fields": 1e-5, "flux": 2e-3 if name == "water" else 1e-3}
    for by, bound in bounds.items():
        absorbed = solution.absorption_cross_section(by)
        assert abs(scattered + absorbed - extinction) < bound * extinction, by
        if name == "glass":
            assert abs(absorbed) < bound * extinction, by
    with pytest.raises(ValueError, match="unknown by 'volume'"):
        solution.absorbed_power("volume")


@pytest.mark.parametrize("name", CASES)
def test_near_fields_are_those_of_mie(solutions, name):
    points = np.array([[0, 0, 0], [0.3, 0.2, -0.5], [0.1, 0.6, 0.3], [1.5, 0, 0.3], [0, 0, -1.3]])
    solution, exact = solutions[name, "pmchwt"], solutions[name, "exact"]
    for kind in ("electric", "magnetic"):
        reference = getattr(exact, kind)(points)
        assert np.abs(getattr(solution, kind)(points) - reference).max() < 2e-3 * np.abs(reference).max()


def test_mueller_needs_few_iterations(solutions):
    for name in CASES:
        assert solutions[name, "muller"].info.iterations < solutions[name, "pmchwt"].info.iterations / 2
        assert solutions[name, "muller"].info.iterations < 30


@pytest.mark.parametrize("formulation", ["pmchwt", "muller"])
def test_error_falls_with_the_square_of_the_mesh_size(formulation):
    """On inscribed meshes, whose volume is short by the order h^2."""
    k, errors = 2.0 / 1.5, []
    exact = cal.exact.mie_dielectric_sphere(k, 1.0, 2.25)
    for h in (0.48, 0.24):
        inscribed = cal.mesh.sphere(radius=1.0, h=h, volume=False)
        problem = cal.DielectricScattering(inscribed, k, 2.25, formulation=formulation)
        errors.append(mean_error(problem.solve(along_z(k), rtol=1e-5), exact))
    assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.5, errors


def test_coated_sphere_with_a_cavity():
    """Three interfaces: air, lossy shell, glass coat; given in any order."""
    radii, permittivities, k = [0.5, 0.75, 1.0], [1.0, 6 + 0.3j, 2.25], 1.2
    meshes = [cal.mesh.sphere(radius=r, h=0.35) for r in radii]
    order = [1, 2, 0]
    problem = cal.DielectricScattering([meshes[i] for i in order], k, [permittivities[i] for i in order])
    assert problem.parents.tolist() == [1, -1, 0]
    solution, exact = problem.solve(along_z(k), rtol=1e-5), cal.exact.mie_layered_sphere(k, radii, permittivities)
    assert mean_error(solution, exact) < 0.03
    powers = np.empty(3)
    powers[order] = solution.absorbed_power()
    assert np.abs(powers - exact.absorbed_power_by_layer()).max() < 0.01 * exact.absorbed_power()
    assert np.abs(solution.absorbed_power("flux") - powers[order]).max() < 0.01 * powers.sum()
    extinction = solution.extinction_cross_section()
    balance = solution.scattering_cross_section() + solution.absorption_cross_section() - extinction
    assert abs(balance) < 1e-4 * extinction
    points = np.array([0.2, 0.62, 0.87, 1.4])[:, None] * [0.36, 0.48, 0.8]
    assert solution.region_numbers(points).tolist() == [3, 1, 2, 0]
    reference = exact.electric(points)
    assert np.abs(solution.electric(points) - reference).max() < 5e-3 * np.abs(reference).max()


def test_coated_conductor():
    """A core of infinite permittivity in a lossy coat; alone it is a conductor by the electric equation."""
    radii, k = [0.6, 0.9], 1.5
    core, coat = (cal.mesh.sphere(radius=r, h=0.28) for r in radii)
    problem = cal.DielectricScattering([coat, core], k, [2.5 + 0.3j, np.inf])
    solution = problem.solve(along_z(k), rtol=1e-5)
    exact = cal.exact.mie_layered_sphere(k, radii, [2.5 + 0.3j], conducting_core=True)
    assert mean_error(solution, exact) < 0.1
    assert np.abs(solution.absorbed_power() - [exact.absorbed_power(), 0]).max() < 0.01 * exact.absorbed_power()
    points = np.array([0.2, 0.75, 1.3])[:, None] * [0.36, 0.48, 0.8]
    reference = exact.magnetic(points)
    assert not np.any(reference[0]) and not np.any(solution.magnetic(points[:1]))
    assert np.abs(solution.magnetic(points) - reference).max() < 0.01 * np.abs(reference).max()
    crossed = problem.scattering_amplitude([0.6], [0.3], "VH")
    assert np.abs(crossed - problem.scattering_amplitude([0.6], [0.3], "HV")).max() < 1e-10
    alone = cal.DielectricScattering(core, k, np.inf).solve(along_z(k), solver="lu")
    conductor = cal.PECScattering(core, k, formulation="efie").solve(along_z(k), solver="lu")
    difference = alone.far_field([[1, 2, 3]]) - conductor.far_field([[1, 2, 3]])
    assert np.abs(difference).max() < 1e-8 * np.abs(conductor.far_field([[1, 2, 3]])).max()


@pytest.mark.parametrize("formulation", ["pmchwt", "muller"])
def test_permeable_sphere(formulation):
    k = 1.2
    mesh = cal.mesh.sphere(radius=1.0, h=0.3)
    problem = cal.DielectricScattering(mesh, k, 2.0 + 0.2j, 1.5, formulation=formulation)
    wave = along_z(k, impedance=376.73, amplitude=2.0)
    solution = problem.solve(wave, rtol=1e-5)
    exact = cal.exact.mie_dielectric_sphere(k, 1.0, 2.0 + 0.2j, 1.5, amplitude=2.0, impedance=376.73)
    assert mean_error(solution, exact) < (0.03 if formulation == "pmchwt" else 0.15)
    bound = 0.01 if formulation == "pmchwt" else 0.05
    assert abs(solution.absorbed_power()[0] / exact.absorbed_power() - 1) < bound
    points = np.array([[0.2, 0.1, 0.3], [0, 1.5, 0.4]])
    reference = exact.magnetic(points)
    assert np.abs(solution.magnetic(points) - reference).max() < 2 * bound * np.abs(reference).max()


def test_monostatic_equals_bistatic_and_is_reciprocal(pair):
    theta, phi = np.array([0.6, 1.2]), np.array([0.3, -0.7])
    crossed = pair.scattering_amplitude(theta, phi, "VH")
    assert np.abs(crossed - pair.scattering_amplitude(theta, phi, "HV")).max() < 1e-10 * np.abs(crossed).max()
    r, v, h = cal.exact.angular.line_of_sight(theta[1], phi[1])
    wave = cal.PlaneWave(direction=-r, polarization=h, wavenumber=2.5)
    solution = pair.solve(wave, rtol=1e-8)
    assert abs(solution.far_field(r)[0] @ v - crossed[1]) < 1e-5 * abs(crossed[1])
    assert pair.monostatic_rcs(theta, phi, "VH") == pytest.approx(4 * np.pi * np.abs(crossed) ** 2)


def test_bistatic_reciprocity(pair):
    """Source and observer exchanged, with their polarisations."""
    (a, av, _), (b, _, bh) = (cal.exact.angular.line_of_sight(*angles) for angles in ((0.4, 0.2), (2.0, 1.1)))
    amplitudes = []
    for (source, transmit), (observer, receive) in (((a, av), (b, bh)), ((b, bh), (a, av))):
        wave = cal.PlaneWave(direction=-source, polarization=transmit, wavenumber=2.5)
        amplitudes.append(pair.solve(wave, solver="lu").far_field(observer)[0] @ receive)
    assert abs(amplitudes[0] - amplitudes[1]) < 1e-3 * abs(amplitudes[0])


def test_two_bodies_conserve_energy(pair):
    solution = pair.solve(along_z(2.5), solver="lu")
    extinction = solution.extinction_cross_section()
    assert abs(solution.scattering_cross_section() - extinction) < 1e-3 * extinction
    assert np.abs(solution.absorbed_power()).max() < 2e-3 * extinction / 2


@pytest.mark.parametrize("formulation", ["pmchwt", "muller"])
def test_a_body_of_the_surrounding_medium_vanishes(small, formulation):
    other = cal.mesh.sphere(radius=0.4, h=0.2).translated([1.1, 0.2, 0.3])
    far = []
    for meshes, permittivity in ((small, 2.5 + 0.2j), ([small, other], [2.5 + 0.2j, 1.0])):
        problem = cal.DielectricScattering(meshes, 2.5, permittivity, formulation=formulation)
        far.append(problem.solve(along_z(2.5), rtol=1e-7).far_field([[0, 0, 1], [0, 0, -1], [1, 0, 0]]))
    assert np.abs(far[0] - far[1]).max() < (1e-3 if formulation == "pmchwt" else 5e-3) * np.abs(far[0]).max()


def test_parts_of_one_mesh_are_like_a_list(small):
    other = cal.mesh.sphere(radius=0.4, h=0.2).translated([1.1, 0.2, 0.3])
    far = [
        cal.DielectricScattering(meshes, 2.0, permittivity).solve(along_z(2.0), solver="lu").far_field([[0, 1, 1]])
        for meshes, permittivity in ((cal.mesh.merge([small, other]), 2.5), ([small, other], [2.5, 2.5]))
    ]
    assert np.abs(far[0] - far[1]).max() < 1e-3 * np.abs(far[0]).max()


def test_gain_continues_loss(small):
    """The far field is an analytic function of the permittivity: F(e - id) = 3 F(e) - 3 F(e + id) + F(e + 2id) to the
    order d^3; more is scattered than taken from the wave, and both formulations agree."""
    far, d, directions = {}, 0.05, [[0, 0, 1], [1, 0, 1]]
    for step in (-1, 0, 1, 2):
        problem = cal.DielectricScattering(small, 2.0, 2.5 + 1j * step * d, gain=True)
        solution = problem.solve(along_z(2.0), rtol=1e-8)
        far[step] = solution.far_field(directions)
        if step == -1:
            for by, bound in (("fields", 1e-5), ("flux", 2e-3)):
                assert solution.absorbed_power(by)[0] < 0
                balance = solution.scattering_cross_section() + solution.absorption_cross_section(by)
                assert abs(balance / solution.extinction_cross_section() - 1) < bound, by
            inside = np.array([[0.1, 0.2, 0.1], [0.1, 0.0, -0.3]])
            gain = solution.electric(inside)
        elif step == 0:
            none = solution.electric(inside)
    change = np.abs(far[-1] - far[0]).max()
    assert np.abs(far[-1] - (3 * far[0] - 3 * far[1] + far[2])).max() < 0.01 * change
    assert np.abs(gain - none).max() < 0.05 * np.abs(none).max()
    second = cal.DielectricScattering(small, 2.0, 2.5 - 1j * d, formulation="muller", gain=True)
    difference = second.solve(along_z(2.0), rtol=1e-8).far_field(directions) - far[-1]
    assert np.abs(difference).max() < 0.047 * np.abs(far[-1]).max()


def test_dipoles_are_waves_too(small):
    """Reciprocity of two dipoles: what one sends to the other comes back; power that is absorbed is counted."""
    problem = cal.DielectricScattering(small, 2.0, 3 + 0.5j)
    places, moments = [[0, 0, 0.9], [0.8, -0.3, -0.4]], [[1, 0, 0.5], [0, 1, 1j]]
    dipoles = [cal.ElectricDipole(place, moment, 2.0, 376.73) for place, moment in zip(places, moments, strict=True)]
    received = []
    for here, there in ((0, 1), (1, 0)):
        solution = problem.solve(dipoles[here], solver="lu")
        received.append(solution.scattered_electric([places[there]])[0] @ np.array(moments[there]))
        assert solution.absorbed_power()[0] > 0
    assert abs(received[0] - received[1]) < 1e-3 * abs(received[0])
    magnetic = cal.MagneticDipole(places[0], moments[0], 2.0, 376.73)
    assert problem.solve(magnetic).absorbed_power()[0] > 0
    with pytest.raises(ValueError, match="plane wave"):
        solution.extinction_cross_section()
    with pytest.raises(ValueError, match="inside the body"):
        problem.solve(cal.ElectricDipole([0, 0, 0.1], [1, 0, 0], 2.0))


@pytest.mark.variant
def test_charges_of_triangles_precondition():
    small = cal.mesh.sphere(radius=0.5, h=0.28)
    problem = cal.DielectricScattering(small, 2.0, 4.0)
    usual, mass = (problem.solve(along_z(2.0), **name).info for name in ({}, {"preconditioner": "mass"}))
    assert usual.iterations < 0.25 * mass.iterations
    assert usual.method.endswith("near") and mass.method.endswith("mass")
    assert problem.solve(along_z(2.0), method="mlfmm", rtol=1e-4).info.method.endswith("near")
    free = problem.solve(along_z(2.0), method="matrix-free", rtol=1e-3).info
    assert free.method.endswith("near") and free.iterations <= usual.iterations
    second = cal.DielectricScattering(small, 2.0, 4.0, formulation="muller")
    with pytest.raises(ValueError, match="unknown preconditioner 'near'"):
        second.solve(along_z(2.0), preconditioner="near")


def test_solvers_and_other_wavenumbers(small):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cal.AccuracyWarning)
        problem = cal.DielectricScattering(small, 1.0, 3.0, formulation="muller").at(2.0)
    far = [
        problem.solve(along_z(2.0), rtol=1e-8).far_field([1, 0, 0]),
        problem.solve(along_z(2.0), solver="lu").far_field([1, 0, 0]),
    ]
    assert np.abs(far[1] - far[0]).max() < 1e-6 * np.abs(far[0]).max()
    assert "Mueller" in str(problem) and "rotated" in str(problem.solve(along_z(2.0)))


def test_bad_input_is_refused(small):
    scatter = cal.DielectricScattering
    with pytest.raises(ValueError, match="closed surface"):
        scatter(cal.mesh.plate([1.0, 1.0], 0.3), 2.0, 2.0)
    with pytest.raises(ValueError, match="2 meshes and 1 permittivity"):
        scatter([small, small.translated([2, 0, 0])], 2.0, [2.0])
    with pytest.raises(ValueError, match="2 meshes and one number"):
        scatter([small, small.translated([2, 0, 0])], 2.0, 2.0)
    with pytest.raises(ValueError, match="gain=True"):
        scatter(small, 2.0, 2 - 0.1j)
    with pytest.raises(ValueError, match="nothing scatters"):
        scatter(small, 2.0, 1.0)
    with pytest.raises(ValueError, match="must not be zero"):
        scatter(small, 2.0, 0.0)
    with pytest.raises(ValueError, match="without loss"):
        scatter(small, 2.0 + 0.1j, 2.0)
    with pytest.raises(ValueError, match="formulation"):
        scatter(small, 2.0, 2.0, formulation="cfie")
    with pytest.raises(ValueError, match="pmchwt"):
        scatter(small, 2.0, -1.0, formulation="muller")
    with pytest.raises(ValueError, match="conductors"):
        scatter(small, 2.0, np.inf, formulation="muller")
    with pytest.raises(ValueError, match="no field comes"):
        scatter([small, small.scaled(0.5)], 2.0, [np.inf, 2.0])
    with pytest.raises(TypeError, match="list of them"):
        scatter([], 2.0, [])
    with pytest.raises(TypeError, match="electromagnetic"):
        scatter(small, 2.0, 2.0).solve(cal.PlaneWave(direction=[0, 0, 1], wavenumber=2.0))
    with pytest.raises(ValueError, match="same k"):
        scatter(small, 2.0, 2.0).solve(along_z(1.0))
