"""Multilevel fast multipole method: fields of oscillating sources by plane waves, level by level."""

from calderon.mlfmm.operator import Multipole, assemble_mlfmm, plan_mlfmm, save_near
from calderon.mlfmm.plan import ACCEPTED
from calderon.mlfmm.sums import helmholtz_sums
from calderon.products.near_file import require_near_file

__all__ = [
    "ACCEPTED",
    "Multipole",
    "assemble_mlfmm",
    "helmholtz_sums",
    "plan_mlfmm",
    "require_near_file",
    "save_near",
]
