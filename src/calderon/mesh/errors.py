"""What goes wrong with meshes: one error that stops, one warning that tells of a repair or a doubt."""


class MeshError(ValueError):
    """A mesh, a mesh file or a request for a shape that cannot be used; the text says which elements and what to do."""


class MeshWarning(UserWarning):
    """A mesh was repaired (flipped, merged or dropped elements) or looks doubtful (units, resolution)."""
