"""Each rank has a device: which one, what travels, and what happens where one fails."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from test_ranks import launched

from calderon.dg.run.ranks import execution_of_rank
from calderon.parallel import RankError, Serial, agreed, require_same


class Threads:
    """Ranks that are threads, `each` of them on a node."""

    def __init__(self, rank, table, barrier, each):
        self.rank, self.size, self._table, self._barrier, self._each = rank, len(table), table, barrier, each

    def on_node(self):
        first = self.rank - self.rank % self._each
        return list(range(first, min(first + self._each, self.size)))

    def gather(self, value):
        self._table[self.rank] = value
        self._barrier.wait(timeout=30)
        found = list(self._table)
        self._barrier.wait(timeout=30)
        return found


def on_ranks(count, call, each=8):
    """Values that call(ranks) returns, or errors that it raises, on each of so many ranks."""
    table, barrier = [None] * count, threading.Barrier(count)

    def one(rank):
        try:
            return call(Threads(rank, table, barrier, each))
        except Exception as error:
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_ranks_of_a_node_take_its_devices_in_turn(two):
    free = two[0].memory()
    found = on_ranks(5, lambda ranks: execution_of_rank("opencl", "double", ranks))
    assert [each.name for each in found] == ["opencl:0", "opencl:1", "opencl:0", "opencl:1", "opencl:0"]
    assert [each.device.memory() for each in found] == [free // 3, free // 2, free // 3, free // 2, free // 3]
    assert "3 ranks share it" in found[0].device.label
    found = on_ranks(5, lambda ranks: execution_of_rank("opencl", "double", ranks), each=3)
    assert [each.name for each in found] == ["opencl:0", "opencl:1", "opencl:0", "opencl:0", "opencl:1"]
    assert [each.device.memory() for each in found] == [free // 2, free, free // 2, free, free]
    found = on_ranks(2, lambda ranks: execution_of_rank("opencl:1", "double", ranks))
    assert [each.name for each in found] == ["opencl:1"] * 2
    found = on_ranks(2, lambda ranks: execution_of_rank(f"opencl:{1 - ranks.rank}", "single", ranks))
    assert [(each.name, each.device.memory()) for each in found] == [("opencl:1", free), ("opencl:0", free)]


def test_a_process_alone_has_its_device_for_itself(two):
    execution = execution_of_rank("opencl", "double", Serial())
    assert (
        execution.name == "opencl:0"
        and execution.device.memory() == two[0].memory()
        and "share" not in execution.device.label
    )
    assert execution_of_rank("numba", "double", Serial()).device is None


def test_a_device_that_one_rank_does_not_have_is_told_by_all(two):
    found = on_ranks(2, lambda ranks: execution_of_rank("opencl:2" if ranks.rank else "opencl", "double", ranks))
    assert [type(each) for each in found] == [RankError, RankError]
    assert {str(each) for each in found} == {
        "rank 1: there is no 'opencl:2': 'opencl' has 2 device(s), numbered from 0"
    }
    found = on_ranks(2, lambda ranks: execution_of_rank("opencl:2", "double", ranks))
    assert [type(each) for each in found] == [RuntimeError, RuntimeError]


def test_what_ranks_do_not_agree_about_is_told_by_all():
    found = on_ranks(3, lambda ranks: require_same(ranks, {"order": 2, "flux": "centred" if ranks.rank < 2 else "up"}))
    message = "flux='centred' on rank 0, 'up' on rank 2: all ranks must make the same calls, with the same arguments"
    assert [str(each) for each in found] == [message] * 3
    assert on_ranks(3, lambda ranks: require_same(ranks, {"order": 2})) == [None] * 3
    assert on_ranks(3, lambda ranks: agreed(ranks, lambda: ranks.rank)) == [0, 1, 2]


RESTARTED = """
import sys
import numpy as np
import calderon as cal

folder, backend, stop = globals().get("given") or sys.argv[1:]
mesh, mode = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=4), cal.exact.cubic_cavity((1, 1, 1))
points, found = np.random.default_rng(0).random((20, 3)), {}
for flux in ("centred", "upwind"):
    source = cal.CurrentDipole([0.4, 0.5, 0.6], [0, 0, 1.0], cal.GaussianPulse(0.2, 0.1, 1.0))
    simulation = cal.MaxwellDG(mesh, 2, flux, boundaries={"wall": "pmc"}, sources=[source], backend=backend)
    simulation.set_fields(mode.electric, mode.magnetic)
    probe, transform = simulation.add_probe(points[:2]), simulation.add_transform([1.0])
    if int(stop):
        record = transform.record

        def stopping(now):
            record(now)
            if now.step == int(stop):
                raise KeyboardInterrupt

        transform.record = stopping
    try:
        simulation.run(0.5, checkpoint=f"{folder}/{flux}.h5", checkpoint_seconds=0.0)
    except KeyboardInterrupt:
        continue
    fields = transform.fields(1.0)
    found |= {
        f"{flux} {name}": value for name, value in {
            "electric": simulation.electric(points), "magnetic": simulation.magnetic(points), "probe": probe.magnetic,
            "transform": fields.electric(points), "voltage": simulation.ports["dipole"].voltage,
        }.items()
    }
if simulation._domain.communicator.rank == 0 and found:
    np.savez(f"{folder}/fields.npz", **found)
"""


def test_a_run_goes_on_with_other_ranks_and_backends(opencl, tmp_path):
    """From two ranks on a device to one on the processor, and back."""
    results = []
    for steps in ([(1, "numba", 0)], [(2, "opencl", 6), (1, "numba", 0)], [(1, "numba", 6), (2, "opencl", 0)]):
        folder = tmp_path / str(len(results))
        folder.mkdir()
        for count, *given in steps:
            if count == 1:
                exec(RESTARTED, {"given": [folder, *given]})
            else:
                launched(count, RESTARTED, folder, *given)
            assert (folder / "upwind.h5").exists() == bool(given[1])
        with np.load(folder / "fields.npz") as found:
            results.append(dict(found))
    whole = results[0]
    assert len(whole) == 10
    for resumed in results[1:]:
        for name, values in whole.items():
            assert np.abs(values).max() > 1e-4, name
            assert np.allclose(resumed[name], values, rtol=0, atol=1e-12 * np.abs(values).max()), name


FAILING = """
import calderon as cal
from calderon.backends.devices.opencl import OpenCLDevice
from calderon.parallel import world

simulation = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=3), 1, backend="opencl")
launch = OpenCLDevice.launch

def failing(device, program, kernel, *arguments):
    if world().rank == 1 and kernel == "half_step" and simulation._system._fields:
        raise OSError("the card is gone")
    launch(device, program, kernel, *arguments)

OpenCLDevice.launch = failing
simulation.run(1.0)
"""


def test_a_device_that_fails_in_a_run_ends_all_ranks(opencl):
    with pytest.raises(AssertionError) as stopped:
        launched(2, FAILING)
    said = str(stopped.value)
    assert said.count("DeviceError: opencl:0 (") == 1 and "of rank 1 failed: the card is gone; start again" in said
