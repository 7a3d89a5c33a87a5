"""Monostatic sweeps that end early and go on."""

import os

import numpy as np
import pytest

import calderon as cal
from calderon.files import DamagedFile
from calderon.formulations.monostatic import RecordedProducts

THETA = np.linspace(0, np.pi, 30)
OPTIONS = {"solver": "gmres", "rtol": 1e-4}


@pytest.fixture(scope="module")
def problem():
    return cal.SoundHardScattering(cal.mesh.sphere(radius=0.5, h=0.25), 4.0)


@pytest.fixture(scope="module")
def strength(problem):
    return problem.monostatic_target_strength(THETA, 0.0, **OPTIONS)


@pytest.fixture
def computed(monkeypatch):
    """Counts products that are computed and, on request, ends the run like Ctrl-C at one of them."""

    class Count:
        products, last = 0, 10**9

        def __init__(self, matrix):
            self.matrix, self.shape, self.dtype = matrix, matrix.shape, matrix.dtype

        def __matmul__(self, vectors):
            Count.products += 1
            if Count.products > Count.last:
                raise KeyboardInterrupt
            return self.matrix @ vectors

    def counting(self, matrix, pieces, start=RecordedProducts.__init__):
        start(self, Count(matrix), pieces)

    monkeypatch.setattr(RecordedProducts, "__init__", counting)
    return Count


def test_a_sweep_that_ended_early_goes_on_with_the_same_numbers(problem, strength, computed, tmp_path):
    path = tmp_path / "sweep.h5"
    for last in (1, 1, 2):
        computed.products, computed.last = 0, last
        with pytest.raises(KeyboardInterrupt):
            problem.monostatic_target_strength(THETA, 0.0, sweep_file=path, **OPTIONS)
    assert len(list(tmp_path.glob("sweep.part-*.h5"))) == 4 and not path.exists()
    computed.products, computed.last = 0, 10**9
    levels, info = problem.monostatic_target_strength(THETA, 0.0, sweep_file=path, info=True, **OPTIONS)
    assert np.array_equal(levels, strength)
    whole = computed.products + 4
    assert info.iterations <= whole <= info.iterations + 4  # with those of the residuals at the end
    assert os.listdir(tmp_path) == ["sweep.h5"]
    levels, info = problem.monostatic_target_strength(THETA, 0.0, sweep_file=path, info=True, **OPTIONS)
    assert np.array_equal(levels, strength) and info.iterations == 0 and computed.products + 4 == whole


def test_files_of_other_sweeps_and_damaged_ones_are_refused(problem, computed, tmp_path):
    path = tmp_path / "sweep.h5"
    computed.last = 2
    with pytest.raises(KeyboardInterrupt):
        problem.monostatic_target_strength(THETA, 0.0, sweep_file=path, **OPTIONS)
    computed.last = 10**9
    piece = sorted(tmp_path.glob("sweep.part-0*.h5"))[0]
    content = piece.read_bytes()
    piece.write_bytes(content[:5000] + b"0123" + content[5004:])
    with pytest.raises(DamagedFile, match="remove it and solve again"):
        problem.monostatic_target_strength(THETA, 0.0, sweep_file=path, **OPTIONS)
    piece.unlink()
    problem.monostatic_target_strength(THETA, 0.0, sweep_file=path, **OPTIONS)
    with pytest.raises(ValueError, match="of a sweep of another problem: directions"):
        problem.monostatic_target_strength(THETA[1:], 0.0, sweep_file=path, **OPTIONS)
    with pytest.raises(ValueError, match="Green's function Helmholtz"):
        problem.at(4.1).monostatic_target_strength(THETA, 0.0, sweep_file=path, **OPTIONS)
    with pytest.raises(ValueError, match=r"should end in \.h5"):
        problem.monostatic_target_strength(THETA, 0.0, sweep_file=tmp_path / "sweep.txt", **OPTIONS)
    with pytest.raises(ValueError, match="solver='lu' has none"):
        problem.monostatic_target_strength(THETA, 0.0, sweep_file=path, solver="lu")
