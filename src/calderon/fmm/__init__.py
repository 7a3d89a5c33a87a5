"""Fast multipole method for Laplace: sums of 1/r over charges, in time and memory proportional to their number."""

from calderon.fmm.galerkin import FastMultipole, assemble_fmm, plan_fmm
from calderon.fmm.sums import LaplaceSums, SumsInfo, laplace_sums

__all__ = ["FastMultipole", "LaplaceSums", "SumsInfo", "assemble_fmm", "laplace_sums", "plan_fmm"]
