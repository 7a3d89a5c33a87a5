"""Operators of every kind through fast multipole products of the integral operators in them.

The one file of this folder that looks at operators and integrands. An operator on functions phi_i, psi_j is

    A_ij = sum_c int int M_c phi_i(x) M_c psi_j(y) / (4 pi |x - y|),

where M is the value, the normal derivative of the rest, or the three components of the surface curl. Functions are cut
at the boundaries of leaves. Pieces in neighbouring leaves have exact entries in dense blocks; all others meet through
the harmonics of their leaves.
"""

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Execution, require_memory, return_memory
from calderon.fmm.check import FLAT, elastic_check, layer_check, layer_sizes
from calderon.fmm.device.products import Block, DeviceProduct, Functions
from calderon.fmm.device.products import Plan as DevicePlan
from calderon.fmm.elastic import ElasticFar, ElasticProduct, is_joint, layout_of, near_of
from calderon.fmm.layout import Layout
from calderon.fmm.near import near_store
from calderon.fmm.orders import ELASTIC, FUNCTIONS, Promise, better_orders, first_order
from calderon.fmm.p2m_l2p import FunctionFar, moments_of
from calderon.fmm.passes import Translations
from calderon.fmm.plan import Planner
from calderon.fmm.tables import tables
from calderon.greens import Laplace
from calderon.integrands import DOUBLE_LAYER
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.boundary import IntegralOperator
from calderon.operators.lazy_operator import short_label
from calderon.operators.methods import Plan
from calderon.operators.products import Products
from calderon.operators.tree import Term, integrals_of, terms_of
from calderon.pairs.rules import forget_rules
from calderon.products.attempts import Held, first_that_holds
from calderon.products.check import ACCEPT_FUNCTIONS, Check
from calderon.products.device.sums import DeviceSum, OnOneDevice, Part
from calderon.products.far_field import far_product
from calderon.products.near_store import NearStore
from calderon.products.operator import FastOperator, RealProducts
from calderon.solvers.iteration import tolerance
from calderon.solvers.live_bar import assembly_progress
from calderon.spaces import Space

DEFAULT_RTOL = 1e-4
SINGLE = 1e-4
"""Tolerance from which blocks are in single precision, and the far field of operators without normal derivatives."""
ADVICE = "increase rtol, or use method='matrix-free', which stores vectors only"
LARGE = 1e8
"""Bytes of products next to which rules of triangles are not kept for others."""
WORTH = 8.0
"""Cost of a translation in `Layout.of`."""
CURLS, ELASTIC_CURLS = 3, 5
"""Errors of products of surface curls, at most, by those of the single layer between them; of Laplace's equation and of
elastostatics."""


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
        """The first columns of a table of elastic layers on the processor, where all of it was checked; this object
        keeps the memory of all columns."""
        product: ElasticProduct = self.product.first(columns)
        info = [each._replace(nbytes=product.nbytes) for each in self.info]
        return FastMultipole(product, info, self.label, self.seconds, self.rtol, self.backend)

    def sent(self, device: Device) -> "DeviceFastMultipole | None":
        """A table of elastic layers on a device; None for other products."""
        if not isinstance(self.product, ElasticProduct):
            return None
        found = DeviceProduct(device, self.product.device_plan, self.shape, self.dtype, self.product)
        info = [each._replace(nbytes=found.nbytes) for each in self.info]
        whole = DeviceSum(device, [Part(1.0, found, False, False, 0, 0)], self.shape, self.dtype)
        return DeviceFastMultipole(whole, info, self.label, self.seconds, self.rtol, device.name)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.product.matmat(x)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.product.rmatmat(x)


class DeviceFastMultipole(OnOneDevice, FastMultipole):
    """A fast multipole operator whose parts are all on one device, where vectors of `gmres` stay."""

    product: DeviceSum


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
    64 columns of double layers. Above it a higher order is used, and where there is none RuntimeError is raised. Near
    blocks are computed in single precision for rtol of 1e-4 and above, and for precision="single". Raises ValueError
    for other equations and spaces.

    backend: a device gets trees, blocks and moments of functions, which the processor makes and checks, and multiplies;
    MemoryError where it has no room for them.
    """
    started = time.perf_counter()
    execution = Execution.of(backend, precision)
    wanted = DEFAULT_RTOL if rtol is None else tolerance(rtol, example="1e-4")
    with assembly_progress("preparing", "operators", progress) as advance:
        terms = terms_of(operator)
        parts = _Composition(execution, wanted, terms)
        if not any(each.is_elastic for each in integrals_of(operator)):
            plan = parts.plan(operator)
            require_memory(plan.nbytes, f"the fast multipole operator ({plan.details})", ADVICE)
        products = Products(execution, parts.leaf)
        if len(terms) > 1 and is_joint(terms):
            product = parts.elastic(terms)
            values = [(Term(1.0, operator), product)]
        else:
            product, values = products.of(operator), products.values(operator)
        for device in execution.devices:
            dtype = execution.dtype(operator.is_complex)
            product = DeviceSum.of(device, values, operator.shape, dtype) or product
        if advance is not None:
            advance(1, 1)
    on_device = isinstance(product, DeviceSum)
    kind = DeviceFastMultipole if on_device else FastMultipole
    name = f"{execution.name} and numba" if execution.devices and not on_device else execution.name
    seconds = time.perf_counter() - started
    return kind(product, parts.info, short_label(operator), seconds, wanted, name)


def plan_fmm(operator: BoundaryOperator, rtol: float | None = None, precision: str = "double") -> Plan:
    """Levels, order, bytes and seconds of `assemble_fmm` with the lowest order; ValueError as there."""
    wanted = DEFAULT_RTOL if rtol is None else tolerance(rtol, example="1e-4")
    return _Composition(Execution.of("numba", precision), wanted, terms_of(operator)).plan(operator)


class _Composition:
    """The integral operators of one assembly; trees of a pair of spaces are built once."""

    def __init__(self, execution: Execution, rtol: float, terms: Sequence[Term]) -> None:
        self.execution, self.rtol = execution, rtol
        self.under_curls: set[Hashable] = {
            leaf.key for each in terms if each.atom.is_transformed for leaf in each.atom.integrals()
        }
        self.info: list[Info] = []
        self._trees: dict[tuple[int, int, float, int], Layout] = {}
        self._products: dict[Any, Any] = {}

    @property
    def processor(self) -> Execution:
        """The processor, which makes blocks and moments, in the same precision."""
        return replace(self.execution, device=None)

    def plan(self, operator: BoundaryOperator) -> Plan:
        """An estimate of what all products will take; the trees stay for them."""
        single = self.rtol >= SINGLE or self.execution.real == np.float32
        planner = Planner(self.rtol, single, self._layout)
        if any(each.is_elastic for each in integrals_of(operator)):
            raise ValueError("method='fmm' has no estimates for elastostatics: see ElasticSolid.plan")
        Products(self.execution, lambda leaf: _plain(leaf, planner.leaf)).of(operator)
        return planner.plan

    def leaf(self, operator: IntegralOperator) -> LinearOperator:
        """The products of an integral operator, checked."""
        return _plain(operator, self._kept)

    def _kept(self, operator: IntegralOperator) -> LinearOperator:
        if operator.key not in self._products:
            rtol = self.rtol / ELASTIC_CURLS if operator.key in self.under_curls else self.rtol
            found = self.elastic([Term(1.0, operator)], rtol) if operator.is_elastic else None
            self._products[operator.key] = found or self._product(operator)
        return self._products[operator.key]

    def elastic(self, terms: Sequence[Term], rtol: float | None = None) -> ElasticProduct | DeviceProduct:
        """The products of a table of layers of elastostatics, checked; rtol: that of the assembly unless given."""
        rtol = self.rtol if rtol is None else rtol
        double = any(each.atom.integrand.normal != "none" for each in terms)
        orders = first_order(ELASTIC, rtol, double)
        layout, near = self._elastic_near(terms, orders[0], rtol)
        name = " and ".join(dict.fromkeys(each.atom.integrand.name for each in terms))
        checks = [elastic_check(terms, transposed) for transposed in (False, True)[: 1 + (double and len(terms) == 1)]]
        return_memory()

        def prepare(promise: Promise) -> ElasticProduct:
            nonlocal layout, near
            if not layout.serves(promise.order):
                near = []
                layout, near = self._elastic_near(terms, promise, rtol)
            product = ElasticProduct(terms, near, ElasticFar(terms, layout, promise, rtol), self.execution.real)
            return_memory()
            return product

        held = _held(
            f"elastic {name}", orders, prepare, checks,
            errors=lambda product: [each.error(product) for each in checks],
            following=lambda left, error: left[1:],
            rtol=rtol,
        )  # fmt: skip
        return_memory()
        found = self._sent(held.product, held.product)
        if found.nbytes > LARGE:
            forget_rules()
        self._enter(f"elastic {name}", held, checks, found)
        return found

    def _elastic_near(self, terms: Sequence[Term], promise: Promise, rtol: float) -> tuple[Layout, list[NearStore]]:
        layout, near = layout_of(terms, promise), []
        for each in terms:
            near.append(near_of(each, layout, rtol, self.processor))
            return_memory()
        layout.forget()
        return layout, near

    def _sent(self, product: Any, host: Any) -> Any:
        """Products on the device, where there is one; host: those of the processor, if they are still needed."""
        for device in self.execution.devices:
            return DeviceProduct(device, product.device_plan, product.shape, product.dtype, host)
        return product

    def _product(self, operator: IntegralOperator) -> "Product | DeviceProduct":
        integrand = operator.integrand
        rtol = self.rtol / CURLS if operator.key in self.under_curls else self.rtol
        execution = Execution.of("numba", "single") if rtol >= SINGLE else self.processor
        sides = (False, True) if integrand.normal != "none" else (False,)
        checks = [layer_check(operator, execution, transposed) for transposed in sides]
        sizes = [layer_sizes(operator, each) for each in checks]
        orders = first_order(FUNCTIONS, rtol, integrand.normal != "none")
        layout = self._layout(operator, orders[0])
        near = near_store(operator, 1.0, layout, execution)
        return_memory()

        def prepare(promise: Promise) -> Product:
            nonlocal layout, near
            if not layout.serves(promise.order):
                layout = self._layout(operator, promise)
                near = near_store(operator, 1.0, layout, execution)
            return Product(operator, layout, near, promise, rtol, self.execution)

        def errors(product: Product) -> list[float]:
            scale = product.edge**2
            return [float(each.errors(each.products(product), partial(np.divide, size, scale), FLAT).max())
                    for each, size in zip(checks, sizes, strict=True)]  # fmt: skip

        held = _held(
            integrand.name, orders, prepare, checks, errors,
            following=lambda left, error: better_orders(left, error, rtol),
            rtol=rtol,
        )  # fmt: skip
        found = self._sent(held.product, None)
        self._enter(integrand.name, held, checks, found)
        return found

    def _enter(self, name: str, held: Held[Any, Any], checks: Sequence[Check], found: Any) -> None:
        """Add the record of products that hold their tolerance; found: where they multiply."""
        layout, order = held.product.layout, held.product.promise.order[:2]
        order = order if len(layout.lists.far.source) else (0, 0)
        levels, leaves = int(layout.tree.level[-1]), len(layout.lists.leaves)
        rows, checked = max(len(each.rows) for each in checks), " and ".join(each.place for each in checks)
        self.info.append(Info(name, held.error, order, levels, leaves, found.nbytes, checked, rows))

    def _layout(self, operator: IntegralOperator, promise: Promise) -> Layout:
        key = id(operator.test), id(operator.trial), promise.order.margin, promise.order.apart
        if key not in self._trees:
            spaces = [operator.test], [operator.trial]
            self._trees[key] = Layout.of(*spaces, promise, operator.quadrature.near, WORTH)
        return self._trees[key]


def _plain(operator: IntegralOperator, products: Callable[[IntegralOperator], LinearOperator]) -> LinearOperator:
    """The adjoint double layer is the transposed double layer. ValueError for what is not Laplace's equation."""
    _require_laplace(operator)
    if operator.integrand.normal != "test":
        return products(operator)
    return products(replace(operator, integrand=DOUBLE_LAYER, trial=operator.test, test=operator.trial)).T


def _held(
    name: str,
    orders: tuple[Promise, ...],
    prepare: Callable[[Promise], Any],
    checks: Sequence[Check],
    errors: Callable[[Any], list[float]],
    following: Callable[[tuple[Promise, ...], float], tuple[Promise, ...]],
    rtol: float,
) -> Held[Promise, Any]:
    """Products of the first order, or of the next ones until the largest of the errors(product) of the checks is small
    enough. following(orders, error): those that are left after the first of them had this error. ToleranceError where
    none holds rtol."""
    left, worst = orders, checks[0]

    def error_of(product: Any) -> float:
        nonlocal worst
        error, number = max((each, n) for n, each in enumerate(errors(product)))
        worst = checks[number]
        return error

    def better(product: Any, error: float) -> Any:
        nonlocal left
        left = following(left, error)
        if not left:
            return None
        product.forget()
        return prepare(left[0])

    def refusal(error: float) -> str:
        return (
            f"the {name} has an error of {error:.1e} at {worst.place}, and rtol={rtol:g} was requested: increase "
            "rtol, or use method='hmatrix'"
        )

    return first_that_holds(orders[:1], prepare, error_of, rtol, ACCEPT_FUNCTIONS, refusal, better)


def _require_laplace(operator: IntegralOperator) -> None:
    spaces = operator.test, operator.trial
    if operator.is_elastic:
        return
    if not isinstance(operator.green, Laplace) or not all(isinstance(each, Space) for each in spaces):
        raise ValueError(
            "method='fmm' is for operators of Laplace's equation on scalar functions, and of elastostatics, got "
            f"{operator!r}: choose 'hmatrix' or 'dense'"
        )


class Product(RealProducts):
    """Products with one integral operator."""

    def __init__(self, operator: IntegralOperator, layout: Layout, near: NearStore, promise: Promise, rtol: float,
                 execution: Execution) -> None:  # fmt: skip
        super().__init__(dtype=execution.real, shape=operator.shape)
        self.layout, self.promise, self._near = layout, promise, near
        self.rows, self.columns = layout.rows.pieces(operator.test), layout.columns.pieces(operator.trial)
        table = tables(promise.order, rtol >= SINGLE and operator.integrand.normal == "none")
        degree, integrand, tree = operator.quadrature.regular, operator.integrand, layout.tree
        kinds = ["curl" if integrand.curls else "normal" if integrand.normal == side else "value"
                 for side in ("test", "trial")]  # fmt: skip
        numbers: list[NDArray[Any]] = []
        for pieces, kind in zip((self.rows, self.columns), kinds, strict=True):
            if numbers and kinds[0] == kinds[1] and operator.test is operator.trial:
                numbers.append(numbers[0])
                continue
            numbers.append(moments_of(pieces, degree, kind, tree, layout.lists, table))
        passes = Translations(tree, layout.lists.far, table, len(numbers[0]))
        scale = 1 / (4 * np.pi * tree.cube.edge ** (1 + kinds.count("normal")))
        self._far = FunctionFar(layout.lists, self.rows, self.columns, numbers[0], numbers[-1], passes, scale)

    def forget(self) -> None:
        """Free the moments of functions, which products of another order do not need."""
        del self._far

    @property
    def together(self) -> int:
        """Columns that are multiplied at a time."""
        return self._far.passes.together

    @property
    def edge(self) -> float:
        """The edge of leaves on average."""
        tree, leaves = self.layout.tree, self.layout.lists.leaves
        return float(tree.edge[leaves].mean()) * tree.cube.edge

    @property
    def nbytes(self) -> int:
        """Bytes of blocks, moments of functions, lists, expansions and tables."""
        return self._near.nbytes + self._far.nbytes

    @property
    def device_plan(self) -> DevicePlan:
        """For products on a device."""
        far = self._far
        columns = Functions(0, self.columns, far.trials, False)
        rows = columns if far.tests is far.trials else Functions(0, self.rows, far.tests, False)
        leaves, passes = self.layout.lists.leaves, (far.passes, far.transposed.passes)
        return DevicePlan([rows], [columns], [Block(0, 0, self._near)], leaves, *passes, far.scale, self.nbytes)

    def _products(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        found = self._near.product(x, transposed)
        if len(self.layout.lists.far.source):
            found = found + far_product(self._far.transposed if transposed else self._far, x)
        return np.asarray(found).astype(np.result_type(self.dtype, x.dtype), copy=False)
