"""Closed rooms much smaller than the wavelength, whose pressure is nearly constant.

(I/2 + K) 1 is 0 for Laplace's K and -k^2 int G dV for that of sound, of the size of (k V / S)^2. A quadrature of K to
1e-6 is then an error of 1 % for a box of 0.2 m at 5 Hz, and of 100 % at 1 Hz. The same quadrature of Laplace's K tells
that error, which is taken off.
"""

import numpy as np

from calderon.formulations.linear_system import ThinTerm
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.mesh.containment import nested_components
from calderon.mesh.errors import warn_of_accuracy
from calderon.operators import double_layer, identity
from calderon.spaces import Space
from calderon.spaces.mirror_images import MirroredFunctions

ACCEPTED = 1e-2
"""Relative error of a nearly constant pressure above which a warning is given."""


def error_of_constants(functions: MirroredFunctions) -> ThinTerm:
    """-e m^T, with the error e of (I/2 + K) 1 = 0 by the rules of quadrature, tested with functions on a closed
    surface, and m p the mean of a pressure p; of each room, if there are several next to each other."""
    space: Space = functions.space
    mesh, members = space.mesh, np.ones((space.dimension, 1))
    if mesh.number_of_components > 1 and not len(nested_components(mesh.vertices, mesh.triangles, mesh.components)):
        members = np.zeros((space.dimension, mesh.number_of_components))
        members[space.dofs.ravel(), np.repeat(mesh.components, space.dofs.shape[1])] = 1
    operator = 0.5 * identity(space, functions.part) + double_layer(Laplace(), space, functions.part)
    weights = space.load_vector(1.0)[:, None] * members
    error = -(operator.assemble("matrix-free") @ members)
    return ThinTerm("what the rules make of constants", error, functions.summed(weights / weights.sum(axis=0)))


def warn_of_small_room(mesh: TriangleMesh, wavenumber: complex, error: float) -> None:
    """AccuracyWarning where an error of entries is not small compared with (I/2 + K) 1, which is 3 (k V / S)^2 in a
    ball."""
    strength = 3 * (abs(wavenumber) * abs(mesh.volume) / mesh.area) ** 2
    if error > ACCEPTED * strength:
        warn_of_accuracy(
            f"in a closed room much smaller than the wavelength a nearly constant pressure is uncertain by "
            f"{min(error / strength, 1.0):.1g}, since entries are accurate to {error:.0e}: take method='dense' in "
            "double precision, or a smaller compression_rtol"
        )
