"""The fields on a plane as files: for ParaView and for NumPy."""

import numpy as np
from numpy.typing import NDArray

from calderon.data import LabelledArrays, Quantity, Samples, rectangle_places
from calderon.report.folder import BestEffort


def write_plane(files: BestEffort, name: str, points: NDArray[np.float64], *quantities: Quantity) -> None:
    """name.vti and name.npz of quantities (rows, columns, ...) at the points (rows, columns, 3) of a rectangle."""
    places = rectangle_places(points)
    samples = Samples(places, LabelledArrays(places.axes, quantities, places.coordinates))
    for ending in ("vti", "npz"):
        with files.at(f"{name}.{ending}") as path:
            samples.write(path)
