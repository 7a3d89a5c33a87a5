"""Pre-corrected FFT: currents on planar metal on regular grids, whose products are convolutions."""

from calderon.fft.cells import cell_inverse
from calderon.fft.expressions import assemble_fft
from calderon.fft.near_inverse import near_inverse
from calderon.fft.operator import DeviceGridOperator, GridOperator, grid_operator
from calderon.fft.plan import plan_fft

__all__ = [
    "DeviceGridOperator",
    "GridOperator",
    "assemble_fft",
    "cell_inverse",
    "grid_operator",
    "near_inverse",
    "plan_fft",
]
