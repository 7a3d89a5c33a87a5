"""Planar layers: stacks of media between ends, and their Green's functions."""

from calderon.layers.lines import SpectralGreens, spectral_greens
from calderon.layers.sections import Sections
from calderon.layers.sommerfeld import SpatialGreens, spatial_greens
from calderon.layers.stack import Conductor, Layer, Stack, SurfaceImpedance

__all__ = [
    "Conductor",
    "Layer",
    "Sections",
    "SpatialGreens",
    "SpectralGreens",
    "Stack",
    "SurfaceImpedance",
    "spatial_greens",
    "spectral_greens",
]
