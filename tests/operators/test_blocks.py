"""Block systems: every kind of operator lands in its place, and no block is held twice."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal

K = cal.Helmholtz(1.5)


@pytest.fixture(scope="module")
def spaces():
    mesh = cal.mesh.sphere(1.0, 0.6)
    return cal.P1(mesh), cal.P0(mesh)


KINDS = {
    "layer": lambda p0, p1: cal.single_layer(K, p1),
    "sum": lambda p0, p1: 0.5 * cal.identity(p1) - 2j * cal.double_layer(cal.Laplace(), p1),
    "transposed": lambda p0, p1: 3 * cal.double_layer(K, p1).T,
    "product": lambda p0, p1: cal.single_layer(K, p1) @ cal.single_layer(K, p1),
    "sparse": lambda p0, p1: cal.identity(p0, p1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_every_kind_are_those_of_the_single_operators(spaces, kind):
    p1, p0 = spaces
    operator = KINDS[kind](p0, p1)
    corner = cal.hypersingular(K, p1) + cal.laplace_beltrami(p1)
    system = cal.blocks([[corner, operator], [None, operator], [corner, 2 * operator]])
    block, rest = operator.assemble().to_array(), corner.assemble().to_array()
    expected = np.block([[rest, block], [0 * rest, block], [rest, 2 * block]])
    assert np.abs(system.assemble().to_array() - expected).max() < 1e-14


def test_real_blocks_of_two_spaces_in_single_precision(spaces):
    p1, p0 = spaces
    mass = cal.identity(p0, p1)
    system = cal.blocks([[mass, None], [-mass, 2 * mass]])
    single, exact = system.assemble(precision="single"), system.assemble().to_array()
    assert system.dtype("single") == single.dtype == np.float32 and exact.dtype == np.float64
    assert 0 < np.abs(single.to_array() - exact).max() < 1e-7 * np.abs(exact).max()


def test_blocks_of_currents_in_single_precision(spaces):
    currents = cal.RWG(spaces[0].mesh)
    field, one = cal.electric_field(1.5, currents), cal.identity(currents)
    system = cal.blocks([[field, one], [None, 2 * one]])
    single = system.assemble(precision="single")
    assert single.dtype == np.complex64
    assert np.abs(single.to_array() - system.assemble().to_array()).max() < 1e-5


def test_memory_announced_is_an_upper_bound(monkeypatch):
    """On the hull, whose small triangles have many near neighbours, with four threads: each takes some more."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", "4")
    announced = []
    monkeypatch.setattr("calderon.dense.dense.require_memory", lambda needed, *_: announced.append(needed))
    space = cal.P1(cal.mesh.sample("submarine"))
    layer = cal.double_layer(cal.Laplace(), space)
    layer.assemble()  # what compiling takes is not meant
    for operator in (layer, cal.blocks([[layer, layer]])):
        others, matrix = excess(operator)
        assert matrix + others < announced[-1] < matrix + 4 * others


def excess(operator):
    """Bytes that an assembly takes at its peak beyond the matrix, and those of the matrix."""
    tracemalloc.start()
    try:
        matrix = operator.assemble()
        return tracemalloc.get_traced_memory()[1] - matrix.nbytes, matrix.nbytes
    finally:
        tracemalloc.stop()


def test_no_block_is_held_a_second_time(spaces):
    """Beyond the matrix a system takes what its largest block takes for pairs and tiles, not another block."""
    p1 = cal.P1(cal.mesh.sphere(1.0, 0.1))
    one, layer = cal.identity(p1), cal.single_layer(cal.Laplace(), p1)
    cal.single_layer(cal.Laplace(), spaces[0]).assemble()  # compiled before memory is counted
    alone, block = excess(layer)
    system, whole = excess(cal.blocks([[one + layer, None], [layer, one - 2 * layer]]))
    assert whole == 4 * block
    assert system < alone + 0.15 * block


def test_tables_that_are_no_system_are_refused(spaces):
    p1, p0 = spaces
    with pytest.raises(ValueError, match="column 1 of the blocks has no operator"):
        cal.blocks([[cal.identity(p1), None], [cal.identity(p1), None]])
    with pytest.raises(ValueError, match="row 0 of the blocks has operators of dimensions"):
        cal.blocks([[cal.identity(p1), cal.identity(p1, p0)]])


def test_dense_assembly_has_no_tolerance(spaces):
    p1, _ = spaces
    for operator in (cal.identity(p1), cal.blocks([[cal.identity(p1)]])):
        with pytest.raises(ValueError, match="rtol= is supported by method='hmatrix' or method='fmm' or method='mlf"):
            operator.assemble("dense", rtol=1e-3)


def test_an_operator_after_a_multiplication(spaces):
    p1, _ = spaces
    layer, rest = cal.single_layer(K, p1), cal.identity(p1) - cal.hypersingular(K, p1)
    factors = np.linspace(1, 2, p1.dimension) + 0.5j
    scaled, whole = cal.transformed(layer, right=sp.diags_array(factors)) + rest, np.arange(p1.dimension)
    values = layer.entries(whole, whole)
    expected = values * factors + rest.entries(whole, whole)
    assert np.abs(scaled.entries([3, 1], [7, 7, 2]) - expected[np.ix_([3, 1], [7, 7, 2])]).max() < 1e-14
    # whole symmetric matrices integrate each pair once, parts of them in both orders: they differ by quadrature errors
    assert np.abs(scaled.assemble().to_array() - expected).max() < 1e-9
    assert np.abs((2 * scaled - layer).assemble().to_array() + values - 2 * expected).max() < 1e-9
    with pytest.raises(ValueError, match="right= is 41 x 41, and needs 42 rows"):
        cal.transformed(layer, right=sp.diags_array(factors[1:]))


def test_blocks_that_are_no_rows_are_told(spaces):
    layer = cal.single_layer(K, spaces[1])
    for table in (layer, [layer, layer], [[layer], None]):
        with pytest.raises(TypeError, match=r"a list of rows, such as \[\[A, B\], \[C, None\]\], got .* one row is"):
            cal.blocks(table)
