"""Which products by plane waves hold a tolerance: attempts with leaves of growing size, checked at rows of the matrix.

An attempt takes these steps, and the first one that passes the last step is taken:

1. Plane waves and equivalent sources get degrees for a share of the tolerance. The attempt ends where there are none.
2. Where the near entries of the checked rows are known, of one wavenumber group without composed terms, its far field
   is checked next to these. Its degrees are raised until the error is at most accept.wished * rtol; the attempt ends if
   it stays above accept.allowed * rtol, before near entries are computed.
3. Near entries are computed: by loose rules, whose errors are a tenth of rtol at most, in the first attempt that comes
   so far in single precision; by the rules of a dense matrix in all others.
4. The whole product is checked and improved in the same way. It holds the tolerance if its error is at most
   accept.allowed * rtol.

Larger leaves are tried after a failure if they can help: where there are plane waves, or where loose rules may be the
cause. The last attempt has one leaf and no waves, of matrices that are not too large: all entries are near ones.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Execution, at_once, format_bytes, require_memory
from calderon.mesh.errors import warn_of_accuracy
from calderon.mlfmm.check import NOISE, SMALL, WaveCheck
from calderon.mlfmm.device.product import DeviceMedium, SharedMedium, require_room
from calderon.mlfmm.medium import RULES, Medium
from calderon.mlfmm.plan import ADVICE, SINGLE, Attempt, Group, attempts, chosen, degree_of, local_of, media_of
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.lazy_operator import short_label
from calderon.operators.products import Products, SumOfProducts
from calderon.operators.tree import Term
from calderon.products.attempts import first_that_holds, improved
from calderon.products.check import ACCEPT_FINE_WAVES, ACCEPT_WAVES
from calderon.products.device.sums import DeviceSum
from calderon.products.near_file import SavedNear
from calderon.products.packed import PACKED

TIGHTER = 0.1, 0.6
"""Tolerance of improved plane waves by the last one, at least and at most."""
LITTLE = 0.7
"""Part of the last error above which higher degrees have helped little: charges get a finer quadrature, too."""
ALL_NEAR = 4e8
"""Entries of a matrix that are all computed where plane waves do not hold the tolerance."""


class Prepared(NamedTuple):
    """Products that hold their tolerance.

    product: of the whole expression. terms: of the expression, with their products. parts: products of the wavenumber
    groups. error: estimated at `checked` rows. attempt: its number.
    """

    product: LinearOperator
    terms: list[tuple[Term, Any]]
    parts: list["MediumProduct"]
    error: float
    checked: int
    attempt: int

    @property
    def media(self) -> list[Medium]:
        """The wavenumber groups."""
        return [each.medium for each in self.parts]

    def sent(self, device: Device) -> LinearOperator:
        """The products on a device; those that are composed are joined by the processor. MemoryError before there is no
        room."""
        require_room(device, self.media)
        for each in self.parts:
            each.there = DeviceMedium(device, each.medium, each.dtype)
        return DeviceSum.of(device, self.terms, self.product.shape, self.product.dtype) or self.product

    def share(self, execution: Execution) -> None:
        """Let several devices have parts of each group; the processor joins the terms. MemoryError before there is no
        room on one of them."""
        devices, media = execution.devices, list[list[Medium]]()
        for each in self.media:
            parts, work = each.parts(len(devices))
            execution.parts.append(work)
            media.append(parts)
        for n, device in enumerate(devices):
            require_room(device, [parts[n] for parts in media if n < len(parts)])
        for product, parts in zip(self.parts, media, strict=True):
            given = zip(devices, parts, strict=False)  # there may be fewer leaves than devices
            product.there = SharedMedium([DeviceMedium(device, part, product.dtype) for device, part in given])


class MediumProduct(LinearOperator):
    """Products of a wavenumber group, some columns at a time. there: those of devices, once they have them."""

    def __init__(self, medium: Medium, dtype: np.dtype[Any]) -> None:
        super().__init__(dtype=dtype, shape=medium.shape)
        self.medium = medium
        self.there: DeviceMedium | SharedMedium | None = None

    def near_entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.complex128]:
        """(n,) the entries in these rows and columns, zero between unknowns of leaves that are no neighbours."""
        return self.medium.near_entries(rows, columns)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.there.matmat(x) if self.there else self._some(x, False)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.there.rmatmat(x) if self.there else self._some(x.conj(), True).conj()

    def _some(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        together = self.medium.together
        parts = [self.medium.product(x[:, n : n + together], transposed) for n in range(0, x.shape[1], together)]
        return np.concatenate(parts, axis=1).astype(self.dtype, copy=False)


class _GroupedProducts(Products):
    """Products of expressions in which the terms of one wavenumber are those of one group. group: gives them."""

    def __init__(self, execution: Execution, group: Callable[[Group], MediumProduct]) -> None:
        super().__init__(execution, lambda leaf: group(Group([Term(1.0, leaf)], leaf.shape)))
        self._group = group

    def of(self, operator: Any) -> SumOfProducts:
        """The products of an expression: of its groups, and of all other terms."""
        groups, others = media_of(operator)
        terms = [(term, self.value(term.atom)) for term in others]
        terms += [(Term(1.0, None), self._group(Group(each, operator.shape))) for each in groups.values()]
        return SumOfProducts(terms, operator.shape, self.execution.dtype(True))


class Setting(NamedTuple):
    """An attempt, its number, and the tolerance that rules of near entries suit, 0 for those of a dense matrix."""

    number: int
    attempt: Attempt
    near_rtol: float


class Parts:
    """The products of one attempt: terms of one wavenumber are a group, also between sparse factors.

    product: of the whole expression. terms: of the expression, with their products. products: of the groups. share:
    part of the tolerance that degrees of plane waves are for. last: the error before the last improvement. checked:
    products of the checked rows, where they are known already.
    """

    def __init__(
        self, operator: BoundaryOperator, setting: Setting, rtol: float, execution: Execution, made: dict[Any, Medium]
    ) -> None:
        """made: groups that are there, by their keys; they are taken out."""
        self.setting, self.rtol, self.execution, self.made = setting, rtol, execution, made
        self.share, self.last, self.products = setting.attempt.share, math.inf, list[MediumProduct]()
        self.checked: NDArray[Any] | None = None
        self._known = dict[Any, MediumProduct]()
        self.product = _GroupedProducts(execution, self.group).of(operator)
        self.terms = self.product.terms

    @staticmethod
    def of(
        operator: BoundaryOperator, setting: Setting, rtol: float, execution: Execution, made: dict[Any, Medium]
    ) -> "Parts | None":
        """The products, as yet without near entries; None where plane waves cannot hold the tolerance with these
        leaves. made: as in `__init__`."""
        parts = Parts(operator, setting, rtol, execution, made)
        hold = (each.fill_far(parts.share * rtol, degree_of(rtol, each.terms)) for each in parts.media)
        return parts if all(hold) else None

    def group(self, group: Group) -> MediumProduct:
        """The products of a group of terms, the same ones wherever it stands."""
        if group.key not in self._known:
            edge, real, _, mixed = self.setting.attempt
            medium = self.made.pop(group.key, None) or Medium(*group, edge, real, mixed)
            medium.packs = self.setting.near_rtol >= PACKED
            self.products.append(MediumProduct(medium, self.execution.dtype(True)))
            self._known[group.key] = self.products[-1]
        return self._known[group.key]

    @property
    def media(self) -> list[Medium]:
        """The wavenumber groups."""
        return [each.medium for each in self.products]

    @property
    def have_waves(self) -> bool:
        """Whether there are levels with plane waves."""
        return any(each.far is not None and bool(each.far.traversal.levels) for each in self.media)

    def fill_near(self, saved: SavedNear | None, advance: Any) -> None:
        """Compute the near entries of all groups, or take them from what is saved. advance: as in
        `Medium.fill_near`."""
        numbers = Execution.of("numba", "single" if self.setting.attempt.real == np.float32 else "double")
        for each in self.media:
            each.fill_near(numbers, self.setting.near_rtol, saved, advance)

    def better(self, error: float) -> "Parts | None":
        """These products with higher degrees for a checked error that is too large, and with a finer quadrature of
        charges where higher degrees have helped little; None where there are no better ones."""
        finer, self.last = error > LITTLE * self.last, error
        self.share *= float(np.clip(ACCEPT_WAVES.aimed * self.rtol / error, *TIGHTER))
        must = error > ACCEPT_FINE_WAVES.allowed * self.rtol  # double precision is worth it, if single holds no more
        improve = (each.improve(self.share * self.rtol, finer, must) for each in self.media)
        return self if all(improve) else None


class Preparation:
    """The attempts for one expression. accept: parts of rtol that errors are compared with; choice: the first attempt
    that is expected to hold; check: of rows of the matrix. For attempts that come next: larger_leaves, whether they can
    help; near_rtol, the tolerance that rules of near entries suit; error, the last one."""

    def __init__(
        self, operator: BoundaryOperator, rtol: float, execution: Execution, saved: SavedNear | None, advance: Any,
        precise: bool,
    ) -> None:  # fmt: skip
        """precise: whether numbers are in double precision; advance: as in `Medium.fill_near`."""
        self.operator, self.rtol, self.execution, self.precise = operator, rtol, execution, precise
        self.saved, self.advance, self.local = saved, advance, local_of(operator)
        self.accept = ACCEPT_FINE_WAVES if rtol < SMALL else ACCEPT_WAVES
        self.tried = list(attempts(rtol, precise))
        choose = partial(chosen, operator, rtol, list(self.tried))
        if math.prod(operator.shape) <= ALL_NEAR:
            self.tried.append(self.tried[-1]._replace(edge=0.0))
        self.known = (saved.attempt or 0) if saved is not None else 0
        if self.known >= len(self.tried):
            raise ValueError(
                f"matrix_file is damaged: its leaves are those of attempt {self.known}, of {len(self.tried)}"
            )
        self.check: WaveCheck | None = None
        if rtol >= SMALL:
            self.choice, self.check = at_once(choose, partial(WaveCheck.of, operator, rtol, precise))
        else:
            self.choice = choose()
        loose = rtol >= RULES[-1][0] and not (precise or self.known)
        self.near_rtol, self.larger_leaves, self.error = rtol if loose else 0.0, True, math.inf

    @property
    def loses_digits(self) -> bool:
        """Whether fields cancel so far that single precision, which is not requested, does not hold the tolerance."""
        double = self.execution.real == np.float64
        return not self.precise and double and self.check is not None and self.check.rounding > NOISE * self.rtol

    def held(self) -> Prepared:
        """The products of the first attempt that holds the tolerance. Raises ToleranceError where none does,
        MemoryError before there is no room."""
        plan = self.choice.plan
        require_memory(plan.nbytes, f"the multilevel fast multipole operator ({plan.details})", ADVICE)
        setting, parts, error = first_that_holds(
            self._settings(), self._prepare, self._error, self.rtol, self.accept, self._refusal, Parts.better
        )
        if not setting.attempt.edge:
            self._warn_of_all_entries(sum(each.nbytes for each in parts.media))
        if self.saved is not None:
            self.saved.finish()
        assert self.check is not None
        checked = len(self.check.check.rows)
        return Prepared(parts.product, parts.terms, parts.products, error, checked, setting.number)

    def _settings(self) -> Iterator[Setting]:
        """Leaves of growing size, as long as larger ones can help, and at last one leaf of all unknowns, whose entries
        have the rules of a dense matrix."""
        for number, attempt in list(enumerate(self.tried))[max(self.known, self.choice.number) :]:
            if not attempt.edge or self.larger_leaves:
                yield Setting(number, attempt, self.near_rtol if attempt.edge else 0.0)

    def _prepare(self, setting: Setting) -> Parts | None:
        """Steps 1 to 3; None where the attempt ends with one of them."""
        if self.saved is not None:
            self.saved.begin(setting.number)
        made = self.choice.media if setting.number == self.choice.number and not self.known else {}
        parts = Parts.of(self.operator, setting, self.rtol, self.execution, made)
        if parts is None:
            return None
        if self.check is None or self.rtol < SMALL:  # rows of the largest errors depend on where leaves end
            self.check = WaveCheck.of(self.operator, self.rtol, self.precise, parts.terms)
        near = self.check.near_part(parts.media, self.local)
        if near is not None and not self._far_holds(parts, near):
            self.larger_leaves = parts.have_waves
            return None
        parts.fill_near(self.saved, self.advance)
        if parts.checked is not None:
            check = self.check.check
            parts.checked = parts.checked + parts.media[0].near_product(check.vectors, False)[check.rows]
        parts.last = math.inf
        self.larger_leaves, self.near_rtol = parts.have_waves or setting.near_rtol > 0, 0.0
        return parts

    def _far_holds(self, parts: Parts, near: NDArray[np.complex128]) -> bool:
        """Step 2: whether the far field holds the tolerance next to exact near products (rows, vectors), after
        improvements; its products stay in parts.checked."""

        def error_of(parts: Parts) -> float:
            assert self.check is not None
            parts.checked = self.check.check.products(parts.product)
            return self.check.error(parts.checked + near)

        _, self.error = improved(parts, error_of, self.rtol, self.accept, Parts.better)
        return self.error <= self.accept.allowed * self.rtol

    def _error(self, parts: Parts) -> float:
        """Step 4: the estimated error of the whole product."""
        assert self.check is not None
        found, parts.checked = parts.checked, None
        self.error = self.check.error(self.check.check.products(parts.product) if found is None else found)
        return self.error

    def _refusal(self, _: float) -> str:
        rows = 0 if self.check is None else len(self.check.check.rows)
        what = f"an error of {self.error:.1e} on {rows} rows" if self.error < math.inf else "no degrees"
        return f"plane waves have {what} for rtol={self.rtol:g}: increase rtol, or use method='hmatrix'"

    def _warn_of_all_entries(self, nbytes: int) -> None:
        warn_of_accuracy(
            f"plane waves do not hold rtol={self.rtol:g} for {short_label(self.operator)}: all its entries are "
            f"computed, {format_bytes(nbytes)}; increase rtol, or use method='dense'"
        )


def prepared(
    operator: BoundaryOperator, rtol: float, execution: Execution, saved: SavedNear | None, advance: Any
) -> Prepared:
    """The products of an expression that hold rtol; in double precision below SINGLE, and where fields cancel. saved: a
    file of near blocks; advance: as in `Medium.fill_near`."""
    precise = rtol < SINGLE and execution.real == np.float64
    attempts_of = partial(Preparation, operator, rtol, execution, saved, advance)
    found = attempts_of(precise)
    if found.loses_digits:
        del found  # what it took is free for numbers in double precision
        found = attempts_of(True)
    return found.held()
