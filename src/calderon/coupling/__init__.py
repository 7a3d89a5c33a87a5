"""Coupling with finite elements, `cal.coupling`: boundaries of volumes, traces, and matrices by scikit-fem."""

from calderon.coupling.matrices import matrices
from calderon.coupling.traces import trace
from calderon.coupling.volumes import boundary, skfem_mesh

__all__ = ["boundary", "matrices", "skfem_mesh", "trace"]
