"""Tetrahedral meshes: location of points, parts for ranks, conformity and time steps."""
