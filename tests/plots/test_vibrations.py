"""Moving pictures of vibrations: frames of one period, and what is refused."""

import numpy as np
import pytest
from PIL import Image

import calderon as cal
from calderon import plots
from calderon.spaces.volume_function import VolumeFunction


def moving(factor=1.0):
    """A cube whose top moves along x."""
    mesh = cal.mesh.box([0, 0, 0], [1.0, 1.0, 1.0], 1)
    z = VolumeFunction(mesh.vertices, mesh.tetrahedra, 2, np.zeros(27), "u", "m").nodes[:, 2]
    return [VolumeFunction(mesh.vertices, mesh.tetrahedra, 2, scale * z, "u", "m") for scale in (factor, 0.0, 0.0)]


def test_frames_of_one_period(tmp_path):
    plots.vibration(moving(), tmp_path / "mode.gif", frames=4)
    with Image.open(tmp_path / "mode.gif") as picture:
        assert picture.n_frames == 4
        frames = []
        for number in range(4):
            picture.seek(number)
            frames.append(np.asarray(picture.convert("L"), float))
    assert np.array_equal(frames[1], frames[3])  # the body comes back the way it went
    assert np.abs(frames[0] - frames[2]).max() > 50


@pytest.mark.parametrize(
    ("given", "file", "words"),
    [
        (moving(), "mode.png", "ends in .gif"),
        (moving()[:1], "mode.gif", "give three"),
        (moving(0.0), "mode.gif", "does not move"),
    ],
)
def test_refusals(tmp_path, given, file, words):
    with pytest.raises(ValueError, match=words):
        plots.vibration(given, tmp_path / file)
