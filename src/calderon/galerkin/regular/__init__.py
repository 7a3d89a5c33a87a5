"""Pairs of triangles that are neither touching nor near: tiles of a matrix by products of Gauss rules."""
