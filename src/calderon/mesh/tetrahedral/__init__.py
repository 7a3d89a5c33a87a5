"""What the tetrahedra of a mesh are asked for: places, parts, conformity, steps in time."""
