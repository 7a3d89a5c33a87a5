"""Elastic bodies and structures that a fluid moves: matrices, modes, response, and the fluid in their holes."""
