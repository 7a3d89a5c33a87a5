"""Rational models of ports against circuits whose responses in time are known."""

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.ports.port_sweep import PortSweep

skrf = pytest.importorskip("skrf", reason="vector fitting is that of scikit-rf")
HERTZ = np.linspace(1e6, 2e9, 201)
R, L, REFERENCE = 20.0, 10e-9, 50.0


def sweep_of(z):
    s = np.reshape((z - REFERENCE) / (z + REFERENCE), (-1, 1, 1))
    return PortSweep(HERTZ, s, REFERENCE, HERTZ, s, 0.0)


def coil():
    return sweep_of(R - 2j * np.pi * HERTZ * L)


def test_a_coil_has_the_response_of_its_one_pole():
    t = np.arange(0, 6e-9, 5e-12)
    rise, decay = 1e-10, (R + REFERENCE) / L
    generator = np.clip(t / rise, 0, 1)

    def ramp(x):  # the current of a ramp of 1 V in the time `rise`
        x = np.maximum(x, 0)
        return (x - (1 - np.exp(-decay * x)) / decay) / rise / (R + REFERENCE)

    with pytest.warns(cal.AccuracyWarning, match="outside of 1e"):
        found = coil().transient(t, generator)
    np.testing.assert_allclose(found.currents[:, 0], ramp(t) - ramp(t - rise), atol=2e-5 / REFERENCE)
    np.testing.assert_allclose(found.voltages[:, 0], generator - REFERENCE * found.currents[:, 0], atol=1e-12)


def test_a_measured_load_is_the_element_that_was_measured(tmp_path):
    coil().write_touchstone(tmp_path / "coil.s1p")
    gap, f = cal.WireGap([0, 0, 0]), float(HERTZ[30])
    written = cal.Lumped(gap, impedance=tmp_path / "coil.s1p")
    element = cal.Lumped(gap, resistance=R, inductance=L)
    assert written.impedance_at(f) == pytest.approx(element.impedance_at(f), rel=1e-9)
    assert cal.Lumped(gap, impedance=coil().to_skrf()).impedance_at(f) == pytest.approx(written.impedance_at(f))
    with pytest.raises(ValueError, match="covers 1e"):
        written.impedance_at(3e9)
    (tmp_path / "wrong.s1p").write_text("no numbers\n")
    with pytest.raises(ValueError, match="wrong.s1p is no Touchstone file"):
        cal.Lumped(gap, impedance=tmp_path / "wrong.s1p")
    with pytest.raises(ValueError, match="delivers? power"):
        cal.Lumped(gap, impedance=sweep_of(-R + 0 * HERTZ).to_skrf()).impedance_at(f)


def test_models_of_antennas_are_passive_and_hold_s(tmp_path):
    wire = cal.Wire([[0, 0, -0.25], [0, 0, 0.25]], 1e-3, 12)
    sweep = cal.WireAntenna(wire, cal.WireGap([0, 0, 0]), frequency=3e8).sweep(1e8, 8e8, 101)
    model = sweep.circuit_model()
    f = np.linspace(1e8, 8e8, 37)
    s = model.scattering(f)
    assert model.error < 1e-3 and abs(s).max() < 1 + 1e-9
    np.testing.assert_allclose(model.scattering(sweep.frequencies), sweep.s, atol=1e-3)
    t = np.arange(0, 60e-9, 5e-11)
    pulse = np.exp(-(((t - 20e-9) / 5e-9) ** 2)) * np.cos(2 * np.pi * 3e8 * t)
    found = model.transient(t, pulse)
    # energy comes in, and S times the spectrum of the wave is that of what comes out
    assert np.sum(found.voltages * found.currents) > 0
    incoming, outgoing = (found.voltages + sign * 50 * found.currents for sign in (1, -1))
    spectra = [np.fft.rfft(each[:, 0]) for each in (incoming, outgoing)]
    at = np.argmin(abs(np.fft.rfftfreq(len(t), 5e-11) - 3e8))
    frequency = np.fft.rfftfreq(len(t), 5e-11)[at]
    assert spectra[1][at] / spectra[0][at] == pytest.approx(model.scattering([frequency])[0, 0, 0].conj(), abs=2e-3)
    for wrong in (-1e8, [np.nan], "3e8", [[3e8]], []):
        with pytest.raises(ValueError, match=r"frequencies is numbers in Hz, 0 or above"):
            model.scattering(wrong)
    with pytest.warns(cal.AccuracyWarning, match="1 of 2 frequencies lie outside of 1e"):
        model.scattering([3e8, 1e9])
    sweep.spice(tmp_path / "dipole.sp")
    assert ".SUBCKT calderon" in (tmp_path / "dipole.sp").read_text()
    with pytest.raises(ValueError, match=r"ends with .sp or .cir"):
        sweep.spice(tmp_path / "dipole.s1p")
    with pytest.raises(ValueError, match="try 'my_coil'"):
        model.write_spice(tmp_path / "coil.sp", "my coil")
    with pytest.raises(ValueError, match="equal steps"):
        model.transient([0.0, 1.0, 3.0], [0.0, 0.0, 0.0])


@pytest.mark.parametrize("z", [-2j * np.pi * HERTZ * L, 1j / (2 * np.pi * HERTZ * 2e-12), 75.0 + 0j * HERTZ])
def test_elements_without_loss_have_passive_models(z):
    """A lossless coil or capacitor reflects all of a wave at each frequency, and its fit exceeds 1 by rounding."""
    model = sweep_of(z).circuit_model()
    assert model.error < 1e-6 and not model.enforced
    s = model.scattering(np.linspace(1e6, 2e9, 57))
    assert np.abs(s).max() <= 1 + 1e-12
