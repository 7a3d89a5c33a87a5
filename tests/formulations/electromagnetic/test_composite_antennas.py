"""Ports and loads of bodies of several materials: strips on and in boards, sheets, several ports, sweeps."""

import numpy as np
import pytest

import calderon as cal

K = 2 * np.pi
AIR = cal.Material()


def strip_on_board(epsilon, h=0.05, **given):
    board = cal.mesh.cuboid((0.6, 0.3, 0.1), h)
    x, y, _ = board.centroids.T
    strip = (board.normals[:, 2] > 0.5) & (abs(x) < 0.25) & (abs(y) < 0.05)
    mesh = cal.TriangleMesh(board.vertices, board.triangles, strip.astype(int), {"board": 0, "strip": 1})
    surfaces = {"board": cal.Interface("air", "board"), "strip": cal.Metal("air", "board")}
    return cal.MaxwellProblem(
        mesh, regions={"air": AIR, "board": cal.Material(epsilon)}, surfaces=surfaces, wavenumber=K, **given
    )


def slot(z=0.0, x=0.0):
    return cal.DeltaGap(line=[[x, -0.05, z], [x, 0.05, z]])


def sheet(**given):
    mesh = cal.mesh.plate([0.5, 0.1], 0.05)
    return cal.MaxwellProblem(mesh, regions={"air": AIR}, surfaces={0: cal.Sheet("air")}, **({"wavenumber": K} | given))


@pytest.fixture(scope="module")
def alone():
    return cal.PECAntenna(cal.mesh.plate([0.5, 0.1], 0.05), K, [slot(), slot(x=0.1)])


def test_a_strip_on_a_board_of_air_is_the_strip_alone(alone):
    gaps = [slot(0.05), slot(0.05, 0.1)]
    found = strip_on_board(1.0, ports=gaps).impedance_matrix()
    np.testing.assert_allclose(found, alone.impedance_matrix(), rtol=1e-8)
    np.testing.assert_allclose(sheet(ports=[slot(), slot(x=0.1)]).impedance_matrix(), found, rtol=1e-8)
    with pytest.raises(ValueError, match="unlike media, the regions 'air', 'board'"):
        strip_on_board(4.0, ports=gaps)
    with pytest.raises(ValueError, match="an interface of two materials ends or continues"):
        strip_on_board(1.0, ports=cal.DeltaGap(line=[[0.25, -0.05, 0.05], [0.25, 0.05, 0.05]]))


def test_a_strip_in_a_board_radiates_what_it_accepts(tmp_path):
    """The impedance is that of another program of the same equations; all power that goes in comes out."""
    board, strip = cal.mesh.cuboid((0.6, 0.3, 0.1), 0.05), cal.mesh.plate([0.5, 0.1], 0.05).translated([0, 0, 0.03])
    tags = np.repeat([0, 1], [board.number_of_triangles, strip.number_of_triangles])
    both = cal.mesh.merge([board, strip])
    mesh = cal.TriangleMesh(both.vertices, both.triangles, tags, {"board": 0, "strip": 1})
    surfaces = {"board": cal.Interface("air", "board"), "strip": cal.Sheet("board")}
    media = {"air": AIR, "board": cal.Material(4.0)}
    problem = cal.MaxwellProblem(mesh, regions=media, surfaces=surfaces, ports=slot(0.03), frequency=299792458.0)
    solution = problem.solve()
    assert solution.input_impedance == pytest.approx(26.4 + 63.3j, rel=0.02)
    assert solution.radiated_power() == pytest.approx(solution.input_power, rel=1e-3)
    assert solution.region_names([[0, 0, 0], [0, 0, 0.2]]) == ["board", "air"]
    solution.save(tmp_path / "board.h5")
    again, x = cal.load(tmp_path / "board.h5"), [[0.0, 0.1, 0.01]]
    assert np.array_equal(again.electric(x), solution.electric(x)) and again.feeds == ("port 1",)
    wave = cal.PlaneWave([0, 0, -1], polarization=[1, 0, 0])
    assert problem.solve(wave).rcs(0.0, 0.0) > 0
    lossy = {"air": AIR, "board": cal.Material(4.0, loss_tangent=0.1)}
    warm = cal.MaxwellProblem(mesh, regions=lossy, surfaces=surfaces, ports=slot(0.03), frequency=299792458.0).solve()
    assert 0.3 < warm.efficiency() < 0.99
    lost = warm.absorbed_power()["board"]
    assert lost + warm.radiated_power() == pytest.approx(warm.input_power, rel=3e-3)


def test_loads_are_in_series_and_absorb():
    port, other, f = slot(), slot(x=0.1), 299792458.0
    load = cal.Lumped(port, resistance=30.0, inductance=1e-8)
    bare = sheet(ports=port).solve().input_impedance
    loaded = sheet(ports=port, loads=load).solve()
    assert loaded.input_impedance == pytest.approx(bare + load.impedance_at(f), rel=1e-10)
    assert loaded.radiated_power() + loaded.load_powers().sum() == pytest.approx(loaded.input_power, rel=1e-3)
    # a load in another slot, in the matrix and by the matrix of two ports
    z = sheet(ports=[port, other]).impedance_matrix()
    meshed = sheet(ports=port, loads=cal.Lumped(other, capacitance=1e-11)).solve().input_impedance
    by_ports = z[0, 0] - z[0, 1] * z[1, 0] / (z[1, 1] + cal.Lumped(other, capacitance=1e-11).impedance_at(f))
    assert meshed == pytest.approx(by_ports, rel=1e-8)


def test_ports_are_swept_over_a_band(tmp_path):
    sweep = sheet(ports=slot()).sweep(2e8, 4e8, points=201, interpolate=1e-4)
    assert sweep.solves <= 18
    f = 3.3e8
    exact = sheet(ports=slot(), wavenumber=None, frequency=f).scattering_matrix()
    assert abs(sweep.s[np.argmin(abs(sweep.frequencies - f))] - exact).max() < 1e-4
    assert np.all(abs(sweep.s) < 1) and sweep.z[0, 0, 0].imag > 0 > sweep.z.imag.min()  # capacitive, then inductive
    sweep.write_touchstone(tmp_path / "strip.s1p")
    with pytest.raises(ValueError, match="0 ports"):
        sheet().sweep(2e8, 4e8)


def test_what_is_no_port_is_refused():
    with pytest.raises(TypeError, match="ports is a list of DeltaGap"):
        sheet(ports=["feed"])
    with pytest.raises(ValueError, match="share"):
        sheet(ports=[slot(), slot()])
    with pytest.raises(ValueError, match="one voltage for each"):
        sheet(ports=slot()).solve([1.0, 2.0])
    with pytest.raises(ValueError, match="has no ports"):
        sheet().admittance_matrix()


def test_loads_of_a_conductor_join_its_gaps_as_they_do_in_the_matrix(alone, tmp_path):
    loads = [
        cal.Lumped(slot(x=0.1), resistance=40.0, inductance=2e-8),
        cal.Lumped(slot(), impedance=lambda hertz: 10 - 1e-7j * hertz),
    ]
    antenna = cal.PECAntenna(alone.mesh, K, slot(), loads=loads)
    found, same = antenna.solve(2.0), sheet(ports=slot(), loads=loads).solve(2.0)
    assert found.input_impedance == pytest.approx(same.input_impedance, rel=1e-8)
    np.testing.assert_allclose(found.load_powers(), same.load_powers(), rtol=1e-8)
    np.testing.assert_allclose(found.far_field(0.7, 0.3), same.far_field(0.7, 0.3), rtol=1e-8)
    assert found.input_power == pytest.approx(found.radiated_power() + found.load_powers().sum(), rel=1e-3)
    assert found.efficiency() == pytest.approx(found.radiated_power() / found.input_power)
    found.save(tmp_path / "loaded.h5")
    np.testing.assert_array_equal(cal.load(tmp_path / "loaded.h5").load_powers(), found.load_powers())
    # one in the only feed is in series with it, and a sweep has it at each frequency
    hertz = antenna.frequency
    plain, series = (cal.PECAntenna(alone.mesh, K, slot(), loads=each) for each in ([], loads[1]))
    element = loads[1].impedance_at(hertz)
    assert series.solve().input_impedance == pytest.approx(plain.solve().input_impedance + element, rel=1e-10)
    swept = antenna.sweep([hertz, 1.1 * hertz])
    assert swept.solutions[0].input_impedance == pytest.approx(found.input_impedance, rel=1e-8)
    band = antenna.sweep(np.linspace(0.7, 1.4, 201) * hertz, interpolate=1e-4)
    assert band.solves <= 18
    between = band.frequencies[[151]]
    assert between[0] not in band.solved
    np.testing.assert_allclose(band.s[151], antenna.sweep(between).s[0], atol=1e-4)


def test_loads_that_do_not_fit_are_refused(alone):
    with pytest.raises(ValueError, match="real part is 0 or positive"):
        cal.Lumped(slot(), impedance=-1.0 + 5j)
    with pytest.raises(ValueError, match=r"negative|real part is 0 or positive"):
        cal.Lumped(slot(), impedance=lambda hertz: -1.0).impedance_at(1e9)
    with pytest.raises(ValueError, match="with an impedance has no resistance"):
        cal.Lumped(slot(), resistance=1.0, impedance=1.0)
    with pytest.raises(TypeError, match="loads is a list of Lumped"):
        cal.PECAntenna(alone.mesh, K, slot(), loads=[slot()])
    with pytest.raises(ValueError, match="gaps share"):
        tagged = cal.TriangleMesh(alone.mesh.vertices, alone.mesh.triangles, (alone.mesh.centroids[:, 0] > 0) * 1)
        crossing = cal.DeltaGap(line=[[0, -0.05, 0], [0, 0, 0]])
        cal.PECAntenna(tagged, K, slot(), loads=cal.Lumped(crossing, resistance=1.0))
    with pytest.raises(ValueError, match="ohm"):
        cal.PECAntenna(alone.mesh, K, slot(), impedance=1.0, loads=cal.Lumped(slot(), resistance=1.0))


def test_circuits_between_gaps(alone):
    """A resistor as a circuit is a load; a line is the network that scikit-rf makes of it; power is conserved."""
    skrf = pytest.importorskip("skrf", reason="networks are of scikit-rf")
    first, second = slot(), slot(x=0.1)
    fed = cal.PECAntenna(alone.mesh, K, first)
    hertz = fed.frequency
    with_load = cal.PECAntenna(alone.mesh, K, first, loads=cal.Lumped(second, resistance=70.0)).solve()
    as_circuit = fed.connected([[1 / 70.0]], second).solve()
    assert as_circuit.input_impedance == pytest.approx(with_load.input_impedance, rel=1e-10)
    assert as_circuit.circuit_power == pytest.approx(with_load.load_powers()[0], rel=1e-10)
    # the scattering matrix of the antenna and a line by scikit-rf
    line = cal.Line(75.0, length=0.15, velocity=0.66)
    joined = fed.connected(line, [first, second])
    frequency = skrf.Frequency.from_f([hertz], unit="Hz")
    wave = 2j * np.pi * hertz / (0.66 * 299792458.0)
    medium = skrf.media.DefinedGammaZ0(frequency, z0=75.0, gamma=wave, z0_port=50.0)
    s = alone.scattering_matrix().conj()[None]
    antenna = skrf.Network(frequency=frequency, s=s, z0=50.0, name="antenna")
    parts = pytest.importorskip("skrf.circuit")
    port = parts.Circuit.Port(frequency, "port", z0=50.0)
    cable = medium.line(0.15, "m", name="line")
    circuit = parts.Circuit([[(port, 0), (antenna, 0), (cable, 0)], [(antenna, 1), (cable, 1)]])
    expected = circuit.s_external[0, 0, 0].conj()
    assert joined.scattering_matrix()[0, 0] == pytest.approx(expected, abs=1e-9)
    assert fed.connected(cable, [first, second]).scattering_matrix()[0, 0] == pytest.approx(expected, abs=1e-9)
    crossed = cal.PECAntenna(alone.mesh, K, first).connected(
        cal.Line(75.0, length=0.15, velocity=0.66, crossed=True), [first, second]
    )
    assert abs(crossed.scattering_matrix()[0, 0] - expected) > 0.01
    # a lossy network at two gaps, one of them fed
    lossy = fed.connected(lambda f: np.array([[0.02, -0.01 + 2e-11j * f], [-0.01 + 2e-11j * f, 0.03]]), [first, second])
    found = lossy.solve(3.0)
    assert found.circuit_power > 0.1 * found.input_power
    assert found.input_power == pytest.approx(found.radiated_power() + found.circuit_power, rel=1e-3)


def test_circuits_that_do_not_fit_are_refused(alone):
    fed, both = cal.PECAntenna(alone.mesh, K, slot()), [slot(), slot(x=0.1)]
    for network, problem in [
        ([[-0.01]], "delivers power"),
        (np.eye(3), r"admittances \(1, 1\), got \(3, 3\)"),
        ([[np.nan]], "not finite"),
        (cal.Line(50.0, length=0.2), r"admittances \(1, 1\), got \(2, 2\)"),
    ]:
        with pytest.raises(ValueError, match=problem):
            fed.connected(network, slot()).solve()
    with pytest.raises(ValueError, match="half wavelengths"):
        fed.connected(cal.Line(50.0, length=0.5 * 2 * np.pi / K), both).solve()
    skrf = pytest.importorskip("skrf", reason="networks are of scikit-rf")
    hertz = skrf.Frequency.from_f([0.9 * fed.frequency, 1.1 * fed.frequency], unit="Hz")
    for z0 in ([[50.0], [75.0]], [[50.0 + 5j], [50.0 + 5j]]):
        with pytest.raises(ValueError, match="renormalize it to 50 ohm"):
            fed.connected(skrf.Network(frequency=hertz, s=np.zeros((2, 1, 1)), z0=z0), slot()).solve()
    with pytest.raises(TypeError, match="ports of a circuit"):
        fed.connected(cal.Line(50.0, length=0.2), [1, 2])
