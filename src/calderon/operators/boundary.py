"""Integral and local operators, and the layers of potential theory."""

import warnings
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from calderon.galerkin.assembly import add_block
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.block import Block
from calderon.galerkin.elastic_block import ElasticBlock
from calderon.greens import Elastostatic, Laplace, RadialGreen
from calderon.greens.green import checked_quadrature
from calderon.integrands import ADJOINT_DOUBLE_LAYER, DOUBLE_LAYER, HYPERSINGULAR, SINGLE_LAYER, Integrand
from calderon.mesh.errors import AccuracyWarning
from calderon.operators.algebra import BoundaryOperator, SparseOperator, TransformedOperator
from calderon.operators.lazy_operator import with_spaces
from calderon.operators.products import Products
from calderon.operators.sparse_factors import Matrices, SparseFactors, matrices_of, tangential_derivatives, transforms
from calderon.operators.tree import Index
from calderon.quadrature.options import Quadrature
from calderon.spaces import NodalVectorSpace, Space, VectorSpace
from calderon.spaces.lagrange import discontinuous
from calderon.validation import callers_level, describe, one_of

AnySpace = Space | NodalVectorSpace | VectorSpace
ScalarOrVector = Space | NodalVectorSpace


@dataclass(frozen=True, eq=False)
class IntegralOperator(BilinearForm, BoundaryOperator):
    """A bilinear form as an operator."""

    is_leaf: ClassVar[bool] = True

    def __repr__(self) -> str:
        return with_spaces(f"{self.integrand.name} of {self.green}", self)

    @property
    def key(self) -> Hashable:
        return type(self), self.green, self.integrand, self.trial, self.test, self.quadrature

    @property
    def wavenumber(self) -> float:
        """The real part of that of the Green's function in 1/m."""
        return abs(complex(self.green.wavenumber).real)

    def integrals(self) -> Iterator[Any]:
        return iter([self])

    def value(self, products: Products) -> Any:
        return products.leaf(self)

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        self._add(place, factor, rows, columns, False)

    def add_half_to(self, place: Any, factor: complex) -> None:
        """place += factor * S, where the matrix, if symmetric, is S + S^T."""
        self._add(place, factor, None, None, True)

    def _add(self, place: Any, factor: complex, rows: Index | None, columns: Index | None, half: bool) -> None:
        add_block(place.target, self, factor, rows, columns, place.execution, place.advance, half)


@dataclass(frozen=True, eq=False, repr=False)
class ElasticOperator(IntegralOperator):
    """An integral operator of elastostatics between fields of three components."""

    is_elastic: ClassVar[bool] = True
    block: ClassVar[type[Block]] = ElasticBlock


def checked_spaces(what: str, *spaces: Any, kind: type = Space) -> None:
    """TypeError for anything but spaces of that kind: scalar functions, vectors at nodes, or tangential fields."""
    texts: dict[type, tuple[str, str]] = {
        Space: ("scalar functions", "P1(mesh)"),
        NodalVectorSpace: ("vectors at nodes", "P1(mesh, components=3)"),
        VectorSpace: ("tangential fields", "RWG(mesh)"),
    }
    named, example = texts[kind]
    for space in spaces:
        if not isinstance(space, kind):
            raise TypeError(f"{what} needs a space of {named}, got {describe(space)}: try {example}")


def _layer(
    integrand: Integrand,
    green: RadialGreen,
    trial: ScalarOrVector,
    test: ScalarOrVector | None,
    quadrature: Quadrature | None,
) -> IntegralOperator:
    test = trial if test is None else test
    if isinstance(green, Elastostatic):
        _checked_displacements(integrand.name, trial, test)
        return ElasticOperator(green, integrand, trial, test, checked_quadrature(integrand.name, green, quadrature))
    checked_spaces(integrand.name, trial, test)
    return IntegralOperator(green, integrand, trial, test, checked_quadrature(integrand.name, green, quadrature))


def _checked_displacements(what: str, *spaces: Any) -> None:
    """TypeError for all but spaces of three components."""
    checked_spaces(what, *spaces, kind=NodalVectorSpace)
    for space in spaces:
        if space.components != 3:
            raise TypeError(f"{what} of elastostatics needs 3 components, got {space!r}: try P1(mesh, components=3)")


def single_layer(
    green: RadialGreen,
    trial: ScalarOrVector,
    test: ScalarOrVector | None = None,
    *,
    quadrature: Quadrature | None = None,
) -> IntegralOperator:
    """V: <phi, V psi> = int int phi(x) G(x, y) psi(y)."""
    return _layer(SINGLE_LAYER, green, trial, test, quadrature)


def double_layer(
    green: RadialGreen,
    trial: ScalarOrVector,
    test: ScalarOrVector | None = None,
    *,
    quadrature: Quadrature | None = None,
) -> IntegralOperator:
    """K: <phi, K psi> = int int phi(x) dG/dn_y(x, y) psi(y); K 1 = -1/2 on closed surfaces for Laplace."""
    return _layer(DOUBLE_LAYER, green, trial, test, quadrature)


def adjoint_double_layer(
    green: RadialGreen,
    trial: ScalarOrVector,
    test: ScalarOrVector | None = None,
    *,
    quadrature: Quadrature | None = None,
) -> IntegralOperator:
    """K': <phi, K' psi> = int int phi(x) dG/dn_x(x, y) psi(y)."""
    return _layer(ADJOINT_DOUBLE_LAYER, green, trial, test, quadrature)


def hypersingular(
    green: RadialGreen,
    trial: ScalarOrVector,
    test: ScalarOrVector | None = None,
    *,
    form: str | None = None,
    quadrature: Quadrature | None = None,
) -> BoundaryOperator:
    """D = -d/dn of the double layer, integrated by parts:

    <phi, D psi> = int int G (curl phi(x) . curl psi(y) - k^2 n_x . n_y phi(x) psi(y)),  curl = n x grad on the surface
    (Nedelec). On open surfaces trial and test functions must vanish on the boundary of the surface:
    P1(mesh, boundary=False). form: "direct" (P1 only; None chooses it for P1) or "transformed", through single layers
    between discontinuous functions (sparse_factors.py; P1 and P2). AccuracyWarning for functions that do not vanish
    there.

    Of elastostatics, for three components: tractions of the double layer, turned in sign, in the transformed form only,

    <v, D u> = int int mu G (c_k v_l c_k u_l + 2 (M v)_i (M u)_i + M_kj v_i M_ki u_j) - 4 mu^2 M v . U M u

    summed over indices, with G = 1 / (4 pi r), c = n x grad, M_ij = n_j d_i - n_i d_j (H. Han 1994; O. Steinbach 2008,
    section 6.8).

    Raises ValueError for discontinuous spaces and for an unknown form.
    """
    test = trial if test is None else test
    if isinstance(green, Elastostatic):
        _checked_displacements(HYPERSINGULAR.name, trial, test)
    else:
        checked_spaces(HYPERSINGULAR.name, trial, test)
    scalars = [space.scalar if isinstance(space, NodalVectorSpace) else space for space in (trial, test)]
    for space in scalars:
        if not space.is_continuous:
            raise ValueError(f"the hypersingular operator needs continuous functions, {space.name} jumps: try P1 or P2")
    if any(space.reaches_boundary for space in scalars):
        warnings.warn(
            "functions that do not vanish on the boundary of their surface are given to the hypersingular operator, "
            f"whose integration by parts omits terms along the boundary: take {scalars[0].name}(mesh, boundary=False)",
            AccuracyWarning,
            stacklevel=callers_level(),
        )
    # the form: direct for P1, transformed for others and for elastostatics
    linear = all(space.element.degree == 1 for space in scalars)
    if form is not None:
        one_of(form, ("direct", "transformed"), "form")
    if form == "direct" and not linear:
        raise ValueError("the direct form of the hypersingular operator is for P1: choose form='transformed' for P2")
    if isinstance(green, Elastostatic):
        if form == "direct":
            raise ValueError("the hypersingular operator of elastostatics has form='transformed' only")
        quadrature = checked_quadrature(HYPERSINGULAR.name, green, quadrature)
        return _elastic_hypersingular(green, trial, test, quadrature)  # type: ignore[arg-type]
    quadrature = checked_quadrature(HYPERSINGULAR.name, green, quadrature, waves=True)
    if form == "transformed" or not linear:
        return _transformed(green, scalars[0], scalars[1], quadrature)
    return _layer(HYPERSINGULAR, green, trial, test, quadrature)


def in_transformed_form(operator: IntegralOperator) -> TransformedOperator:
    """The transformed form of a hypersingular operator in the direct form: the same matrix."""
    return _transformed(operator.green, operator.trial, operator.test, operator.quadrature)


def through(operator: TransformedOperator, inner: IntegralOperator, layer: IntegralOperator) -> TransformedOperator:
    """A transformed form around `inner` through a layer of the same functions on more triangles of the mesh."""
    if layer.key == inner.key:
        return operator
    sides = []
    for own, part, whole in (operator.left, inner.test, layer.test), (operator.right, inner.trial, layer.trial):
        places = whole.dofs[np.searchsorted(whole.triangles, part.triangles)].ravel()
        shape = whole.dimension, part.dimension
        embedded = sp.coo_array((np.ones(len(places)), (places, part.dofs.ravel())), shape).tocsr()
        sides.append(SparseFactors.of(*(embedded @ each for each in matrices_of(own, part.dimension))))
    return replace(operator, inner=layer, left=sides[0], right=sides[1])


def _transformed(green: RadialGreen, trial: Space, test: Space, quadrature: Quadrature) -> TransformedOperator:
    """The hypersingular operator through single layers between discontinuous functions (sparse_factors.py)."""
    k2 = complex(green.wavenumber) ** 2
    factors = (1.0,) * 3 + (() if k2 == 0 else (-k2 if green.is_complex else -k2.real,) * 3)
    fine = [discontinuous(space, space.element.degree - (k2 == 0)) for space in (test, trial)]
    left, right = (
        _derivatives("curls and normals", space, own, partial(_first_transforms, len(factors)))
        for space, own in zip((test, trial), fine, strict=True)
    )
    layer = IntegralOperator(green, SINGLE_LAYER, fine[1], fine[0], quadrature)
    return TransformedOperator(layer, left, right, (trial, test), factors, "hypersingular (transformed)", by_rows=True)


def _first_transforms(count: int, space: Space, own: Space) -> Matrices:
    return transforms(space, own)[:count]


def _derivatives(name: str, space: Any, fine: Any, build: Callable[[Any, Any], Matrices]) -> SparseFactors:
    """Matrices that write derivatives of the functions of a space in finer ones; name: which ones."""
    return SparseFactors((name, space, fine), (fine.dimension, space.dimension), partial(build, space, fine))


def _elastic_hypersingular(
    green: Elastostatic, trial: NodalVectorSpace, test: NodalVectorSpace, quadrature: Quadrature
) -> BoundaryOperator:
    """Through single layers of tangential derivatives, which are discontinuous functions (sparse_factors.py)."""
    name, mu = "hypersingular (transformed)", green.shear_modulus
    fine = [discontinuous(space.scalar, space.element.degree - 1) for space in (test, trial)]
    vectors = [NodalVectorSpace(each, 3) for each in fine]

    def sums(side: str) -> Callable[[NodalVectorSpace, Space], Matrices]:
        """The matrices of products of scalars: c_k v_l, then (M v)_i, then M_kj v_i as test, M_ki v_j as trial
        functions."""

        def build(space: NodalVectorSpace, own: Space) -> Matrices:
            found = tangential_derivatives(space, own)[1]
            return [*found["curls"], *found["rows"], *found[side]]

        return build

    def whole(space: NodalVectorSpace, own: NodalVectorSpace) -> Matrices:
        """The matrix of M v, for products of vectors."""
        return [tangential_derivatives(space, own.scalar)[0]]

    # products of scalars, with 1 / (4 pi r)
    scalar = IntegralOperator(Laplace(), SINGLE_LAYER, fine[1], fine[0], quadrature)
    vector = ElasticOperator(green, SINGLE_LAYER, vectors[1], vectors[0], quadrature)
    left = _derivatives("tangential, left", test, fine[0], sums("left"))
    right = _derivatives("tangential, right", trial, fine[1], sums("right"))
    factors = (mu,) * 9 + (2 * mu,) * 3 + (mu,) * 12
    first = TransformedOperator(scalar, left, right, (trial, test), factors, name, by_rows=True)
    # products of vectors, with Kelvin's solution
    left, right = (
        _derivatives("tangential", space, own, whole) for space, own in zip((test, trial), vectors, strict=True)
    )
    return first + TransformedOperator(vector, left, right, (trial, test), (-4 * mu**2,), name, by_rows=True)


def identity(trial: AnySpace, test: AnySpace | None = None) -> SparseOperator:
    """The mass matrix as an operator: <phi, psi>, of two spaces of scalars, of two of vectors at nodes
    (P1(mesh, components=3)) or of two of tangential fields."""
    test = trial if test is None else test
    kind = next((each for each in (VectorSpace, NodalVectorSpace) if isinstance(trial, each)), Space)
    checked_spaces("identity", trial, test, kind=kind)
    return SparseOperator("identity", trial.mass_matrix(test), trial, test)  # type: ignore[arg-type]


def laplace_beltrami(space: Space) -> SparseOperator:
    """<grad phi, grad psi> over the surface."""
    checked_spaces("laplace_beltrami", space)
    return SparseOperator("laplace_beltrami", space.laplace_beltrami_matrix(), space, space)
