"""Fields in time: the mesh, the simulation, and its results."""

from calderon.kinds.transient.computing import KIND

__all__ = ["KIND"]
