"""The ranks that share a simulation, and the device of each.

A device is chosen by the rank's place on its node, and shared if there are more ranks than devices.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from numpy.typing import NDArray

from calderon.backends import BuildError, Device, Execution
from calderon.dg.run.checkpoint import mesh_digest
from calderon.mesh import TetrahedralMesh
from calderon.parallel import Communicator, agreed, end_together, require_same, world

T = TypeVar("T")


def ranks_of(communicator: Communicator | None, mesh: TetrahedralMesh, **choices: Any) -> Communicator:
    """The given ranks, or all that mpiexec started; from now on an error on one rank alone ends all.

    ValueError for another type than Communicator, and where the mesh or one of the choices, which are compared by their
    texts, is not the same on all ranks.
    """
    ranks = world() if communicator is None else communicator
    if not isinstance(ranks, Communicator):
        raise ValueError(f"communicator={communicator!r}: omit it, or use calderon.parallel.world()")
    if ranks.size > 1:
        end_together(ranks)
        require_same(ranks, choices | {"digest of the mesh": mesh_digest(mesh)})
    return ranks


@contextmanager
def warn_once(ranks: Communicator) -> Iterator[None]:
    """Warnings that occur on all ranks alike are issued by the first rank only."""
    if ranks.rank == 0:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class DeviceError(RuntimeError):
    """A device failed: the message names it, its rank, and the driver's error."""


def _guarded(name: str) -> Callable[..., Any]:
    """A method of RankDevice: that of the device, guarded."""
    return lambda self, *arguments: self.guarded(getattr(self._device, name), *arguments)


class RankDevice:
    """A device from the view of one rank: with its part of the memory that was free, and errors that name rank and
    device; see `backends.Device`.

    rank: None for a process alone. sharers: ranks that compute on this device.
    """

    def __init__(self, device: Device, free: int, rank: int | None, sharers: int) -> None:
        self._device, self._free = device, free // sharers
        self.name, self.has_double, self.is_gpu = device.name, device.has_double, device.is_gpu
        self.large = device.large
        self.label = f"{device.label}, {sharers} ranks share it" if sharers > 1 else device.label
        self._who = f"{device.name} ({device.label})" + ("" if rank is None else f" of rank {rank}")

    def guarded(self, call: Callable[..., T], *arguments: Any) -> T:
        """The result of a call, with its errors as DeviceError."""
        try:
            return call(*arguments)
        except BuildError:
            raise
        except Exception as error:
            raise DeviceError(
                f"{self._who} failed: {error or type(error).__name__}; start again, from the checkpoint if there is "
                "one, or use another backend"
            ) from error

    def memory(self) -> int:
        return self._free

    @property
    def counters(self) -> Any:
        """Counters of the device, while it is counted."""
        return getattr(self._device, "counters", None)

    def fetch(self, array: Any) -> Callable[[], NDArray[Any]]:
        wait = self.guarded(self._device.fetch, array)
        return lambda: self.guarded(wait)

    array, empty, to_host = _guarded("array"), _guarded("empty"), _guarded("to_host")
    put, build = _guarded("put"), _guarded("build")
    launch, synchronize = _guarded("launch"), _guarded("synchronize")


def execution_of_rank(backend: str, precision: str, ranks: Communicator) -> Execution:
    """A backend in a precision for this rank: the named device, or of the working ones that whose number is
    the rank's place among those of its node, modulo their number. Errors as for `Execution.of`; RankError where it
    fails on some of the ranks only."""
    same_node = ranks.on_node()

    def choose() -> tuple[Execution, int]:
        execution = Execution.of(backend, precision, turn=same_node.index(ranks.rank))
        return execution, sum(each.memory() for each in execution.devices)

    execution, free = agreed(ranks, choose)  # no rank allocates memory before all have read what is free
    # a device is shared by the ranks of this node that were given it
    names = ranks.gather(execution.name)
    if execution.uses_processor:
        return execution
    (device,) = execution.devices
    sharers = sum(names[other] == execution.name for other in same_node)
    rank = ranks.rank if ranks.size > 1 else None
    return replace(execution, device=RankDevice(device, free, rank, sharers))
