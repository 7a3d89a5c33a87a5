"""Elastic solids: the mesh, the equations, and stresses on the surface and inside."""

from calderon.kinds.solid.computing import KIND

__all__ = ["KIND"]
