"""Touching, near and close pairs of triangles."""
