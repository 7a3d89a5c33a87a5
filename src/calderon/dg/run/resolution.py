"""Whether a mesh carries waves of a frequency."""

import warnings

import numpy as np

from calderon.dg.domain import Domain
from calderon.mesh import MeshWarning
from calderon.mesh.errors import callers_level

FEWEST_NODES = 2.0
"""In a wavelength: no polynomial with less of them oscillates so."""


def warn_resolution(domain: Domain, frequency: float) -> None:
    """MeshWarning, by the first rank, where elements of any rank are too long for the waves in them."""
    medium, mesh, order = domain.medium, domain.part.mesh, domain.arrangement.reference.order
    lengths = medium.speed / (frequency * np.sqrt(medium.permittivity * medium.permeability))
    nodes = order * lengths / mesh.longest_edges
    worst = int(np.argmin(nodes))
    own = float(nodes[worst]), int((nodes < FEWEST_NODES).sum()), mesh.longest_edges[worst], lengths[worst]
    found = domain.communicator.gather(own)
    fewest, _, edge, length = min(found)
    if fewest < FEWEST_NODES and domain.communicator.rank == 0:
        hertz, metres = (" Hz", " m") if medium.speed != 1 else ("", "")
        warnings.warn(
            f"{sum(each[1] for each in found)} tetrahedra have fewer than {FEWEST_NODES:g} nodes in a wavelength at "
            f"{frequency:.4g}{hertz}, the worst {fewest:.2g} (edge {edge:.3g}{metres}, wavelength {length:.3g}{metres})"
            ": amplitudes say little there; take a finer mesh or a higher order; or is the mesh not in metres?",
            MeshWarning,
            stacklevel=callers_level(),
        )
