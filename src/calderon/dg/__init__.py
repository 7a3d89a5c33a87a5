"""Transient Maxwell problems by a nodal discontinuous Galerkin method on tetrahedra."""

from calderon.dg.maxwell import MaxwellDG

__all__ = ["MaxwellDG"]
