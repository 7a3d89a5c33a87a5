"""Names of `cal.planar`, and the file of each."""

from .formulations.ports.edge_port import EdgePort as EdgePort
from .formulations.ports.line_modes import line_parameters as line_parameters
from .formulations.ports.line_port import LinePort as LinePort
from .formulations.ports.lumped import Lumped as Lumped
from .formulations.ports.probe import ProbePort as ProbePort
from .layers import Conductor as Conductor, Layer as Layer, Stack as Stack, SurfaceImpedance as SurfaceImpedance
from .mesh.planar import (
    jerusalem_cross as jerusalem_cross,
    line_fed_patch as line_fed_patch,
    outline as outline,
    patch as patch,
    rectangles as rectangles,
    ribbon as ribbon,
    ring as ring,
    spiral as spiral,
    strip_dipole as strip_dipole,
    via as via,
)
