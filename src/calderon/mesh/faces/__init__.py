"""Faces of surfaces: their names and colours, a table of them with planes and cylinders, and how they are chosen."""
