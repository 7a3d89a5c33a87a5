"""Pre-corrected FFT of planar metal in layers against the dense matrix."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal

FREQUENCY, PITCH = 12e9, 12.5e-3
ONE = cal.Stack([cal.Layer(3.175e-3, eps_r=2.2)], below="pec")
TWO = cal.Stack([cal.Layer(1.5e-3, eps_r=2.2), cal.Layer(1e-3, eps_r=3.0)], below="pec")


def array(heights, count=3):
    """Plates of different sizes, half a wavelength apart; tags are their numbers."""
    plates = [
        cal.mesh.plate([(5 + (i + 2 * j) % 3) * 1e-3, 6e-3], 1.6e-3).translated([i * PITCH, j * PITCH, z])
        for i in range(count)
        for j in range(count)
        for z in heights
    ]
    return cal.RWG(cal.mesh.merge(plates))


@cache
def operator(interfaces):
    return cal.layered_electric_field(*((ONE, FREQUENCY, array([ONE.top])) if interfaces == 1 else (
        TWO, FREQUENCY, array(TWO.interfaces[1:], count=2))))  # fmt: skip


@cache
def dense(interfaces):
    return operator(interfaces).assemble().to_array()


def error(found, interfaces):
    x = np.random.default_rng(1).standard_normal((2, len(dense(interfaces))))
    x = x[0] + 1j * x[1]
    return np.linalg.norm(found @ x - dense(interfaces) @ x) / np.linalg.norm(dense(interfaces) @ x)


@pytest.mark.parametrize("interfaces", [1, 2])
def test_products_are_those_of_the_dense_matrix(interfaces):
    found = operator(interfaces).assemble("fft", spacing=PITCH / 12, near=PITCH / 2)
    assert error(found, interfaces) < 2e-5
    assert 0 < found.error < 4e-5 and found.checked == 8
    x, y = np.random.default_rng(2).standard_normal((2, found.shape[0]))
    assert abs(x @ (found @ y) - y @ (found @ x)) < 1e-10 * abs(x @ (found @ y))
    assert np.allclose(found.rmatvec(x), found.H @ x) and np.allclose(found.H @ x, (found @ x).conj())
    i, j = np.nonzero(operator(interfaces).trial.mass_matrix().toarray())
    assert np.allclose(found.near_entries(i, j), dense(interfaces)[i, j], rtol=1e-9, atol=1e-14)
    assert found.near.nnz < 0.5 * found.shape[0] ** 2


def test_errors_fall_with_the_order_the_spacing_and_the_radius():
    find = operator(1).assemble
    coarse = [error(find("fft", spacing=PITCH / 8, near=PITCH / 2, order=order), 1) for order in (2, 3)]
    assert 1e-5 < coarse[1] < 0.5 * coarse[0] < 1e-2
    usual = error(find("fft"), 1)
    assert usual < 0.5 * coarse[1]
    assert usual < error(find("fft", precision="mixed"), 1) + 1e-7 < usual + 1e-5


def test_blocks_of_elements_precondition_an_array():
    found = operator(1).assemble("fft")
    sides = found.matrix.metal.space.load_vector([1.0, 0.0, 0.0]).astype(complex)
    current, info = cal.gmres(found, sides, rtol=1e-6, preconditioner=cal.fft.cell_inverse(found))
    _, plain = cal.gmres(found, sides, rtol=1e-6)
    assert info.iterations < 0.5 * plain.iterations
    direct = np.linalg.solve(dense(1), sides)
    assert np.linalg.norm(current - direct) < 1e-3 * np.linalg.norm(direct)
    normal, record = cal.cg(found.H @ found, found.H @ sides, rtol=1e-6, maxiter=5000)  # what others compare with
    assert np.linalg.norm(normal - direct) < 1e-2 * np.linalg.norm(direct) and record.iterations > 5 * info.iterations
    one = cal.fft.cell_inverse(found, np.zeros(found.shape[0]))
    assert np.linalg.norm(one @ sides - direct) < 1e-9 * np.linalg.norm(direct)
    with pytest.raises(ValueError, match="one number for each"):
        cal.fft.cell_inverse(found, [1, 2])


def test_sheets_with_an_impedance_are_a_sparse_term():
    whole = 2.0 * operator(1) - (0.1 + 0.2j) * cal.identity(operator(1).trial)
    found, expected = whole.assemble("fft", spacing=PITCH / 12, near=PITCH / 2), whole.assemble().to_array()
    x = np.random.default_rng(3).standard_normal(len(expected))
    assert np.linalg.norm(found @ x - expected @ x) < 2e-5 * np.linalg.norm(expected @ x)
    assert found.error < 4e-5
    one = cal.fft.cell_inverse(found, np.zeros(len(expected)))
    assert np.linalg.norm(expected @ (one @ x) - x) < 1e-9 * np.linalg.norm(x)
    i, j = np.nonzero(operator(1).trial.mass_matrix().toarray())
    assert np.allclose(found.near_entries(i, j), expected[i, j], rtol=1e-9, atol=1e-14)


def test_impossible_requests_are_refused():
    find = operator(1).assemble
    for options, text in (
        ({"spacing": 5e-3}, "too coarse"),
        ({"spacing": 1e-4}, "too fine"),
        ({"spacing": -1.0}, "spacing in m"),
        ({"near": 1e-3}, "below two spacings"),
        ({"order": 0}, "order"),
        ({"precision": "single"}, "precision"),
    ):
        with pytest.raises(ValueError, match=text):
            find("fft", **options)
    with pytest.raises(ValueError, match="method='fft' only"):
        find("dense", spacing=1e-3)
    space = operator(1).trial
    with pytest.raises(ValueError, match="layered_electric_field"):
        cal.electric_field(1.0, space).assemble("fft")
    with pytest.raises(ValueError, match="layered_electric_field"):
        (operator(1) @ operator(1)).assemble("fft")
    assert "pre-corrected FFT" in str(find("fft")) and "mm" in str(find("fft"))


def test_devices_are_refused():
    board = cal.Stack([cal.Layer(3e-3, eps_r=2.3)], below="pec")
    field = cal.layered_electric_field(board, 2e9, cal.RWG(cal.planar.patch(40e-3, 30e-3, h=15e-3, z=board.top)))
    with pytest.raises(ValueError, match="on the processor, got backend='opencl': leave it out"):
        field.assemble("fft", backend="opencl")


def test_sparse_factors_stand_around_the_field():
    """Products, transposed ones, and entries of functions with common triangles; also in a sum of two expressions."""
    field, matrix = operator(1), dense(1)
    combine = sp.eye_array(len(matrix)).tocsc()[:, ::2] * 2j
    between = combine.T @ (field + 0.1 * cal.identity(field.trial)) @ combine
    exact = combine.T @ (matrix + 0.1 * field.trial.mass_matrix().toarray()) @ combine
    x = np.random.default_rng(1).standard_normal((exact.shape[1], 2)) + 1j
    found = between.assemble("fft", spacing=PITCH / 12, near=PITCH / 2)
    for product, expected in ((found @ x, exact @ x), (found.H @ x, exact.conj().T @ x), (found.T @ x, exact.T @ x)):
        assert np.linalg.norm(product - expected) < 4e-5 * np.linalg.norm(expected)
    i, j = np.nonzero((combine.T @ field.trial.mass_matrix() @ combine).toarray())
    assert np.allclose(found.near_entries(i, j), exact[i, j], rtol=1e-9, atol=1e-14)
    assert between.plan("fft").nbytes == field.plan("fft").nbytes
    assert "1 grid, error" in str(found) and found.nbytes > 0 and 0 < found.error < 4e-5
