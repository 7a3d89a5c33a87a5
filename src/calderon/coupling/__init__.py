"""Coupling with finite elements, `cal.coupling`: boundaries of volumes, traces and matrices by scikit-fem, problems."""

from calderon.coupling.dielectric import InhomogeneousDielectric
from calderon.coupling.elastic.structures import Structure, normal_displacement
from calderon.coupling.elastic_scattering import ElasticScattering
from calderon.coupling.finite_elements import matrices
from calderon.coupling.inhomogeneous import InhomogeneousScattering
from calderon.coupling.magnetic import MagnetizationCurve
from calderon.coupling.potential import InhomogeneousPotential
from calderon.coupling.traces import trace
from calderon.coupling.volumes import boundary, skfem_mesh

__all__ = [
    "ElasticScattering",
    "InhomogeneousDielectric",
    "InhomogeneousPotential",
    "InhomogeneousScattering",
    "MagnetizationCurve",
    "Structure",
    "boundary",
    "matrices",
    "normal_displacement",
    "skfem_mesh",
    "trace",
]
