"""Transient Maxwell problems by a nodal discontinuous Galerkin method on tetrahedra."""

from calderon.dg.maxwell import MaxwellDG
from calderon.dg.periodic import PeriodicFields
from calderon.dg.port import Port, PortAmplitudes

__all__ = ["MaxwellDG", "PeriodicFields", "Port", "PortAmplitudes"]
