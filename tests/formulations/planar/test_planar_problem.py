"""Printed circuits and antennas: a patch on a board, strips in vacuum, two patches, files, mistakes."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import calderon as cal
from calderon.exact.angular import line_of_sight
from calderon.formulations.ports.feeds import ellipse_ratio
from calderon.formulations.ports.power_waves import scattering
from calderon.layers.tables import table_of
from calderon.layers.vertical import horizontal_field
from calderon.quadrature import triangle_rule

BOARD = cal.Stack([cal.Layer(3.175e-3, eps_r=2.33)], below="pec")
PATCH = cal.planar.patch(57e-3, 38e-3, h=7e-3, z=BOARD.top)
PROBE = cal.ProbePort((-8e-3, 0.0), radius=0.5e-3)


@pytest.fixture(scope="module")
def antenna():
    return cal.PlanarProblem(BOARD, PATCH, ports=[PROBE])


SOLVED = []


@pytest.fixture(scope="module")
def sweep(antenna):
    return antenna.sweep(2.2e9, 2.5e9, points=61, voltages=2.0, solved=SOLVED.append)


def test_solutions_of_a_sweep_are_those_of_their_frequencies(antenna, sweep):
    """Voltages of 2 V, and S by the same currents."""
    assert [each.frequency for each in SOLVED] == sweep.solved.tolist()
    first = SOLVED[0]
    alone = antenna.solve(first.frequency, 2.0)
    assert first.gain(0.3, 0.0) == pytest.approx(alone.gain(0.3, 0.0), rel=1e-12)
    assert first.feed_currents == pytest.approx(alone.feed_currents, rel=1e-12)
    z = first.voltages[0] / first.feed_currents[0]
    assert sweep.solved_s[0, 0, 0] == pytest.approx((z - 50) / (z + 50), rel=1e-12)


def test_resonance_of_a_patch(sweep):
    """Pole of Z by a moment method with meshes graded to the edges: 2.358 GHz, Q 20.7 by a rational function of 26
    frequencies (by one of first order 19.5: the next test). Least S11 by finite differences: 2.383 GHz."""
    (resonance,) = sweep.resonances()
    assert resonance.frequency == pytest.approx(2.358e9, rel=0.005)
    assert resonance.quality == pytest.approx(20.68, rel=0.01)
    assert sweep.frequencies[np.abs(sweep.s[:, 0, 0]).argmin()] == pytest.approx(2.383e9, rel=0.01)
    assert sweep.solves <= 8 and sweep.error < 1e-3


def test_quality_of_a_patch_as_the_reference_defines_it():
    """Q 19.5: the pole of (a + b f) / (1 + c f) for Z of a filament in the lower half of the slab, which ends below the
    metal. Its reaction on f_i is i k0 (int f_i . int G_xz dz' + int K div f_i / k0^2), K of the charge at its end."""
    half = cal.Stack([cal.Layer(1.5875e-3, eps_r=2.33)] * 2, below="pec")
    problem, rule, middle = cal.PlanarProblem(half, PATCH), triangle_rule(6), half.interfaces[-2]
    space = problem.function_space
    offset = rule.barycentric @ space.mesh.vertices[space.mesh.triangles[space.triangles], :2] - PROBE.place
    rho, weights = np.linalg.norm(offset, axis=2), 2 * rule.weights * space.mesh.areas[space.triangles, None]
    along = np.einsum("naqc,nqc->naq", space.values(rule.points)[..., :2], offset / rho[..., None])
    grid = np.geomspace(rho.min(), rho.max(), 40)
    x, z = np.array([-0.05, 0.0, 0.05]), []
    for frequency in 1e9 * (2.35 + x):
        sections = half.at(frequency)
        field = CubicSpline(grid, horizontal_field(sections, half.top, grid, middle))(rho)
        potential = table_of(sections, half.top, middle, 1.01 * rho.max()).rest(rho)[1]
        charges = 2 * space.scale * np.sum(weights * potential, axis=1)[:, None] / sections.k0**2
        local = 1j * sections.k0 * (np.einsum("naq,nq->na", along, field * weights) + charges)
        kept, reaction = space.dofs >= 0, np.zeros(space.dimension, complex)
        np.add.at(reaction, space.dofs[kept], local[kept])
        z.append(reaction @ np.linalg.solve(problem.matrix(frequency), reaction))
    z = np.array(z)
    pole = 2.35 - 1 / np.linalg.solve(np.stack([np.ones(3), x, -z * x], axis=1), z)[2]
    assert pole.real == pytest.approx(2.358, rel=0.005)
    assert pole.real / (2 * abs(pole.imag)) == pytest.approx(19.5, rel=0.05)


def test_rational_functions_give_the_solved_matrix(antenna, sweep):
    f = sweep.frequencies[17]
    z = antenna.impedance_matrix(f)
    assert np.abs(scattering(np.linalg.inv(z), 50.0) - sweep.s[17]).max() < 1e-4
    assert np.abs(z / sweep.z[17] - 1).max() < 1e-3


def test_power_of_a_patch_and_its_gain(antenna, tmp_path):
    """All accepted power is radiated or travels along the board, which loses nothing."""
    solution = antenna.solve(2.39e9)
    solution.write_far_field(tmp_path / "patch.ffe", [0.0, 0.5], [0.0, 0.7])
    rows = [line.split() for line in (tmp_path / "patch.ffe").read_text().splitlines() if line[:1] == " "]
    *row, gain = np.array(rows, dtype=float)[3, [2, 3, 4, 5, 8]]  # theta runs first
    field, (_, theta, phi) = solution.far_field(0.5, 0.7), line_of_sight(0.5, 0.7)
    expected = [part for along in (theta, phi) for part in (float((field @ along).real), -float((field @ along).imag))]
    assert np.allclose(row, expected, rtol=1e-8) and gain == pytest.approx(solution.gain(0.5, 0.7, decibels=True))
    power = solution.power
    assert abs(power.lost) < 1e-3 * power.accepted
    assert 0.08 < power.surface_waves / power.accepted < 0.10
    assert 7.0 < solution.gain(0.0, 0.0, decibels=True) < 7.7
    assert solution.gain(0.0, 0.3) == pytest.approx(solution.gain(1e-6, 1.2), rel=1e-5)
    assert solution.gain(np.pi, 0.0) == 0
    assert solution.gain(np.pi / 2, 1.0) < 1e-12
    (wave,) = solution.surface_waves
    kz, inside = np.sqrt(wave.k**2 - solution.sections.k0**2), np.sqrt(2.33 * solution.sections.k0**2 - wave.k**2)
    assert wave.kind == "TM" and abs(2.33 * kz / (inside * np.tan(inside * 3.175e-3)) - 1) < 1e-9
    assert "surface waves" in str(solution)
    assert repr(solution).startswith("PlanarSolution(2.") and len(repr(solution)) < 60


def test_a_probe_through_two_layers():
    """All accepted power arrives, with a board on a spacer of air, too."""
    spaced = cal.Stack([cal.Layer(3e-3), cal.Layer(1.6e-3, eps_r=4.4)], below="pec")
    mesh = cal.TriangleMesh(PATCH.vertices + [0, 0, spaced.top - BOARD.top], PATCH.triangles)
    power = cal.PlanarProblem(spaced, mesh, ports=[PROBE]).solve(2.3e9).power
    assert abs(power.lost) < 1e-3 * power.accepted


def test_polarisation_and_beam_of_a_patch(antenna):
    """Linear at the normal; above half of the largest gain within 60 to 120 degrees."""
    assert np.allclose(ellipse_ratio(np.array([1, 1, 2]), np.array([1j, 0.5j, 1j])), [1, 2, 2])
    assert ellipse_ratio(np.ones(1), np.ones(1)) > 1e15
    solution = antenna.solve(2.39e9)
    assert solution.axial_ratio(0.0, 0.0, decibels=True) > 40
    for phi in (0.0, np.pi / 2):
        half, tenth = solution.beam_width(phi), solution.beam_width(phi, 0.1)
        assert np.radians(60) < half < np.radians(120) and half < tenth
        edges = solution.gain([half / 2, half / 2 + 0.1], [phi, phi])
        assert edges[1] < edges[0] < solution.gain(0.0, 0.0)


def test_losses_of_a_board():
    """A lossy board and a copper ground take what does not arrive."""
    lossy = cal.Stack([cal.Layer(3.175e-3, eps_r=2.33, tan_delta=5e-3)], below=cal.planar.Conductor(5.8e7))
    power = cal.PlanarProblem(lossy, PATCH, ports=[PROBE]).solve(2.39e9).power
    assert 0.05 < power.lost / power.accepted < 0.15


def test_losses_of_the_metal():
    """A sheet absorbs Re Z_s |J|^2 / 2, integrated over it."""
    strip, gap = cal.planar.strip_dipole(0.5, 0.02, 0.05), cal.DeltaGap(line=[[0, -0.01, 0], [0, 0.01, 0]])
    solution = cal.PlanarProblem(cal.Stack(), strip, ports=[gap], sheet=2 - 1j).solve(280e6)
    coefficients, mass = solution.surface.coefficients, solution.surface.space.mass_matrix()
    taken = (coefficients.conj() @ mass @ coefficients).real
    assert solution.power.lost == pytest.approx(taken, rel=0.01)
    assert solution.power.lost > 0.05 * solution.power.accepted


@pytest.mark.parametrize(
    "height, expected",
    [(1, 64.81 - 16.07j), pytest.param(3, 61.91 - 24.92j, marks=pytest.mark.variant), (10, 71.58 + 5.11j)],
)
def test_a_dipole_over_ground(height, expected):
    """10.2 m, a strip with the circumference of a wire of 5 mm radius; NEC-2 with Sommerfeld's ground, 161 segments."""
    ground = cal.Stack([cal.Layer(height)], below=cal.Layer(eps_r=13, conductivity=0.005))
    strip = cal.planar.strip_dipole(10.2, 0.02, 0.3, cells=3, z=height)
    gap = cal.DeltaGap(line=[[0, -0.01, height], [0, 0.01, height]])
    found = cal.PlanarProblem(ground, strip, ports=[gap]).impedance_matrix(14.2e6)
    assert abs(found[0, 0] - expected) < 1.5


def test_lumped_elements_end_ports():
    """A slot with Z is a port that ends in it: Z_in = Z_11 - Z_12 Z_21 / (Z_22 + Z)."""
    strip, f = cal.planar.strip_dipole(0.5, 0.02, 0.05), 280e6
    lines = np.unique(strip.vertices[:, 0].round(9))
    gaps = [
        cal.DeltaGap(line=[[x, -0.01, 0], [x, 0.01, 0]], toward=[1, 0, 0])
        for x in (0.0, lines[np.abs(lines - 0.12).argmin()])
    ]
    z = cal.PlanarProblem(cal.Stack(), strip, ports=gaps).impedance_matrix(f)
    omega = 2 * np.pi * f
    for load, ends in (
        (cal.Lumped(gaps[1], resistance=50.0, inductance=30e-9), 50 - 1j * omega * 30e-9),
        (cal.Lumped(gaps[1], resistance=75.0, capacitance=5e-12, parallel=True), 1 / (1 / 75 - 1j * omega * 5e-12)),
    ):
        loaded = cal.PlanarProblem(cal.Stack(), strip, ports=gaps[:1], loads=[load])
        expected = z[0, 0] - z[0, 1] * z[1, 0] / (z[1, 1] + ends)
        assert loaded.impedance_matrix(f)[0, 0] == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match="needs a resistance in ohm, an inductance in H or a capacitance in F"):
        cal.Lumped(gaps[1])
    with pytest.raises(ValueError, match="ports and loads share 4 edges"):
        cal.PlanarProblem(cal.Stack(), strip, ports=gaps[:1], loads=[cal.Lumped(gaps[0], resistance=1.0)])


def test_the_matrix_is_symmetric_and_two_patches_are_reciprocal():
    points = PATCH.vertices + [[0, 0, 0]]
    mesh = cal.TriangleMesh(
        np.concatenate([points, points + [0.05, 0, 0]]),
        np.concatenate([PATCH.triangles, PATCH.triangles + len(points)]),
    )
    ports = [PROBE, cal.ProbePort((0.05 - 8e-3, 0.0), radius=0.5e-3)]
    two = cal.PlanarProblem(BOARD, mesh, ports=ports)
    matrix = two.matrix(2.36e9)
    assert np.abs(matrix - matrix.T).max() < 1e-10 * np.abs(matrix).max()
    s = scattering(two.weights.T @ np.linalg.solve(matrix, -two.weights / 376.730313668), 50.0)
    assert abs(s[0, 1] - s[1, 0]) < 1e-10 and 0.02 < abs(s[0, 1]) < 0.3
    assert np.linalg.norm(s, 2) < 1


def test_a_strip_in_vacuum_is_the_antenna_of_free_space():
    strip = cal.planar.strip_dipole(0.5, 0.02, 0.05, z=0.1)
    gap = cal.DeltaGap(line=[[0, -0.01, 0.1], [0, 0.01, 0.1]])
    planar = cal.PlanarProblem(cal.Stack([cal.Layer(0.1), cal.Layer(0.1)]), strip, ports=[gap])
    k = 2 * np.pi * 280e6 / 299792458.0
    solution, expected = planar.solve(280e6), cal.PECAntenna(strip, k, gap).solve()
    assert solution.input_impedances[0] == pytest.approx(expected.input_impedance, rel=1e-6)
    theta = np.array([0.4, 1.2, 2.8])
    assert np.allclose(solution.far_field(theta, 0.7), expected.far_field(theta, 0.7), rtol=1e-5, atol=1e-9)
    assert solution.power.radiated == pytest.approx(solution.power.accepted, rel=1e-3)


def test_large_boards_by_fft_and_hmatrices(antenna):
    """A patch with a probe, a lossy sheet and a resistor in a slot, against the dense matrix."""
    line = [[9.5e-3, -28.5e-3, BOARD.top], [9.5e-3, 28.5e-3, BOARD.top]]
    xs = np.unique(PATCH.vertices[:, 0].round(9))
    line = np.array(line) * [0, 1, 1] + [xs[np.abs(xs - 9.5e-3).argmin()], 0, 0]
    load = cal.Lumped(cal.DeltaGap(line=line, toward=[1, 0, 0]), resistance=20.0)
    loaded = replace(antenna, sheet=3.0, loads=[load])
    solution, compressed, other = (loaded.solve(2.39e9, method=name) for name in ("fft", "hmatrix", "auto"))
    for each in (solution, compressed):
        assert each.input_impedances[0] == pytest.approx(other.input_impedances[0], rel=1e-4)
    assert "1 H-matrices" in compressed.info.matrix and "GMRES" in compressed.info.method
    assert "pre-corrected FFT" in solution.info.matrix and "GMRES" in solution.info.method
    assert "dense matrix" in other.info.matrix and other.info.method == "LU" and other.info.residual < 1e-12
    plans = {name: loaded.plan(2.39e9, method=name) for name in ("dense", "fft", "hmatrix", "auto")}
    number = loaded.function_space.dimension
    assert plans["auto"] == plans["dense"] and plans["dense"].nbytes == 16 * number**2
    assert {dict(each.lines)["unknowns"] for each in plans.values()} == {str(number)}
    for name, solved in (("fft", solution), ("hmatrix", compressed)):
        size, unit = re.search(r"([\d.]+) (k|M)B", solved.info.matrix).groups()
        assert 1 < plans[name].nbytes / (float(size) * {"k": 1e3, "M": 1e6}[unit]) < 20
        assert str(plans[name]).startswith(f"{name}: about ") and f"unknowns {number}" in str(plans[name])
    plate = cal.PlanarProblem(BOARD, PATCH)
    options = {"fft": {"method": "fft", "grid": {"spacing": 4e-3}}, "dense": {"method": "dense"}}
    levels = [plate.monostatic_rcs(2.39e9, [0.2, 0.4], 0.3, **each) for each in options.values()]
    assert np.allclose(*levels, rtol=1e-3)
    with pytest.raises(ValueError, match="unknown method 'mlfmm': choose 'auto' or 'dense' or 'hmatrix' or 'fft'"):
        antenna.solve(2.39e9, method="mlfmm")
    for options, message in (
        ({"precision": "single"}, "metal in layers is solved in precision='double'"),
        ({"method": "hmatrix", "backend": "opencl"}, "computes on the processor"),
        ({"keep_on_device": True}, "keep_on_device=: matrices of metal in layers have several parts"),
    ):
        with pytest.raises(ValueError, match=message):
            antenna.solve(2.39e9, **options)


def test_grids_on_a_device_solve_boards(opencl, antenna):
    """A plate without columns, whose vectors stay there, and a patch with a probe."""
    plate = cal.PlanarProblem(BOARD, PATCH)
    options = ({"method": "fft", "backend": name, "rtol": 1e-5} for name in ("numba", "opencl"))
    own, there = (
        [plate.monostatic_rcs(2.39e9, [0.2, 0.4], 0.3, **each), antenna.solve(2.39e9, **each)] for each in options
    )
    assert np.allclose(own[0], there[0], rtol=1e-3)
    assert there[1].input_impedances[0] == pytest.approx(own[1].input_impedances[0], rel=1e-4)
    assert "backend opencl" in there[1].info.matrix


def test_auto_compresses_large_boards(monkeypatch):
    """Without dense matrices: a large plate by FFT, as its near pairs are few, a small one as an H-matrix, and a board
    with much vertical metal by a dense matrix all the same."""
    monkeypatch.setattr("calderon.operators.methods.DENSE_BYTES", 0)
    for size, method in ((0.4, "fft"), (0.03, "hmatrix")):
        plate = cal.planar.patch(size, size, size / 40, z=BOARD.top)
        assert cal.PlanarProblem(BOARD, plate).plan(2e9).method == method
    wall = cal.planar.ribbon([(0, 0), (0.03, 0)], heights=(0, BOARD.top), h=3e-3)
    assert cal.PlanarProblem(BOARD, wall).plan(2e9).method == "dense"


def test_touchstone_files(tmp_path, sweep):
    """Numbers are those of exp(+j omega t); skrf reads the same."""
    sweep.write_touchstone(tmp_path / "patch.s1p")
    lines = (tmp_path / "patch.s1p").read_text().splitlines()
    assert lines[1] == "# Hz S RI R 50"
    numbers = np.array([line.split() for line in lines[2:]], dtype=float)
    assert np.allclose(numbers[:, 0], sweep.frequencies)
    assert np.allclose(numbers[:, 1] - 1j * numbers[:, 2], sweep.s[:, 0, 0], rtol=1e-9)
    with pytest.raises(ValueError, match=r"of 1 port\(s\) ends with .s1p, got 'patch.s2p'"):
        sweep.write_touchstone("patch.s2p")
    replace(sweep, of_lines=True).write_touchstone(tmp_path / "line.s1p")
    assert "relative to the impedances of lines, or of modes" in (tmp_path / "line.s1p").read_text().splitlines()[1]
    skrf = pytest.importorskip("skrf")
    for name in ("patch.s1p", "line.s1p"):
        assert np.allclose(skrf.Network(str(tmp_path / name)).s, sweep.s.conj())


@pytest.mark.parametrize("layers, frequency", [
    (([cal.Layer(0.43)], cal.Layer(eps_r=80, conductivity=5.0)), 1e9),  # above sea water
    (([cal.Layer(35e-6, conductivity=5.8e7), cal.Layer(1.6e-3, eps_r=4.0)], cal.Layer()), 5e9),  # on copper
])  # fmt: skip
def test_meshes_are_judged_by_the_media_next_to_them(layers, frequency, recwarn):
    stack = cal.Stack(layers[0], below=layers[1])
    wavelength = 3e8 / frequency / (2.0 if frequency == 5e9 else 1.0)
    for part, coarse in ((9, False), (5, True)):
        mesh = cal.planar.patch(wavelength, wavelength, wavelength / part / 2**0.5, z=stack.top)
        recwarn.clear()
        cal.PlanarProblem(stack, mesh).warn_of_coarse_meshes(frequency)
        assert any("eighth of the wavelength" in str(each.message) for each in recwarn) == coarse


def test_mistakes_are_named():
    with pytest.raises(cal.MeshError, match=r"at \(18.9, 0\) mm, z = 3.175 mm, is not surrounded by metal"):
        cal.PlanarProblem(BOARD, PATCH, ports=[cal.ProbePort((18.9e-3, 0), radius=0.5e-3)])
    with pytest.raises(ValueError, match="a probe needs a conductor below the stack"):
        cal.PlanarProblem(cal.Stack([cal.Layer(3.175e-3)]), PATCH, ports=[PROBE]).matrix(2e9)
    with pytest.raises(TypeError, match="ports are a list of ProbePort, EdgePort, DeltaGap and LinePort, got list"):
        cal.PlanarProblem(BOARD, PATCH, ports=[(0, 0)])
    with pytest.raises(ValueError, match=r"has no ports: give some in ports=, or use scatter\(frequency, theta, phi\)"):
        cal.PlanarProblem(BOARD, PATCH).impedance_matrix(2e9)
    with pytest.warns(cal.AccuracyWarning, match="longer than an eighth of the wavelength"):
        cal.PlanarProblem(BOARD, PATCH, ports=[PROBE]).warn_of_coarse_meshes(5e9)
    for voltages in (0, np.nan):
        with pytest.raises(ValueError, match="voltages are finite numbers in V, one of them not zero"):
            cal.PlanarProblem(BOARD, PATCH, ports=[PROBE]).solve(2e9, voltages)
    for place in ((0, 0, 0), "ab", (np.nan, 0)):
        with pytest.raises(ValueError, match=r"the place of a probe in m is two finite numbers \(x, y\), got"):
            cal.ProbePort(place, radius=1e-3)
    for grid in ({"spacin": 1e-3}, "coarse"):
        with pytest.raises(TypeError, match="options of the grid are a mapping with the keys spacing, order, near"):
            cal.PlanarProblem(BOARD, PATCH, ports=[PROBE]).solve(2e9, method="fft", grid=grid)
    with pytest.raises(ValueError, match="interpolate=0: a tolerance is a number between 0 and 1"):
        cal.PlanarProblem(BOARD, PATCH, ports=[PROBE]).sweep(2e9, 3e9, interpolate=0)
    with pytest.raises(ValueError, match="give one voltage for each"):
        cal.PlanarProblem(BOARD, PATCH, ports=[PROBE]).solve(2e9, [1, 2])
    two = cal.PlanarProblem(BOARD, PATCH, ports=[PROBE, replace(PROBE, place=(8e-3, 0.0))])
    for given, error, message in (
        ({"voltages": [0, 0]}, ValueError, "voltages= are those of the solutions for solved=, which is missing"),
        ({"solved": "x"}, TypeError, "solved= is a function that is called with each solution, got 'x'"),
        ({"solved": list}, ValueError, "give one voltage for each"),
        ({"solved": list, "voltages": [1, np.nan]}, ValueError, "voltages are finite numbers in V"),
    ):
        with pytest.raises(error, match=message):
            two.sweep(2e9, 3e9, **given)
    with pytest.raises(cal.MeshError, match="lowest metal is at z = 1 mm, and interfaces of the stack are at 0, 3.175"):
        cal.PlanarProblem(BOARD, cal.planar.patch(57e-3, 38e-3, h=7e-3, z=1e-3), ports=[PROBE])
    with pytest.raises(ValueError, match=r"probes at \(-0.008, 0.0\) and \(-0.008, 0.0\) m touch"):
        cal.PlanarProblem(BOARD, PATCH, ports=[PROBE, PROBE])
    with pytest.raises(ValueError, match="points=0: a whole number of at least 1 is needed"):
        cal.PlanarProblem(BOARD, PATCH, ports=[PROBE]).sweep(2e9, 3e9, points=0)
