"""Pictures of surfaces, fields, patterns and convergence: Matplotlib figures without global state, files written
whole.
"""

from calderon.plots.curves import cartesian, convergence, polar
from calderon.plots.slices import field_slice, inside, section, slice_points
from calderon.plots.surfaces import surface

__all__ = ["cartesian", "convergence", "field_slice", "inside", "polar", "section", "slice_points", "surface"]
