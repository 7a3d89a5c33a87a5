"""Sizes of the elements of a reflectarray from the phases of periodic cells."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact.vacuum import SPEED_OF_LIGHT

BOARD = cal.Stack([cal.Layer(3.175e-3, eps_r=2.2)], below="pec")
FREQUENCY, PERIOD = 12e9, 12.5e-3


def square(size):
    return cal.mesh.plate([size, size], size / 4).translated([0, 0, BOARD.top])


def coarse(size):
    return cal.mesh.plate([size, size], size / 2).translated([0, 0, BOARD.top])


def lens(**changes):
    given = {
        "element": square, "sizes": np.linspace(3e-3, 11e-3, 5), "period": PERIOD, "count": (5, 3), "stack": BOARD,
        "frequency": FREQUENCY, "focus": 0.04,
    }  # fmt: skip
    return cal.ReflectArray(**(given | changes))


@pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")
def test_waves_of_all_elements_meet_at_the_focus_in_phase():
    array = lens()
    assert np.ptp(array.phases) > np.pi and (np.diff(array.phases) > 0).all()
    x, y = PERIOD * (np.arange(5) - 2)[:, None], PERIOD * (np.arange(3) - 1)[None]
    travelled = 2 * np.pi * FREQUENCY / SPEED_OF_LIGHT * np.sqrt(x**2 + y**2 + 0.04**2)
    arriving = travelled + array.required
    assert np.ptp(arriving) < 1e-9
    total = np.exp(1j * (arriving + array.errors)).mean()
    assert abs(total) > 1 - 0.51 * array.phase_error**2
    assert np.array_equal(array.chosen, array.chosen[::-1]) and np.array_equal(array.chosen, array.chosen[:, ::-1])
    corner = cal.PeriodicCell(square(float(array.chosen[0, 0])), PERIOD, BOARD).reflection(FREQUENCY)[0, 0]
    wanted = array.required[0, 0] + array.offset + array.errors[0, 0]
    assert abs(np.angle(corner * np.exp(-1j * wanted))) < 0.2  # of interpolation between five sizes
    assert array.mesh.area == pytest.approx(np.sum(array.chosen**2))
    assert np.array_equal(np.unique(array.mesh.tags), np.arange(15))
    assert "5 x 3 elements" in str(array) and "mm" in str(array) and "\u00b0 rms" in str(array)


@pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")
def test_all_elements_together_focus_a_wave():
    """By FFT with the inverses of elements as by LU factors; the field is strongest above the middle."""
    array = lens(count=(5, 5), sizes=np.linspace(3e-3, 11e-3, 4), element=coarse, polarisation="TE")
    echo, other = (array.scatter(method=method) for method in ("fft", "dense"))
    points = np.array([[0, 0, 0.04], [0.03, 0, 0.04], [0, 0.03, 0.04], [0.03, 0.03, 0.04]]) + [0, 0, BOARD.top]
    fields = [np.abs(each.electric(points)[:, 1]) for each in (echo, other)]
    assert np.allclose(*fields, rtol=1e-3) and "pre-corrected FFT" in echo.info.matrix
    assert fields[0][0] > 2 and fields[0][0] > 1.3 * fields[0][1:].max()


def test_no_other_common_phase_fits_better():
    array = lens()
    array.__dict__["phases"] = np.linspace(0.0, 4.0, 5)  # a curve that leaves a third of the circle out
    fine = np.linspace(0.0, 4.0, 4000)
    for offset in np.linspace(0, 2 * np.pi, 13):
        target = (array.required + offset).ravel()[:, None]
        error = np.abs(np.angle(np.exp(1j * (fine - target)))).min(axis=1)
        assert np.sqrt(np.mean(error**2)) > array.phase_error - 0.01


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"focus": 0.0}, "plane of the array"),
        ({"focus": (0.0, 0.0, -1.0)}, "plane of the array"),
        ({"focus": "far"}, "focus"),
        ({"sizes": [2e-3]}, "ascending"),
        ({"sizes": [2e-3, 1e-3]}, "ascending"),
        ({"count": (3, 0)}, "whole numbers"),
        ({"frequency": 0.0}, "frequency in Hz"),
        ({"polarisation": "x"}, "unknown polarisation"),
    ],
)
def test_impossible_designs_are_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        lens(**changes)
