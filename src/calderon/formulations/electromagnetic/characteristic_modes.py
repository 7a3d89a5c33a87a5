"""Characteristic modes of perfect conductors: real currents that the electric field equation makes orthogonal.

With the impedance Z = -eta T = R - i X of currents, for exp(-i omega t), a mode solves X J = lambda R J, J real: lambda
is reactive over radiated power, positive where magnetic energy prevails. Modes that radiate nothing have infinite
lambda; R is singular to rounding and is never factorised: wanted are the largest 1 / |lambda| of X^-1 R.
R. F. Harrington and J. R. Mautz, IEEE Trans. Antennas Propag. 19 (1971) 622.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.exact import VACUUM_IMPEDANCE
from calderon.formulations.electromagnetic.antenna import PECAntenna
from calderon.formulations.electromagnetic.pec import PECScattering
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents
from calderon.operators import electric_field
from calderon.quadrature.sphere import far_field_products
from calderon.spaces import VectorFunction
from calderon.validation import describe, instance, list_of, whole_number

LEAST_SIZE = 1e-2
"""k times diameter below which the power that modes radiate is lost in the rounding of R."""


@dataclass(frozen=True, eq=False)
class CharacteristicMode:
    """One characteristic mode.

    eigenvalue: lambda, negative where electric energy prevails, zero at a resonance. currents: the real surface current
    J in A/m that radiates 1 W, and its field.
    """

    eigenvalue: float
    currents: RadiatingCurrents

    @property
    def surface(self) -> VectorFunction:
        """The current J in A/m."""
        return self.currents.electric_currents[0]

    @property
    def significance(self) -> float:
        """1 / |1 + i lambda|: how much of what excites it the mode carries, 1 at its resonance."""
        return float(1 / np.hypot(1.0, self.eigenvalue))

    @property
    def angle(self) -> float:
        """pi - arctan(lambda) in radians, pi at the resonance of the mode."""
        return float(np.pi - np.arctan(self.eigenvalue))

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> NDArray[np.complex128]:
        """F (..., 3) in V, as of `RadiatingCurrents`: modes are orthogonal over all directions."""
        return np.asarray(self.currents.far_field(theta, phi))

    def __str__(self) -> str:
        return f"eigenvalue {self.eigenvalue:.5g}, modal significance {self.significance:.4g}"


def characteristic_modes(
    problem: PECScattering | PECAntenna, number: int = 6, like: Sequence[CharacteristicMode] | None = None
) -> tuple[CharacteristicMode, ...]:
    """The `number` modes of the smallest |eigenvalue|, in that order.

    problem: the conductor, without mirrors; its electric equation is assembled as a dense matrix, whatever the
    formulation of the problem. like: modes at another frequency; those found are in their order, as their far fields
    are alike (of modes of one eigenvalue in any order), new ones last.

        modes = [cal.characteristic_modes(problem, 4)]
        for k in wavenumbers:
            modes.append(cal.characteristic_modes(problem.at(k), 4, like=modes[-1]))

    Raises TypeError for other problems, ValueError for mirrors, more modes than unknowns and bodies below k times
    diameter = 0.01, MemoryError before a matrix that does not fit.
    """
    instance(problem, PECScattering | PECAntenna, "characteristic modes are those of a perfect conductor")
    conductor = problem.conductor if isinstance(problem, PECAntenna) else problem
    space, k = conductor.function_space, conductor.wavenumber
    count = whole_number(number, "number", 1, max(1, space.dimension - 2))
    if conductor.mirrors:
        raise ValueError("characteristic modes are those of the whole: solve on mesh.mirrored(planes) without mirrors")
    if (size := k * conductor.mesh.diameter) < LEAST_SIZE:
        raise ValueError(f"k times diameter is {size:.2g}: below {LEAST_SIZE:g} what modes radiate is lost in rounding")
    eta = float(problem.impedance or VACUUM_IMPEDANCE)
    matrix = -electric_field(k, space).assemble("dense").to_array()
    factors = scipy.linalg.lu_factor(-matrix.imag)

    def product(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(scipy.linalg.lu_solve(factors, matrix.real @ x))

    operator = scipy.sparse.linalg.LinearOperator(matrix.shape, matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=len(matrix))  # the same modes each time
    inverses, vectors = scipy.sparse.linalg.eigs(operator, count, which="LM", v0=start)
    found = []
    for n in np.argsort(-np.abs(inverses)):
        vector = vectors[:, n]
        j = np.real(vector / vector[np.abs(vector).argmax()])
        j = j / np.sqrt(eta * (j @ (matrix.real @ j)) / 2)
        current = VectorFunction(space, j, "characteristic current", "A/m")
        found.append(CharacteristicMode(float(1 / inverses[n].real), RadiatingCurrents(k, eta, (current,))))
    return (
        tuple(found) if like is None else _in_order(found, list_of(like, CharacteristicMode, "like is a list of modes"))
    )


def _in_order(
    found: Sequence[CharacteristicMode], others: Sequence[CharacteristicMode]
) -> tuple[CharacteristicMode, ...]:
    """The modes in the order of others that their far fields are like; the rest after them."""
    if not others:
        raise ValueError(f"like has no modes, got {describe(others)}")
    mesh = found[0].surface.space.mesh
    k = max(float(np.real(each.currents.wavenumber)) for each in (*found, *others))
    fields = [each.far_field for each in (*others, *found)]
    products = np.abs(far_field_products(fields, mesh.vertices, k))
    alike = products[: len(others), len(others) :]
    _, chosen = scipy.optimize.linear_sum_assignment(-alike)
    return tuple(found[n] for n in (*chosen, *(n for n in range(len(found)) if n not in chosen)))
