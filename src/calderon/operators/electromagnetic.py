"""Electric and magnetic field operators between spaces of tangential vector fields."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from calderon.galerkin.block import Block
from calderon.galerkin.edge_block import EdgeBlock
from calderon.greens import Helmholtz
from calderon.greens.green import checked_quadrature
from calderon.greens.helmholtz import helmholtz
from calderon.integrands import ELECTRIC_FIELD, MAGNETIC_FIELD, VECTOR_POTENTIAL, Integrand
from calderon.operators.algebra import BoundaryOperator, TransformedOperator
from calderon.operators.boundary import IntegralOperator
from calderon.operators.sparse_factors import SparseFactors
from calderon.quadrature.options import Quadrature
from calderon.spaces import DualTests, EdgeSpace, VectorSpace


@dataclass(frozen=True, eq=False, repr=False)
class EdgeOperator(IntegralOperator):
    """An integral operator between edge functions (RWG; on the test side also SNC, or dual tests)."""

    block: ClassVar[type[Block]] = EdgeBlock

    @property
    def is_symmetric(self) -> bool:
        """The electric field between a space and itself, the magnetic between a space and its rotation."""
        test, trial = self.test, self.trial
        if self.integrand.symmetric or not test.rotated:
            return super().is_symmetric
        return test.perpendicular() is trial


def electric_field(
    green: Helmholtz | complex,
    trial: VectorSpace,
    test: VectorSpace | None = None,
    *,
    quadrature: Quadrature | None = None,
    charges: bool = True,
) -> BoundaryOperator:
    """T: <f_i, T f_j> = i k int int G (f_i . f_j - div f_i div f_j / k^2), in m^2.

    The tangential electric field of the surface current f_j, with eta0 = 1: T J = -<f, E_inc> on a conductor. green:
    a Helmholtz or its wavenumber k (real > 0, or complex with a positive imaginary part for loss). Both spaces are
    div-conforming, RWG or BC. The matrix of one space is complex symmetric. charges: False leaves out the part of the
    divergences, next to which the other one is lost at low frequency; by "dense", "matrix-free" and "hmatrix".

    Raises ValueError for k = 0 and for the rotated spaces SNC and RBC, TypeError for spaces of scalars. Source:
    S. M. Rao, D. R. Wilton, A. W. Glisson, IEEE Trans. Antennas Propag. 30 (1982) 409.
    """
    test = trial if test is None else test
    for space in (trial, test):
        _checked(space, ELECTRIC_FIELD)
        if space.rotated:
            raise ValueError(
                f"the electric field needs the divergence of its functions, and that of {space.name} lives on the "
                "edges: pair RWG or BC functions; n x E is tested with the identity between RWG and SNC"
            )
    return _operator(ELECTRIC_FIELD if charges else VECTOR_POTENTIAL, green, trial, test, quadrature)


def magnetic_field(
    green: Helmholtz | complex,
    trial: VectorSpace,
    test: VectorSpace | None = None,
    *,
    quadrature: Quadrature | None = None,
) -> BoundaryOperator:
    """K: <f_i, K f_j> = int f_i . (n x pv int grad_x G x f_j).

    n times the mean of the magnetic fields of the surface current f_j on both sides: (identity / 2 - K) J = <f, n x
    H_inc> on a conductor. Tested with n x f_i (SNC, RBC) it is int f_i . (pv int grad_x G x f_j), the tangential field
    itself, which is symmetric. green as for `electric_field`; the trial space is RWG or BC. test may also be the
    `DualTests` of the trial space, or of some of its functions.

    Raises ValueError for k = 0 and for rotated trial spaces, TypeError for spaces of scalars.
    """
    _checked(trial, MAGNETIC_FIELD)
    if isinstance(test, DualTests):
        if trial is not test.primal and trial is not test.part_of:
            raise ValueError(f"{test!r} test the magnetic field of the space that they are of, got {trial!r}")
        green = helmholtz(green, "magnetic field")
        quadrature = checked_quadrature("magnetic field", green, quadrature)
        return EdgeOperator(green, MAGNETIC_FIELD, trial, test, quadrature)
    test = trial if test is None else test
    _checked(test, MAGNETIC_FIELD)
    if trial.rotated:
        raise ValueError(f"the magnetic field is that of div-conforming currents, not of {trial.name}: use RWG or BC")
    return _operator(MAGNETIC_FIELD, green, trial, test, quadrature)


def _checked(space: Any, integrand: Integrand) -> None:
    name = integrand.name.replace("_", " ")
    if not isinstance(space, VectorSpace):
        raise TypeError(f"the {name} acts on tangential vector fields, got {space!r}: try RWG(mesh)")
    if isinstance(space, DualTests):
        raise ValueError(f"dual tests test the magnetic field and do nothing else, got {space!r} for the {name}")


def _operator(
    integrand: Integrand,
    green: Helmholtz | complex,
    trial: VectorSpace,
    test: VectorSpace,
    quadrature: Quadrature | None,
) -> BoundaryOperator:
    """Between edge functions, or combinations of them on one refined mesh."""
    right, left = trial, test
    if trial.mesh is test.mesh and trial.base.mesh is not test.base.mesh:
        right = trial if trial.base.mesh is not trial.mesh else trial.refined()
        left = test if test.base.mesh is not test.mesh else test.refined()
    name = integrand.name.replace("_", " ")
    green = helmholtz(green, name)
    edges = EdgeOperator(green, integrand, right.base, left.base, checked_quadrature(name, green, quadrature))
    if isinstance(right, EdgeSpace) and isinstance(left, EdgeSpace):
        return edges
    sides = _combinations(left), _combinations(right)
    return TransformedOperator(edges, *sides, (trial, test), (1.0,), integrand.name, by_rows=True)


def _combinations(space: VectorSpace) -> SparseFactors:
    """The matrix by which functions are combinations of those of their base."""
    return SparseFactors(("edge functions", space), space.matrix.shape, partial(list, [space.matrix]))
