"""Work of devices is counted: launches, evaluations, bytes, and the seconds of a card by a model."""

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal
from calderon.backends import Counters, Execution, Source, count_work
from calderon.backends.devices.counters import FETCHED, H100, SENT, CardRates, Work
from calderon.galerkin.assembly import add_block
from calderon.products.device.sums import DeviceSparse


def test_launches_and_transfers_are_counted_while_inside(opencl):
    x = np.linspace(0.5, 3.0, 100)
    program = opencl.build(Source("backends/devices/probe.c", "double"))
    with Counters(opencl) as counters:
        given, y = opencl.array(x), opencl.empty(x.shape, x.dtype)
        opencl.launch(program, "probe", (100,), (32,), given, y, 100)
        opencl.launch(program, "probe", (0,), (32,), given, y, 0)  # not begun
        count_work(opencl, "probe", lambda: 100.0)
        found = opencl.to_host(y)
        opencl.put(x[:10], given)
        fetched = opencl.fetch(given)()
        with pytest.raises(RuntimeError, match="counted already"), Counters(opencl):
            pass
    assert np.array_equal(fetched, x) and found.shape == (100,)
    works = counters.works
    assert [(name, each.launches, each.nbytes) for name, each in works.items()] == [
        (SENT, 2, 880), ("probe", 1, 1600), (FETCHED, 2, 1600)
    ]  # fmt: skip
    assert works["probe"].evaluations == counters.evaluations == 100 and works["probe"].seconds > 0
    # outside nothing is counted, and the device is what it was
    opencl.launch(program, "probe", (100,), (32,), given, y, 100)
    count_work(opencl, "probe", lambda: 1 / 0)
    assert works["probe"].launches == 1 and "launch" not in vars(opencl)


def test_a_card_takes_the_longest_of_three_times():
    rates = CardRates((10.0, 20.0), (100.0, 200.0), 1000.0, 50.0, 25.0)
    assert Work(1, evaluations=40.0, flops=100.0, nbytes=1000.0).on_card("k", rates, single=False) == 4.0
    assert Work(1, evaluations=40.0, flops=100.0, nbytes=1000.0).on_card("k", rates, single=True) == 2.0
    assert Work(1, evaluations=4.0, flops=100.0, nbytes=500.0).on_card("k", rates, single=False) == 1.0
    assert Work(1, nbytes=3000.0).on_card("k", rates, single=True) == 3.0
    assert Work(1, nbytes=100.0).on_card(SENT, rates, True) == 2.0
    assert Work(1, nbytes=100.0).on_card(FETCHED, rates, True) == 4.0


def test_pairs_of_a_matrix_are_evaluated_once(opencl):
    """A symmetric operator evaluates half of the pairs, other operators all of them."""
    mesh = cal.mesh.sphere(1.0, 0.6)
    points, n = cal.Quadrature().regular, mesh.number_of_triangles
    space = cal.P1(mesh)
    count = {}
    for layer in (cal.single_layer, cal.double_layer):
        with Counters(opencl) as counters:
            layer(cal.Laplace(), space).assemble(backend="opencl")
        count[layer.__name__] = counters.works["regular"].evaluations
        assert counters.works["moments"].evaluations > 0 and counters.on_card(H100, single=False) > 0
    assert points > 0 and count["double_layer"] == 36 * n**2
    assert 18 * n**2 <= count["single_layer"] <= 18 * n * (n + 40)


def test_memory_is_requested_before_it_is_taken(opencl):
    """That of the matrix and of the local matrices of a tile, within 10 %; arrays that are gone count no more."""
    space = cal.P1(cal.mesh.sphere(1.0, 0.2))
    with Counters(opencl) as counters:
        matrix = cal.double_layer(cal.Laplace(), space).assemble(backend="opencl", keep_on_device=True)
        assert counters.held == matrix.nbytes < 0.5 * counters.most
        del matrix
    assert counters.held == 0 and counters.requested == pytest.approx(counters.most, rel=0.1)
    # a block within a wider matrix takes rows of its own columns
    matrix = np.zeros((space.dimension, 8 * space.dimension))
    with Counters(opencl) as counters:
        double_layer = cal.double_layer(cal.Laplace(), space)
        add_block(matrix, double_layer, 1.0, None, None, Execution.of("opencl", "double"))
    assert counters.requested == pytest.approx(counters.most, rel=0.1)


def test_memory_of_sparse_matrices_is_requested(opencl):
    pattern = np.random.default_rng(0).random((300, 200)) < 0.1
    for unit in (1.0, 1j, 1 + 1j):
        with Counters(opencl) as counters:
            DeviceSparse(opencl, sp.csr_array(unit * pattern))
        assert counters.requested == counters.most > 0


@pytest.mark.variant
def test_compressed_methods_evaluate_less_than_a_dense_matrix(opencl):
    """Rows of an H-matrix integrate each triangle pair for each function there, near blocks of multipoles once."""
    mesh = cal.mesh.sphere(1.0, 0.13)
    operator, n = cal.single_layer(cal.Laplace(), cal.P1(mesh)), mesh.number_of_triangles
    count = {}
    for method, kernels in (("fmm", ["regular"]), ("hmatrix", ["dense", "approximate"])):
        with Counters(opencl) as counters:
            operator.assemble(method, rtol=1e-4, precision="single", backend="opencl")
        count[method] = [counters.works[each].evaluations for each in kernels]
    assert 0 < count["fmm"][0] < 36 * n**2 and min(count["hmatrix"]) > 0
    assert sum(count["hmatrix"]) < 9 * 36 * n**2
