"""Spectra of whole runs: one pulse gives the amplitudes of several frequencies."""

import numpy as np
import pytest

import calderon as cal

MATERIALS = {"tissue": cal.Material(permittivity=3.0, conductivity=0.3, density=1000.0), "feed": cal.Material()}
POINTS = np.array([[0.005, 0.005, 0.005], [0.025, 0.002, 0.004]])


def column(signal, flux, courant=0.9):
    """4 cm of feed, air and tissue between metal plates, open at the sides."""
    mesh = cal.mesh.box([0, 0, 0], [0.04, 0.01, 0.01], cells=[4, 1, 1])
    x, z = mesh.centroids[:, 0], mesh.vertices[mesh.faces][:, :, 2]
    tags = np.where(x < 0.01, 1, np.where(x < 0.02, 2, 3))
    ends = np.isclose(z, 0).all(axis=1) | np.isclose(z, 0.01).all(axis=1)
    whole = cal.TetrahedralMesh(
        mesh.vertices, mesh.tetrahedra, tags, {"feed": 1, "air": 2, "tissue": 3}, mesh.faces, np.where(ends, 1, 2),
        {"ends": 1, "sides": 2},
    )  # fmt: skip
    return cal.MaxwellDG(
        whole, 2, flux, materials=MATERIALS, boundaries={"sides": "absorbing"}, courant=courant,
        sources=[cal.CurrentSource("feed", [0, 0, 1], signal)],
    )  # fmt: skip


def test_a_pulse_gives_the_amplitudes_of_periodic_runs():
    # on a carrier: a pulse of one sign would leave the plates charged
    pulsed = column(cal.GaussianPulse(4e-10, frequency=1.75e9), "centred")
    transform = pulsed.add_transform([1.5e9, 2e9], stride=2)
    pulsed.run(5.5e-9)
    for frequency in (1.5e9, 2e9):
        exact = column(cal.RampedSine(frequency), "centred").run_until_periodic(frequency, 8)
        found = transform.fields(frequency)
        assert found.ports["feed"].current == pytest.approx(1.0, rel=1e-12)
        assert found.ports["feed"].impedance == pytest.approx(exact.ports["feed"].impedance, rel=5e-3)
        for name in ("electric", "magnetic"):
            got, wanted = getattr(found, name)(POINTS), getattr(exact, name)(POINTS)
            assert np.abs(got - wanted).max() < 5e-3 * np.abs(wanted).max()
        assert found.absorbed_power()["tissue"] == pytest.approx(exact.absorbed_power()["tissue"], rel=1e-2)
    half = transform.fields(2e9, per=2 * transform.fields(2e9, per=1.0).ports["feed"].current)
    assert half.electric(POINTS) == pytest.approx(found.electric(POINTS) / 2)


@pytest.mark.parametrize("flux", ["centred", "upwind"])
def test_a_transform_does_not_see_how_its_run_was_split(flux):
    """To rounding where runs end between samples and all steps are alike (but for absorbing faces, where two halves of
    a leap-frog step are not one), to second order where the steps of some runs are shorter."""
    found, times = {}, np.array([0.45, 0.5, 0.515, 0.6, 0.675]) * 1e-9
    for name in ("whole", "alike", "shorter"):
        simulation = column(cal.GaussianPulse(1e-10, frequency=3e9), flux, 0.45)
        step = simulation.time_step
        transform = simulation.add_transform([3e9], stride=7)
        ends = {"whole": np.zeros(0), "alike": np.round(times / step), "shorter": times / step}[name]
        for end in [*ends, np.ceil(1.5e-9 / step)]:
            simulation.run(end * step)
        fields = transform.fields(3e9, per=1.0)
        found[name] = fields.electric(POINTS), fields.magnetic(POINTS)
    for name, bound in {"alike": 1e-12 if flux == "upwind" else 6e-4, "shorter": 6e-4}.items():
        for got, wanted in zip(found[name], found["whole"], strict=True):
            assert np.abs(got - wanted).max() < bound * np.abs(wanted).max()


def test_an_interrupted_transform_goes_on(tmp_path):
    spectra = []
    for interrupted in (False, True):
        if interrupted:
            killed = column(cal.GaussianPulse(8e-11), "centred")
            transform = killed.add_transform([2e9])
            record = transform.record

            def stop(now, record=record):
                record(now)
                if now.step == 41:
                    raise KeyboardInterrupt

            transform.record = stop
            with pytest.raises(KeyboardInterrupt):
                killed.run(1e-9, checkpoint=tmp_path / "run.h5", checkpoint_seconds=0.0)
        simulation = column(cal.GaussianPulse(8e-11), "centred")
        transform = simulation.add_transform([2e9])
        simulation.run(1e-9, checkpoint=tmp_path / "run.h5")
        spectra.append(transform.fields(2e9).electric(POINTS))
    assert np.array_equal(*spectra) and np.abs(spectra[0]).max() > 0


def test_what_cannot_be_transformed_is_refused():
    simulation = column(cal.GaussianPulse(8e-11), "centred")
    with pytest.raises(ValueError, match="positive numbers"):
        simulation.add_transform([1e9, -1e9])
    with pytest.raises(ValueError, match="stride=0"):
        simulation.add_transform([1e9], stride=0)
    transform = simulation.add_transform([1e9])
    with pytest.raises(ValueError, match="frequency=2000000000.0: choose one of 1e.09"):
        transform.fields(2e9)
    simulation.run(3 * simulation.time_step)
    with pytest.raises(ValueError, match="unknown port, choose 'feed'"):
        transform.fields(1e9, per="gap")
