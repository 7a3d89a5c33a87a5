"""SI units where the frequency is given, and labels that do not claim them elsewhere."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.exact.angular import line_of_sight

ETA = VACUUM_IMPEDANCE
FREQUENCY = 45e6
K = 2 * np.pi * FREQUENCY / SPEED_OF_LIGHT
BALL = cal.mesh.sphere(1.0, 0.6)
POINTS = np.array([[0.0, 0.3, 1.7], [2.0, 0.0, -0.4]])
LOSSY = 3.0 + 1.0j
PROBLEMS = {
    "conductor": lambda **given: cal.PECScattering(BALL, **given),
    "sheet": lambda **given: cal.PECScattering(cal.mesh.plate((1.0, 1.0), 0.35), formulation="efie", **given),
    "PMCHWT": lambda **given: cal.DielectricScattering(BALL, permittivity=LOSSY, **given),
    "Mueller": lambda **given: cal.DielectricScattering(BALL, permittivity=LOSSY, formulation="muller", **given),
}
PLANE = cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0])
DIPOLE, LOOP = cal.ElectricDipole([0, 0, 2.5], [1, 0, 0]), cal.MagneticDipole([0, 0, 2.5], [0, 1, 0])
WAVES = {"plane": PLANE, "electric dipole": DIPOLE, "magnetic dipole": LOOP, "sum": 2 * PLANE - 0.5j * LOOP}


@pytest.fixture(scope="module")
def solved():
    """Solutions of the same waves in SI units and with eta = 1."""
    return {
        name: [make(**given).solve_all(list(WAVES.values()), solver="lu")
               for given in ({"frequency": FREQUENCY}, {"wavenumber": K})]
        for name, make in PROBLEMS.items()
    }  # fmt: skip


@pytest.mark.parametrize("number", range(len(WAVES)), ids=list(WAVES))
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_frequency_means_si_units(solved, name, number):
    """H and currents are those with eta = 1 over eta, of the same E; with eta = 1 the moment of an electric dipole
    stands for eta times it."""
    si, natural = (solutions[number] for solutions in solved[name])
    moment = ETA if list(WAVES)[number] == "electric dipole" else 1.0
    assert np.allclose(si.electric(POINTS), moment * natural.electric(POINTS), rtol=1e-9)
    assert np.allclose(ETA * si.magnetic(POINTS), moment * natural.magnetic(POINTS), rtol=1e-9)
    for one, other, unit in ((si, ETA, "A/m"), (natural, 1.0, "E0/eta")):
        assert one.incident.impedance == one.currents.impedance == other
        assert one.currents.electric_currents[0].unit == unit
        assert [each.unit for each in one.at_points(POINTS).arrays.quantities] == ["V/m", unit]
    assert (si.power_unit, natural.power_unit) == ("W", "E0^2 m^2/eta")
    assert "A/m" not in str(natural).replace("V/m", "") and " W" not in str(natural)


@pytest.mark.parametrize("name", ["PMCHWT", "Mueller"])
def test_powers_are_extinction_times_intensity(solved, name):
    """A ball absorbs and scatters of a wave of 1 V/m E^2 / (2 eta) times its cross-sections, in W."""
    solution = solved[name][0][0]
    absorbed = float(solution.absorbed_power()[0])
    scattered = solution.currents.far_field_square() / (2 * ETA)
    assert absorbed == pytest.approx(solution.absorption_cross_section() / (2 * ETA), rel=1e-12)
    if name == "PMCHWT":  # which conserves energy
        extinction = solution.extinction_cross_section() / (2 * ETA)
        assert absorbed + scattered == pytest.approx(extinction, rel=1e-3)
    exact = cal.exact.mie_dielectric_sphere(K, 1.0, LOSSY, impedance=ETA)
    assert absorbed == pytest.approx(exact.absorbed_power(), rel=0.2)


def balance(solution):
    """Scattered and absorbed power over extinction times intensity, less one."""
    powers = solution.currents.far_field_square() / (2 * ETA) + solution.absorbed_power().sum()
    return powers / (solution.extinction_cross_section() / (2 * ETA)) - 1


def test_mueller_balances_powers_with_the_square_of_the_mesh_size(solved):
    finer = cal.DielectricScattering(cal.mesh.sphere(1.0, 0.4), frequency=FREQUENCY, permittivity=LOSSY,
                                     formulation="muller").solve(PLANE, solver="lu")  # fmt: skip
    assert balance(solved["Mueller"][0][0]) / balance(finer) == pytest.approx(1.5**2, rel=0.1)
    assert balance(finer) < 5e-3


@pytest.mark.parametrize("core", [np.inf, 5.0 + 0.5j])
def test_coated_bodies_have_si_units(core):
    conducting = bool(np.isinf(core))
    problem = cal.DielectricScattering([BALL, cal.mesh.sphere(0.7, 0.42)], frequency=FREQUENCY,
                                       permittivity=[LOSSY, core])  # fmt: skip
    solution = problem.solve(PLANE, solver="lu")
    assert abs(balance(solution)) < 1e-6
    constants = [LOSSY] if conducting else [core, LOSSY]
    exact = cal.exact.mie_layered_sphere(K, [0.7, 1.0], constants, conducting_core=conducting, impedance=ETA)
    assert solution.absorbed_power().sum() == pytest.approx(exact.absorbed_power(), rel=5e-3)
    found, right = solution.magnetic(POINTS), exact.magnetic(POINTS)
    assert np.abs(found - right).max() < 5e-3 * np.abs(right).max()


def test_planar_metal_has_the_units_of_a_sheet():
    """In vacuum a sheet between layers of nothing is one without layers; powers are those of its extinction."""
    plate, (r,), *vectors = cal.mesh.plate((1.0, 1.0), 0.35), *line_of_sight([0.5], [0.3])
    mesh = cal.TriangleMesh(plate.vertices * [1, 1, 0] + [0, 0, 0.1], plate.triangles)
    layered = cal.PlanarProblem(cal.Stack([cal.Layer(0.1)]), mesh).scatter(FREQUENCY, 0.5, 0.3, "V")
    wave = cal.PlaneWave(-r, polarization=vectors[0][0])
    free = cal.PECScattering(mesh, frequency=FREQUENCY, formulation="efie").solve(wave, solver="lu")
    for found, exact in ((layered.magnetic(POINTS), free.magnetic(POINTS)),
                         (layered.surface.coefficients, free.surface.coefficients)):  # fmt: skip
        assert np.abs(found - exact).max() < 1e-6 * np.abs(exact).max()
    assert layered.surface.unit == "A/m"
    assert layered.power.taken == pytest.approx(free.extinction_cross_section() / (2 * ETA), rel=1e-6)
    assert layered.power.radiated == pytest.approx(free.scattering_cross_section() / (2 * ETA), rel=1e-6)


def test_magnetic_fields_are_those_of_a_conducting_sphere(solved):
    exact = cal.exact.mie_pec_sphere(K, 1.0, impedance=ETA)
    found = solved["conductor"][0][0].magnetic(POINTS)
    assert np.linalg.norm(found - exact.magnetic(POINTS)) < 0.03 * np.linalg.norm(found)


def test_impedances_that_agree_and_that_do_not():
    """The wave takes that of the problem, a wave with its own must have the same, and without either it is 1."""
    make, of_k = PROBLEMS["sheet"], cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0], wavenumber=K)
    others = [cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0], impedance=eta) for eta in (376.73, 1.0)]
    assert of_k.impedance == 1 and PLANE.impedance is None
    si, medium, free = make(frequency=FREQUENCY), make(wavenumber=K, impedance=50.0), make(wavenumber=K)
    assert si.solve(of_k).incident.impedance == ETA
    assert si.solve(others[0]).incident.impedance == pytest.approx(ETA, rel=1e-5)
    assert medium.solve(of_k).currents.impedance == 50.0 and medium.solve(PLANE).surface.unit == "A/m"
    assert free.solve(others[0]).surface.unit == "A/m" and free.solve(of_k).surface.unit == "E0/eta"
    for problem, wave in ((si, others[1]), (medium, others[0]), (si, of_k + 0 * others[1].at(K))):
        with pytest.raises(ValueError, match="without impedance="):
            problem.solve(wave)
    with pytest.raises(ValueError, match="give wavenumber= in the medium"):
        make(frequency=FREQUENCY, impedance=50.0)
    with pytest.raises(ValueError, match="give wavenumber= in the medium"):
        medium.sweep([FREQUENCY], PLANE)
    with pytest.raises(ValueError, match="must be a positive"):
        make(wavenumber=K, impedance=-1.0)


def test_sweeps_tables_and_files_keep_the_units(tmp_path):
    """Frequencies of a sweep mean SI units however the problem is given; what is saved is read back in its units."""
    make = PROBLEMS["sheet"]
    for problem in (make(frequency=FREQUENCY), make(wavenumber=1.0)):
        (swept,) = problem.sweep([FREQUENCY], PLANE)
        assert swept.currents.impedance == ETA and swept.surface.unit == "A/m"
    assert problem.at(2.0).solve(PLANE).currents.impedance == 1
    for given, unit, column in (({"frequency": 9e7}, "A/m", "A_per_m"), ({"wavenumber": K}, "E0/eta", "E0_per_eta")):
        solution = make(**given).solve(PLANE)
        solution.save(tmp_path / "solution.h5")
        solution.surface.write(tmp_path / "surface.vtu")
        assert f"[{unit}]" in (tmp_path / "surface.vtu").read_bytes().decode("latin1")
        again = cal.load(tmp_path / "solution.h5")
        assert again.surface.unit == unit and np.array_equal(again.magnetic(POINTS), solution.magnetic(POINTS))
        samples = again.at_points(POINTS)
        assert f"magnetic_x_real_{column}" in samples.arrays.columns()
        assert ("impedance_ohm" in samples.arrays.attributes) == (unit == "A/m")
        samples.write(tmp_path / "samples.csv")
        assert column in (tmp_path / "samples.csv").read_text().splitlines()[0]
        fields = [field.unit for layer in again.surface.scene().layers for field in layer.fields]
        assert unit in fields


def test_antennas_have_ohms_unless_their_medium_has_none():
    strip = cal.mesh.plate((1.0, 0.1), 0.1)
    gap = cal.DeltaGap(line=[[0.5, 0, 0], [0.5, 0.1, 0]]) if strip.bounds[0, 0] == 0 else cal.DeltaGap(
        line=[[0, -0.05, 0], [0, 0.05, 0]])  # fmt: skip
    si, multiple = cal.PECAntenna(strip, K, gap).solve(), cal.PECAntenna(strip, K, gap, impedance=1.0).solve()
    assert si.input_impedance == pytest.approx(ETA * multiple.input_impedance, rel=1e-9)
    assert (si.surface.unit, multiple.surface.unit) == ("A/m", "E0/eta")
    assert " ohm" in str(si) and " ohm" not in str(multiple) and " W" not in str(multiple)
    with pytest.raises(ValueError, match="give wavenumber= in the medium"):
        cal.PECAntenna(strip, feed=gap, frequency=1e8, impedance=200.0)
