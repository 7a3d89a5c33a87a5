"""Sums over a pair of triangles: moments of kernels, and local matrices from these."""
