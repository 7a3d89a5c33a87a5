"""Fast multipole method for Laplace: sums of 1/r over charges, in time and memory proportional to their number."""

from calderon.fmm.galerkin import FastMultipole, assemble_fmm, plan_fmm
from calderon.fmm.sums import laplace_sums

__all__ = ["FastMultipole", "assemble_fmm", "laplace_sums", "plan_fmm"]
