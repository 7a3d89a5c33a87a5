"""Pre-corrected FFT of planar metal in layers against the dense matrix."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal
from calderon.backends.devices.device_matrix import on_device
from calderon.backends.devices.fourier import DeviceFourier
from calderon.fft import grid_operator
from calderon.fft import operator as grids
from calderon.fft.device import DeviceGrid
from calderon.fft.expressions import assemble_fft
from calderon.fft.grid import Grid
from calderon.fft.near import near_pairs
from calderon.fft.near_inverse import exact_near
from calderon.products.device.vectors import Vectors

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


@cache
def load(interfaces):
    """w w^T of some functions on all plates, as lumped elements of long gaps have them."""
    count = len(dense(interfaces))
    w = sp.csr_array((np.arange(1.0, 9.0), (np.linspace(0, count - 1, 8).astype(int), np.zeros(8, int))), (count, 1))
    return sp.csr_array((0.3 - 0.2j) * abs(dense(interfaces)).max() * (w @ w.T))


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


def test_loads_couple_functions_far_apart():
    """Entries that are added stand outside the near radius, too, in products, near entries and preconditioners."""
    field, added, exact = operator(1), load(1), dense(1) + load(1).toarray()
    found = grid_operator(field + 0.1 * cal.identity(field.trial), near=PITCH / 3, local=added)
    exact += 0.1 * field.trial.mass_matrix().toarray()
    reach = np.linalg.norm(np.subtract(*(found.grid.middles[each] for each in added.tocoo().coords)), axis=1)
    assert (reach > 2 * PITCH).any() and found.near.nnz < 0.2 * found.shape[0] ** 2
    x = np.random.default_rng(4).standard_normal(len(exact))
    assert np.linalg.norm(found @ x - exact @ x) < 3e-4 * np.linalg.norm(exact @ x) and found.error < 3e-4
    part = exact_near(found, 3.0).tocoo()
    assert np.abs(part.data - exact[part.coords]).max() < 1e-9 * np.abs(exact).max()
    assert set(zip(*added.nonzero(), strict=True)) <= set(zip(*part.coords, strict=True))
    i, j = field.trial.mass_matrix().nonzero()
    assert np.allclose(found.near_entries(i, j), exact[i, j], rtol=1e-9, atol=1e-14)


def test_functions_exactly_as_far_apart_as_the_radius_are_near():
    """On a lattice, and in a row where quotients of places and the radius are integers but for rounding."""
    plate = cal.mesh.plate([20e-3, 20e-3], 2e-3).translated([0, 0, ONE.top])
    grid = Grid.of(cal.layered_electric_field(ONE, FREQUENCY, cal.RWG(plate)).horizontal_metal, None, 3)
    row = replace(grid, middles=np.arange(280)[:, None] * [3e-3, 0.0] + 0.7, radii=np.full(280, 1e-3))
    for functions, reach in ((grid, 4e-3), (grid, 6e-3), (row, 3e-3)):
        squares = sum(np.subtract.outer(each, each) ** 2 for each in functions.middles.T)
        near = squares <= np.maximum(reach, np.add.outer(functions.radii, functions.radii)) ** 2 * (1 + 1e-9)
        assert np.isclose(squares[near], reach**2, rtol=1e-9).any()
        assert np.array_equal(near_pairs(functions, reach).toarray(), near)


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


@pytest.mark.parametrize(("length", "inverse"), [(2, True), (8, False), (45, True), (300, False), (300, True)])
def test_transforms_on_a_device_are_those_of_numpy(opencl, length, inverse):
    """Also of arrays with zeros at the end, of which the first numbers alone are wanted."""
    x = np.random.default_rng(0).standard_normal((2, 3, length - 1, 7)).transpose(1, 2, 3, 0)
    given, kept = opencl.array(x), length // 2
    work = tuple(opencl.empty((3 * length * 7, 2), float) for _ in range(2))
    found = DeviceFourier(opencl, float, length).transform(given, work, 3, 7, length - 1, kept, inverse)
    numbers = opencl.to_host(found)[: 3 * kept * 7].reshape(3, kept, 7, 2) @ [1, 1j]
    transform = np.fft.ifft if inverse else np.fft.fft
    exact = transform(x @ [1, 1j], length, axis=1)[:, :kept] * (length if inverse else 1)
    assert np.abs(numbers - exact).max() < 1e-14 * length
    with pytest.raises(ValueError, match="lengths 2\\^a 3\\^b 5\\^c of at least 2, got 14"):
        DeviceFourier(opencl, float, 14)


@pytest.mark.parametrize(("precision", "accuracy", "interfaces"), [("double", 1e-12, 2), ("mixed", 1e-6, 1)])
def test_devices_multiply_alike(opencl, interfaces, precision, accuracy):
    """Products, adjoint ones, also with loads and with sparse factors around the field, and iterations of GMRES."""
    field, x = operator(interfaces), np.random.default_rng(1).standard_normal((2, len(dense(interfaces))))
    x, combine = x[0] + 1j * x[1], 2j * sp.eye_array(len(dense(interfaces))).tocsc()[:, ::2]
    for each, vector in ((field, x), (combine.T @ field @ combine, x[::2])):
        given = {"precision": precision, **({"local": load(interfaces)} if each is field else {})}
        own, there = (assemble_fft(each, backend=name, **given) for name in ("numba", "opencl"))
        assert there.backend == "opencl:0" and own.error < 1e-4 and there.error < 1e-4
        for name in ("near", "touching") if each is field else ():
            exact, found = getattr(own, name), getattr(there, name)
            assert abs(found - exact).max() < 1e-12 * abs(exact).max() and abs(found - found.T).max() == 0
        for found, exact in ((there @ vector, own @ vector), (there.H @ vector, own.H @ vector)):
            assert np.linalg.norm(found - exact) < accuracy * np.linalg.norm(exact)
        currents, infos = zip(*(cal.gmres(matrix, vector, rtol=1e-4) for matrix in (own, there)), strict=True)
        assert np.linalg.norm(np.subtract(*currents)) < 1e-2 * np.linalg.norm(currents[0])
        assert abs(infos[0].iterations - infos[1].iterations) <= 1 and "GMRES on opencl:0" in str(infos[1])


def test_checks_on_a_device_see_what_is_wrong_there(opencl, monkeypatch, capsys):
    """One row is the processor's; progress is shown, too."""
    right = operator(1).assemble("fft", backend="opencl", progress=True)
    assert right.error < 1e-4 and "near entries" in capsys.readouterr().out
    make = grids.DeviceNear
    monkeypatch.setattr(grids, "DeviceNear", lambda device, matrix, factor, special, *rest: make(
        device, matrix, factor, 1.1 * special, *rest))  # fmt: skip
    assert operator(1).assemble("fft", backend="opencl").error > 1e-3


@pytest.mark.parametrize(("interfaces", "team"), [(1, "opencl:0+opencl:1"), (2, "numba+opencl:0")])
def test_several_backends_multiply_alike(two, team, interfaces):
    """They share the rows of near entries, all of them once, and one has the grid."""
    own, shared = (grid_operator(operator(interfaces), name, local=load(interfaces)) for name in ("numba", team))
    x = np.random.default_rng(1).standard_normal(own.shape[1]) + 0.5j
    assert all(f"{each} (" in shared.backend for each in team.split("+")) and shared.error < 1e-4
    for found, exact in ((shared @ x, own @ x), (shared.H @ x, own.H @ x)):
        assert np.linalg.norm(found - exact) < 1e-12 * np.linalg.norm(exact)


def test_devices_without_room_are_refused(opencl, monkeypatch):
    """The memory that is requested is what tables and a product allocate, to 10 %."""
    own, taken = operator(1).assemble("fft"), []
    for name in ("array", "empty"):
        allocate = getattr(type(opencl), name)
        monkeypatch.setattr(
            type(opencl), name, lambda self, *given, do=allocate: taken.append(found := do(self, *given)) or found
        )
    there = DeviceGrid(opencl, own.grid, own.spectra, own.near, own.factors)
    vectors = [on_device(opencl, np.ones(own.shape[0], complex)) for _ in range(2)]
    there.add(*map(Vectors, vectors), 1.0, False)
    assert sum({id(each): each.nbytes for each in taken}.values()) == pytest.approx(there.nbytes, rel=0.1)
    monkeypatch.setattr(type(opencl), "memory", lambda self: 10_000)
    with pytest.raises(MemoryError, match="a pre-corrected FFT operator needs .* larger spacing"):
        operator(1).assemble("fft", backend="opencl")


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
