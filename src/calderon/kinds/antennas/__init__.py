"""Antennas of wires, metal and dielectrics: ports over a band, and the solution at one frequency."""

from calderon.kinds.antennas.computing import KIND

__all__ = ["KIND"]
