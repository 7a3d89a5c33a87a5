"""Electric and magnetic field operators between spaces of tangential vector fields."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.galerkin.block import Block
from calderon.galerkin.edge_block import EdgeBlock
from calderon.greens import Helmholtz
from calderon.greens.green import checked_quadrature
from calderon.greens.helmholtz import helmholtz
from calderon.integrands import ELECTRIC_FIELD, MAGNETIC_FIELD, Integrand
from calderon.mesh.locality import locality_order
from calderon.operators.algebra import BoundaryOperator, Index, Sliced
from calderon.operators.boundary import IntegralOperator
from calderon.operators.tree import ArrayPlace, Congruence, Products
from calderon.quadrature.options import Quadrature
from calderon.spaces import DualTests, EdgeSpace, VectorSpace

SLICE = 64_000_000
"""Bytes of the rows between edge functions that are held at a time, or a twentieth of the result if that is more."""
ROWS_AT_ONCE = 64
"""Rows whose columns are combined together: more do not stay in the cache while they are transposed."""


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


@dataclass(frozen=True, eq=False)
class CombinedOperator(BoundaryOperator):
    """left.matrix^T A right.matrix with the operator A between the edge functions of which the spaces are combinations;
    A is computed some rows at a time and never stored. right, left: trial and test on one refined mesh."""

    edges: EdgeOperator
    trial: VectorSpace
    test: VectorSpace
    right: VectorSpace
    left: VectorSpace

    def __repr__(self) -> str:
        spaces = self.trial.name if self.trial is self.test else f"{self.trial.name} to {self.test.name}"
        green, size = self.edges.green, f"{self.shape[0]} x {self.shape[1]}"
        return f"{self.edges.integrand.name} of {green}, {spaces}, {size}"

    @property
    def is_complex(self) -> bool:
        return True

    @property
    def key(self) -> Hashable:
        return CombinedOperator, self.edges.key, self.trial, self.test

    def integrals(self) -> Iterator[Sliced]:
        return iter([(self.edges, self.shape)])

    def value(self, products: Products) -> Any:
        return Congruence(products.value(self.edges), [1.0], [self.left.matrix], [self.right.matrix])

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        with place.on_host(repr(self)) as out:
            self._add(out, factor, rows, columns, place.how, place.advance)

    def _add(self, out, factor, rows, columns, how, advance):  # type: ignore[no-untyped-def]
        left = self.left.matrix if rows is None else self.left.matrix[:, rows]
        right = self.right.matrix if columns is None else self.right.matrix[:, columns]
        left, right = left.tocsr(), right.tocsr()
        height, kept = (np.flatnonzero(np.diff(each.indptr)) for each in (left, right))
        right = right[kept].T.tocsr()
        kind = how.dtype(True)
        room = max(SLICE, out.nbytes // 20)
        order = height[locality_order(self._middles()[height])]
        pieces = np.array_split(order, -(-len(order) // max(1, int(room / (len(kept) * kind.itemsize)))))
        for number, piece in enumerate(pieces):
            needed = np.sort(piece)
            block = np.zeros((len(needed), len(kept)), kind)
            self.edges.add_to(ArrayPlace(block, how), factor, needed, kept)
            weights = left[needed].tocsc()
            touched = np.flatnonzero(np.diff(weights.indptr))
            part = weights[:, touched].T.tocsr() @ block
            for n in range(0, len(touched), ROWS_AT_ONCE):
                few = slice(n, n + ROWS_AT_ONCE)
                out[touched[few]] += (right @ np.ascontiguousarray(part[few].T)).T.astype(out.dtype)
            if advance is not None:
                advance(number + 1, len(pieces))

    def _middles(self) -> NDArray[np.float64]:
        """(n, 3) the middles of the edges of the test side."""
        base = self.edges.test
        return np.asarray(base.mesh.vertices[base.mesh.edges[base.edges]].mean(axis=1))


def electric_field(
    green: Helmholtz | complex,
    trial: VectorSpace,
    test: VectorSpace | None = None,
    *,
    quadrature: Quadrature | None = None,
) -> BoundaryOperator:
    """T: <f_i, T f_j> = i k int int G (f_i . f_j - div f_i div f_j / k^2), in m^2.

    The tangential electric field of the surface current f_j, with eta0 = 1: T J = -<f, E_inc> on a conductor. green:
    a Helmholtz or its wavenumber k (real > 0, or complex with a positive imaginary part for loss). Both spaces are
    div-conforming, RWG or BC. The matrix of one space is complex symmetric.

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
    return _operator(ELECTRIC_FIELD, green, trial, test, quadrature)


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
    `DualTests` of the trial space.

    Raises ValueError for k = 0 and for rotated trial spaces, TypeError for spaces of scalars.
    """
    _checked(trial, MAGNETIC_FIELD)
    if isinstance(test, DualTests):
        if trial is not test.primal:
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
    return CombinedOperator(edges, trial, test, right, left)
