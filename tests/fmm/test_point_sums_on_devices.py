"""Sums over points on a device: the octree and the lists of the processor, and its sums."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends.devices.sorting import Sorting
from calderon.fmm import sums as module
from calderon.products.device.octree import DeviceOctree
from calderon.products.lists import OFFSETS, lists_of
from calderon.products.octree import octree

N = 3000


def places(name, random):
    cube = random.uniform(-3, 5, (N, 3))
    return {"cube": cube, "graded": cube**5, "coincident": np.repeat(cube[: N // 30], 30, axis=0)}[name]


@pytest.fixture
def no_direct_sums(monkeypatch):
    monkeypatch.setattr(module, "FEW", 0)


def test_sorting_is_stable_and_sums_are_those_before(opencl):
    random, sorting = np.random.default_rng(0), Sorting(opencl)
    for count in (1, 1000, 300_000):
        keys = random.integers(0, 1 << 60, count) >> random.integers(30, 60)
        values = np.arange(count, dtype=np.int32)
        found = sorting.sort(opencl.array(keys), opencl.array(values), count, 60)
        order = np.argsort(keys, kind="stable")
        assert np.array_equal(opencl.to_host(found[0]), keys[order])
        assert np.array_equal(opencl.to_host(found[1]), order)
        numbers = opencl.array(values % 7)
        total = sorting.sum_before(numbers, count)
        assert opencl.to_host(total)[0] == (values % 7).sum()
        assert np.array_equal(opencl.to_host(numbers), np.cumsum(values % 7) - values % 7)


@pytest.mark.parametrize(("name", "own"), [("cube", False), ("graded", True), ("coincident", True)])
def test_the_octree_and_its_lists_are_those_of_the_processor(opencl, name, own):
    random = np.random.default_rng(0)
    points = places(name, random)
    targets = random.uniform(-3, 6, (700, 3)) if own else None
    here = octree(points, targets, 20)
    sides = [points] if targets is None else [points, targets]
    there = DeviceOctree(opencl, here.cube, [opencl.array(each) for each in sides], 20, "")
    fetched, boxes = opencl.to_host, len(here.level)
    table = [here.level[:, None], here.parent[:, None], here.position, here.sources, here.targets]
    assert there.levels == [*(low for low, _ in here.runs_of_levels()), boxes]
    assert np.array_equal(fetched(there.boxes)[:boxes], np.concatenate(table, axis=1))
    assert np.array_equal(fetched(there.children)[:boxes], here.children)
    assert np.array_equal(fetched(there.targets.order), here.target_order)
    assert np.array_equal(fetched(there.sources.places), here.inside(points)[here.source_order])
    # pairs of points that are summed directly, and of boxes that are translated, by direction
    lists, (runs, tasks) = lists_of(here), map(fetched, there.near())
    for leaf, (first, last, low, high) in zip(fetched(there.leaves), tasks, strict=True):
        assert (first, last) == tuple(here.targets[leaf])
        number = np.flatnonzero(lists.leaves == leaf)[0]
        expected = lists.leaves[lists.near[lists.near_start[number] : lists.near_start[number + 1]]]
        of_points = [np.arange(*each) for each in [*here.sources[expected], (0, 0)]]
        found = [np.arange(*each) for each in [*runs[low:high], (0, 0)]]
        assert np.array_equal(np.sort(np.concatenate(found)), np.sort(np.concatenate(of_points)))
    source, target, runs, blocks = map(fetched, there.far(3))
    assert sorted(zip(source, target, strict=True)) == sorted(zip(lists.far.source, lists.far.target, strict=True))
    for block in range(len(blocks) - 1):
        for direction, low, high in runs[blocks[block] : blocks[block + 1]]:
            assert (target[low:high] // 3 == block).all()
            offset = here.position[target[low:high]] - here.position[source[low:high]]
            assert (offset == OFFSETS[direction]).all()


CASES = [
    ("cube", 1e-4, 1e-5, "charges"),
    ("cube", 1e-5, 1e-12, "gradient"),
    ("graded", 2e-4, 1e-12, "dipoles"),
    ("graded", 1e-6, 1e-12, "charges"),
    ("coincident", 1e-4, 1e-5, "charges"),
    ("coincident", 1e-4, 1e-12, "both with gradient"),
]


@pytest.mark.parametrize(("name", "rtol", "bound", "what"), CASES)
def test_sums_are_those_of_the_processor(opencl, name, rtol, bound, what, no_direct_sums):
    random = np.random.default_rng(0)
    points, charges, dipoles = places(name, random), random.normal(size=N), random.normal(size=(N, 3))
    given = (points, None if what == "dipoles" else charges, None if what in ("charges", "gradient") else dipoles)
    targets = None if what == "charges" else np.concatenate([points[:40], random.uniform(-3, 6, (400, 3))])
    options = {"targets": targets, "gradient": "gradient" in what, "rtol": rtol}
    here, there = (cal.laplace_sums(*given, **options, backend=each) for each in ("numba", "opencl"))
    assert there.info.backend == "opencl:0" and "backend opencl:0" in str(there.info)
    assert there.info[5:9] == here.info[5:9] and there.info.levels > 1
    for expected, found in ((here.potential, there.potential), (here.gradient, there.gradient)):
        if expected is not None:
            assert found.shape == expected.shape and found.dtype == expected.dtype
            assert np.linalg.norm(found - expected) < bound * np.linalg.norm(expected)


def test_few_points_are_summed_directly(opencl):
    random = np.random.default_rng(0)
    points, targets, charges = random.normal(size=(N, 3)), random.normal(size=(90, 3)), random.normal(size=N)
    dipoles = random.normal(size=(N, 3))
    for given in (targets, None):
        here, there = (
            cal.laplace_sums(points, charges, dipoles, targets=given, gradient=True, backend=each)
            for each in ("numba", "opencl")
        )
        assert there.info.method == "direct" and there.info.backend == "opencl:0"
        assert np.linalg.norm(there.potential - here.potential) < 1e-12 * np.linalg.norm(here.potential)
        assert np.linalg.norm(there.gradient - here.gradient) < 1e-12 * np.linalg.norm(here.gradient)
    assert cal.laplace_sums(points, charges, targets=np.zeros((0, 3)), backend="opencl").potential.shape == (0,)


def test_one_point_and_equal_points(opencl, no_direct_sums):
    for points in (np.ones((1, 3)), np.tile([1.0, 2.0, 3.0], (500, 1))):
        assert not cal.laplace_sums(points, np.ones(len(points)), backend="opencl").potential.any()


def test_points_that_almost_coincide(opencl, no_direct_sums):
    """In single precision their distance is below the rounding of places."""
    random = np.random.default_rng(0)
    points, charges = random.uniform(-1, 1, (N, 3)), random.normal(size=N)
    points[1] = points[0] + [0, 0, 1e-9]
    here, there = (cal.laplace_sums(points, charges, rtol=1e-3, backend=each) for each in ("numba", "opencl"))
    assert there.potential[:2] == pytest.approx(here.potential[:2], rel=1e-6)


def test_refusals(opencl, monkeypatch, no_direct_sums):
    points = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.raises(ValueError, match="unknown backend 'gpu'"):
        cal.laplace_sums(points, np.ones(100), backend="gpu")
    with pytest.raises(ValueError, match="accept several backends"):
        cal.laplace_sums(points, np.ones(100), backend="numba+opencl")
    with pytest.raises(ValueError, match="charges are NaN"):
        cal.laplace_sums(points, np.full(100, np.nan), backend="opencl")
    monkeypatch.setattr(opencl, "memory", lambda: 1000)
    with pytest.raises(MemoryError, match="the sum over 100 points needs .* opencl:0 .*: split the targets"):
        cal.laplace_sums(points, np.ones(100), backend="opencl")


@pytest.mark.parametrize("wanted", ["an octree", "a list of near points", "a list of boxes", "expansions of boxes"])
def test_memory_is_asked_for_before_it_is_taken(opencl, monkeypatch, no_direct_sums, wanted):
    from calderon.fmm.device import point_sums
    from calderon.products.device import octree as trees

    def require(device, needed, what, advice):
        assert needed >= 0
        if what == wanted:
            raise MemoryError(f"{what}: {advice}")

    for each in (point_sums, trees):
        monkeypatch.setattr(each, "require_device_memory", require)
    with pytest.raises(MemoryError, match=f"{wanted}: split the targets"):
        cal.laplace_sums(np.random.default_rng(0).normal(size=(N, 3)), np.ones(N), rtol=1e-4, backend="opencl")
