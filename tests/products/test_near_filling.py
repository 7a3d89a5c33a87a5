"""Blocks that a device computes where they stay are those of the processor, for every form and in every precision."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import DeviceMatrix, Execution, get
from calderon.fmm.layout import Layout
from calderon.fmm.near import near_store
from calderon.fmm.orders import FUNCTIONS, first_order
from calderon.galerkin.device import local_matrices
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.mlfmm.medium import Medium
from calderon.mlfmm.plan import Group, media_of
from calderon.products.check import checked_rows
from calderon.products.device import near_filling
from calderon.products.device.near_filling import DeviceNumbers, NearFilling
from calderon.products.near_entries import BEYOND
from calderon.products.near_filling import filled_store
from calderon.quadrature import NearQuadrature

BODY = cal.mesh.ellipsoid([2.5, 0.3, 0.3], 0.2)
GREEN, WAVES, SOLID = cal.Laplace(), cal.Helmholtz(8.0), cal.Elastostatic(2.5, 0.3)
LINEAR, CONSTANT = cal.P1(BODY), cal.P0(BODY)
FIELDS, FORCES = cal.P1(BODY, components=3), cal.P0(BODY, components=3)
SPHERE = cal.mesh.sphere(radius=1.0, h=0.2)
NODES, EDGES = cal.P1(SPHERE), cal.RWG(SPHERE)
STATIC = {
    "linear": cal.single_layer(GREEN, LINEAR),
    "curls": cal.hypersingular(GREEN, LINEAR),
    "two spaces": cal.double_layer(GREEN, LINEAR, CONSTANT),
    "quadratic": cal.single_layer(GREEN, cal.P2(BODY)),
    "tractions": cal.double_layer(SOLID, FIELDS, FORCES),
    "forces": cal.single_layer(SOLID, FORCES),
}
WAVE = {
    "scalars": cal.double_layer(WAVES, NODES) + 1j * cal.hypersingular(WAVES, NODES),
    "currents": cal.electric_field(WAVES, EDGES) - 0.5 * cal.magnetic_field(WAVES, EDGES),
    "dual tests": cal.magnetic_field(WAVES, EDGES, cal.dual_tests(EDGES)),
    "losses": cal.single_layer(cal.Helmholtz(8.0 + 0.5j), NODES),
}
BOUNDS = {"double": 1e-12, "single": 1e-5}
QUANTUM = 2.0**-15
"""Unit of numbers of 16 bits, relative to the largest of a group."""


def distance(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def entries(store):
    return store.entries_of(np.arange(len(store.layout.pairs)))


def static_stores(form, precision, packs=False, leaf=25):
    """The stores of the processor and of the device."""
    orders = tuple(each._replace(leaf=leaf) for each in FUNCTIONS)
    spaces = [form.test.scalar], [form.trial.scalar]
    layout = Layout.of(*spaces, first_order(orders, 1e-4, False)[0], form.quadrature.near, worth=8.0)
    given = form, 0.5, layout, Execution.of("numba", precision), None, None, packs
    here, there = near_store(*given), near_store(*given, [get("opencl")])
    assert isinstance(there.memory, DeviceNumbers) and there.nbytes == here.nbytes and len(here.layout.pairs) > 30
    return here, there


def wave_stores(operator, precision, rtol=0.0):
    """Stores of all regions."""
    (terms,) = media_of(operator)[0].values()
    found = []
    for devices in ([], [get("opencl")]):
        medium = Medium(*Group(terms, operator.shape), 0.5, np.float32 if precision == "single" else np.float64, False)
        medium.fill_near(Execution.of("numba", precision), rtol, devices=devices)
        found.append(medium.near[0].store)
    assert isinstance(found[1].memory, DeviceNumbers) and len(found[0].layout.pairs) > 50
    return found


def test_checked_rows_are_the_processor_s_where_a_device_has_no_room_for_products(opencl, monkeypatch):
    def refuse(self, x):
        raise MemoryError

    form, x = STATIC["linear"], np.ones((LINEAR.dimension, 2))
    given = form, [form], np.arange(0, 60, 7), np.dtype(float)
    there, products = checked_rows(*given, [opencl], x)
    assert isinstance(there, DeviceMatrix)
    monkeypatch.setattr(DeviceMatrix, "_matmat", refuse)
    here, expected = checked_rows(*given, [opencl], x)
    assert isinstance(here, np.ndarray) and np.array_equal(expected, here @ x)
    assert distance(products, expected) < BOUNDS["double"]


@pytest.mark.parametrize(("name", "precision"), [(name, "double") for name in STATIC] + [("curls", "single")])
def test_forms_of_statics(opencl, name, precision):
    here, there = static_stores(STATIC[name], precision)
    assert distance(entries(there), entries(here)) < BOUNDS[precision]


@pytest.mark.parametrize(("name", "precision"), [(name, "double") for name in WAVE] + [("currents", "single")])
def test_forms_of_waves(opencl, name, precision):
    here, there = wave_stores(WAVE[name], precision)
    assert distance(entries(there), entries(here)) < BOUNDS[precision]


def test_numbers_of_16_bits(opencl):
    """Equal entries, in double precision, are rounded to equal integers."""
    here, there = static_stores(STATIC["linear"], "double", True)
    assert np.array_equal(there.numbers[:-BEYOND], here.numbers[:-BEYOND])
    assert np.array_equal(there.exponents[:-1], here.exponents[:-1])
    for name in ("tractions", "forces"):
        here, there = static_stores(STATIC[name], "single", True)
        assert distance(entries(there), entries(here)) < QUANTUM
    here, there = wave_stores(WAVE["losses"], "single", 5e-4)
    assert here.is_packed and distance(entries(there), entries(here)) < QUANTUM


def test_numbers_do_not_depend_on_how_many_blocks_are_computed_together(opencl, monkeypatch):
    form = STATIC["linear"]
    whole = entries(static_stores(form, "double")[1])
    monkeypatch.setattr(local_matrices.LIMITS.__class__, "local_matrices", 1)
    calls = []
    fill = NearFilling._fill
    monkeypatch.setattr(NearFilling, "_fill", lambda *given: (calls.append(1), fill(*given))[1])
    here, there = static_stores(form, "double")
    assert len(calls) >= len(here.layout.pairs) // 2
    assert np.array_equal(entries(there), whole)


def test_near_and_almost_touching_surfaces(opencl):
    """Pairs that are integrated in parts, and close ones."""
    plates = [cal.mesh.plate((1.0, 1.0), h=0.1).translated([0.0, 0.0, z]) for z in (0.0, 0.02, 0.0201)]
    space = cal.P1(cal.mesh.merge(plates))
    here, there = static_stores(cal.single_layer(GREEN, space), "double")
    assert distance(entries(there), entries(here)) < 1e-12


def test_rules_of_distant_pairs(opencl):
    """Distant pairs have the rule of the processor: of one form, and of two of one pass, which have a common one."""
    loose, usual = (cal.single_layer(GREEN, LINEAR, quadrature=NearQuadrature(accuracy=each)) for each in (0.1, 0.0))
    here, there = static_stores(loose, "double")
    assert distance(entries(there), entries(here)) < 1e-12
    assert distance(entries(static_stores(usual, "double")[0]), entries(here)) > 1e-9
    stores = []
    for each in (0.1, 0.0):
        given = {"trial": NODES, "quadrature": NearQuadrature(accuracy=each)}
        stores.append(wave_stores(cal.double_layer(WAVES, **given) + 1j * cal.hypersingular(WAVES, **given), "double"))
    (here, there), (exact, _) = stores
    assert distance(entries(there), entries(here)) < 1e-12
    assert distance(entries(exact), entries(here)) > 1e-9


def test_what_a_device_does_not_take_is_the_processors(opencl, monkeypatch):
    """A form without a header in C, and blocks of so many triangles that their local matrices do not fit."""
    form = STATIC["linear"]
    spaces = [LINEAR], [LINEAR]
    layout = Layout.of(*spaces, first_order(FUNCTIONS, 1e-4, False)[0], form.quadrature.near, worth=8.0)
    given = form, 0.5, layout, Execution.of("numba", "double"), None, None, False, [opencl]
    expected = entries(near_store(*given[:-1]))
    changes = (
        (near_filling, "_has_header", lambda form: False),
        (local_matrices, "LIMITS", local_matrices.LIMITS._replace(share=10**9)),
    )
    for place, name, value in changes:
        with monkeypatch.context() as patch:
            patch.setattr(place, name, value)
            found = near_store(*given)
        assert not isinstance(found.memory, DeviceNumbers)
        assert distance(entries(found), expected) == 0


def test_there_is_room_or_a_refusal(opencl, monkeypatch):
    monkeypatch.setattr(opencl, "memory", lambda: 1_000_000)
    with pytest.raises(MemoryError, match=r"a fast multipole operator needs .* has 1.0 MB free: increase rtol"):
        static_stores(STATIC["linear"], "double")


def test_real_forms_in_a_store_of_complex_numbers(opencl):
    """Two forms of one pass, with real entries, between clusters of unknowns in any order."""
    rule = cal.Quadrature(accuracy=0.0)
    layers = [layer(GREEN, LINEAR, quadrature=rule) for layer in (cal.single_layer, cal.double_layer)]
    exact, count = 2.0 * sum(each.assemble().to_array() for each in layers), LINEAR.dimension
    order, bounds = np.random.default_rng(0).permutation(count), np.linspace(0, count, 7).astype(np.int64)
    clusters = Clusters(order, bounds[:-1], bounds[1:])
    pairs = np.stack(np.divmod(np.arange(36), 6), axis=1)
    groups, execution = [[(2.0, each) for each in layers]], Execution.of("numba", "double")
    for devices in ([], [opencl]):
        store = filled_store((clusters, clusters), pairs, False, groups, execution, devices=devices)
        assert isinstance(store.memory, DeviceNumbers) == bool(devices) and store.parts == 2
        rows, columns = np.divmod(np.arange(count**2), count)
        assert distance(store.entries(rows, columns), exact.ravel()) < 1e-12


def test_unknowns_with_several_places_are_refused(opencl):
    """Leaves of pieces of functions have more places than forms have unknowns: compiled loops would leave their
    tables."""
    layers = [layer(GREEN, LINEAR) for layer in (cal.single_layer, cal.double_layer)]
    orders = tuple(each._replace(leaf=25) for each in FUNCTIONS)
    layout = Layout.of([LINEAR], [LINEAR], first_order(orders, 1e-4, False)[0], layers[0].quadrature.near, worth=8.0)
    pieces = layout.rows.pieces(LINEAR)
    clusters = Clusters(pieces.whole, pieces.starts[:-1], pieces.starts[1:])
    assert len(clusters.order) > LINEAR.dimension
    given = (clusters, clusters), layout.lists.near_pairs, False, [[(2.0, each) for each in layers]]
    for devices in ([], [opencl]):
        with pytest.raises(ValueError, match="do not have one place for each"):
            filled_store(*given, Execution.of("numba", "double"), devices=devices)
