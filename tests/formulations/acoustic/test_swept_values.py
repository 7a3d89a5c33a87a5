"""Sweeps of sound: few solved frequencies, files, responses in time."""

import itertools

import numpy as np
import pytest
import scipy

import calderon as cal
from calderon.formulations.impulse_response import impulse_response
from calderon.formulations.rational_sweep import Agreement, rational_sweep
from calderon.galerkin import special_part
from calderon.mesh.errors import AccuracyWarning

AIR = cal.Fluid(1.2, 343.2)
SIZE, SOURCE, EARS = (
    np.array([1.0, 0.7, 0.5]),
    np.array([0.2, 0.15, 0.1]),
    np.array([[0.8, 0.5, 0.35], [0.5, 0.3, 0.4]]),
)
BAND = np.linspace(50.0, 500.0, 400)
RTOL = 1e-3


def modal_series(f):
    """The pressure of a source in a rigid box at the first ear, by its modes."""
    k = np.pi * np.array([*itertools.product(range(14), repeat=3)]) / SIZE
    shapes = np.where(k > 0, 2, 1) * np.cos(k * SOURCE) * np.cos(k * EARS[0])
    return np.sum(shapes.prod(axis=1) / ((k**2).sum(axis=1) - (2 * np.pi * f / AIR.speed_of_sound + 0j) ** 2))


def error(found, exact):
    """The largest error relative to the value, or to 1 % of the median."""
    size = np.abs(exact)
    return (np.abs(found - exact) / np.maximum(size, 0.01 * np.median(size, axis=0))).max()


def room(h=0.3):
    mesh = cal.mesh.cuboid(SIZE, h)
    mesh = cal.TriangleMesh(mesh.vertices - mesh.bounds[0], mesh.triangles)
    return cal.AcousticProblem(mesh, frequency=100.0, fluid=AIR, side="interior")


def test_rational_functions_between_few_frequencies_hold_the_tolerance():
    found = rational_sweep(modal_series, BAND, Agreement(RTOL, "p", 1e-9, times=2, floor=1e-2, most=200))
    exact = np.array([modal_series(f) for f in BAND])
    assert len(found.solved) <= 40 and found.error < RTOL
    assert error(found.values, exact) < RTOL


def test_no_more_frequencies_are_solved_than_are_wanted():
    """By rational functions the box would need 15 for these 12."""
    band = np.linspace(50.0, 500.0, 12)[::-1]
    found = rational_sweep(modal_series, band, Agreement(RTOL, "p", 1e-9, times=2, floor=1e-2, most=200))
    assert sorted(found.solved) == sorted(band) and found.error == 0
    assert np.array_equal(found.values, [modal_series(f) for f in band])
    smooth = rational_sweep(lambda f: 1 / (f + 100j), band, Agreement(RTOL, "p", 1e-9, times=2, floor=1e-2, most=200))
    assert len(smooth.solved) < 12 and np.isin(smooth.solved, band).all()
    assert error(smooth.values, 1 / (band + 100j)) < RTOL


def test_a_coarse_mesh_is_warned_of_once_in_a_sweep():
    problem, points = cal.AcousticProblem(cal.mesh.sphere(1.0, 0.5), frequency=20.0, fluid=AIR), [[3.0, 0, 0]]
    band, source = [20.0, 60.0, 120.0, 130.0], cal.PointSource([0, 0, 3.0])
    for given in ({}, {"points": points}):
        with pytest.warns(AccuracyWarning) as caught:
            problem.sweep(band, source, **given)
        coarse = [str(each.message) for each in caught if "elements per wavelength" in str(each.message)]
        assert len(coarse) == 1 and coarse[0].startswith("2 of 4 frequencies, those above 1")
        assert "the highest one, 130 Hz" in coarse[0] and caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:.*elements per wavelength")
@pytest.mark.filterwarnings("ignore:.*from a triangle with edges")
def test_a_room_by_few_solutions():
    problem, source = room(0.35), cal.PointSource(SOURCE)
    sweep = problem.sweep(BAND, source, points=EARS, interpolate=RTOL)
    assert sweep.solves <= 40 and sweep.values.shape == (400, 2)
    some = BAND[7::80]
    direct = problem.sweep(some, source, points=EARS, solver="lu", rtol=1e-8)
    assert direct.error == 0 and direct.solves == len(some)
    scale = np.maximum(np.abs(direct.values), 0.01 * np.median(np.abs(sweep.values), axis=0))
    assert (np.abs(sweep.values[7::80] - direct.values) / scale).max() < RTOL
    both = problem.sweep(some[:1], source, quantities=lambda s: s.field(EARS), solver="lu", rtol=1e-8)
    assert np.array_equal(both.values, direct.values[:1])
    assert direct.arrays()["pressure"].shape == (5, 2)


@pytest.mark.filterwarnings("ignore:.*elements per wavelength")
@pytest.mark.filterwarnings("ignore:.*from a triangle with edges")
def test_a_sweep_that_ended_early_goes_on(tmp_path, monkeypatch):
    path, solved, last = tmp_path / "sweep.h5", list[float](), 3
    solve = cal.AcousticProblem.solve

    def counted(self, *given, **options):
        solved.append(self.frequency)
        if len(solved) > last:
            raise KeyboardInterrupt
        return solve(self, *given, **options)

    monkeypatch.setattr(cal.AcousticProblem, "solve", counted)
    problem, source, band = room(0.5), cal.PointSource(SOURCE), np.linspace(30.0, 80.0, 6)
    with pytest.raises(KeyboardInterrupt):
        problem.sweep(band, source, points=EARS, sweep_file=path)
    assert len(list(tmp_path.glob("sweep.part-*.h5"))) == 3 and not path.exists()
    solved.clear()
    last = 10**9
    found = problem.sweep(band, source, points=EARS, sweep_file=path)
    assert len(solved) == 1 + 3  # the first one again, to compare
    solved.clear()
    again = problem.sweep(band, source, points=EARS, sweep_file=path)
    assert len(solved) == 1 and np.array_equal(again.values, found.values)
    assert np.array_equal(found.values, problem.sweep(band, source, points=EARS).values)
    with pytest.raises(ValueError, match="holds values of another sweep"):
        problem.sweep(band, 2.0 * source, points=EARS, sweep_file=path)
    with pytest.raises(ValueError, match="of another problem: measured"):
        problem.sweep(band, source, points=EARS[:1], sweep_file=path)


def test_pairs_of_triangles_are_found_once_in_a_sweep(monkeypatch):
    """And pairs that are kept give the same numbers as those that are found, on the part with its images, too."""
    searches, near_pairs = list[int](), special_part.near_pairs

    def counted(*given):
        searches.append(1)
        return near_pairs(*given)

    monkeypatch.setattr(special_part, "near_pairs", counted)
    half = cal.mesh.hemisphere(1.0, 0.6)

    def problem(mesh):
        return cal.AcousticProblem(mesh, frequency=50.0, fluid=AIR, conditions=cal.Velocity(1.0), mirrors={"z": "even"})

    first = problem(half)
    alone = problem(cal.TriangleMesh(half.vertices, half.triangles)).at(1.1).solve(rtol=1e-9)
    searches.clear()
    first.solve()
    found = len(searches)
    assert found > 0
    again = first.at(1.1).solve(rtol=1e-9)
    assert len(searches) == found
    assert np.array_equal(again.surface.coefficients, alone.surface.coefficients)


def test_bad_sweeps_are_refused(tmp_path):
    problem, source = room(0.5), cal.PointSource(SOURCE)
    for given in ({"interpolate": 1e-3}, {"sweep_file": tmp_path / "a.h5"}):
        with pytest.raises(ValueError, match="give points= .* or quantities="):
            problem.sweep([100.0], source, **given)
    with pytest.raises(TypeError, match="quantities is a function of a solution"):
        problem.sweep([100.0], source, quantities=3)
    with pytest.raises(ValueError, match="interpolate=2: a tolerance is a number between 0 and 1"):
        problem.sweep([100.0], source, points=EARS, interpolate=2)


def delayed(hertz, *echoes):
    """The spectrum of (time, amplitude), exp(-i omega t)."""
    return np.sum([a * np.exp(2j * np.pi * hertz * t) for t, a in echoes], axis=0)[:, None]


def test_responses_in_time_have_their_echoes_and_the_spectrum_back(tmp_path):
    hertz, rate = 10.0 * np.arange(1, 101), 2010.0
    spectrum = delayed(hertz, (20 / rate, 1.0), (55 / rate, -0.4))
    found = impulse_response(hertz, spectrum, rate, "pressure", "Pa")
    expected = np.zeros(201)
    expected[20], expected[55] = 1.0, -0.4
    assert np.abs(found.samples[:, 0] - expected).max() < 1e-12
    assert np.abs(np.fft.rfft(found.samples[:, 0])[1:] - spectrum[:, 0].conj()).max() < 1e-10
    signal = np.random.default_rng(0).standard_normal(50)
    assert np.allclose(found.response(signal)[:, 0], np.convolve(expected, signal))
    found.write_wav(tmp_path / "echo.wav", peak=None)
    read, samples = scipy.io.wavfile.read(tmp_path / "echo.wav")
    assert read == 2010 and np.abs(samples - expected).max() < 1e-6


def test_responses_that_a_sweep_cuts_are_refused():
    hertz, rate = 10.0 * np.arange(1, 101), 2010.0
    with pytest.raises(ValueError, match="the band ends at 1000 Hz, where the spectrum has not ended"):
        impulse_response(hertz, delayed(hertz, (0.01, 1.0)), 4020.0, "p", "Pa")
    with pytest.raises(ValueError, match="the response is longer than 1 / df = 0.1 s"):
        impulse_response(hertz, delayed(hertz, *[(n / rate, 0.99**n) for n in range(201)]), rate, "p", "Pa")
    with pytest.raises(ValueError, match="needs the frequencies df, 2 df, 3 df"):
        impulse_response(hertz[3:], delayed(hertz[3:], (0.01, 1.0)), rate, "p", "Pa")
    with pytest.raises(ValueError, match="rate / df is a whole number of samples"):
        impulse_response(hertz, delayed(hertz, (0.01, 1.0)), 2013.0, "p", "Pa")


def test_impulse_response_of_a_rigid_sphere():
    """One sample a metre: the wave from 15 m on the axis passes the point at 4 m after 11, and its echo after 17."""
    air, samples = cal.Fluid(1.2, 343.0), 65
    hertz = 343.0 / samples * np.arange(1, 33)
    problem = cal.AcousticProblem(cal.mesh.sphere(1.0, 0.33), frequency=50.0, fluid=air)
    sweep = problem.sweep(hertz, cal.PointSource([0, 0, 15.0]), points=[[0, 0, 4.0]], interpolate=1e-4)
    found = sweep.impulse_response(343.0)
    response = found.samples[:, 0]
    assert found.times[np.abs(response).argmax()] == pytest.approx(11 / 343.0)
    assert np.abs(response[:9]).max() < 0.05 * np.abs(response).max()
    echo = 13 + np.abs(response[13:25]).argmax()
    assert abs(echo - 17) <= 1
    back = np.fft.rfft(response)[1:]
    assert np.abs(back - sweep.values[:, 0].conj()).max() < 1e-6 * np.abs(back).max()


def test_impulse_response_above_a_floor():
    """One sample a metre: a receiver on the floor hears source and image at once, after 30 m with twice the pressure;
    one above it the direct wave after 25 and the reflected one after 29."""
    samples, expected = 65, np.zeros((65, 2))
    hertz = 343.0 / samples * np.arange(1, 33)
    ball = cal.mesh.sphere(0.1, 0.12).translated([0, 9.0, 0.6])  # too small to be noticed
    air = cal.Fluid(1.2, 343.0)
    problem = cal.AcousticProblem(ball, frequency=50.0, fluid=air, mirrors=cal.HalfSpace("z"))
    source, points = cal.PointSource([0, 0, 18.0]), [[24.0, 0, 0], [20.0, 0, 3.0]]
    found = problem.sweep(hertz, source, points=points, interpolate=1e-3).impulse_response(343.0)
    expected[30, 0], expected[25, 1], expected[29, 1] = np.array([2 / 30, 1 / 25, 1 / 29]) / (4 * np.pi)
    assert np.abs(found.samples - expected).max() < 2e-3 * expected.max()
