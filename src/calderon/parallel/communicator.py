"""The interface of a communicator: the messages that a computation on several ranks exchanges."""

import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAUNCHERS = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS")
"""Variables that mpiexec sets for the processes that it starts."""


class Communicator:
    """Ranks 0 .. size - 1; every rank makes the same calls in the same order. This class is one process alone."""

    rank: int = 0
    size: int = 1

    def on_node(self) -> list[int]:
        """The ranks, ascending, that share this one's memory and devices."""
        return [0]

    def total(self, values: Any) -> Any:
        """Sum of numbers or arrays over the ranks, on every rank."""
        return values

    def gather(self, value: Any) -> list[Any]:
        """Values of all ranks, on every rank."""
        return [value]

    def exchange(self, sent: Mapping[int, NDArray[Any]], received: Mapping[int, NDArray[Any]]) -> Any:
        """Begin to send contiguous arrays to other ranks and to receive theirs, each in place; returns what
        `finish` accepts. The arrays must stay as they are until then."""
        if sent or received:
            raise ValueError("a single process has no other ranks to exchange with")

    def finish(self, pending: Any) -> None:
        """Wait until all arrays of an `exchange` have left and arrived."""

    def meet(self, seconds: float) -> bool:
        """Wait for the other ranks to call this, too, for a limited time; whether all did."""
        return True

    def abort(self, code: int) -> None:
        """End all ranks, where there are several, with an exit code: the others may wait for this one indefinitely."""


Serial = Communicator
"""One process alone."""


class MPICommunicator(Communicator):
    """The ranks of an mpi4py communicator."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self.rank, self.size = handle.Get_rank(), handle.Get_size()

    def on_node(self) -> list[int]:
        from mpi4py import MPI

        node = self._handle.Split_type(MPI.COMM_TYPE_SHARED)
        try:
            return sorted(node.allgather(self.rank))
        finally:
            node.Free()

    def total(self, values: Any) -> Any:
        array = np.asarray(values)
        result = np.empty_like(array)
        self._handle.Allreduce(np.ascontiguousarray(array), result)
        return result if array.ndim else result[()]

    def gather(self, value: Any) -> list[Any]:
        return self._handle.allgather(value)

    def exchange(self, sent: Mapping[int, NDArray[Any]], received: Mapping[int, NDArray[Any]]) -> Any:
        pending = [self._handle.Irecv(array, source=rank) for rank, array in received.items()]
        return pending + [self._handle.Isend(array, dest=rank) for rank, array in sent.items()]

    def finish(self, pending: Any) -> None:
        for request in pending:
            request.Wait()

    def meet(self, seconds: float) -> bool:
        met, limit = self._handle.Ibarrier(), time.monotonic() + seconds
        while not met.Test():
            if time.monotonic() > limit:
                return False
            time.sleep(0.01)  # until the next look
        return True

    def abort(self, code: int) -> None:
        self._handle.Abort(code)


def world() -> Communicator:
    """All ranks that mpiexec started, or this process alone. RuntimeError if there are some and mpi4py is missing."""
    if not any(name in os.environ for name in LAUNCHERS):
        return Serial()
    try:
        from mpi4py import MPI
    except ImportError:
        raise RuntimeError("started by mpiexec, but mpi4py is not installed: pip install 'calderon[mpi]'") from None
    return MPICommunicator(MPI.COMM_WORLD) if MPI.COMM_WORLD.Get_size() > 1 else Serial()
