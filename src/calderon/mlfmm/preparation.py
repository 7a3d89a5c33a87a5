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

import copy
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Execution, at_once, format_bytes, require_memory
from calderon.backends.devices.sharing import Distribution
from calderon.mesh.errors import warn_of_accuracy
from calderon.mlfmm.check import NOISE, SMALL, WaveCheck
from calderon.mlfmm.device.product import DeviceMedium, require_room_of
from calderon.mlfmm.medium import RULES, Medium
from calderon.mlfmm.plan import ADVICE, Attempt, Group, attempts, chosen, degree_of, local_of, media_of, needs_double
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.lazy_operator import short_label
from calderon.operators.products import Products, SumOfProducts
from calderon.operators.tree import Term
from calderon.products.attempts import first_that_holds, improved
from calderon.products.check import ACCEPT_FINE_WAVES, ACCEPT_WAVES, Check
from calderon.products.device.sums import DeviceSparse, DeviceSum
from calderon.products.near_file import SavedNear
from calderon.products.shared import SharedProduct, Shares

ALL_NEAR = 4e8
"""Entries of a matrix that are all computed where plane waves do not hold the tolerance."""


class Setting(NamedTuple):
    """An attempt, its number, and the tolerance that the rules of near entries are for, 0 for rules of a dense
    matrix."""

    number: int
    attempt: Attempt
    near_rtol: float


class Parts(Products):
    """The products of one attempt: the terms of one wavenumber are those of one medium, also between sparse factors.

    product: the product of the whole expression; terms: its terms, each with its product; media: one for each
    wavenumber. share: part of the tolerance that degrees of plane waves are for. last: the error before the last
    improvement. known: products of the checked rows, None where they are not known yet. error, rows: the estimated
    error and the number of checked rows, once the tolerance is held.
    """

    def __init__(
        self, operator: BoundaryOperator, setting: Setting, rtol: float, execution: Execution, made: dict[Any, Medium]
    ) -> None:
        """made: media that the plan of this attempt has made already, by the keys of their groups; those that are
        needed are taken out."""
        super().__init__(execution, lambda leaf: self._medium(Group([Term(1.0, leaf)], leaf.shape)))
        self.setting, self.rtol, self.made = setting, rtol, made
        self.share, self.last, self.error, self.rows = setting.attempt.share, math.inf, math.inf, 0
        self.known: NDArray[Any] | None = None
        self._sparse = dict[int, DeviceSparse]()  # matrices on the device, by the number of their term
        self._media = dict[Any, Medium]()
        self.product = self.of(operator)
        self.terms = self.product.terms

    def of(self, operator: Any) -> SumOfProducts:
        """The products of an expression: of its groups, and of all other terms."""
        groups, others = media_of(operator)
        terms = [(term, self.value(term.atom)) for term in others]
        terms += [(Term(1.0, None), self._medium(Group(each, operator.shape))) for each in groups.values()]
        return SumOfProducts(terms, operator.shape, self.execution.dtype(True))

    def _medium(self, group: Group) -> Medium:
        """The medium of a group of terms of one wavenumber: one object for all groups of one key, however often the
        expression has them.

        It is taken from `made`, if there, where it was built for this attempt, or built with the attempt's least edge
        of leaves, type of real numbers and choice whether boxes may have equivalent sources (`Attempt`).
        """
        if group.key not in self._media:
            attempt = self.setting.attempt
            medium = self.made.pop(group.key, None) or Medium(*group, attempt.edge, attempt.real, attempt.mixed)
            medium.dtype = self.execution.dtype(True)
            self._media[group.key] = medium
        return self._media[group.key]

    @property
    def media(self) -> list[Medium]:
        """The wavenumber groups."""
        return list(self._media.values())

    @property
    def have_waves(self) -> bool:
        """Whether there are levels with plane waves."""
        return any(each.far is not None and bool(each.far.traversal.levels) for each in self.media)

    def fill_near(self, saved: SavedNear | None, advance: Any) -> None:
        """Compute the near entries of all groups, or take them from what is saved. advance: as in
        `Medium.fill_near`."""
        numbers = Execution.of("numba", "single" if self.setting.attempt.real == np.float32 else "double")
        devices = () if self.execution.team else self.execution.devices  # blocks that are shared are the processor's
        for each in self.media:
            each.fill_near(numbers, self.setting.near_rtol, saved, advance, devices)

    def better(self, error: float) -> "Parts | None":
        """These products with higher degrees for a checked error that is too large, and with a finer quadrature of
        charges where higher degrees have helped little; None where there are no better ones."""
        finer, self.last = error > 0.7 * self.last, error  # then higher degrees have helped little
        self.share *= float(np.clip(ACCEPT_WAVES.aimed * self.rtol / error, 0.1, 0.6))  # errors are not proportional
        must = error > ACCEPT_FINE_WAVES.allowed * self.rtol  # double precision is worth it, if single holds no more
        improve = (each.improve(self.share * self.rtol, finer, must) for each in self.media)
        return self if all(improve) else None

    @property
    def uses_device(self) -> bool:
        """Whether one device does all products."""
        return bool(self.execution.devices) and not self.execution.team

    def on_their_device(self, together: int = 1) -> LinearOperator:
        """The product with all that the media have by now, of which a device that does all products gets what it has
        not; the processor joins products that are composed. together: vectors that are multiplied at a time, at most.
        Raises MemoryError, before anything is sent, if the device has no room."""
        if not self.uses_device:
            return self.product
        together = min([together, *(each.together for each in self.media)])
        device = self._send(together)
        given = [(term, self._sparse.get(n, value)) for n, (term, value) in enumerate(self.terms)]
        found = DeviceSum.of(device, given, self.product.shape, self.product.dtype)
        if found is None:
            return self.product
        products = enumerate(product for _, product in found.parts)
        self._sparse = {n: product for n, product in products if isinstance(product, DeviceSparse)}
        found.together = together
        return found

    def _send(self, columns: int) -> Device:
        """Send what the one device has not of the media; columns: of products for which it has to have room."""
        device = self.execution.devices[0]
        require_room_of(device, self.media, columns)
        for each in self.media:
            before = each.there if isinstance(each.there, DeviceMedium) else None
            each.there = DeviceMedium(device, each, each.dtype, before)
        return device

    def near_products(self, check: Check) -> NDArray[Any]:
        """(rows, vectors) what the near entries of the one medium add to the products of a check."""
        medium = self.media[0]
        if not self.uses_device:
            return medium.near_product(check.vectors, False)[check.rows]
        self._send(1)
        near: Any = copy.copy(medium.there)
        near.far, near.together = None, 1
        return check.products(near)

    def shared(self) -> None:
        """Give each backend of the team a part of each medium; the processor adds their products. The processor's own
        part are near blocks, as many as measured seconds say. Raises MemoryError, before anything is sent, if a device
        has no room."""
        devices = self.execution.devices
        equal = np.full(len(devices), 1 / len(devices))
        for device, *parts in zip(devices, *(each.distributed(equal, False)[1]() for each in self.media), strict=True):
            require_room_of(device, parts)
        for whole in self.media:
            whole.there = SharedProduct(self.execution, partial(self._distributed, whole))

    def _distributed(self, whole: Medium, shares: Shares) -> Distribution:
        """A medium distributed to the team."""
        here, devices = self.execution.uses_processor, self.execution.devices
        work, parts_of = whole.distributed(shares, here)

        def make() -> list[Any]:
            parts = parts_of()
            there = list(zip(devices, parts[here:], strict=True))
            for device, part in there:
                require_room_of(device, [part])
            return [*parts[:here], *(DeviceMedium(*each, whole.dtype) for each in there)]

        return work, make


def parts_of(
    operator: BoundaryOperator, setting: Setting, rtol: float, execution: Execution, made: dict[Any, Medium]
) -> Parts | None:
    """The products of an attempt, as yet without near entries; None where plane waves cannot hold the tolerance with
    these leaves. Arguments as in `Parts`."""
    parts = Parts(operator, setting, rtol, execution, made)
    hold = (each.fill_far(parts.share * rtol, degree_of(rtol, each.terms)) for each in parts.media)
    return parts if all(hold) else None


class Preparation:
    """The attempts for one expression. accept: parts of rtol that errors are compared with; choice: the first attempt
    that is expected to hold; check: of rows of the matrix. For attempts that come next: larger_leaves, whether they can
    help; near_rtol, the tolerance that rules of near entries suit; error, the last one."""

    def __init__(
        self, operator: BoundaryOperator, rtol: float, execution: Execution, saved: SavedNear | None, advance: Any,
        rows: int | None, precise: bool,
    ) -> None:  # fmt: skip
        """rows: of the check at most, if given. precise: whether numbers are in double precision; advance: as in
        `Medium.fill_near`."""
        self.operator, self.rtol, self.execution, self.precise = operator, rtol, execution, precise
        self.saved, self.advance, self.rows, self.local = saved, advance, rows, local_of(operator)
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
            self.choice, self.check = at_once(choose, partial(self._check_of, ()))
        else:
            self.choice = choose()
        loose = rtol >= RULES[-1][0] and not (precise or self.known)
        self.near_rtol, self.larger_leaves, self.error = rtol if loose else 0.0, True, math.inf

    def _check_of(self, terms: Sequence[Any]) -> WaveCheck:
        """The check of rows of the matrix; terms: with whose errors some are chosen."""
        given = self.operator, self.rtol, self.precise, terms
        return WaveCheck.of(*given, self.rows, self.execution.devices)

    @property
    def loses_digits(self) -> bool:
        """Whether fields cancel so far that single precision, which is not requested, does not hold the tolerance."""
        double = self.execution.real == np.float64
        return not self.precise and double and self.check is not None and self.check.rounding > NOISE * self.rtol

    def held(self) -> Parts:
        """The products of the first attempt that holds the tolerance. Raises ToleranceError where none does,
        and MemoryError, before anything is computed, if there is no room."""
        plan = self.choice.plan
        require_memory(plan.nbytes, f"the multilevel fast multipole operator ({plan.details})", ADVICE)
        setting, parts, error = first_that_holds(
            self._settings(), self._prepare, self._error, self.rtol, self.accept, self._refusal, Parts.better
        )
        if not setting.attempt.edge:
            nbytes = format_bytes(sum(each.nbytes for each in parts.media))
            warn_of_accuracy(
                f"plane waves do not hold rtol={self.rtol:g} for {short_label(self.operator)}: all its entries are "
                f"computed, {nbytes}; increase rtol, or use method='dense'"
            )
        if self.saved is not None:
            self.saved.finish()
        assert self.check is not None
        parts.error, parts.rows = error, len(self.check.check.rows)
        return parts

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
        # 1. plane waves and equivalent sources
        made = self.choice.media if setting.number == self.choice.number and not self.known else {}
        parts = parts_of(self.operator, setting, self.rtol, self.execution, made)
        if parts is None:
            return None
        if self.check is None or self.rtol < SMALL:  # rows of the largest errors depend on where leaves end
            self.check = self._check_of(parts.terms)
        # 2. the far field next to exact near entries of the checked rows
        near = self.check.near_part(parts.media, self.local)
        if near is not None and not self._far_holds(parts, near):
            self.larger_leaves = parts.have_waves
            return None
        # 3. near entries
        parts.fill_near(self.saved, self.advance)
        if parts.known is not None:
            parts.known = parts.known + parts.near_products(self.check.check)
        parts.last = math.inf
        self.larger_leaves, self.near_rtol = parts.have_waves or setting.near_rtol > 0, 0.0
        return parts

    def _far_holds(self, parts: Parts, near: NDArray[np.complex128]) -> bool:
        """Step 2: whether the far field holds the tolerance next to exact near products (rows, vectors), after
        improvements; its products stay in parts.known."""

        def error_of(parts: Parts) -> float:
            assert self.check is not None
            check = self.check.check
            parts.known = check.products(parts.on_their_device(check.vectors.shape[1]))
            return self.check.error(parts.known + near)

        _, self.error = improved(parts, error_of, self.rtol, self.accept, Parts.better)
        return self.error <= self.accept.allowed * self.rtol

    def _error(self, parts: Parts) -> float:
        """Step 4: the estimated error of the whole product."""
        assert self.check is not None
        found, parts.known = parts.known, None
        self.error = self.check.error(self.check.check.products(parts.on_their_device()) if found is None else found)
        return self.error

    def _refusal(self, _: float) -> str:
        rows = 0 if self.check is None else len(self.check.check.rows)
        what = f"an error of {self.error:.1e} on {rows} rows" if self.error < math.inf else "no degrees"
        return f"plane waves have {what} for rtol={self.rtol:g}: increase rtol, or use method='hmatrix'"


def prepared(
    operator: BoundaryOperator, rtol: float, execution: Execution, saved: SavedNear | None, advance: Any,
    rows: int | None = None,
) -> Parts:  # fmt: skip
    """The products of an expression that hold rtol; in double precision by `needs_double`, and where fields cancel.
    saved: a file of near blocks; advance: as in `Medium.fill_near`; rows: of the check at most, if given."""
    precise = needs_double(operator, rtol, "double" if execution.real == np.float64 else "single")
    attempts_of = partial(Preparation, operator, rtol, execution, saved, advance, rows)
    found = attempts_of(precise)
    if found.loses_digits:
        del found  # what it took is free for numbers in double precision
        found = attempts_of(True)
    return found.held()
