"""Ranks that share a computation: MPI, or one process alone."""

from calderon.parallel.communicator import Communicator, MPICommunicator, Serial, world

__all__ = ["Communicator", "MPICommunicator", "Serial", "world"]
