"""What the solution of a planar problem will take at one frequency, estimated before memory is taken."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy

from calderon.backends import format_bytes, thread_count
from calderon.fft.grid import SPACINGS, Grid
from calderon.galerkin.layered.metal import LayeredMetal
from calderon.operators.layered import LayeredElectricField
from calderon.operators.methods import rounded

TABLES, UNKNOWN, ENTRY, UPRIGHT_ENTRY, OPERATION = 0.5, 3.4e-4, 1e-7, 7e-6, 5.7e-11
"""Processor seconds of the tables of one pair of heights, of touching and near pairs of an unknown, of a distant entry,
of one with vertical metal (its tables among them), and of LU factors over the cube of the unknowns."""
COMPRESSED, COMPRESSED_SECONDS = 9200, 1.6e-3
"""Bytes and processor seconds of an unknown of H-matrices with their factors, of 7,000 unknowns at the usual rtol."""
PAIR_BYTES, PAIR_SECONDS = 300, 8e-6
"""The same of a pair of functions that is near on a grid, with its share of the preconditioner and the iteration."""
NODE = 16 * 4
"""Bytes of a node of a grid, padded with zeros, for each array of it."""


class PlanarPlan(NamedTuple):
    """method, and why "auto" takes it; unknowns, bytes at most at a time, and seconds of the solution of all ports."""

    method: str
    why: str
    unknowns: int
    nbytes: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.method}{self.why}: {self.unknowns} unknowns, about {rounded(self.seconds)} s and "
            f"{format_bytes(self.nbytes)}"
        )


def plan_of(
    method: tuple[str, str], field: LayeredElectricField, unknowns: int, rtol: float, grid: Mapping[str, Any]
) -> PlanarPlan:
    """method: and why; field: of functions of horizontal metal, next to which all other unknowns are dense columns;
    rtol: of the iteration, grid: options of "fft". ValueError for a grid that does not suit the metal."""
    metal = LayeredMetal(field.sections, field.trial)
    flat, heights = field.trial.dimension, len(metal.heights)
    others = unknowns - flat
    seconds = TABLES * heights * (heights + 1) / 2 + UNKNOWN * unknowns + UPRIGHT_ENTRY * unknowns * others
    if method[0] == "dense":
        return _summed(method, unknowns, 16 * unknowns**2, seconds + ENTRY * unknowns**2 + OPERATION * unknowns**3)
    nbytes = 32 * unknowns * others
    if method[0] == "hmatrix":
        digits, size = (1 - np.log10(rtol)) / 7, (unknowns / 7000) ** 0.15
        nbytes += int(COMPRESSED * digits * size * flat)
        return _summed(method, unknowns, nbytes, seconds + COMPRESSED_SECONDS * digits * size * flat)
    nodes = Grid.of(metal, grid.get("spacing"), grid.get("order", 3))
    reach = grid.get("near", SPACINGS * nodes.spacing)
    tree = scipy.spatial.cKDTree(nodes.middles)
    pairs = (tree.count_neighbors(tree, max(reach, 2 * float(nodes.radii.max()))) + flat) // 2
    nbytes += PAIR_BYTES * int(pairs) + NODE * int(np.prod(nodes.shape)) * (2 * heights**2 + 6 * heights)
    return _summed(method, unknowns, nbytes, seconds + PAIR_SECONDS * pairs)


def _summed(method: tuple[str, str], unknowns: int, nbytes: int, seconds: float) -> PlanarPlan:
    return PlanarPlan(*method, unknowns, int(nbytes), float(seconds) / thread_count())
