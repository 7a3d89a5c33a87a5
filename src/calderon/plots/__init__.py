"""Pictures of surfaces, fields, patterns and convergence: Matplotlib figures without global state, files written
whole."""

from calderon.plots.curves import cartesian, convergence, polar
from calderon.plots.cuts import animate, cut
from calderon.plots.hmatrix import hmatrix
from calderon.plots.pattern import radiation_body, radiation_pattern
from calderon.plots.radar import radar_map
from calderon.plots.slices import cut_triangles, field_slice, inside, section, slice_points
from calderon.plots.smith import smith
from calderon.plots.solids import conditions, is_seen, solid
from calderon.plots.sound import balloon, directivity, sound_levels, spectrum, third_octaves
from calderon.plots.surfaces import currents, surface
from calderon.plots.vibrations import vibration

__all__ = [
    "animate",
    "balloon",
    "cartesian",
    "conditions",
    "convergence",
    "currents",
    "cut",
    "cut_triangles",
    "directivity",
    "field_slice",
    "hmatrix",
    "inside",
    "is_seen",
    "polar",
    "radar_map",
    "radiation_body",
    "radiation_pattern",
    "section",
    "slice_points",
    "smith",
    "solid",
    "sound_levels",
    "spectrum",
    "surface",
    "third_octaves",
    "vibration",
]
