"""Printed circuits and antennas: the metal, the ports, S over the band, and the solution at one frequency."""

from calderon.kinds.planar.computing import KIND

__all__ = ["KIND"]
