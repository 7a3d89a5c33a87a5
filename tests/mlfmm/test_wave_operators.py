"""Operators by plane waves against dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal
from calderon.mlfmm import preparation
from calderon.mlfmm.channels import Channel, factorised, table_of, weighted
from calderon.mlfmm.check import errors_of_rows
from calderon.mlfmm.medium import Medium, loosened
from calderon.mlfmm.plan import Attempt, attempts, media_of
from calderon.operators.memory_estimate import preparation_bytes
from calderon.operators.products import SandwichProduct
from calderon.operators.tree import Term
from calderon.products.lists import lists_of
from catalogue import cases

K = 8.0
MESH = cal.mesh.sphere(radius=1.0, h=0.13)
GREEN = cal.Helmholtz(K)
P0, P1, P2, RWG = cal.P0(MESH), cal.P1(MESH), cal.P2(MESH), cal.RWG(MESH)
EDGES = cal.magnetic_field(GREEN, RWG, cal.dual_tests(RWG))
BURTON_MILLER = (
    0.5 * cal.identity(P1) - cal.double_layer(GREEN, P1) + (1j / K) * cal.hypersingular(GREEN, P1)
)  # fmt: skip
OPERATORS = {
    "double, DP1 to P0": cal.double_layer(GREEN, cal.DP1(MESH), P0),
    "combined": BURTON_MILLER,
    "electric": cal.electric_field(GREEN, RWG),
    "magnetic": cal.magnetic_field(GREEN, RWG),
    "magnetic, SNC": cal.magnetic_field(GREEN, RWG, cal.SNC(MESH)),
    "combined field": -0.5 * cal.electric_field(GREEN, RWG) + 0.25 * cal.identity(RWG, EDGES.test) - 0.5 * EDGES,
}


VARIANTS = {"double, DP1 to P0", "magnetic, SNC"}


def vectors(size, count=3):
    random = np.random.default_rng(1)
    return random.standard_normal((size, count)) + 1j * random.standard_normal((size, count))


def distance(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


@pytest.mark.parametrize("name", cases(OPERATORS, OPERATORS.keys() - VARIANTS))
def test_products_hold_the_tolerance(name):
    operator = OPERATORS[name]
    fast, dense = operator.assemble("mlfmm", rtol=1e-3), operator.assemble("dense", precision="single")
    assert fast.levels[0]
    x, y = vectors(operator.shape[1]), vectors(operator.shape[0])
    assert distance(fast @ x, dense @ x) <= 1e-3
    assert distance(fast.H @ y, dense.H @ y) <= 1.5e-3
    assert distance(fast.T @ y, dense.T @ y) <= 1.5e-3
    assert 0.3 < fast.error / distance(fast @ x, dense @ x) < 12


def test_rows_of_a_part_take_no_pairs_of_boxes_without_rows():
    part = P1.selected((P1.nodes > 0).all(axis=1))
    operator = cal.double_layer(GREEN, P1, part)
    fast, dense = operator.assemble("mlfmm", rtol=1e-3), operator.assemble("dense", precision="single")
    medium = fast.media[0]
    assert 0 < len(medium.lists.far.target) < 0.4 * len(lists_of(medium.tree).far.target)
    x, y = vectors(operator.shape[1]), vectors(operator.shape[0])
    assert distance(fast @ x, dense @ x) <= 1e-3
    assert distance(fast.T @ y, dense.T @ y) <= 1.5e-3


def test_long_waves_cancel_in_double_precision():
    """W of a constant is k^2 V of it nearly, a millionth of the entries' size: single precision holds no 1e-4 of it."""
    operator = cal.hypersingular(cal.Helmholtz(0.02), P1)
    fast, dense = operator.assemble("mlfmm", rtol=1e-4), operator.assemble("dense")
    for x in (np.ones(P1.dimension), vectors(P1.dimension)):
        assert distance(fast @ x, dense @ x) <= 1e-4


LOSSES = [(layer, k) for layer in ("single_layer", "electric_field") for k in (8.0, 8.0 + 0.8j, 8.0 + 2.4j)]


@pytest.mark.parametrize(("layer", "k"), cases(LOSSES, [("electric_field", 8.0)]))
def test_double_precision_and_losses(layer, k):
    operator = getattr(cal, layer)(cal.Helmholtz(k), P1 if layer == "single_layer" else RWG)
    fast, dense = operator.assemble("mlfmm", rtol=1e-5), operator.assemble()
    assert fast.levels[0]
    x = vectors(operator.shape[1])
    assert 1e-8 < distance(fast @ x, dense @ x) <= 1e-5


@pytest.mark.variant
def test_waves_that_decay_alone_have_equivalent_sources_at_all_levels():
    operator = cal.hypersingular(cal.ModifiedHelmholtz(30.0), P1) + cal.identity(P1)
    fast, dense = operator.assemble("mlfmm", rtol=1e-3), operator.assemble("dense")
    assert fast.dtype == dense.dtype and all(level.points for level in fast.levels[0])
    x = vectors(P1.dimension)
    for part in (x.real, x):
        assert (fast @ part).dtype == (dense @ part).dtype
        assert distance(fast @ part, dense @ part) <= 1e-3
        assert distance(fast.T @ part, dense.T @ part) <= 1.5e-3


@pytest.mark.variant
@pytest.mark.filterwarnings("ignore:plane waves do not hold")
def test_larger_leaves_of_waves_that_decay_alone_have_equivalent_sources_too():
    """There are no plane waves instead; few points do not hold this tolerance."""
    mesh = cal.mesh.sphere(radius=1.0, h=0.3)
    operator = cal.hypersingular(cal.ModifiedHelmholtz(1.0), cal.P1(mesh))
    fast, dense = operator.assemble("mlfmm", rtol=1e-9), operator.assemble("dense")
    x = vectors(fast.shape[1])
    assert distance(fast @ x, dense @ x) <= 1e-9


def test_large_boxes_have_no_equivalent_sources():
    """Boxes of 1.5 wavelengths had an error of 2e-5 by them, whatever tolerance was asked."""
    fine = cal.single_layer(cal.Helmholtz(8.0), cal.P1(cal.mesh.cuboid((2.0, 1.0, 0.3), 0.05)))
    (terms,) = media_of(fine)[0].values()
    for attempt in attempts(1e-6):
        leaves = [Medium(terms, fine.shape, attempt.edge, np.float64, mixed) for mixed in (True, attempt.mixed)]
        assert leaves[1].least == 0 or attempt.edge < 0.7
    assert leaves[0].least > 0


def test_columns_together_and_singly_are_the_same():
    for name, bound in (("combined", 1e-6), ("combined field", 1e-6)):
        fast = OPERATORS[name].assemble("mlfmm", rtol=1e-3)
        x = vectors(fast.shape[1], 10)
        for product in (fast, fast.H):
            singly = np.stack([product @ column for column in x.T], axis=1)
            assert distance(product @ x, singly) <= bound
            assert (product @ x[:, :0]).shape == (product.shape[0], 0)


def test_transposed_and_adjoint_are_exact_ones():
    fast = OPERATORS["combined"].assemble("mlfmm", rtol=1e-3)
    x, y = vectors(fast.shape[1], 1), vectors(fast.shape[0], 1)
    forward, back = (y.conj().T @ (fast @ x))[0, 0], ((fast.H @ y).conj().T @ x)[0, 0]
    assert abs(forward - back) <= 1e-5 * np.linalg.norm(y) * np.linalg.norm(fast @ x)


def test_waves_stay_where_better_ones_cannot_be_had(monkeypatch):
    fast = OPERATORS["combined field"].assemble("mlfmm", rtol=1e-3)
    x, medium = vectors(fast.shape[1], 1), fast.media[0]
    while medium.waves.degree < max(term.atom.quadrature.regular for term in medium.terms):
        assert medium.improve(1e-13, False, False)  # by charges of a higher degree
    before = fast @ x
    for finer, double in ((False, False), (True, False), (True, True)):
        assert not medium.improve(1e-13, finer, double)
        assert np.array_equal(fast @ x, before)


def test_where_plane_waves_do_not_hold_a_tolerance_all_entries_are_computed_or_an_error_says_so(monkeypatch):
    tried = Attempt(0.35, np.dtype(np.float32), 1e-9)
    monkeypatch.setattr(preparation, "attempts", lambda rtol, precise: iter([tried]))
    with pytest.warns(cal.AccuracyWarning, match=r"do not hold rtol=0\.001 for double_layer.*method='dense'"):
        fast = cal.double_layer(GREEN, P1).assemble("mlfmm", rtol=1e-3)
    assert not fast.levels[0] and "0 levels (all entries are near ones)" in str(fast)
    x = vectors(fast.shape[1])
    assert distance(fast @ x, cal.double_layer(GREEN, P1).assemble("dense") @ x) <= 3e-4
    monkeypatch.setattr(preparation, "ALL_NEAR", 0.0)
    with pytest.raises(RuntimeError, match=r"plane waves have no degrees for rtol=0\.001: increase rtol, or use"):
        cal.double_layer(GREEN, P1).assemble("mlfmm", rtol=1e-3)


def test_near_entries_are_those_of_the_dense_matrix():
    operator = OPERATORS["combined field"]
    fast, pattern = operator.assemble("mlfmm", rtol=3e-4), RWG.mass_matrix().tocoo()
    dense = operator.assemble("dense", precision="single").to_array()[pattern.coords]
    assert np.abs(fast.near_entries(*pattern.coords) - dense).max() <= 1e-5 * np.abs(dense).max()


def test_near_entries_in_16_bits_keep_their_values_and_the_sums_of_rows():
    operator = cal.hypersingular(GREEN, P1)
    packed, plain = (operator.assemble("mlfmm", rtol=rtol).media[0].near[0].store for rtol in (5e-4, 3e-4))
    assert packed.is_packed and not plain.is_packed and packed.nbytes < 0.62 * plain.nbytes
    random = np.random.default_rng(2)
    count = int(packed.layout.starts[-1])
    values = random.standard_normal((count, 2)) * 10.0 ** random.integers(-3, 3, (count, 1))
    values = np.ascontiguousarray(values, np.float32).view(np.complex64).ravel()
    every, begins = np.arange(len(packed.layout.pairs)), packed.layout.starts[:-1]
    packed.enter(every, values, begins)
    found = packed.entries_of(every)
    assert np.abs(found - values).max() <= 2.0**-13 * np.abs(values).max()
    packed.enter(every, found, begins)
    assert np.array_equal(packed.entries_of(every), found)  # so files keep what was computed
    height, width = packed.sizes
    for n in np.flatnonzero(width > 1)[:20]:
        rows = [each[packed.layout.starts[n] : packed.layout.starts[n + 1]].reshape(height[n], width[n])
                for each in (values, found)]  # fmt: skip
        assert np.abs(rows[1].sum(axis=1) - rows[0].sum(axis=1)).max() <= 2.0**-14 * np.abs(rows[0]).max()


def test_blocks_of_one_medium_take_one_traversal():
    electric, magnetic = cal.electric_field(GREEN, RWG), cal.magnetic_field(GREEN, RWG, cal.SNC(MESH))
    for factor, traversals in ((-0.5, 1), (0.5, 2)):  # 1: as fields of J and M
        table = cal.blocks([[2.0 * electric, magnetic], [magnetic, factor * electric]])
        fast = table.assemble("mlfmm", rtol=1e-3)
        x = vectors(table.shape[1], 2)
        x[: len(x) // 2, 0] = x[len(x) // 2 :, 1] = 0.0  # M alone, J alone
        assert len(fast.media) == 1 and fast.media[0].rank == traversals
        assert [len(alike.regions) for alike, _ in fast.media[0].near] == [2, 2]  # one store for T, one for K
        apart = factorised(table_of(fast.media[0].terms, turned=False)[2])  # as with equivalent sources
        assert apart[0].shape[2] == 2
        dense = table.assemble("dense", precision="single")
        assert distance(fast @ x, dense @ x) <= 1e-3 and distance(fast.T @ x, dense.T @ x) <= 1e-3
        assert not (fast @ (0 * x)).any()
        i, half = np.arange(3), len(x) // 2
        parts = fast.near_entries(i, i), fast.near_entries(half + i, half + i)
        assert np.allclose(2.0 * parts[1], factor * parts[0], rtol=1e-12) and parts[0].all()


@pytest.mark.parametrize(
    ("layer", "space"),
    [
        (cal.electric_field, RWG),
        *(pytest.param(layer, P1, marks=pytest.mark.variant) for layer in (cal.double_layer, cal.single_layer)),
    ],
)
def test_regions_with_the_factor_zero_and_with_factors_far_apart(layer, space):
    one = layer(GREEN, space)
    table = cal.blocks([[0.0 * one, one], [2.0 * one, one]])
    x, half = vectors(table.shape[1], 2), space.dimension
    fast, dense = table.assemble("mlfmm", rtol=1e-3), one.assemble("dense", precision="single")
    exact = np.concatenate([dense @ x[half:], dense @ (2.0 * x[:half] + x[half:])])
    assert distance(fast @ x, exact) <= 1e-3
    for alike, _ in fast.media[0].near:  # the largest first, by which no factor overflows
        assert all(abs(factor) <= 1.0 for _, factor in alike.regions)
    assert not ((0.0 * one).assemble("mlfmm", rtol=1e-3) @ x[:half]).any()
    # in double precision, whatever the tolerance, each holds it
    apart, x[half:] = cal.blocks([[one, 1e25 * one]]), 0.0
    assert distance(apart.assemble("mlfmm", rtol=1e-3) @ x, dense @ x[:half]) <= 1e-3
    with pytest.raises(ValueError, match=r"factors are 1 and 1e\+25: they may be 1e\+20 apart; use precision='double'"):
        apart.assemble("mlfmm", rtol=1e-3, precision="single")


@pytest.mark.parametrize("size", [1.0, 1e7, 1e17])
def test_factors_of_tables_have_the_accuracy_of_each_row_and_column(size):
    table = np.random.default_rng(0).standard_normal((2, 4, 2)) @ np.random.default_rng(1).standard_normal((2, 2, 3))
    table = table * np.array([1.0, 1e-25, 0.0, 1e13])[:, None] * np.array([1.0, 1e20, 1e-3]) + 0j
    pair, bodies = np.array([[1.0, 1.0], [size, 1.0]]), np.outer([1.0, 1e3, 1e-5], [1.0, 1e6]) + 0j
    signs = np.array([1.0, -1.0])[:, None, None]  # of the polarisations, for magnetic fields
    tables = [(table, 2), *((np.stack([each, each]), 2 - (size == 1.0)) for each in (pair, pair[::-1], pair.T))]
    tables.append((np.stack([pair[1:]] * 2), 1))
    for core in ([[1.0, 1.0], [1.0, 0.0]], [[0.0, size], [1.0, 1.0]], [[size, 1.0], [1.0, -1.0]]):
        tables.append((np.stack([np.kron(bodies, core)] * 2), 2))
    tables.append((np.kron(bodies, [[2.0 * size, 1.0], [1.0, -0.5 / size]] * np.where(np.eye(2), 1.0, 1j * signs)), 1))
    tables.append((np.zeros((2, 2, 3), complex), 1))
    for each, products in tables:
        left, right = factorised(each)
        assert left.shape[2] == right.shape[2] == products
        assert np.allclose(left @ right.swapaxes(1, 2), each, rtol=1e-10, atol=0.0)
        assert (abs(left) @ abs(right).swapaxes(1, 2) <= 10.0 * abs(each).max(axis=0)).all()  # nothing cancels
        assert not each.any() or np.isclose(right, 1.0, rtol=1e-12).any(axis=1).all()


def test_channels_of_currents_keep_parts_far_smaller_than_those_of_other_blocks():
    electric, magnetic = np.diag([1e13, 1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    channels = [Channel(first, None, "current", "electric") for first in (0, 3)]
    table = np.stack([electric + 1j * magnetic, electric - 1j * magnetic])
    (rows, into), (columns, out) = (weighted(channels, each) for each in factorised(table))
    found = np.zeros((3, 2, 2), complex)  # by the number of times that X is applied, and X X = -1
    for row, left in zip(rows, into, strict=True):
        for column, right in zip(columns, out, strict=True):
            turns = (row.wave == "magnetic") + (column.wave == "magnetic")
            found[turns, row.first // 3, column.first // 3] += left @ right
    assert np.allclose(found[0] - found[2], electric, rtol=1e-12, atol=0.0)
    assert np.allclose(found[1], magnetic, rtol=1e-12, atol=0.0)


@pytest.mark.variant
def test_mirrored_terms_are_of_the_same_medium():
    double = cal.double_layer(GREEN, P1)
    both, one = (cal.blocks([[None, 2 * double], [factor * double.T, None]]) for factor in (2, 3))
    fast = both.assemble("mlfmm", rtol=1e-3)
    x, half = vectors(both.shape[1], 1), both.shape[0] // 2
    dense = double.assemble("dense", precision="single")
    exact = 2 * np.concatenate([dense @ x[half:], dense.T @ x[:half]])
    assert len(fast.media) == 1 and len(fast.media[0].near) == 1
    assert distance(fast @ x, exact) <= 1e-3 and distance(fast.T @ x, exact) <= 1e-3
    assert np.array_equal(fast.near_entries(np.arange(3), half + np.arange(3)),
                          fast.near_entries(half + np.arange(3), np.arange(3)))  # fmt: skip
    assert len(media_of(one)[0]) == 1 and len(media_of(one)[1]) == 1


def two_spheres(apart):
    other = cal.mesh.sphere(radius=0.5, h=0.15)
    corners = np.concatenate([MESH.triangles, other.triangles + MESH.number_of_vertices])
    return cal.TriangleMesh(np.concatenate([MESH.vertices, other.vertices + [apart, 0, 0]]), corners)


@pytest.mark.parametrize(
    "mesh",
    [
        pytest.param(two_spheres(12.0), marks=pytest.mark.variant),
        cal.mesh.sphere(radius=0.1, h=0.05),
        cal.mesh.plate([4.0, 1.0], 0.12),
    ],
)
def test_bodies_apart_a_small_one_and_a_plate(mesh):
    operator = cal.hypersingular(GREEN, cal.P1(mesh, boundary=False))
    fast, dense = operator.assemble("mlfmm", rtol=1e-3), operator.assemble("dense")
    x = vectors(operator.shape[1])
    assert distance(fast @ x, dense @ x) <= 1e-3


def test_refusals():
    single = cal.single_layer(GREEN, P1)
    for green in (cal.Laplace(), cal.ModifiedHelmholtz(0.0), cal.Helmholtz(-2.0)):
        with pytest.raises(ValueError, match=r"Maxwell's equations with Re k >= 0, k not 0"):
            cal.single_layer(green, P1).assemble("mlfmm")
    with pytest.raises(ValueError, match=r"plane waves hold 8e-05 and above with precision='single'"):
        single.assemble("mlfmm", rtol=1e-5, precision="single")
    with pytest.raises(ValueError, match="1e-09 and above"):
        single.assemble("mlfmm", rtol=1e-12)
    with pytest.raises(ValueError, match=r"small bodies that are far apart"):
        cal.single_layer(GREEN, cal.P1(two_spheres(1e4))).plan("mlfmm")


@pytest.mark.variant
def test_bodies_thousands_of_wavelengths_apart_are_refused():
    with pytest.raises(ValueError, match=r"small bodies that are far apart"):
        cal.single_layer(GREEN, cal.P1(two_spheres(1e4))).assemble("mlfmm")


@pytest.mark.parametrize("rtol", [1e-3, 1e-4])
def test_the_first_attempt_holds_and_plans_know_it(rtol):
    operator = OPERATORS["combined field"]
    plan, fast = operator.plan("mlfmm", rtol), operator.assemble("mlfmm", rtol=rtol)
    assert f"waves in {plan.precision} precision" in str(fast)
    assert plan.bytes - preparation_bytes(operator) == pytest.approx(fast.nbytes, rel=0.15)
    assert plan.details.startswith(f"{len(fast.levels[0])} levels")


def test_plans_of_long_waves_know_that_fields_cancel():
    operator = cal.hypersingular(cal.Helmholtz(0.02), cal.P1(MESH))
    plan, fast = operator.plan("mlfmm", 1e-4), operator.assemble("mlfmm", rtol=1e-4)
    assert plan.precision == "double" and "waves in double precision" in str(fast)


def test_scattering_by_a_rigid_and_by_a_conducting_sphere():
    directions = np.stack([np.sin(np.linspace(0, np.pi, 91)), np.zeros(91), np.cos(np.linspace(0, np.pi, 91))], axis=1)
    problem = cal.SoundHardScattering(MESH, wavenumber=K)
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=K)
    fields = [problem.solve(wave, method=name, rtol=1e-3).far_field(directions) for name in ("mlfmm", "dense")]
    assert distance(*fields) < 2e-3
    conductor = cal.PECScattering(MESH, K, formulation="cfie")
    wave = cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=K)
    angles = np.linspace(0, np.pi, 91)
    sections = [conductor.solve(wave, method=name, rtol=1e-3).rcs(angles, 0.0) for name in ("mlfmm", "dense")]
    assert np.abs(10 * np.log10(sections[0] / sections[1])).mean() < 0.02
    assert conductor.plan(method="mlfmm", rtol=1e-3).method == "mlfmm"


@pytest.mark.parametrize("rtol", [1e-3, 1e-4])
def test_rules_of_near_entries_cost_a_tenth_of_the_tolerance(rtol):
    """On a whole dense matrix, where all entries have these rules, in the precision of near entries."""
    mesh, green = cal.mesh.cube(1.0, 0.25), cal.Helmholtz(3.0)
    scalars, currents = cal.P1(mesh), cal.RWG(mesh)
    for operator in (
        cal.double_layer(green, scalars), cal.hypersingular(green, scalars), cal.electric_field(green, currents),
        cal.magnetic_field(green, currents),
    ):  # fmt: skip
        exact = operator.assemble("dense")
        loose = loosened(Term(1.0, operator), rtol).atom.assemble("dense", precision="single")
        x = np.random.default_rng(1).standard_normal((operator.shape[1], 3))
        assert 0 < np.linalg.norm(loose @ x - exact @ x) <= 0.1 * rtol * np.linalg.norm(exact @ x)


@pytest.mark.variant
def test_few_pairs_in_corners_do_not_break_a_small_tolerance():
    """All rows: most of the error is that of a few, which random ones do not show."""
    operator = cal.single_layer(cal.Helmholtz(10.0), cal.P0(cal.mesh.sphere(1.0, 0.075)))
    x = np.random.default_rng(1).standard_normal((operator.shape[1], 2)) @ [1, 1j]
    exact = operator.assemble("matrix-free") @ x
    change = operator.assemble("mlfmm", rtol=1e-6) @ x - exact
    assert np.linalg.norm(change) <= 1e-6 * np.linalg.norm(exact)


def test_likely_errors_of_composed_products():
    """Errors of 2 I_r^T A with the rows in the opposite order."""
    single = Term(1.0, cal.single_layer(GREEN, P1))
    product = Medium([single], single.atom.shape, 0.3, np.float64)
    turned = 2.0 * sp.csr_array(sp.identity(P1.dimension).tocsr()[::-1])
    composed = SandwichProduct(product, [1.0], [turned], [turned])
    errors = errors_of_rows([(single, product)], P1.dimension)
    assert (errors > 0).all() and errors.max() > 10 * np.median(errors)
    found = errors_of_rows([(Term(1.0, None), composed)], P1.dimension)
    np.testing.assert_allclose(found, 4 * errors[::-1], rtol=1e-12)
