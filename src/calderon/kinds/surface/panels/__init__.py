"""Panels of a problem on surfaces, by topics."""

from calderon.kinds.surface.panels.far_fields import bistatic, impedance, levels_over_frequency, monostatic, references
from calderon.kinds.surface.panels.fields import near_fields, plane, surface
from calderon.kinds.surface.panels.solution import charge, exact, inside, solution
from calderon.report.panels import second_mesh, unknowns

PANELS = (
    surface, impedance, bistatic, monostatic, references, levels_over_frequency, exact, charge, inside,
    second_mesh, plane, near_fields, unknowns, solution,
)  # fmt: skip
"""In the order in which they appear."""
