"""Circuits between gaps of wires and of composite bodies: a resistor as a circuit is a load in the matrix."""

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.ports.port_sweep import PortSweep

F = 299792458.0
K = 2 * np.pi
HERE, THERE = cal.WireGap([0, 0, 0]), cal.WireGap([0.2, 0, 0])


def rod(x):
    return cal.Wire([[x, 0, -0.25], [x, 0, 0.25]], 1e-3, 12)


def pair(ports=HERE, **given):
    return cal.WireAntenna([rod(0.0), rod(0.2)], ports, F, **given)


def slot(x=0.0, **given):
    return cal.DeltaGap(line=[[x, -0.05, 0], [x, 0.05, 0]], **given)


def sheet(ports, **given):
    mesh = cal.mesh.plate([0.5, 0.1], 0.05)
    given = {"regions": {"air": cal.Material()}, "surfaces": {0: cal.Sheet("air")}, "wavenumber": K, **given}
    return cal.MaxwellProblem(mesh, ports=ports, **given)


CASES = {
    "wires": (pair, HERE, THERE, cal.WireGap([0.2, 0, 0], [0, 0, -1])),
    "sheet": (sheet, slot(), slot(0.1), slot(0.1, toward=[-1, 0, 0])),
}


@pytest.mark.parametrize("name", CASES)
def test_circuits_are_meshed_loads_and_networks_of_ports(name):
    made, first, second, turned = CASES[name]
    load = cal.Lumped(second, resistance=70.0, inductance=2e-8)
    meshed = made(first, loads=load).solve(2.0)
    joined = made(first).connected([[1 / load.impedance_at(F)]], second).solve(2.0)
    assert joined.input_impedance == pytest.approx(meshed.input_impedance, rel=1e-8)
    np.testing.assert_allclose(joined.far_field(0.7, 0.3), meshed.far_field(0.7, 0.3), rtol=1e-8)
    absorbed = meshed.input_power - meshed.radiated_power()
    assert joined.circuit_power == pytest.approx(absorbed, rel=0.03)
    assert joined.input_power == pytest.approx(joined.radiated_power() + joined.circuit_power, rel=2e-3)
    # a line between both ports: Y of the antenna and of the line add up, and the second port has no generator
    y = made([first, second]).admittance_matrix()
    line = cal.Line(75.0, length=0.15, velocity=0.66)
    both = y + line.admittance_at(F)
    found = made(first).connected(line, [first, second])
    assert found.admittance_matrix()[0, 0] == pytest.approx(both[0, 0] - both[0, 1] * both[1, 0] / both[1, 1], rel=1e-8)
    # a gap that counts the other way turns the conductors of the line round
    other = made(first).connected(cal.Line(75.0, length=0.15, velocity=0.66, crossed=True), [first, turned])
    assert other.solve().input_impedance == pytest.approx(found.solve().input_impedance, rel=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_waves_meet_circuits_as_they_meet_loads(name):
    made, first, second, _ = CASES[name]
    loads = cal.Lumped(second, resistance=70.0)
    along = [0, 0, 1] if name == "wires" else [1, 0, 0]
    impedance = made(first).impedance if name == "sheet" else 1.0
    in_medium = {} if name == "wires" else {"impedance": impedance}  # wires are in vacuum
    wave = cal.ElectromagneticPlaneWave([0, 1, 0], along, K, **in_medium)
    meshed, joined = made(first, loads=loads).solve(wave), made(first).connected([[1 / 70.0]], second).solve(wave)
    np.testing.assert_allclose(joined.far_field(0.7, 0.3), meshed.far_field(0.7, 0.3), rtol=1e-8)


def test_an_antenna_is_a_circuit_of_another():
    """A second antenna far away, joined by its sweep, is the load that its impedance is."""
    hertz = np.array([0.9 * F, F, 1.1 * F])
    s = np.stack([pair(THERE).at(f).scattering_matrix() for f in hertz])
    sweep = PortSweep(hertz, s, 50.0, hertz, s, 0.0)
    z = pair(THERE).impedance_matrix()[0, 0]
    found = pair().connected(sweep, THERE).solve()
    meshed = pair(loads=cal.Lumped(THERE, impedance=z)).solve()
    assert found.input_impedance == pytest.approx(meshed.input_impedance, rel=1e-8)
    with pytest.raises(ValueError, match="covers"):
        pair().connected(sweep, THERE).at(2 * F).solve()
    gives = PortSweep(hertz, 0 * s + 1.01, 50.0, hertz, s, 0.0)
    with pytest.raises(ValueError, match=r"up to 2 % more comes out"):
        pair().connected(gives, THERE).solve()


def test_circuits_where_they_cannot_be_are_refused():
    with pytest.raises(TypeError, match="no port in a DeltaGap"):
        pair().connected([[0.1]], slot())
    with pytest.raises(TypeError, match="circuits are a tuple of Circuit"):
        pair(circuits=[1])
    with pytest.raises(ValueError, match="no wire is at"):
        pair().connected([[0.1]], cal.WireGap([1, 0, 0]))
    with pytest.raises(ValueError, match=r"current flows around .*\[0.0, 0.0, 0.0\], within the metal"):
        sheet(slot()).connected([[0.1]], cal.DeltaGap(line=[[0, -0.05, 0], [0, 0, 0]]))
