"""Transient Maxwell problems by a nodal discontinuous Galerkin method on tetrahedra."""

from calderon.dg.averaged_sar import AveragedSAR
from calderon.dg.maxwell import MaxwellDG
from calderon.dg.periodic import PeriodicFields
from calderon.dg.port import Port, PortAmplitudes
from calderon.dg.probe import Probe
from calderon.dg.snapshots import Snapshots
from calderon.dg.transform import RunningTransform

__all__ = [
    "AveragedSAR",
    "MaxwellDG",
    "PeriodicFields",
    "Port",
    "PortAmplitudes",
    "Probe",
    "RunningTransform",
    "Snapshots",
]
