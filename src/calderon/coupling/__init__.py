"""Coupling with finite elements, `cal.coupling`: boundaries of volumes, traces and matrices by scikit-fem, problems."""

from calderon.coupling.inhomogeneous import InhomogeneousScattering
from calderon.coupling.matrices import matrices
from calderon.coupling.potential import InhomogeneousPotential
from calderon.coupling.traces import trace
from calderon.coupling.volumes import boundary, skfem_mesh

__all__ = ["InhomogeneousPotential", "InhomogeneousScattering", "boundary", "matrices", "skfem_mesh", "trace"]
