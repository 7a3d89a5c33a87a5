"""Circuits and antennas of flat metal in stacks of layers, with ports."""
