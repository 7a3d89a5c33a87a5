"""Products by plane waves and equivalent sources on a device are those of the processor; GMRES keeps vectors there."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import calderon as cal
from calderon.backends import Counters, OnDevice, get
from calderon.mlfmm import medium, preparation
from calderon.mlfmm.device.product import DeviceMedium, device_bytes
from calderon.mlfmm.plan import Attempt
from catalogue import graded

MESH, FINE = (cal.mesh.sphere(radius=1.0, h=h) for h in (0.17, 0.13))
RANDOM = np.random.default_rng(4)


def distance(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def vectors(size, count):
    return RANDOM.standard_normal((size, count)) + 1j * RANDOM.standard_normal((size, count))


def on_processor(fast, x, transposed=False):
    """Products by the processor: those of a plain expression, which has one medium."""
    local = sparse_part(fast)
    return fast.media[0].product(x, transposed) + (local.T if transposed else local) @ x


def sparse_part(fast):
    """The sum of the sparse terms of an expression."""
    parts = (term.factor * value for term, value in fast.stored.terms if sp.issparse(value))
    return sum(parts, sp.csr_array(fast.shape))


def check(expression, rtol, bound):
    """Products of three columns, transposed and adjoint ones, and singly with equal bits."""
    fast = expression.assemble("mlfmm", rtol=rtol, backend="opencl")
    assert isinstance(fast, OnDevice) and fast.backend == "opencl:0" and "backend opencl:0" in str(fast)
    assert fast.levels[0] and fast.error <= rtol
    x, y = vectors(fast.shape[1], 3), vectors(fast.shape[0], 2)
    found = fast @ x
    assert distance(found, on_processor(fast, x)) < bound
    assert distance(fast.T @ y, on_processor(fast, y, True)) < bound
    assert distance(fast.H @ y, on_processor(fast, y.conj(), True).conj()) < bound
    assert np.array_equal(fast @ x[:, 1], found[:, 1])
    return fast


def combined(mesh, k):
    green, space = cal.Helmholtz(k), cal.P1(mesh)
    layers = cal.double_layer(green, space), cal.hypersingular(green, space)
    return 0.5 * cal.identity(space) - layers[0] + (1j / abs(k)) * layers[1]


@pytest.fixture
def large_leaves(monkeypatch):
    """Plane waves of smaller boxes cancel, and sums in another order differ by more than rounding."""

    def chosen(real):
        monkeypatch.setattr(preparation, "attempts", lambda rtol, precise: iter([Attempt(0.65, np.dtype(real))]))

    return chosen


def test_currents_in_one_and_in_two_traversals(opencl, large_leaves):
    large_leaves(np.float32)
    green, space = cal.Helmholtz(8.0), cal.RWG(MESH)
    electric, magnetic = cal.electric_field(green, space), cal.magnetic_field(green, space, cal.SNC(MESH))
    for factor, traversals in ((-0.5, 1), (0.5, 2)):
        fast = check(cal.blocks([[2.0 * electric, magnetic], [magnetic, factor * electric]]), 1e-3, 1e-5)
        assert fast.media[0].rank == traversals


def test_currents_with_equivalent_sources(opencl, monkeypatch):
    monkeypatch.setattr(medium, "LEAVES", medium.LEAVES._replace(factors=()))
    green, space = cal.Helmholtz(4.0), cal.RWG(graded(cal.mesh.sphere(radius=1.0, h=0.1), 5.0))
    fast = check(0.5 * cal.electric_field(green, space) - 0.5 * cal.magnetic_field(green, space), 1e-3, 1e-5)
    assert {level.points > 0 for level in fast.levels[0]} == {False, True}


def test_mirrored_terms(opencl, large_leaves):
    large_leaves(np.float32)
    green, space = cal.Helmholtz(8.0), cal.P1(MESH)
    double = cal.double_layer(green, space)
    check(cal.blocks([[cal.single_layer(green, space), double], [double.T, None]]), 1e-3, 1e-5)


def test_double_precision_and_losses(opencl, large_leaves):
    large_leaves(np.float64)
    green = cal.Helmholtz(8.0 + 0.5j)
    check(cal.single_layer(green, cal.P1(MESH)), 5e-5, 1e-12)
    check(cal.electric_field(green, cal.RWG(MESH)), 5e-5, 1e-12)


def test_gmres_on_the_device_with_sums_of_media_and_transposed_parts(opencl):
    space = cal.P1(MESH)
    one, other = (cal.double_layer(cal.Helmholtz(k), space) for k in (4.0, 6.0 + 0.2j))
    expression = (0.5 + 0.1j) * cal.identity(space) - one.H - 0.3j * other
    fast, dense = (expression.assemble(name, rtol=1e-3, backend=where)
                   for name, where in (("mlfmm", "opencl"), ("hmatrix", "numba")))  # fmt: skip
    assert isinstance(fast, OnDevice) and len(fast.media) == 2
    b, x = vectors(fast.shape[0], 1)[:, 0], vectors(fast.shape[1], 2)
    assert distance(fast @ x, dense @ x) < 1e-3 and distance(fast.H @ x, dense.H @ x) < 1e-3
    host = LinearOperator(fast.shape, matvec=fast.matvec, rmatvec=fast.rmatvec, dtype=fast.dtype)
    (there, info), (here, _) = (cal.gmres(each, b, rtol=1e-5) for each in (fast, host))
    assert "on opencl:0" in info.method and distance(there, here) < 1e-4
    composed = (one @ one).assemble("mlfmm", rtol=1e-3, backend="opencl")
    assert composed.backend == "opencl:0 and numba" and distance(composed @ x, dense @ x) > 0


def test_a_problem_solved_with_products_on_the_device(opencl):
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=8.0)
    problem = cal.SoundHardScattering(FINE, 8.0)
    here, there = (problem.solve(wave, method="mlfmm", backend=name, rtol=1e-4) for name in ("numba", "opencl"))
    directions = [[0, 0, 1.0], [0, 1.0, 0], [0.6, 0, -0.8]]
    assert "opencl:0" in there.info.method
    assert distance(there.far_field(directions), here.far_field(directions)) < 1e-3


def test_refusals_before_anything_is_sent(opencl, large_leaves, monkeypatch):
    single, device = cal.single_layer(cal.Helmholtz(8.0), cal.P1(FINE)), get("opencl")
    with monkeypatch.context() as patch:
        patch.setattr(device, "memory", lambda: 1_000_000)
        with pytest.raises(MemoryError, match=r"multilevel fast multipole operator needs .* 1.0 MB free: increase"):
            single.assemble("mlfmm", rtol=1e-3, backend="opencl")
    waves = single.assemble("mlfmm", rtol=1e-3, backend="opencl").media[0]
    with Counters(device) as counters:  # after near blocks, which are there
        DeviceMedium(device, waves, waves.dtype) @ np.ones(single.shape[1])
    there = sum(near.memory.nbytes for _, near in waves.near)
    assert device_bytes(waves) == pytest.approx(there + counters.most, rel=0.1)
    large_leaves(np.float64)
    monkeypatch.setattr(device, "has_double", False)
    with pytest.raises(RuntimeError, match="supports single precision only, and these plane waves are in double"):
        single.assemble("mlfmm", rtol=1e-3, backend="opencl", precision="single")
