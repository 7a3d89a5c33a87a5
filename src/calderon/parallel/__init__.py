"""Ranks that share a computation: MPI, or one process alone."""

from calderon.parallel.agreement import RankError, agreed, end_together, leave, require_same
from calderon.parallel.communicator import Communicator, MPICommunicator, Serial, world

__all__ = [
    "Communicator",
    "MPICommunicator",
    "RankError",
    "Serial",
    "agreed",
    "end_together",
    "leave",
    "require_same",
    "world",
]
