"""Errors of meshes, which stop, and warnings, which report a repair or a doubt."""

import warnings

from calderon.validation import callers_level


class MeshError(ValueError):
    """A mesh, a mesh file or a request for a shape that cannot be used; the text says which elements and what to do."""


class MeshWarning(UserWarning):
    """A mesh was repaired (flipped, merged or dropped elements) or looks doubtful (units, resolution)."""


class OrientationWarning(MeshWarning):
    """Triangles were turned so that normals agree, or point outward."""


class AccuracyWarning(UserWarning):
    """Something lowers the accuracy of a result: a coarse mesh, points on a surface, surfaces that almost touch."""


class CoarseMeshWarning(AccuracyWarning):
    """A mesh has too few elements per wavelength: `elements`, of `needed`."""

    def __init__(self, text: str, elements: float, needed: float) -> None:
        super().__init__(text)
        self.elements, self.needed = elements, needed


def warn(text: str, kind: type[MeshWarning] = MeshWarning) -> None:
    """Issue a MeshWarning at the user's line."""
    warnings.warn(text, kind, stacklevel=callers_level())


def warn_of_accuracy(text: str | AccuracyWarning) -> None:
    """Issue an AccuracyWarning at the user's line."""
    warnings.warn(text, AccuracyWarning, stacklevel=callers_level())
