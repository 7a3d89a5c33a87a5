"""Conductors over a step of time, and at their faces.

Where a = sigma dt / epsilon is large, E follows curl H / sigma within a step. Schemes that solve the conductive term
exactly over a step have a lossless part with epsilon' = epsilon (a / 2) coth(a / 2).

Behind the face of a good conductor E is nearly zero and H free: the numerical traces are E of the conductor and H of
the other medium, also where the skin is thinner than the elements. So E* = E + s [E] and H* = H + (1 - s) [H] weigh by
the admittance of an element's surface, Y of its medium or sigma h of the current through it:

    s = G+ / (G+ + G),  G = max(Y, sigma h).

Any s conserves energy. Source: the Riemann problem, see upwind.py; for s = 1/2 it is the centred flux.
"""

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.halo import Halo
from calderon.dg.operator.medium import Medium
from calderon.mesh import TetrahedralMesh

Reals = NDArray[np.float64]


def step_permittivity(medium: Medium, step: float) -> Reals:
    """(elements,) epsilon (a / 2) coth(a / 2), which is epsilon where there is no loss."""
    half = step / 2 * medium.loss / medium.permittivity
    return np.asarray(medium.permittivity * np.where(half > 0, half / np.tanh(np.where(half > 0, half, 1.0)), 1.0))


def conducting_admittance(medium: Medium, mesh: TetrahedralMesh) -> Reals:
    """(elements,) G relative to vacuum: h is the radius of the inscribed sphere."""
    return np.maximum(medium.admittance, medium.loss * mesh.inradii)


def halves(step: float, medium: Medium) -> tuple[Reals, Reals]:
    """(elements,) Factors of E before and after the step of a lossless medium with epsilon'.

    Their product is exp(-a); E that follows a constant curl is curl H / sigma both before and after the step.
    """
    left = np.exp(-step * medium.loss / medium.permittivity)
    return 2 * left / (1 + left), (1 + left) / 2


def shares(medium: Medium, mesh: TetrahedralMesh, halo: Halo | None) -> Reals:
    """(elements, 4) s at every face for the centred flux, where only conduction weighs: G over Y, and 1/2 within a
    medium, between media without loss and at the boundary."""
    rate, weight = medium.loss / medium.permittivity, conducting_admittance(medium, mesh) / medium.admittance
    across = [acrossed(each, mesh, halo) for each in (rate, weight)]
    return np.where(across[0] == rate[:, None], 0.5, across[1] / (across[1] + weight[:, None]))


def acrossed(own: Reals, mesh: TetrahedralMesh, halo: Halo | None) -> Reals:
    """(elements, 4) values of the elements across every face, their own at the boundary."""
    result = np.where(mesh.neighbours >= 0, own[np.maximum(mesh.neighbours, 0)], own[:, None])
    if halo is not None:
        result[halo.sides] = halo.across(own)
    return result
