"""Tangential functions on the edges of triangles, their dual functions, loops and trees."""
