"""Live pictures in one HTML file: surfaces, planes and patterns that turn, zoom and show values, drawn by WebGL 2.

This package knows arrays only, so that meshes, functions and solutions can all be shown by it.
"""

from calderon.view.document import View, embedded, figure, script, style
from calderon.view.scene import PART_COLOURS, Arrows, Field, Grid, Pattern, Scene, Steps, Surface
from calderon.view.viewable import Described, Viewable

__all__ = [
    "Arrows",
    "Described",
    "PART_COLOURS",
    "Field",
    "Grid",
    "Pattern",
    "Scene",
    "Steps",
    "Surface",
    "View",
    "Viewable",
    "embedded",
    "figure",
    "script",
    "style",
]
