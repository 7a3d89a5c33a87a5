"""Fast multipole products by several backends at once are those of the processor; so are transposed ones."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import backend, survey
from calderon.backends.devices import opencl as opencl_driver
from calderon.products import shared
from calderon.solvers import gmres

MESH = cal.mesh.sphere(radius=1.0, h=0.2)
TEAMS = ["opencl:0+opencl:1", "numba+opencl:0", "numba+opencl:0+opencl:1"]


def distance(found, exact):
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def with_near_blocks(share):
    """A function to be called instead of `balanced`, with which the processor has this share of the near blocks, and
    devices have equal parts of the rest."""

    def balanced(distributed, shares, _):
        others = len(shares) - 1
        every, _ = distributed(np.append(1.0, np.zeros(others)))
        own = share * every[0] / every.sum()
        work, make = distributed(np.append(own, np.full(others, (1 - own) / others)))
        return make(), work

    return balanced


def laplace():
    """Different sides: columns in other pieces than rows, and transposed passes of their own."""
    return cal.double_layer(cal.Laplace(), cal.P1(MESH), cal.P0(MESH))


def composed():
    space = cal.P1(MESH)
    return 0.5 * cal.identity(space) + cal.hypersingular(cal.Laplace(), space) - cal.single_layer(cal.Laplace(), space)


def elastic():
    return cal.double_layer(cal.Elastostatic(1.0, 0.3), cal.P1(MESH, components=3))


@pytest.mark.parametrize(
    ("build", "team", "bound"), [(laplace, TEAMS[0], 1e-6), (composed, TEAMS[1], 1e-6), (elastic, TEAMS[2], 1e-12)]
)
def test_same_numbers(two, build, team, bound):
    operator = build()
    fast, same = (operator.assemble("fmm", rtol=1e-4, backend=name) for name in (team, "numba"))
    assert all(each in fast.backend for each in team.split("+")) and fast.backend.count("%") >= len(team.split("+"))
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((operator.shape[1], 2)), rng.standard_normal(operator.shape[0]) + 0.5j
    assert distance(fast @ x, same @ x) < bound and np.array_equal(fast @ x, fast @ x)
    assert distance(fast.T @ y, same.T @ y) < bound and distance(fast.H @ y, same.H @ y) < bound


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_near_blocks_are_distributed_by_work(two, monkeypatch, share):
    """The processor has this part of them and no far field, devices have equal parts of the rest."""
    monkeypatch.setattr(shared, "balanced", with_near_blocks(share))
    operator = cal.single_layer(cal.Laplace(), cal.P1(MESH))
    fast, same = (operator.assemble("fmm", rtol=1e-4, backend=name) for name in (TEAMS[2], "numba"))
    own, *others = fast.product.parts
    entries, leaf = sum(int(each.layout.starts[-1]) for each in same.product.near), 0.1
    assert sum(int(each.layout.starts[-1]) for each in own.near) == pytest.approx(share * entries, abs=leaf * entries)
    assert len(own.far.passes.far.source) == 0 and len(others) == 2
    x = np.random.default_rng(1).standard_normal(operator.shape[1])
    assert distance(fast @ x, same @ x) < 1e-6


def test_halves_of_one_processor(opencl, monkeypatch):
    """Devices that the driver makes of one (clCreateSubDevices) share products as different devices do."""
    driver = pytest.importorskip("pyopencl")
    try:
        units = opencl._device.max_compute_units // 2
        halves = opencl._device.create_sub_devices([driver.device_partition_property.EQUALLY, max(1, units)])
    except driver.Error as error:
        pytest.skip(f"{opencl.label} cannot be divided: {error}")
    if len(halves) < 2:
        pytest.skip(f"{opencl.label} has one unit")
    devices = [opencl_driver.OpenCLDevice(each, number) for number, each in enumerate(halves)]
    monkeypatch.setitem(backend._DRIVERS, "opencl", lambda: devices)
    survey.cache_clear()
    try:
        fast, same = (laplace().assemble("fmm", rtol=1e-4, backend=name) for name in (TEAMS[0], "numba"))
    finally:
        monkeypatch.undo()
        survey.cache_clear()
    x = np.random.default_rng(2).standard_normal(fast.shape[1])
    assert distance(fast @ x, same @ x) < 1e-6


def test_solutions_are_those_of_one_backend(two):
    space = cal.P1(MESH)
    operator, b = cal.single_layer(cal.Laplace(), space), space.load_vector(lambda x, n: x[:, 2])
    results = [gmres(operator.assemble("fmm", rtol=1e-5, backend=name), b, rtol=1e-5) for name in (TEAMS[0], "numba")]
    assert results[0][1].iterations == results[1][1].iterations and distance(results[0][0], results[1][0]) < 1e-4


def test_refusals(two, monkeypatch):
    operator = cal.single_layer(cal.Laplace(), cal.P1(MESH))
    with pytest.raises(ValueError, match="names one of 'opencl:0', 'opencl:0' twice"):
        operator.assemble("fmm", backend="opencl:0+opencl:0")
    monkeypatch.setattr(two[1], "memory", lambda: 10_000)
    with pytest.raises(MemoryError, match="opencl:1"):
        operator.assemble("fmm", backend=TEAMS[0])
