"""Coils and other metal much smaller than the wavelength: inductance, resistance and charges at any low frequency."""

import numpy as np
import pytest
from scipy.special import ellipe, ellipk

import calderon as cal
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.mesh import TriangleMesh
from calderon.operators import electric_field
from calderon.spaces import RWG
from calderon.spaces.edge.loops import FlowGraph
from catalogue import cases

RADIUS, WIDTH = 0.05, 0.002
MU0 = VACUUM_IMPEDANCE / SPEED_OF_LIGHT
BY = {"LU": {}, "GMRES": {"solver": "gmres"}, "H-matrix": {"method": "hmatrix"}}
pytestmark = pytest.mark.filterwarnings("ignore:wavenumber times diameter")


def from_quadrangles(corners: list[list[list[float]]]) -> TriangleMesh:
    vertices, numbers = np.unique(np.round(np.array(corners, float).reshape(-1, 3), 9), axis=0, return_inverse=True)
    four = numbers.reshape(-1, 4)
    return TriangleMesh(vertices, np.concatenate([four[:, [0, 1, 2]], four[:, [0, 2, 3]]]))


def ring(height: float = 0.0, radius: float = RADIUS, around: int = 72) -> TriangleMesh:
    """A flat closed strip with narrow cells at its edges; polygons of the circumference of circles."""
    angles = 2 * np.pi * np.arange(around + 1) / around
    across = radius + WIDTH / 2 * np.array([-1.0, -0.8, 0.0, 0.8, 1.0])
    points = (np.pi / around / np.sin(np.pi / around)) * across[:, None, None] * np.stack(
        [np.cos(angles), np.sin(angles)], axis=1)  # fmt: skip
    points = np.concatenate([points, np.full((*points.shape[:2], 1), height)], axis=2)
    return from_quadrangles(
        [[points[i, j], points[i + 1, j], points[i + 1, j + 1], points[i, j + 1]]
         for i in range(len(across) - 1) for j in range(around)]
    )  # fmt: skip


def gap_of(mesh: TriangleMesh, height: float = 0.0) -> cal.DeltaGap:
    """Across the strip at y = 0, x > 0."""
    x, y, z = mesh.vertices.T
    on = (x > 0) & (abs(y) < 1e-9) & (abs(z - height) < 1e-9)
    return cal.DeltaGap(edges=np.flatnonzero(on[mesh.edges].all(axis=1)), toward=[0, 1, 0])


def three_turns(height: float = 0.0, cell: float = 1e-3) -> tuple[TriangleMesh, cal.DeltaGap]:
    """A square spiral of three turns, two cells wide, and the bridge two cells below that closes it."""
    cells, place = set(), np.zeros(2, int)
    for leg in range(12):
        step = (6 + 4 * (leg // 2)) * np.array([(1, 0), (0, 1), (-1, 0), (0, -1)][leg % 4])
        low, high = np.minimum(place, place + step), np.maximum(place, place + step) + 2
        cells |= {(i, j) for i in range(low[0], high[0]) for j in range(low[1], high[1])}
        place = place + step
    x = int(place[0])
    cells = {(i, j) for i, j in cells if not (x <= i < x + 2 and j < 0)}
    bridge = {(i, j) for i in range(x, 0) for j in (-2, -1)} | {(i, j) for i in (-2, -1) for j in (0, 1)}
    quads = []
    for squares, z in ((cells, 0), (bridge, -2)):
        quads += [[[i, j, z], [i + 1, j, z], [i + 1, j + 1, z], [i, j + 1, z]] for i, j in squares]
    ends = [([x + n, 0], [x + n + 1, 0]) for n in (0, 1)] + [([0, n], [0, n + 1]) for n in (0, 1)]
    quads += [[[*a, -k], [*b, -k], [*b, -k - 1], [*a, -k - 1]] for a, b in ends for k in (0, 1)]
    with pytest.warns(cal.mesh.MeshWarning, match="orientation"):
        mesh = from_quadrangles((np.array(quads) * cell + [0, 0, height]).tolist())
    return mesh, cal.DeltaGap(line=[[3 * cell, 0, height], [3 * cell, 2 * cell, height]])


def inductance(impedance: complex, frequency: float) -> float:
    return -impedance.imag / (2 * np.pi * frequency)


RING, COARSE = ring(around=36), ring(around=24)


@pytest.mark.parametrize("by", BY)
def test_a_ring_has_its_inductance_and_resistance(by):
    """L = mu0 R (log(32 R / w) - 2) of a strip without thickness, whose current is that of a wire of radius w / 4, less
    what flows as charges up to the first resonance, where the circumference is half a wavelength; and the resistance
    pi / 6 eta (k R)^4 of a small loop, 1e-22 of the reactance at 1 kHz."""
    for frequency in (1e3, 13.56e6) if by == "GMRES" else (1e3,):
        solution = cal.PECAntenna(RING, frequency=frequency, feed=gap_of(RING)).solve(rtol=1e-6, **BY[by])
        z, k = solution.input_impedance, 2 * np.pi * frequency / SPEED_OF_LIGHT
        expected = MU0 * RADIUS * (np.log(32 * RADIUS / WIDTH) - 2) / (1 - (2 * k * RADIUS) ** 2)
        assert inductance(z, frequency) == pytest.approx(expected, rel=5e-3)
        assert z.real == pytest.approx(np.pi / 6 * VACUUM_IMPEDANCE * (k * RADIUS) ** 4, rel=2e-2)
        assert solution.input_power == pytest.approx(solution.radiated_power(), rel=1e-2)
        assert ("resistances from the radiated power" in solution.info.method) or frequency > 1e7
        assert solution.info.residual < 1e-6


@pytest.fixture(scope="module")
def coil():
    """A coil of three turns, its gap and its inductance at rest: 1 / L is w^T (L^T A L)^-1 w / mu0 of the basis L of
    currents without charges."""
    mesh, gap = three_turns()
    space = RWG(mesh)
    loops, k = FlowGraph.of(space).loops().toarray(), 1e-6
    static = loops.T @ (electric_field(k, space, charges=False).assemble().to_array() / (1j * k)).real @ loops
    voltage = loops.T @ gap.weights(space)
    return mesh, gap, MU0 / (voltage @ np.linalg.solve(static, voltage))


@pytest.mark.parametrize("by", BY)
def test_three_turns_have_the_inductance_of_their_loops(coil, by):
    mesh, gap, expected = coil
    for frequency in (1e3, 85e3) if by == "GMRES" else (1e3,):
        z = cal.PECAntenna(mesh, frequency=frequency, feed=gap).solve(**BY[by]).input_impedance
        assert inductance(z, frequency) == pytest.approx(expected, rel=2e-5) and z.real > 0


@pytest.mark.variant
@pytest.mark.parametrize("options", [{}, {"solver": "gmres"}], ids=str)
def test_two_rings_have_maxwells_mutual_inductance(options):
    distance, frequency = 0.03, 1e4
    one, two = COARSE, ring(distance, around=24)
    both = TriangleMesh(
        np.concatenate([one.vertices, two.vertices]), np.concatenate([one.triangles, two.triangles + len(one.vertices)])
    )
    pair = cal.PECAntenna(both, frequency=frequency, feed=[gap_of(both), gap_of(both, distance)])
    m = 4 * RADIUS**2 / (4 * RADIUS**2 + distance**2)
    expected = MU0 * RADIUS * ((2 / np.sqrt(m) - np.sqrt(m)) * ellipk(m) - 2 / np.sqrt(m) * ellipe(m))
    z = pair.impedance_matrix(**options)
    assert abs(inductance(z[1, 0], frequency)) == pytest.approx(expected, rel=1e-2)
    assert np.linalg.eigvalsh((z + z.T).real / 2).max() > 0
    y = pair.admittance_matrix(**options)
    assert y.real.trace() > 0 and y.real[0, 1] ** 2 <= y.real[0, 0] * y.real[1, 1] * (1 + 1e-6)


def test_voltages_of_any_phase_and_files_keep_the_resistance(tmp_path):
    antenna = cal.PECAntenna(COARSE, frequency=1e3, feed=gap_of(COARSE))
    one, other = antenna.solve_all([[1.0], [3 - 2j]])
    assert other.input_impedance == pytest.approx(one.input_impedance, rel=1e-9) and other.input_power > 0
    assert other.input_impedance.real == pytest.approx(one.input_impedance.real, rel=1e-6)
    one.save(tmp_path / "coil.h5")
    assert cal.load(tmp_path / "coil.h5").input_impedance == one.input_impedance
    assert one.gain(np.pi / 2, 0.3) == pytest.approx(1.5, rel=2e-2)  # of a magnetic dipole


@pytest.mark.parametrize("by", cases(BY, ["GMRES"]))
def test_a_short_dipole_has_its_capacitance_and_its_charges(by):
    """Charges between open ends are the other limit: C does not depend on the frequency, R grows with its square."""
    strip = cal.planar.strip_dipole(0.1, 0.004, 0.012, cells=3)
    gap = cal.DeltaGap(line=[[0, -0.002, 0], [0, 0.002, 0]])
    solutions = [cal.PECAntenna(strip, frequency=f, feed=gap).solve(**BY[by]) for f in (1e3, 1e6, 30e6)]
    z = np.array([each.input_impedance for each in solutions])
    capacitance = 1 / (2 * np.pi * np.array([1e3, 1e6, 30e6]) * z.imag)
    assert capacitance[:2] == pytest.approx(capacitance[2], rel=5e-3) and capacitance[0] > 0.3e-12
    assert z.real[:2] * np.array([9e8, 900.0]) == pytest.approx(z.real[2], rel=2e-2)
    direct = cal.PECAntenna(strip, frequency=1e3, feed=gap).solve().surface.coefficients
    assert np.linalg.norm(solutions[0].surface.coefficients - direct) < 1e-4 * np.linalg.norm(direct)
    near = [each.electric([[0.0, 0.02, 0.01], [0.04, 0.0, 0.02]]) for each in solutions]
    assert np.linalg.norm(near[0] - near[1]) < 1e-3 * np.linalg.norm(near[1])


@pytest.mark.parametrize("options", [{"solver": "lu"}, {}, {"method": "hmatrix"}, {"preconditioner": "mass"}], ids=str)
def test_small_conductors_scatter_as_mie_says(options):
    """Electric and magnetic dipoles of equal size: both kinds of currents are needed."""
    mesh, angles = cal.mesh.sphere(1.0, 0.5), np.array([0.0, 1.0, np.pi])
    wave = cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0])
    for k in (1e-8, 1e-4, 1e-2):
        problem = cal.PECScattering(mesh, k, formulation="efie")
        exact = cal.exact.mie_pec_sphere(k, 1.0).rcs(angles, 0.0)
        assert 10 * np.log10(problem.solve(wave, **options).rcs(angles, 0.0) / exact) == pytest.approx(0, abs=0.03)
        back = problem.monostatic_rcs(np.array([0.0, 1.2]), 0.0, **options)
        assert 10 * np.log10(back / exact[2]) == pytest.approx(0, abs=0.03)


def test_both_equations_agree_where_they_meet(monkeypatch):
    """Loops and charges apart are the same equation: currents agree to rounding where the plain one holds."""
    strip, gap = cal.planar.strip_dipole(1.0, 0.1, 0.1, cells=2), cal.DeltaGap(line=[[0, -0.05, 0], [0, 0.05, 0]])
    apart = cal.PECAntenna(strip, 0.4, gap).solve()
    monkeypatch.setattr("calderon.formulations.electromagnetic.pec.SPLIT_BELOW", 0.0)
    plain = cal.PECAntenna(strip, 0.4, gap).solve()
    assert "apart" in apart.info.matrix and "apart" not in plain.info.matrix
    assert np.allclose(apart.surface.coefficients, plain.surface.coefficients, rtol=0, atol=1e-9 * abs(
        plain.surface.coefficients).max())  # fmt: skip


def test_what_cannot_be_is_refused():
    antenna = cal.PECAntenna(COARSE, frequency=1e5, feed=gap_of(COARSE))
    with pytest.raises(ValueError, match="take 'near' or 'mass'"):
        antenna.solve(method="hmatrix", preconditioner="hlu")
    with pytest.raises(ValueError, match="choose 'hmatrix' or 'dense'"):
        electric_field(1.0, antenna.function_space, charges=False).assemble("mlfmm")
