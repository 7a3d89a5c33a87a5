"""Which pairs of triangles touch, which are near, and which rule integrates them: no kernel of physics."""
