"""Extinction inside of bodies as an estimate of error: there the field of the outer currents is minus the incident one.

With J = n x H and M = -n x E of the total field, E_inc + T J - K M = 0 within the bodies (P. P. Ewald 1912, C. W. Oseen
1915), and so for H. What is left of the incident wave there is a residual that no equation on the surface contains,
taken where it is smooth; near a resonance it grows as the error of the resonant field does. Spheres, ellipsoids and
cubes with permittivities from -8 to 1000, resonant and not: fields outside were wrong by 0.05 to 9 times as much.
Conductors (M = 0) by equations with the magnetic field, spheres, rings, cubes, almonds, k d from 1e-4 to 9: 0.1 to 3.5
times. The electric equation has resonances inside that do not radiate, and is not judged so.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.formulations.electromagnetic.scattering_solution import ElectromagneticSolution
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn_of_accuracy

PROBE_DEPTH, CONDUCTOR_DEPTH = 1.0, 0.7
"""Mean edges from the surface within which fields show single elements, of J and M, and of J alone."""
ACCEPTED = 0.01
"""Part of the incident wave that may be left."""


def probe_points(mesh: TriangleMesh, least: float = PROBE_DEPTH) -> NDArray[np.float64]:
    """Points (n, 3) deep inside of the largest parts of a closed surface, at `least` times the mean edge; none of parts
    that are thin."""
    candidates, probes = 400, 12  # points drawn in the box around a part, and those of them farthest from its surface
    parts = np.argsort(-np.bincount(mesh.components, weights=mesh.areas))[:4]
    tree, rng, found = scipy.spatial.KDTree(mesh.centroids), np.random.default_rng(0), [np.zeros((0, 3))]
    for part in parts:
        corners = mesh.vertices[mesh.triangles[mesh.components == part]].reshape(-1, 3)
        low, high = corners.min(axis=0), corners.max(axis=0)
        x = low + (high - low) * rng.random((candidates, 3))
        depth = tree.query(x)[0]
        x = x[np.argsort(-depth)][: np.count_nonzero(depth > least * mesh.mean_edge_length)]
        found.append(x[mesh.contains(x)][:probes] if len(x) else x)
    return np.concatenate(found)


def remainder(solution: ElectromagneticSolution, points: NDArray[np.float64]) -> float:
    """Rest of the incident field at points (n, 3) inside, relative to it: the larger of E and H."""
    incident, currents = solution.incident, solution.currents
    pairs = [(incident.electric(points), currents.electric(points)),
             (incident.magnetic(points), currents.magnetic(points))]  # fmt: skip
    tiny = np.finfo(float).tiny
    return max(float(np.linalg.norm(wave + own) / max(np.linalg.norm(wave), tiny)) for wave, own in pairs)


def warn_of_remainder(
    solution: ElectromagneticSolution, points: NDArray[np.float64], advice: str, accepted: float = ACCEPTED
) -> None:
    """AccuracyWarning where more than `accepted` of the incident wave is left at the points."""
    if len(points) == 0 or (left := remainder(solution, points)) <= accepted:
        return
    warn_of_accuracy(
        f"the currents leave {100 * left:.2g} % of the incident wave inside of the bodies, where they should "
        f"extinguish it: fields outside have errors of that order ({20 * np.log10(1 + left):.2g} dB); {advice}"
    )


def warn_unjudged(advice: str) -> None:
    """AccuracyWarning for bodies whose meshes are too coarse for such points."""
    warn_of_accuracy(
        f"no point inside is {CONDUCTOR_DEPTH:g} edges away from the surface, so that the error is not known, and it "
        f"may be several per cent; {advice}"
    )
