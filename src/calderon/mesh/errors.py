"""What goes wrong with meshes: an error that stops, a warning that reports a repair or a doubt."""

import sys
import warnings


class MeshError(ValueError):
    """A mesh, a mesh file or a request for a shape that cannot be used; the text says which elements and what to do."""


class MeshWarning(UserWarning):
    """A mesh was repaired (flipped, merged or dropped elements) or looks doubtful (units, resolution)."""


class AccuracyWarning(UserWarning):
    """Something lowers the accuracy of a result: a coarse mesh, points on a surface, surfaces that almost touch."""


def callers_level() -> int:
    """The stacklevel with which a warning points at the line of the user's program that led here, however many
    constructors and functions of the package lie between."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("calderon", "dataclasses"):
        frame, level = frame.f_back, level + 1
    return level


def warn(text: str) -> None:
    """Issue a MeshWarning at the user's line."""
    warnings.warn(text, MeshWarning, stacklevel=callers_level())
