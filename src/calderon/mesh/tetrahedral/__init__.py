"""Tetrahedral meshes: materials of parts, location of points, parts for ranks, conformity and time steps."""
