"""The magnetic field tested with fields that are affine on triangles, by a name of its own for devices."""

import numpy as np
from numpy.typing import NDArray

from calderon.galerkin.edge_block import EdgeBlock


class DualBlock(EdgeBlock):
    """A block of the magnetic field of edge functions, tested with `spaces.dual_tests`: t . (n x E) = (t x n) . E."""

    def crossed_values(self) -> NDArray[np.float64]:
        """(n, L, 3, 3) values of t x n of the local functions at the vertices."""
        values = self.test_space.corner_values[self.test.triangles]
        return np.cross(values, self.test_surface.normals[:, None, None])
