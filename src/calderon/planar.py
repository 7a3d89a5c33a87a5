"""Words of boards, `cal.planar`: shapes of metal, layers, ports, lumped elements and lines."""

from calderon.formulations.ports.board_slots import EdgePort, Lumped
from calderon.formulations.ports.line_port import LinePort, line_parameters
from calderon.formulations.ports.probe import ProbePort
from calderon.layers import Conductor, Layer, Stack, SurfaceImpedance
from calderon.mesh.planar import (
    jerusalem_cross,
    line_fed_patch,
    outline,
    patch,
    rectangles,
    ribbon,
    ring,
    spiral,
    strip_dipole,
    via,
)

__all__ = [
    "Conductor",
    "EdgePort",
    "Layer",
    "LinePort",
    "Lumped",
    "ProbePort",
    "Stack",
    "SurfaceImpedance",
    "jerusalem_cross",
    "line_fed_patch",
    "line_parameters",
    "outline",
    "patch",
    "rectangles",
    "ribbon",
    "ring",
    "spiral",
    "strip_dipole",
    "via",
]
