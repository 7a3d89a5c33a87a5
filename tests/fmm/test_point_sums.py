"""Sums of charges and dipoles over points against direct sums."""

import numpy as np
import pytest

import calderon as cal
from calderon.fmm import sums as module
from calderon.products.lists import lists_of, pair_counts
from calderon.products.octree import octree

RANDOM = np.random.default_rng(0)
N = 6000


def sphere(n=N):
    x = RANDOM.normal(size=(n, 3))
    return x / np.linalg.norm(x, axis=1)[:, None]


PLACES = {
    "sphere": sphere,
    "cube": lambda: RANDOM.uniform(-3, 5, (N, 3)),
    "plate": lambda: RANDOM.uniform(0, 1, (N, 3)) * [1, 1, 0],
    "two clusters": lambda: np.concatenate([1e-4 * sphere(N // 2), 5 + 1e-3 * RANDOM.normal(size=(N // 2, 3))]),
    "graded": lambda: RANDOM.uniform(-1, 1, (N, 3)) ** 7,
    "coincident": lambda: np.repeat(RANDOM.uniform(0, 1, (N // 4, 3)), 4, axis=0),
}


@pytest.fixture(autouse=True)
def own_random_numbers():
    """Random numbers of each test, whichever ran before."""
    global RANDOM
    RANDOM = np.random.default_rng(0)


@pytest.fixture
def no_direct_sums(monkeypatch):
    monkeypatch.setattr(module, "FEW", 0)


def exact(points, targets, charges, dipoles):
    """Potentials and gradients by plain NumPy."""
    potential, gradient = np.zeros(len(targets)), np.zeros((len(targets), 3))
    for i, x in enumerate(targets):
        e = x - points
        r = np.linalg.norm(e, axis=1)
        r[r == 0] = np.inf
        along = np.einsum("jk,jk->j", e, dipoles)
        potential[i] = (charges / r + along / r**3).sum()
        terms = -charges[:, None] * e / r[:, None] ** 3 + dipoles / r[:, None] ** 3
        gradient[i] = (terms - 3 * along[:, None] * e / r[:, None] ** 5).sum(axis=0)
    return potential / (4 * np.pi), gradient / (4 * np.pi)


def difference(found, wanted):
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


@pytest.mark.parametrize("apart", [1, 2])
@pytest.mark.parametrize("name", PLACES)
def test_every_pair_of_points_meets_once(name, apart):
    points = PLACES[name]()[::4]
    tree = octree(points, points[:700], 20)
    lists, met = lists_of(tree, apart), np.zeros((700, len(points)), int)
    pairs = [lists.leaves[lists.near_pairs], np.stack([lists.far.target, lists.far.source], axis=1)]
    for target, source in np.concatenate(pairs):
        met[slice(*tree.targets[target]), slice(*tree.sources[source])] += 1
    assert met.min() == met.max() == 1
    near, far = pair_counts(tree, apart)
    assert np.array_equal(far, np.bincount(tree.level[lists.far.target], minlength=len(far)))
    sizes = [np.diff(each)[:, 0] for each in (tree.targets, tree.sources)]
    assert near == sizes[0][pairs[0][:, 0]] @ sizes[1][pairs[0][:, 1]]


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_potentials_hold_the_tolerance(name, rtol, no_direct_sums):
    size = 1e-60 if rtol == 1e-3 else 1.0  # beyond single precision, in which sums are
    points, charges = PLACES[name](), size * RANDOM.normal(size=N)
    found = cal.laplace_sums(points, charges, rtol=rtol)
    rows = RANDOM.integers(N, size=200)
    error = difference(found.potential[rows], exact(points, points[rows], charges, np.zeros((N, 3)))[0])
    assert error <= rtol
    assert error / 10 <= found.info.error <= rtol or found.info.error < 1e-12
    assert found.info.method == "fmm" and found.gradient is None and "fast multipole" in str(found.info)


@pytest.mark.parametrize("name", ["sphere", "cube", "two clusters"])
def test_gradients_of_charges_and_dipoles_hold_the_tolerance(name, no_direct_sums):
    points, charges, dipoles = PLACES[name](), RANDOM.normal(size=N), RANDOM.normal(size=(N, 3))
    targets = np.concatenate([points[:50], points.mean(axis=0) + np.ptp(points) * RANDOM.normal(size=(800, 3))])
    found = cal.laplace_sums(points, charges, dipoles, targets=targets, gradient=True, rtol=1e-4)
    wanted = exact(points, targets, charges, dipoles)
    assert difference(found.potential, wanted[0]) <= 1e-4
    assert difference(found.gradient, wanted[1]) <= 1e-4
    assert found.info.gradient_error <= 1e-4
    alone = cal.laplace_sums(points, None, dipoles, targets=targets, rtol=1e-4)
    assert difference(alone.potential, exact(points, targets, 0 * charges, dipoles)[0]) <= 1e-4


@pytest.mark.variant
def test_high_accuracy(no_direct_sums):
    points, charges = PLACES["sphere"](), RANDOM.normal(size=N)
    found = cal.laplace_sums(points, charges, rtol=1e-9)
    wanted = exact(points, points[:100], charges, np.zeros((N, 3)))[0]
    assert difference(found.potential[:100], wanted) <= 1e-9
    assert (found.info.degree, found.info.combinations) == (32, 520)


def test_a_cube_holds_a_tolerance_next_to_the_error_of_an_order():
    """Degree 16 has 5.3e-6 here; where errors of an order are largest depends on the points."""
    random = np.random.default_rng(3)
    points, charges = random.uniform(size=(50_000, 3)), random.standard_normal(50_000)
    chosen = random.choice(50_000, 400, replace=False)
    found = cal.laplace_sums(points, charges, rtol=5e-6)
    wanted = exact(points, points[chosen], charges, np.zeros((50_000, 3)))[0]
    assert difference(found.potential[chosen], wanted) <= 5e-6


def test_few_points_are_summed_directly():
    points, charges, dipoles = sphere(300), RANDOM.normal(size=300), RANDOM.normal(size=(300, 3))
    found = cal.laplace_sums(points, charges, dipoles, gradient=True)
    wanted = exact(points, points, charges, dipoles)
    assert found.info.method == "direct" and found.info.error == 0
    assert difference(found.potential, wanted[0]) < 1e-12
    assert difference(found.gradient, wanted[1]) < 1e-11
    assert cal.laplace_sums(np.zeros((0, 3)), np.zeros(0)).potential.shape == (0,)


def test_points_that_almost_coincide(no_direct_sums):
    """In single precision their distance is below the rounding of places."""
    points, charges = sphere(), RANDOM.standard_normal(N)
    points[1] = points[0] + [0, 0, 1e-9]
    found = cal.laplace_sums(points, charges, rtol=1e-3).potential[:2]
    assert found == pytest.approx(exact(points, points[:2], charges, np.zeros((N, 3)))[0], rel=1e-6)


def test_all_points_in_one_place(no_direct_sums):
    points = np.tile([1.0, 2.0, 3.0], (500, 1))
    assert not cal.laplace_sums(points, np.ones(500)).potential.any()


def test_an_order_too_low_is_raised_once_and_then_refused(monkeypatch, no_direct_sums):
    lowest = module.POINTS[0]._replace(potential=1e-9)
    points, charges = PLACES["cube"](), RANDOM.normal(size=N)
    monkeypatch.setattr(module, "POINTS", (lowest, module.POINTS[5]))
    found = cal.laplace_sums(points, charges, rtol=2e-5)
    assert (found.info.degree, found.info.combinations) == module.POINTS[1].order[:2] and found.info.error <= 2e-5
    monkeypatch.setattr(module, "POINTS", (lowest, lowest))
    with pytest.raises(RuntimeError, match=r"error of .* and rtol=2e-05 was requested: increase rtol"):
        cal.laplace_sums(points, charges, rtol=2e-5)


def test_refusals(monkeypatch, no_direct_sums):
    points = sphere(100)
    for charges, dipoles, error, match in (
        (np.full(100, np.nan), None, ValueError, "charges are NaN"),
        (np.ones(99), None, ValueError, r"shape \(100,\)"),
        (np.ones(100) * 1j, None, TypeError, "complex"),
        (None, np.ones(100), ValueError, r"shape \(100, 3\)"),
        (None, None, ValueError, "no charges and no dipoles"),
    ):
        with pytest.raises(error, match=match):
            cal.laplace_sums(points, charges, dipoles)
    with pytest.raises(ValueError, match="NaN or infinite"):
        cal.laplace_sums(np.full((2, 3), np.inf), np.ones(2))
    with pytest.raises(ValueError, match="holds 2e-10 and above"):
        cal.laplace_sums(points, np.ones(100), rtol=1e-12)
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="the sum over 100 points needs"):
        cal.laplace_sums(points, np.ones(100))
