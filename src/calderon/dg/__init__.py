"""Transient Maxwell problems by a nodal discontinuous Galerkin method on tetrahedra."""

from calderon.data.sar import AveragedSAR
from calderon.dg.maxwell import MaxwellDG
from calderon.dg.results.periodic import PeriodicFields
from calderon.dg.results.probe import Probe
from calderon.dg.results.snapshots import Snapshots
from calderon.dg.results.transform import RunningTransform
from calderon.dg.sources.port import Port, PortAmplitudes

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
