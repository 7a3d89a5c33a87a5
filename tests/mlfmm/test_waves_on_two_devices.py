"""Products by plane waves on two devices, each with the fields of some leaves, are those of one; so are solutions."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import OnDevice
from calderon.backends.devices import sharing
from calderon.mlfmm import medium, preparation
from calderon.mlfmm.device.product import DeviceMedium, device_bytes
from calderon.mlfmm.plan import Attempt
from calderon.products import shared as shared_products
from catalogue import graded
from fmm.test_products_on_two_devices import with_near_blocks
from mlfmm.test_waves_on_devices import combined, distance, sparse_part, vectors

BOTH = "opencl:0+opencl:1"
EQUAL = np.full(2, 0.5)
MESH = cal.mesh.sphere(radius=1.0, h=0.17)


@pytest.fixture
def check(two, monkeypatch):
    """check(expression, rtol, bound, real): three columns, transposed and adjoint products, against one device that has
    the same medium; real: of large leaves, None for those of the method."""

    def compared(expression, rtol, bound, real=None):
        if real is not None:
            monkeypatch.setattr(preparation, "attempts", lambda rtol, precise: iter([Attempt(0.65, np.dtype(real))]))
        fast = expression.assemble("mlfmm", rtol=rtol, backend=BOTH)
        assert not isinstance(fast, OnDevice) and fast.error <= rtol and fast.levels[0]
        assert "backend opencl:0 (" in str(fast) and "%) + opencl:1 (" in str(fast)
        whole, (work, make) = fast.media[0], fast.media[0].distributed(EQUAL, False)
        parts = make()
        assert len(parts) == 2 and 0.35 < work[0] / work.sum() < 0.65
        near = [sum(each.nbytes for _, each in some.near) for some in (whole, *parts)]
        assert all(0.2 * near[0] < each < 0.8 * near[0] for each in near[1:])
        assert max(map(device_bytes, parts)) < 0.95 * device_bytes(whole)
        one, x, y = DeviceMedium(two[0], whole, fast.dtype), vectors(fast.shape[1], 3), vectors(fast.shape[0], 2)
        assert distance(fast @ x, one.matmat(x) + sparse_part(fast) @ x) < bound
        assert distance(fast.T @ y, one.rmatmat(y.conj()).conj() + sparse_part(fast).T @ y) < bound
        assert distance(fast.H @ y, one.rmatmat(y) + (sparse_part(fast).T @ y.conj()).conj()) < bound
        assert np.array_equal(fast @ x[:, 1], (fast @ x)[:, 1])
        return fast

    return compared


def test_sound_by_plane_waves_and_equivalent_sources(check, monkeypatch):
    monkeypatch.setattr(medium, "LEAVES", medium.LEAVES._replace(factors=()))
    fast = check(combined(graded(cal.mesh.sphere(radius=1.0, h=0.09), 5.0), 5.0), 1e-3, 1e-6)
    assert {level.points > 0 for level in fast.levels[0]} == {False, True}


def test_a_combined_field_of_currents_and_a_block_system(check):
    green, space = cal.Helmholtz(8.0), cal.RWG(MESH)
    tests, snc = cal.dual_tests(space), cal.SNC(MESH)
    electric = cal.electric_field(green, space)
    whole = -0.5 * electric + 0.25j * cal.identity(space, tests) - cal.magnetic_field(green, space, tests)
    check(whole, 1e-3, 1e-6, np.float32)
    magnetic = cal.magnetic_field(green, space, snc)
    fast = check(cal.blocks([[2.0 * electric, magnetic], [magnetic, 0.5 * electric]]), 1e-3, 1e-6, np.float32)
    assert fast.media[0].rank == 2


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_the_processor_has_near_blocks_alone(two, monkeypatch, share):
    """Whatever its part of them, products are those of the processor."""
    monkeypatch.setattr(shared_products, "balanced", with_near_blocks(share))
    expression = combined(MESH, 8.0)
    shared, same = (expression.assemble("mlfmm", rtol=1e-3, backend=name) for name in (f"numba+{BOTH}", "numba"))
    own, *devices = shared.media[0].there.parts
    near, whole = (sum(int(each.layout.starts[-1]) for *_, each in one.near) for one in (own, shared.media[0]))
    assert own.far is None and len(devices) == 2 and near == pytest.approx(share * whole, abs=0.1 * whole)
    x = vectors(shared.shape[1], 2)
    assert distance(shared @ x, same @ x) < 1e-6 and distance(shared.H @ x, same.H @ x) < 1e-6
    assert shared.backend.startswith("numba (") and "opencl:1 (" in shared.backend


def test_a_problem_solved_on_two_devices(two):
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=6.0)
    problem = cal.SoundHardScattering(MESH, 6.0)
    both, alone = (problem.solve(wave, method="mlfmm", backend=name, rtol=1e-4) for name in (BOTH, "opencl:0"))
    directions = [[0, 0, 1.0], [0, 1.0, 0], [0.6, 0, -0.8]]
    assert "%) + opencl:1 (" in both.info.matrix and " 0 levels" not in both.info.matrix
    assert both.info.iterations == alone.info.iterations
    assert distance(both.far_field(directions), alone.far_field(directions)) < 1e-4


def test_what_does_not_fit_on_one_device_fits_on_two(two, monkeypatch):
    single = cal.single_layer(cal.Helmholtz(8.0), cal.P1(MESH))
    whole = single.assemble("mlfmm", rtol=1e-3, backend=BOTH).media[0]
    needed = max(map(device_bytes, whole.distributed(EQUAL, False)[1]()))
    for device in two:
        monkeypatch.setattr(device, "memory", lambda: (needed + device_bytes(whole)) // 2)
    with pytest.raises(MemoryError, match="multilevel fast multipole operator needs"):
        single.assemble("mlfmm", rtol=1e-3, backend="opencl:1")
    sent, array = list[int](), two[1].array
    with monkeypatch.context() as patch:
        patch.setattr(sharing, "TRIALS", 1)  # further trials send their parts again
        patch.setattr(two[1], "array", lambda host: (sent.append(host.nbytes), array(host))[1])
        single.assemble("mlfmm", rtol=1e-3, backend=BOTH)
    assert 0.4 * needed < sum(sent) < needed
    monkeypatch.setattr(two[1], "memory", lambda: needed // 2)
    with pytest.raises(MemoryError, match="multilevel fast multipole operator needs"):
        single.assemble("mlfmm", rtol=1e-3, backend=BOTH)


def test_fewer_leaves_than_devices(two):
    single = cal.single_layer(cal.Helmholtz(1.0), cal.P0(cal.mesh.sphere(radius=0.1, h=0.12)))
    fast = single.assemble("mlfmm", rtol=1e-3, backend=BOTH)
    x = vectors(fast.shape[1], 1)
    assert len(fast.media[0].lists.leaves) == 1 and "(0%)" in fast.backend
    assert distance(fast @ x, fast.media[0].product(x)) < 1e-6


def test_refusals(two):
    space = cal.P1(MESH)
    single = cal.single_layer(cal.Helmholtz(8.0), space)
    with pytest.raises(ValueError, match="names one of 'opencl:0', 'opencl:0' twice"):
        single.assemble("mlfmm", rtol=1e-3, backend="opencl:0+opencl:0")
    with pytest.raises(ValueError, match="only 'dense', 'fft', 'fmm', 'hmatrix' and 'mlfmm' accept several backends"):
        cal.single_layer(cal.Laplace(), space).assemble("matrix-free", backend=BOTH)
