"""S for complex reference impedances of each port, against scikit-rf, the definition of power waves, and impedances."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact import SPEED_OF_LIGHT
from calderon.formulations.ports.port_sweep import PortSweep
from calderon.formulations.ports.power_waves import impedance, renormalised, scattering

Z0 = np.array([50.0, 30 - 40j, 75 + 10j])
HERTZ = np.array([1e9, 2e9])


@pytest.fixture(scope="module")
def admittance():
    """Symmetric, with losses."""
    y = np.random.default_rng(1).normal(size=(2, 3, 3)) * 0.01 + 0.02j
    return (y + y.swapaxes(1, 2)) / 2 + 0.05 * np.eye(3)


def test_s_of_power_waves_has_its_definition_and_gives_back_the_impedance(admittance):
    """a = F (U + Z_r I), b = F (U - Z_r* I); the power that enters is |a|^2 - |b|^2."""
    s = scattering(admittance, Z0)
    voltages = np.random.default_rng(2).normal(size=3) + 1j
    currents = admittance[0] @ voltages
    a, b = ((voltages + sign * z * currents) / (2 * np.sqrt(Z0.real)) for sign, z in ((1, Z0), (-1, Z0.conj())))
    assert np.allclose(s[0] @ a, b, rtol=1e-12)
    assert np.sum(abs(a) ** 2 - abs(b) ** 2) == pytest.approx(np.real(voltages @ currents.conj()), rel=1e-12)
    assert np.allclose(impedance(s, Z0), np.linalg.inv(admittance), rtol=1e-10)
    assert np.allclose(renormalised(scattering(admittance, 50.0), 50.0, Z0), s, rtol=1e-12)
    line = np.array([[0, 1], [1, 0]])  # has neither an impedance nor an admittance matrix
    assert np.allclose(renormalised(renormalised(line, 50.0, Z0[:2]), Z0[:2], 50.0), line, atol=1e-12)


def test_scikit_rf_agrees(admittance):
    pytest.importorskip("skrf")
    sweep = PortSweep(HERTZ, scattering(admittance, 50.0), 50.0, HERTZ, scattering(admittance, 50.0), 0.0)
    theirs, ours = sweep.to_skrf("three"), sweep.renormalised(Z0)
    assert theirs.name == "three" and np.allclose(theirs.z0, 50) and np.allclose(theirs.f, HERTZ)
    theirs.renormalize(Z0.conj(), s_def="power")
    assert np.allclose(theirs.s, ours.s.conj(), rtol=1e-10)
    assert np.allclose(ours.to_skrf().z.conj(), ours.z, rtol=1e-10)
    assert np.allclose(ours.renormalised(50).s, sweep.s, rtol=1e-10) and ours.renormalised(50).reference == 50.0


def test_an_antenna_is_matched_by_the_conjugate_of_its_impedance(tmp_path):
    mesh = cal.mesh.plate([0.02, 0.46], 0.12)
    gap = cal.DeltaGap(line=[[-0.01, 0, 0], [0.01, 0, 0]])
    antenna = cal.PECAntenna(mesh, 1.0, gap, impedance=cal.exact.VACUUM_IMPEDANCE)
    sweep = antenna.sweep([0.9 * SPEED_OF_LIGHT, SPEED_OF_LIGHT])
    z = sweep[1].input_impedance
    matched = sweep.renormalised(np.conj(z))
    assert abs(matched.s[1, 0, 0]) < 1e-12 < 0.1 < abs(matched.s[0, 0, 0])
    assert np.allclose(matched.to_skrf().s[:, 0, 0], matched.s[:, 0, 0].conj())
    for wrong, message in ((-50, "positive real parts"), ([50, 50], "a list of 1"), (1j, "positive real parts")):
        with pytest.raises(ValueError, match=message):
            sweep.renormalised(wrong)
    with pytest.raises(ValueError, match=r"renormalised\(50\)"):
        matched.write_touchstone(tmp_path / "antenna.s1p")
    assert "ohm" in matched.to_xarray()["s"].attrs["long_name"]
