"""Scattering and antennas: perfect conductors and penetrable bodies."""
