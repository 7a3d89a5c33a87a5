"""Floquet waves: currents that are repeated in planes of a stack of layers, and their fields as sums of plane waves."""

from calderon.floquet.functions import BlochFunctions
from calderon.floquet.lattice import Lattice
from calderon.floquet.matrix import Plane, cell_matrix, directions
from calderon.floquet.near import NearPart, PlaneParts
from calderon.floquet.thin import ImageParts
from calderon.floquet.transforms import transforms
from calderon.floquet.voltages import admittances, voltages

__all__ = [
    "BlochFunctions",
    "ImageParts",
    "Lattice",
    "NearPart",
    "Plane",
    "PlaneParts",
    "admittances",
    "cell_matrix",
    "directions",
    "transforms",
    "voltages",
]
