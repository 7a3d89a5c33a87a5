"""Near blocks of plane-wave operators in files: an assembly that ended early goes on with the same numbers."""

import os
from contextlib import contextmanager

import h5py
import numpy as np
import pytest

import calderon as cal
from calderon.files import DamagedFile, Pieces
from calderon.mlfmm import operator as operator_module
from calderon.products import near_filling, near_store

MESH = cal.mesh.sphere(radius=1.0, h=0.22)
RTOL = 1e-3


def burton_miller(k=5.0):
    space, green = cal.P1(MESH), cal.Helmholtz(k)
    return 0.5 * cal.identity(space) - cal.double_layer(green, space) + 0.2j * cal.hypersingular(green, space)


def assembled(operator, path=None, **options):
    return operator.assemble("mlfmm", rtol=RTOL, matrix_file=path, **options)


def numbers(matrix):
    return [near.entries_of(np.arange(len(near.tops) - 1)) for medium in matrix.media for _, near in medium.near]


def same(one, two):
    return all(np.array_equal(a, b) for a, b in zip(numbers(one), numbers(two), strict=True))


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(near_store, "CHUNK", 20_000)
    monkeypatch.setattr(near_filling, "BATCH", 6_000)


@pytest.fixture(scope="module")
def whole():
    return assembled(burton_miller())


@pytest.fixture
def ended(monkeypatch):
    """Ends an assembly like Ctrl-C when it saves a chunk, as often as asked."""

    class Ended:
        left = 10**9
        saved = 0

    def keep(self, name, values, before=Pieces.keep):
        if Ended.left == 0:
            raise KeyboardInterrupt
        Ended.left, Ended.saved = Ended.left - 1, Ended.saved + 1
        before(self, name, values)

    monkeypatch.setattr(Pieces, "keep", keep)
    return Ended


def test_an_assembly_that_ended_early_goes_on_with_the_same_numbers(whole, ended, tmp_path):
    path = tmp_path / "near.h5"
    count = len(whole.media[0].near[0].store.chunks) - 1
    assert count > 6
    for left in (0, 2, 1):
        ended.left = left
        with pytest.raises(KeyboardInterrupt):
            assembled(burton_miller(), path)
    assert len(list(tmp_path.glob("near.part-*.h5"))) == 3
    ended.left = 10**9
    resumed = assembled(burton_miller(), path)
    assert ended.saved == count and os.listdir(tmp_path) == ["near.h5"]
    loaded = assembled(burton_miller(), path)
    assert ended.saved == count and os.listdir(tmp_path) == ["near.h5"]
    assert same(resumed, whole) and same(loaded, whole)
    x = np.random.default_rng(0).standard_normal((whole.shape[1], 2)) + 0j
    assert np.array_equal(loaded @ x, whole @ x) and loaded.error == whole.error <= RTOL


def test_progress_counts_chunks(monkeypatch):
    seen = []

    @contextmanager
    def shown(title, unit, wanted):
        yield lambda done, total: seen.append((done, total))

    monkeypatch.setattr(operator_module, "assembly_progress", shown)
    assembled(burton_miller(), progress=True)
    total = len(seen)
    assert total > 6 and seen == [(n + 1, total) for n in range(total)]


def test_terms_on_several_spaces_and_all_regions_are_saved(ended, tmp_path):
    """Dual tests: two pairs of spaces in one region. Mueller's equations: four regions, two media."""
    fine, coarse = (cal.mesh.sphere(radius=1.0, h=h) for h in (0.35, 0.45))
    problems = cal.PECScattering(fine, 3.0), cal.DielectricScattering(coarse, 2.0, permittivity=2.0)
    for number, problem in enumerate(problems):
        operator, path = problem.system.operator, tmp_path / f"{number}.h5"
        ended.left = 2
        with pytest.raises(KeyboardInterrupt):
            assembled(operator, path)
        ended.left = 10**9
        resumed, plain = assembled(operator, path), assembled(operator)
        assert same(resumed, plain) and same(assembled(operator, path), plain)
    assert sorted(os.listdir(tmp_path)) == ["0.h5", "1.h5"]


def test_files_of_others_and_damaged_ones_are_refused(whole, ended, tmp_path):
    path = tmp_path / "near.h5"
    ended.left = 1
    with pytest.raises(KeyboardInterrupt):
        assembled(burton_miller(), path)
    ended.left = 10**9
    with pytest.raises(ValueError, match="holds near blocks of another problem: Green's function"):
        assembled(burton_miller(5.1), path)
    assembled(burton_miller(), path)
    content = path.read_bytes()
    with pytest.raises(ValueError, match="numbers double instead of single"):
        assembled(burton_miller(), path, precision="single")
    with pytest.raises(ValueError, match="expression"):
        assembled(2 * burton_miller(), path)
    with h5py.File(path, "r+") as file:  # no checksum fits any more
        file["parts/0/1"][3] = 1
    with pytest.raises(DamagedFile):
        assembled(burton_miller(), path)
    path.write_bytes(content)
    with h5py.File(path, "r+") as file:
        file.attrs["attempt"] = 99
    with pytest.raises(ValueError, match="damaged"):
        assembled(burton_miller(), path)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DamagedFile):
        assembled(burton_miller(), path)
    assert os.listdir(tmp_path) == ["near.h5"]
    with pytest.raises(ValueError, match=r"should end in \.h5"):
        assembled(burton_miller(), tmp_path / "near.txt")
    with pytest.raises(FileNotFoundError, match="create it first"):
        assembled(burton_miller(), tmp_path / "none" / "near.h5")


def test_a_matrix_at_hand_is_saved_by_solve(ended, tmp_path):
    problem, wave = cal.SoundHardScattering(MESH, 4.0), cal.PlaneWave([0, 0, 1], 4.0)
    options = {"method": "mlfmm", "rtol": 10 * RTOL}
    first = problem.solve(wave, **options)
    problem.solve(wave, **options, matrix_file=tmp_path / "near.h5")
    again = cal.SoundHardScattering(MESH, 4.0).solve(wave, **options, matrix_file=tmp_path / "near.h5")
    assert ended.saved == 0
    assert np.array_equal(first.surface.coefficients, again.surface.coefficients)
