"""Panels of a solid by topics, all with units."""

from calderon.kinds.solid.panels.conditions import balanced, conditions, forces, load_cases
from calderon.kinds.solid.panels.inside import cut, lines, points
from calderon.kinds.solid.panels.solution import solution
from calderon.kinds.solid.panels.stresses import fields, numbers

PANELS = (numbers, fields, load_cases, conditions, forces, balanced, points, lines, cut, solution)
"""In the order in which they appear."""
