"""Checks of surfaces: crossings, thin edges, possible faults."""
