"""On-surface operators: square roots of surface operators as preconditioners (OSRC)."""

from calderon.onsurface.osrc import osrc_dtn, osrc_ntd
from calderon.onsurface.surface_operator import SurfaceOperator

__all__ = ["SurfaceOperator", "osrc_dtn", "osrc_ntd"]
