"""Antennas and scatterers of thin wires."""
