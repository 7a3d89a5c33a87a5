"""Matrices that stay on a device are solved there, with the steps and numbers of the host."""

import warnings

import numpy as np
import pytest
from scipy.linalg import lu_factor, lu_solve

import calderon as cal
from calderon.backends import DeviceMatrix
from calderon.solvers import jacobi

RNG = np.random.default_rng(0)
N = 61


@pytest.fixture(autouse=True)
def own_random_numbers():
    """Random numbers of each test, whichever ran before."""
    global RNG
    RNG = np.random.default_rng(0)


class WithLinearAlgebra:
    """A device with LAPACK for a library; everything else is the device's."""

    def __init__(self, device):
        self.device, self.name = device, device.name

    def __getattr__(self, name):
        return getattr(self.device, name)

    def lu_factor(self, array, overwrite):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            factors = lu_factor(self.device.to_host(array).T, check_finite=False)
        return factors, factors[0].diagonal()

    def lu_solve(self, factors, rhs, transposed):
        return lu_solve(factors, rhs, trans=int(transposed))


def numbers(*shape, kind=np.complex128):
    values = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    return values.astype(kind) if np.dtype(kind).kind == "c" else values.real.astype(kind)


def on(device, array):
    """The array as a matrix on the device."""
    matrix = DeviceMatrix(device, array.shape, array.dtype)
    rows, columns = np.divmod(np.arange(array.size), array.shape[1])
    matrix.add_entries(array.ravel(), rows, columns)
    return matrix


def well(kind, shift=3.0):
    """A matrix that GMRES solves in some twenty steps."""
    return (numbers(N, N, kind=kind) / N**0.5 + shift * np.eye(N)).astype(kind)


KINDS = [np.float64, np.complex128, np.float32, np.complex64]


@pytest.mark.parametrize("kind", KINDS)
def test_products(opencl, kind):
    array = numbers(37, 53, kind=kind)
    matrix, bound = on(opencl, array), 30 * float(np.finfo(kind).eps)
    assert np.array_equal(matrix.to_array(), array)
    for vectors in (numbers(53), numbers(53, 2), numbers(53).real):
        exact = array @ vectors
        assert np.abs(matrix @ vectors - exact).max() < bound * np.abs(exact).max()
        assert (matrix @ vectors).dtype == np.result_type(kind, vectors.dtype)
    x = numbers(37)
    exact = array.conj().T @ x
    assert np.abs(matrix.rmatvec(x) - exact).max() < bound * np.abs(exact).max()
    assert matrix.largest_row_sum() == pytest.approx(np.abs(array).sum(axis=1).max(), rel=bound)
    assert matrix.square_sums() == pytest.approx((np.abs(array) ** 2).sum(axis=1), rel=bound)
    rows, columns = np.array([36, 0, 5]), np.array([52, 1, 5])
    assert np.array_equal(matrix.taken(rows, columns), array[rows, columns])


@pytest.mark.parametrize("kind", [np.complex128, np.float32])
def test_what_is_added_in_place(opencl, kind):
    """Blocks, their transposed and adjoint forms; factors of columns; a square and its mirror image."""
    inner, factor = numbers(23, 31, kind=kind), 2.0 - (1j if np.dtype(kind).kind == "c" else 0)
    block, matrix, exact = on(opencl, inner), on(opencl, np.zeros((90, 80), kind)), np.zeros((90, 80), kind)
    matrix.add_block(block.entries, (23, 31), factor, 7, 9)
    exact[7:30, 9:40] += factor * inner
    matrix.add_block(block.entries, (31, 23), factor, 1, 3, form=1)
    exact[1:32, 3:26] += factor * inner.T
    matrix.add_block(block.entries, (31, 23), 1.0, 50, 40, form=2)
    exact[50:81, 40:63] += inner.conj().T
    factors = factor * RNG.standard_normal(20)
    matrix.scale_columns(factors, 5, 6, 30)
    exact[5:35, 6:26] *= factors
    matrix.symmetrise(43, 11, 13)
    exact[11:54, 13:56] += exact[11:54, 13:56].T.copy()
    assert np.abs(matrix.to_array() - exact).max() < 10 * np.finfo(kind).eps * np.abs(exact).max()


OPTIONS = {
    "plain": {},
    "restart": {"restart": 7},
    "right": {"preconditioner": True},
    "left": {"preconditioner": True, "side": "left"},
    "start": {"x0": True},
}


@pytest.mark.parametrize(("kind", "options"), [(np.float64, "restart"), *((np.complex128, each) for each in OPTIONS)])
def test_gmres_takes_the_steps_of_the_host(opencl, kind, options):
    array, given = well(kind, 1.5), dict(OPTIONS[options])
    if "preconditioner" in given:
        given["preconditioner"] = jacobi(array)
    for b in (numbers(N, kind=kind), numbers(N, 3)):
        if "x0" in given:
            given["x0"] = numbers(*b.shape, kind=b.dtype)
        expected, host = cal.gmres(array, b, rtol=1e-10, **given)
        found, info = cal.gmres(on(opencl, array), b, rtol=1e-10, **given)
        assert info.iterations == host.iterations and "on opencl:" in info.method
        assert np.abs(info.residuals / host.residuals - 1).max() < 1e-3
        assert found.dtype == expected.dtype
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_gmres_in_single_precision_keeps_its_basis_in_double(opencl):
    """The basis stays orthonormal: as many steps as with the matrix in double precision, to 1e-6."""
    array, b = well(np.complex128, 1.2), numbers(N)
    _, double = cal.gmres(on(opencl, array), b, rtol=1e-6)
    x, single = cal.gmres(on(opencl, array.astype(np.complex64)), b, rtol=1e-6)
    assert abs(single.iterations - double.iterations) <= 1
    assert np.linalg.norm(array @ x - b) < 3e-6 * np.linalg.norm(b)


def test_gmres_ends_as_on_the_host(opencl):
    singular = np.diag(np.append(np.arange(1.0, N), 0.0))
    for matrix in (singular, on(opencl, singular)):
        with pytest.raises(cal.ConvergenceError, match="singular"):
            cal.gmres(matrix, np.ones(N), rtol=1e-10)
    x, info = cal.gmres(on(opencl, np.eye(N)), np.ones(N))
    assert info.iterations == 1 and np.abs(x - 1).max() < 1e-14
    assert not cal.gmres(on(opencl, np.eye(N)), np.zeros(N))[0].any()
    broken = np.eye(N)
    broken[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        cal.gmres(on(opencl, broken), np.ones(N))


@pytest.mark.parametrize("kind", [np.complex128, np.float32])
def test_lu_on_a_device_with_a_library(opencl, kind):
    array, bound = well(kind), 1e3 * np.finfo(kind).eps
    matrix = on(WithLinearAlgebra(opencl), array)
    factors, host = cal.lu(matrix), cal.lu(array)
    for b in (numbers(N), numbers(N, 2, kind=kind)):
        for adjoint in (False, True):
            expected, found = host.solve(b, adjoint), factors.solve(b, adjoint)
            assert found.dtype == expected.dtype
            assert np.abs(found - expected).max() < bound * np.abs(expected).max()
    assert np.abs(factors @ numbers(N)).max() > 0
    assert factors.norm == pytest.approx(host.norm, rel=1e-5)
    assert host.condition / 3 < factors.condition < 3 * host.condition
    assert "on opencl:" in str(factors) and factors.shape == (N, N) and factors.dtype == kind


def test_direct_solutions_in_single_precision_are_refined_on_the_device(opencl, monkeypatch):
    for name in ("lu_factor", "lu_solve"):
        monkeypatch.setattr(type(opencl), name, getattr(WithLinearAlgebra, name), raising=False)
    monkeypatch.setattr(type(opencl), "device", property(lambda self: self), raising=False)
    k, options = 2.0, {"backend": "opencl", "keep_on_device": True, "solver": "lu"}
    problem = cal.PECScattering(cal.mesh.sphere(0.15, 0.1), k, formulation="efie")
    wave = cal.PlaneWave([0, 0, 1], k, polarization=[1, 0, 0])
    single = problem.solve(wave, precision="single", rtol=1e-10, **options)
    assert isinstance(problem.system.matrix, DeviceMatrix) and problem.system.matrix.dtype == np.complex64
    assert single.info.converged and single.info.residual < 1e-10
    x, double = single.surface.coefficients, problem.solve(wave, **options).surface.coefficients
    assert x.dtype == np.complex128 and np.linalg.norm(x - double) < 1e-3 * np.linalg.norm(double)


def test_lu_refuses(opencl):
    with pytest.raises(ValueError, match=r"opencl:0 .*no LU factorisation: solve with gmres.*lu\(A.to_array\(\)\)"):
        cal.lu(on(opencl, np.eye(3)))
    device = WithLinearAlgebra(opencl)
    with pytest.raises(np.linalg.LinAlgError, match="pivot 1 of 3 is zero"):
        cal.lu(on(device, np.diag([1.0, 0.0, 2.0])))
    with pytest.raises(ValueError, match="NaN or infinite"):
        cal.lu(on(device, np.diag([1.0, np.inf, 2.0])))
    with pytest.raises(ValueError, match="square"):
        cal.lu(on(device, np.ones((2, 3))))


def test_a_matrix_or_its_factors_that_do_not_fit(opencl, monkeypatch):
    matrix = on(WithLinearAlgebra(opencl), np.eye(N))
    monkeypatch.setattr(type(opencl), "memory", lambda self: 1_000)
    with pytest.raises(MemoryError, match=r"61 x 61 float64 needs 29.8 kB and opencl:0 .* 1.0 kB free: try"):
        DeviceMatrix(opencl, (N, N), np.float64)
    with pytest.raises(MemoryError, match=r"in addition to the matrix needs 29.8 kB .*overwrite=True"):
        cal.lu(matrix)
    cal.lu(matrix, overwrite=True)
