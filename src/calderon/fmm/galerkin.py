"""Operators of every kind through fast multipole products of the integral operators in them.

An operator on functions phi_i, psi_j is

    A_ij = sum_c int int M_c phi_i(x) M_c psi_j(y) / (4 pi |x - y|),

where M is the value, the normal derivative of the rest, or the three components of the surface curl. Functions are cut
at the boundaries of leaves. Pieces in neighbouring leaves have exact entries in dense blocks; all others meet through
the harmonics of their leaves.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Execution, at_once, require_memory, return_memory
from calderon.fmm.device.products import DeviceProduct
from calderon.fmm.device.shared import SharedMultipole
from calderon.fmm.elastic import ElasticTable, is_joint
from calderon.fmm.laplace import LaplaceLayer, MomentsKey
from calderon.fmm.layout import Layout
from calderon.fmm.moment_store import Moments
from calderon.fmm.orders import ELASTIC, FUNCTIONS, LAPLACE, Promise, first_order
from calderon.fmm.plan import Planner
from calderon.fmm.product import MultipoleProduct
from calderon.greens import Laplace
from calderon.integrands import DOUBLE_LAYER, SINGLE_LAYER
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.boundary import IntegralOperator, in_transformed_form, through
from calderon.operators.lazy_operator import short_label
from calderon.operators.methods import Plan
from calderon.operators.products import Products
from calderon.operators.tree import Term, integrals_of, terms_of, with_integrals
from calderon.pairs.rules import forget_rules
from calderon.products.attempts import Held, first_that_holds
from calderon.products.check import ACCEPT_FUNCTIONS
from calderon.products.device.sums import DeviceOperator, DeviceSum, OnOneDevice
from calderon.products.operator import FastOperator, in_units
from calderon.solvers.iteration import tolerance
from calderon.solvers.live_bar import assembly_progress
from calderon.spaces import Space
from calderon.spaces.interning import support_key

DEFAULT_RTOL = 1e-4
ADVICE = "increase rtol, or use method='matrix-free', which stores vectors only"


class Info(NamedTuple):
    """The record of one integral operator.

    error: relative, in the 2-norm over the random rows of products, and of double layers of transposed products
    (columns), that `checked` counts, as text, with a random vector (elastic layers: four) and, but for curls, a
    constant one; the larger one. order: degree and number of combinations of the harmonics, 0 where all leaves are
    neighbours. levels, leaves: of the tree. nbytes: of its products. rows: as many as are checked on one side.
    """

    operator: str
    error: float
    order: tuple[int, int]
    levels: int
    leaves: int
    nbytes: int
    checked: str
    rows: int


class FastMultipole(FastOperator):
    """An operator by fast multipole products. `info`: one entry for each integral operator, whose largest error is
    `error`; product: what multiplies; backend: where, "opencl:0 and numba" where the processor adds, or multiplies,
    parts of what a device does. Further attributes are those of `FastOperator`."""

    kind = "fast multipole operator"

    def __init__(
        self, product: LinearOperator, info: list[Info], label: str, seconds: float, rtol: float | None, backend: str
    ) -> None:
        super().__init__(product.shape, product.dtype, label, rtol, backend)
        self.product, self.info, self.seconds = product, info, seconds
        self.error = max((each.error for each in info), default=0.0)
        self.checked = max((each.rows for each in info), default=0)

    @property
    def nbytes(self) -> int:
        """Memory of all parts in bytes."""
        return sum(each.nbytes for each in self.info)

    def first(self, columns: int) -> "FastMultipole":
        """The first columns of a table of elastic layers, all of which was checked; this object keeps the memory of all
        columns."""
        product: MultipoleProduct = self.product.first(columns)
        info = [each._replace(nbytes=product.nbytes) for each in self.info]
        return FastMultipole(product, info, self.label, self.seconds, self.rtol, self.backend)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return in_units(self.product.matmat, x)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return in_units(self.product.rmatmat, x)


class DeviceFastMultipole(OnOneDevice, FastMultipole):
    """A fast multipole operator whose parts are all on one device, where vectors of `gmres` stay."""

    product: DeviceOperator

    def first(self, columns: int) -> "DeviceFastMultipole":
        """The first columns of a table of elastic layers on the device, as of the processor; near blocks stay."""
        first = self.product.host.first(columns)
        found = DeviceProduct(self.device, first, first)
        info = [each._replace(nbytes=found.nbytes) for each in self.info]
        return DeviceFastMultipole(found, info, self.label, self.seconds, self.rtol, self.backend)


def assemble_fmm(
    operator: BoundaryOperator,
    *,
    backend: str = "numba",
    precision: str = "double",
    rtol: float | None = None,
    progress: bool | None = None,
) -> FastMultipole:
    """Prepare products with an operator of Laplace's equation or of elastostatics.

    Layers of elastostatics in `blocks`, with one Poisson's ratio and in each column multiples of one operator, take one
    traversal of the tree together.

    rtol: relative error of products, default 1e-4; it is measured at 64 random rows of each integral operator, and at
    64 columns of double layers. K next to K' and to a single layer on its functions, as in the equations of both traces
    [[D, K'], [-K, V]], adds to traces, whose jump is I / 2: its errors are relative to the larger one of K x and x / 2.
    Above it a higher order is used, and where there is none RuntimeError is raised. Near blocks are computed in single
    precision for rtol of 1e-4 and above, and for precision="single". Raises ValueError for other equations and spaces.

    backend: a device makes near blocks and moments of functions of Laplace's equation, gets trees and moments of
    elastic functions, which the processor makes, and multiplies, also where products are checked; MemoryError where it
    has no room. Several, "cuda:0+cuda:1", each have the part of some leaves, of blocks that the processor makes; in
    "numba+cuda:0" the processor multiplies by near blocks, as many as it does while the device is busy.
    """
    started, operator = time.perf_counter(), with_shared_layers(operator)
    execution = Execution.of(backend, precision, several=True)
    wanted = DEFAULT_RTOL if rtol is None else tolerance(rtol, example="1e-4")
    with assembly_progress("preparing", "operators", progress) as advance:
        terms = terms_of(operator)
        parts = _Composition(execution, wanted, terms)
        if not any(each.is_elastic for each in integrals_of(operator)):
            plan = parts.plan(operator)
            require_memory(plan.nbytes, f"the fast multipole operator ({plan.details})", ADVICE)
        products = Products(execution, parts.leaf)
        if len(terms) > 1 and is_joint(terms):
            product = parts.product(ElasticTable(terms, wanted, parts.processor, parts.near_devices))
            values = [(Term(1.0, operator), product)]
        else:
            product, values = products.of(operator), products.values(operator)
        for device in parts.near_devices:
            dtype = execution.dtype(operator.is_complex)
            product = DeviceSum.of(device, values, operator.shape, dtype) or product
        if advance is not None:
            advance(1, 1)
    on_device = isinstance(product, DeviceSum)
    kind = DeviceFastMultipole if on_device else FastMultipole
    name = f"{execution.name} and numba" if parts.near_devices and not on_device else execution.name
    seconds = time.perf_counter() - started
    return kind(product, parts.info, short_label(operator), seconds, wanted, name)


def plan_fmm(operator: BoundaryOperator, rtol: float | None = None, precision: str = "double") -> Plan:
    """Levels, order, bytes and seconds of `assemble_fmm` with the lowest order; ValueError as there."""
    wanted, operator = DEFAULT_RTOL if rtol is None else tolerance(rtol, example="1e-4"), with_shared_layers(operator)
    return _Composition(Execution.of("numba", precision), wanted, terms_of(operator)).plan(operator)


Product = MultipoleProduct | DeviceProduct | SharedMultipole
"""Products where they multiply."""
Layers = LaplaceLayer | ElasticTable
"""Layers that are multiplied together: `terms`, their `name` in messages, and `rtol` of their products. In turn they
make a `layout` (tree) and `near` blocks for an order of the harmonics and those that the tree serves, `checks`, and a
`far` field for each order that is tried; `following` says which, by the `errors` of the last one."""


def _under_differences(terms: Sequence[Term]) -> Iterator[Hashable]:
    """The keys of integral operators between sparse factors that may take differences, such as surface curls."""
    for each in terms:
        sides = (
            (getattr(each.atom, "left", None), getattr(each.atom, "right", None)) if each.atom.is_transformed else ()
        )
        if any(side is not None and side.combines for side in sides):
            yield from (leaf.key for leaf in each.atom.integrals())
        else:
            for inner in each.atom.expressions:
                yield from _under_differences(terms_of(inner))


def with_shared_layers(operator: BoundaryOperator) -> BoundaryOperator:
    """The expression with its hypersingular operators of Laplace's equation as single layers of surface curls where it
    has these single layers anyway, on the same triangles or on more of them: one set of near blocks and of moments
    serves both."""
    layers = [each for each in integrals_of(operator) if each.integrand == SINGLE_LAYER]

    def shared(each: IntegralOperator) -> BoundaryOperator:
        if each.integrand.curls and isinstance(each.green, Laplace):
            found = in_transformed_form(each)
            inner = integrals_of(found.inner)[0]
            equal = [one for one in layers if one.key == inner.key]
            layer = next((one for one in (*equal, *layers) if _is_part(inner, one)), None)
            return each if layer is None else through(found, inner, layer)
        return each

    return with_integrals(operator, shared)


def _is_part(layer: IntegralOperator, other: IntegralOperator) -> bool:
    """Whether a single layer of discontinuous functions has the entries of another one on a part of its triangles."""
    sides = ((layer.test, other.test), (layer.trial, other.trial))
    return (layer.green, layer.quadrature) == (other.green, other.quadrature) and all(
        one.element == whole.element and not whole.is_continuous and _lies_on(one, whole) for one, whole in sides
    )


def _lies_on(space: Any, whole: Any) -> bool:
    """Whether all triangles of one space carry the other one."""
    if space.mesh is not whole.mesh or len(space.triangles) > len(whole.triangles):
        return False
    return len(whole.triangles) == whole.mesh.number_of_triangles or bool(
        np.isin(space.triangles, whole.triangles).all()
    )


class _Composition:
    """The integral operators of one assembly; trees of a pair of spaces are built once."""

    def __init__(self, execution: Execution, rtol: float, terms: Sequence[Term]) -> None:
        self.execution, self.rtol = execution, rtol
        self.under_differences = set(_under_differences(terms))
        leaves = [each for term in terms for each in term.atom.integrals()]
        self.single_layers = [each for each in leaves if each.integrand == SINGLE_LAYER]
        sides = {(leaf.key, term.transposed) for term in terms for leaf in term.atom.integrals()}
        self.both_ways = {key for key, transposed in sides if transposed and (key, False) in sides}
        self.info: list[Info] = []
        self._trees: dict[Hashable, Layout] = {}
        self._moments = dict[MomentsKey, Moments]()
        self._products: dict[Any, Any] = {}

    @property
    def processor(self) -> Execution:
        """The processor in this precision, which makes blocks and moments."""
        return replace(self.execution, device=None, team=())

    @property
    def near_devices(self) -> tuple[Device, ...]:
        """The device where near blocks are made and stay, none where several backends share them."""
        return () if self.execution.team else self.execution.devices

    def plan(self, operator: BoundaryOperator) -> Plan:
        """An estimate of what all products will take; the trees of Laplace's equation stay for them."""
        single, terms = self.rtol >= LAPLACE.computed or self.execution.real == np.float32, terms_of(operator)
        planner = Planner(self.rtol, single, self._layout)
        if len(terms) > 1 and is_joint(terms):
            planner.enter(terms)
        else:
            Products(self.execution, lambda leaf: _plain(leaf, planner.leaf)).of(operator)
        return planner.plan

    def leaf(self, operator: IntegralOperator) -> LinearOperator:
        """The products of an integral operator, checked."""
        return _plain(operator, self._kept)

    def _kept(self, operator: IntegralOperator) -> LinearOperator:
        """The products of an operator, made once; with a smaller tolerance where it stands between surface curls."""
        if operator.key not in self._products:
            # errors of products of surface curls, at most, by those of the single layer between them
            curls = 5 if operator.is_elastic else 3
            rtol = self.rtol / curls if operator.key in self.under_differences else self.rtol
            layers = (
                ElasticTable([Term(1.0, operator)], rtol, self.processor, self.near_devices)
                if operator.is_elastic
                else LaplaceLayer(
                    operator,
                    rtol,
                    self.processor,
                    self._layout,
                    self.near_devices,
                    self._next_to_single(operator),
                    self._moments,
                )
            )
            self._products[operator.key] = self.product(layers)
        return self._products[operator.key]

    def _next_to_single(self, operator: IntegralOperator) -> bool:
        """Whether a double layer stands next to its transposed one and to a single layer on its functions, as in the
        equations of traces, to which both give jumps: half of the mass matrix."""
        if operator.key not in self.both_ways:
            return False
        own = operator.test, operator.trial
        near_one = any(side is one.test for one in self.single_layers for side in own)
        return operator.integrand.normal != "none" and near_one and own[0].mesh is own[1].mesh

    def product(self, layers: Layers) -> Product:
        """The products of layers, checked: by the first order, or by the next ones until the largest error is small
        enough. ToleranceError where none holds the tolerance."""
        terms, rtol, elastic = layers.terms, layers.rtol, layers.terms[0].atom.is_elastic
        has_normals = any(each.atom.integrand.normal != "none" for each in terms)
        left = orders = first_order(ELASTIC if elastic else FUNCTIONS, rtol, has_normals)
        layout = layers.layout(orders[0])
        # one thread tabulates the surface for the checks, while others compute blocks
        checks, near = at_once(lambda: layers.checks, lambda: layers.near(layout))
        worst = checks[0]

        def prepare(promise: Promise) -> Product:
            """The products with an order, where they multiply; the layout and near blocks are made anew only where they
            do not serve it."""
            nonlocal layout, near
            if not layout.serves(promise.order):
                near = []
                layout = layers.layout(promise)
                near = layers.near(layout)
            if not self.near_devices:  # whose blocks are not here
                return_memory()
            product = MultipoleProduct(terms, near, layers.far(layout, promise), promise, self.execution.real)
            if self.execution.team:
                return SharedMultipole(self.execution, product)
            for device in self.execution.devices:  # preconditioners of solids read the blocks, which are fetched then
                return DeviceProduct(device, product, product if elastic else None)
            return product

        def error_of(product: Product) -> float:
            nonlocal worst
            error, number = max((each, n) for n, each in enumerate(layers.errors(product)))
            worst = layers.checks[number]
            return error

        def better(product: Product, error: float) -> Product | None:
            """The products with the next order for that error, None where there is none; `product` is used up."""
            nonlocal left
            left = layers.following(left, error)
            if not left:
                return None
            product.forget()
            return prepare(left[0])

        def refusal(error: float) -> str:
            return (
                f"the {layers.name} has an error of {error:.1e} at {worst.place}, and rtol={rtol:g} was requested: "
                "increase rtol, or use method='hmatrix'"
            )

        held: Held[Promise, Product] = first_that_holds(
            orders[:1], prepare, error_of, rtol, ACCEPT_FUNCTIONS, refusal, better
        )
        if not self.near_devices:
            return_memory()
        found = held.product
        if elastic and found.nbytes > 1e8 and not self.near_devices:
            forget_rules()  # of triangles: others make them again sooner than there is room for both
        shared = 0 if isinstance(layers, ElasticTable) else layers.keep_moments()
        self._enter(layers, held, found.nbytes - shared)
        return found

    def _enter(self, layers: Layers, held: Held[Promise, Product], nbytes: int) -> None:
        """Add the record of products that hold their tolerance; nbytes: where they multiply."""
        layout, order, checks = held.product.layout, held.product.promise.order[:2], layers.checks
        order = order if len(layout.lists.far.source) else (0, 0)
        levels, leaves = int(layout.tree.level[-1]), len(layout.lists.leaves)
        rows, checked = max(len(each.rows) for each in checks), " and ".join(each.place for each in checks)
        self.info.append(Info(layers.name, held.error, order, levels, leaves, nbytes, checked, rows))

    def _layout(self, operator: IntegralOperator, promise: Promise) -> Layout:
        """The tree of the functions of an operator for an order, made once for both spaces."""
        test, trial = operator.test, operator.trial
        # that of a single layer serves others on its triangles, which then have moments of functions in common
        for one in self.single_layers:
            if one.test is one.trial and _lies_on(test, one.test) and _lies_on(trial, one.test):
                test = trial = one.test
        sides = (support_key(each.mesh, each.triangles) for each in (test, trial))
        key = *sides, id(test.mesh), id(trial.mesh), promise.order.margin, promise.order.apart
        if key not in self._trees:
            self._trees[key] = Layout.of([test], [trial], promise, operator.quadrature.near, worth=8.0)
        return self._trees[key]


def _plain(operator: IntegralOperator, products: Callable[[IntegralOperator], LinearOperator]) -> LinearOperator:
    """The products of an operator, by `products` of it or, if it is an adjoint double layer, by those of the transposed
    double layer. ValueError as in `_require_laplace`."""
    _require_laplace(operator)
    if operator.integrand.normal != "test":
        return products(operator)
    return products(replace(operator, integrand=DOUBLE_LAYER, trial=operator.test, test=operator.trial)).T


def _require_laplace(operator: IntegralOperator) -> None:
    """Raise ValueError unless the operator is elastic, or of Laplace's equation on scalar functions."""
    spaces = operator.test, operator.trial
    if operator.is_elastic:
        return
    scalar = all(isinstance(each, Space) for each in spaces)
    if operator.is_own or not isinstance(operator.green, Laplace) or not scalar:
        raise ValueError(
            "method='fmm' is for operators of Laplace's equation on scalar functions, and of elastostatics, got "
            f"{operator!r}: choose 'hmatrix' or 'dense'"
        )
