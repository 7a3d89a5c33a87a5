"""Conditions of walls: velocities, impedances, pressures."""
