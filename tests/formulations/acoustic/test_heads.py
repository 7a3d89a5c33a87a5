"""Transfer functions of a rigid sphere as a head, against its series; responses in time and files."""

import dataclasses

import numpy as np
import pytest

import calderon as cal
from calderon.formulations import HeadTransfer

AIR = cal.Fluid(1.2, 343.0)
C = 343.0


def around(ear, r, angles):
    """Places (n, 3) at the distance r and angles in degrees from an ear (3,)."""
    across = np.cross(ear, [1.0, 0, 0])
    across /= np.linalg.norm(across)
    return np.array([r * (np.cos(a) * ear + np.sin(a) * across) for a in np.radians(angles)])


@pytest.mark.parametrize(
    "k, r, levels",
    [
        (5.0, 1.5, [14.91, 2.54, -14.44, -7.59]),
        pytest.param(10.0, 10.0, [6.73, 5.08, -10.33, -1.19], marks=pytest.mark.variant),
    ],
)
def test_both_ears_of_a_rigid_sphere_hear_near_sources_and_plane_waves(k, r, levels):
    """With 10 elements per wavelength 0.3 dB and 3 degrees, also for an ear within a triangle."""
    mesh, centre = cal.mesh.sphere(1.0, 2 * np.pi / k / 10), [0.1, 0.2, -0.1]
    left = np.array([0.31, 0.88, -0.2])
    left /= np.linalg.norm(left)
    places, pair = around(left, r, [0, 60, 150, 180]), np.stack([left, -left])
    free = np.exp(1j * k * r) / (4 * np.pi * r)
    series = [cal.exact.rigid_sphere(k, 1.0, source=place).surface_pressure(pair) / free for place in places]
    assert np.allclose(20 * np.log10(np.abs(np.array(series)[:, 0])), levels, atol=0.005)
    head, ears = cal.AcousticProblem(mesh, 1.0, fluid=AIR), {"left": left, "right": -left}
    transfer = cal.hrtf(head, ears, [k * C / (2 * np.pi)], places)
    assert transfer.values.shape == (1, 4, 2) and transfer.ears == ("left", "right")
    assert np.abs(transfer.levels[0, :, 0] - levels).max() < 0.3
    waves = [cal.exact.rigid_sphere(k, 1.0, direction=-place / r).surface_pressure(pair) for place in places]
    phases = np.exp(-1j * k * (places / r) @ centre)[:, None]
    far = cal.hrtf(head, ears, [k * C / (2 * np.pi)], directions=2 * places, centre=centre)
    for found, expected in ((transfer, np.array(series)), (far, np.array(waves) / phases)):
        ratio = found.values[0] / expected
        assert np.abs(20 * np.log10(np.abs(ratio))).max() < 0.3
        assert np.abs(np.angle(ratio)).max() < np.radians(3)


def test_the_ear_of_an_absorbing_head_hears_a_source_as_a_source_hears_it():
    """Reciprocity with hair on one half, an ear at its edge: 0.5 % of the solution with the source."""
    mesh = cal.mesh.sphere(1.0, 0.25)
    head = cal.TriangleMesh(mesh.vertices, mesh.triangles, (mesh.centroids[:, 0] > 0).astype(int), {"hair": 1})
    problem = cal.AcousticProblem(head, 1.5, fluid=AIR, conditions={"hair": cal.Impedance.relative(2 - 1j)})
    ear, place = int(np.argmax(mesh.vertices[:, 2])), np.array([1.0, 0.5, 1.5])
    r = np.linalg.norm(place)
    direct = problem.solve(cal.PointSource(place)).surface.coefficients[ear] * 4 * np.pi * r * np.exp(-1.5j * r)
    transfer = cal.hrtf(problem, {"ear": mesh.vertices[ear]}, [1.5 * C / (2 * np.pi)], place)
    assert transfer.values[0, 0, 0] == pytest.approx(direct, rel=5e-3)


@pytest.fixture(scope="module")
def series():
    """A sphere of 87.5 mm with two ears, 1.5 m from two sources in front and left, by its series, to 15 kHz."""
    radius, step = 0.0875, 150.0
    frequencies = step * np.arange(1, 101)
    ears = radius * np.array([[0, -1.0, 0], [0, 1.0, 0]])
    sources = np.array([[1.5, 0, 0], [0, 1.5, 0]])
    values = np.zeros((len(frequencies), 2, 2), complex)
    for i, k in enumerate(2 * np.pi * frequencies / C):
        free = np.exp(1.5j * k) / (4 * np.pi * 1.5)
        for j, place in enumerate(sources):
            values[i, j] = cal.exact.rigid_sphere(k, radius, source=place).surface_pressure(ears / radius) / free
    return HeadTransfer(
        frequencies=frequencies, values=values, ears=("right", "left"), ear_points=ears, sources=sources, far=False,
        centre=np.zeros(3), speed_of_sound=C, solves=100, error=0.0,
    )  # fmt: skip


def test_responses_arrive_when_sound_does_and_have_the_spectrum(series):
    """At the left ear from the left the sphere is a wall: twice the pressure, earlier by a sound's way along the
    radius; the transform gives back the spectrum where the taper has not begun."""
    response = series.impulse_response(44100.0, delay=2e-3)
    assert response.samples.shape == (294, 2, 2) and response.rate == 44100.0
    peak = np.abs(response.samples[:, 1, 1]).argmax() / 44100.0
    assert peak == pytest.approx(2e-3 - 0.0875 / C, abs=1 / 44100.0)
    late = np.abs(response.samples[:, 1, 0]).argmax() / 44100.0  # around the sphere to the other ear
    assert late == pytest.approx(2e-3 + 0.0875 * np.pi / 2 / C, abs=3 / 44100.0)
    spectrum = np.fft.rfft(response.samples, axis=0)[1:81].conj()
    shift = np.exp(-2j * np.pi * series.frequencies[:80] * 2e-3)[:, None, None]
    assert np.abs(spectrum * shift - series.values[:80]).max() < 1e-6 * np.abs(series.values).max()
    assert series.impulse_response().samples[:, 0, 0] == pytest.approx(series.impulse_response().samples[:, 0, 1])
    with pytest.raises(ValueError, match="taper is a part of the band, from 0 to 1"):
        series.impulse_response(taper=2.0)


def test_sofa_files_have_left_first_and_the_conjugate_time_factor(series, tmp_path):
    sofar = pytest.importorskip("sofar", reason="SOFA files are written by the extra sofa")
    series.write_sofa(tmp_path / "head.sofa")
    made = sofar.read_sofa(str(tmp_path / "head.sofa"), verbose=False)
    assert made.GLOBAL_SOFAConventions == "SimpleFreeFieldHRTF"
    np.testing.assert_allclose(made.SourcePosition, [[0, 0, 1.5], [90, 0, 1.5]], atol=1e-12)
    np.testing.assert_allclose(made.ReceiverPosition.reshape(2, 3), series.ear_points[::-1])
    data = made.Data_Real - 1j * made.Data_Imag
    np.testing.assert_allclose(data, series.values[:, :, ::-1].transpose(1, 2, 0))
    np.testing.assert_allclose(made.N, series.frequencies)
    series.write_sofa(tmp_path / "time.sofa", rate=44100.0)
    made = sofar.read_sofa(str(tmp_path / "time.sofa"), verbose=False)
    assert made.GLOBAL_SOFAConventions == "SimpleFreeFieldHRIR" and float(made.Data_SamplingRate) == 44100.0
    expected = series.impulse_response().samples[:, :, ::-1].transpose(1, 2, 0)
    np.testing.assert_allclose(made.Data_IR, expected, atol=1e-12)
    alone = dataclasses.replace(series, values=series.values[:, :, :1], ears=("ear",), ear_points=series.ear_points[:1])
    alone.write_sofa(tmp_path / "one.sofa")
    assert sofar.read_sofa(str(tmp_path / "one.sofa"), verbose=False).GLOBAL_SOFAConventions == "GeneralTF"


def test_files_without_sofar_or_ending_are_refused(series, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="end in .sofa"):
        series.write_sofa(tmp_path / "head.h5")
    monkeypatch.setitem(__import__("sys").modules, "sofar", None)
    with pytest.raises(RuntimeError, match=r"calderon\[sofa\]"):
        series.write_sofa(tmp_path / "head.sofa")


def test_few_solved_frequencies_and_a_file_give_the_band(tmp_path):
    head = cal.AcousticProblem(cal.mesh.sphere(0.1, 0.05), 1.0, fluid=AIR)
    ears, hertz, place = {"left": [0, 0.1, 0]}, 50.0 * np.arange(1, 21), [[0.3, 0.1, 0.2]]
    few = cal.hrtf(head, ears, hertz, place, interpolate=1e-3, sweep_file=tmp_path / "band.h5")
    assert few.solves < 15
    some = cal.hrtf(head, ears, hertz[::6], place, solver="lu")
    np.testing.assert_allclose(few.values[::6], some.values, rtol=2e-3)
    assert few.arrays().quantities[0].values.shape == (20, 1, 1) and "1 ears" in str(few)


def test_what_is_no_head_is_refused():
    mesh = cal.mesh.sphere(0.1, 0.05)
    head, ears, place = cal.AcousticProblem(mesh, 1.0, fluid=AIR), {"left": [0, 0.1, 0]}, [[0.3, 0, 0]]
    moving = cal.AcousticProblem(mesh, 1.0, fluid=AIR, conditions=cal.Velocity(1.0))
    room = cal.AcousticProblem(mesh, 1.0, fluid=AIR, side="interior")
    for call, text in [
        (lambda: cal.hrtf(moving, ears, [100.0], place), "give Impedance conditions only"),
        (lambda: cal.hrtf(room, ears, [100.0], place), "has its sound outside"),
        (lambda: cal.hrtf(head, {"left": [0, 0.5, 0]}, [100.0], place), "is 0.3988 m from the surface"),
        (lambda: cal.hrtf(head, ears, [100.0], [[0.05, 0, 0]]), "1 of 1 sources are in the head"),
        (lambda: cal.hrtf(head, ears, [100.0], place, directions=place), "one of the two"),
        (lambda: cal.hrtf(head, ears, [100.0]), "one of the two"),
        (lambda: cal.hrtf(head, ears, [-1.0], place), "positive frequencies"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="ears are points by name"):
        cal.hrtf(head, [[0, 0.1, 0]], [100.0], place)
