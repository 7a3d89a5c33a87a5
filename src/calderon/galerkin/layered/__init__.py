"""Currents on metal in a stack of layers: Green's functions come from tables."""
