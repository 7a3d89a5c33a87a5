"""Operators of acoustic and electromagnetic waves by the multilevel fast multipole method, planned and checked."""

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Execution, at_once, format_bytes, require_memory, return_memory
from calderon.mesh.errors import warn_of_accuracy
from calderon.mlfmm.check import NOISE, SMALL, Check, cancels
from calderon.mlfmm.device.product import DeviceMedium, SharedMedium, require_room
from calderon.mlfmm.medium import RULES, Medium
from calderon.mlfmm.plan import (
    ADVICE,
    SAFETY,
    SINGLE,
    Attempt,
    attempts,
    chosen,
    degree_of,
    local_of,
    media_of,
    require_waves,
    rtol_of,
)
from calderon.operators.algebra import BoundaryOperator, short_label
from calderon.operators.methods import Plan, ToleranceError
from calderon.operators.progress import assembly_progress
from calderon.operators.tree import Congruence, Products, SumOfProducts, Term
from calderon.products.device.sums import DeviceSum, OnOneDevice
from calderon.products.near_file import SavedNear
from calderon.products.near_store import PACKED

AIM = 0.4
"""Part of the tolerance that the error should have with higher degrees."""
TIGHTER = 0.1, 0.6
"""Tolerance of the plane waves by the last one, at least and at most."""
LIKELY, ENOUGH = 0.9, 0.75
"""Part of a tolerance that the checked error may have, as that of all rows is likely not above the tolerance then, and
below SMALL, and where single precision holds no smaller one."""
TRIES, LITTLE = 5, 0.7
"""Tolerances that are tried, and the part of an error above which higher degrees have helped little."""
PREPARED = 6e8
"""Bytes of plane waves that a plan prepares, those of 300,000 unknowns, in 5 processor seconds."""
ALL_NEAR = 4e8
"""Entries of a matrix that are all computed where plane waves do not hold the tolerance."""


class LevelInfo(NamedTuple):
    """Of one level: edge of its boxes in m and in wavelengths, boxes, degrees of stored patterns and of translations,
    pairs of separated boxes, bytes; of one with equivalent sources their points of an edge, and no degrees."""

    edge: float
    wavelengths: float
    boxes: int
    half: int
    full: int
    pairs: int
    nbytes: int
    points: int = 0


class Multipole(LinearOperator):
    """An operator by plane waves of all its media. error: relative, in the 2-norm over `checked` random rows, the
    larger one of products with random vectors and with a plane wave; levels: of all media; local: the sparse part;
    attempt: how often larger leaves were taken; nbytes, seconds, rtol, backend."""

    def __init__(
        self, product: LinearOperator, media: Sequence[Medium], local: Any, label: str, rtol: float, backend: str
    ) -> None:
        super().__init__(dtype=product.dtype, shape=product.shape)
        self.local, self.backend = local, backend
        self.product, self.media, self.label, self.rtol = product, list(media), label, rtol
        self.error, self.checked, self.seconds, self.attempt = 0.0, 0, 0.0, 0

    @property
    def nbytes(self) -> int:
        """Of near blocks, waves, and maps between them and the unknowns."""
        return sum(each.nbytes for each in self.media)

    @property
    def near_nbytes(self) -> int:
        """Of near blocks alone."""
        return sum(near.nbytes for each in self.media for _, _, near in each.near)

    @property
    def levels(self) -> list[list[LevelInfo]]:
        """Of each medium, the coarsest first."""
        found = []
        for medium in self.media:
            far, waves = medium.far, abs(medium.k) / (2 * np.pi)
            count = medium.rank * far.traversal.spectra if far else 0
            found.append([
                LevelInfo(each.edge, each.edge * waves, each.count, each.half.degree, each.full.degree,
                          len(each.pairs.source), each.nbytes(count))
                for each in (far.traversal.levels if far else [])
            ])  # fmt: skip
            if far and far.low:
                found[-1] += [
                    LevelInfo(each.edge, each.edge * waves, each.count, 0, 0, len(each.pairs.source),
                              each.nbytes(medium.rank * far.sums), far.low.cubes.p)
                    for each in far.low.levels
                ]  # fmt: skip
        return found

    def near_entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.complex128]:
        """(n,) the entries in these rows and columns, of unknowns whose supports touch. ValueError for an expression
        with transposed or composed parts, whose entries are not stored."""
        if self.local is None:
            raise ValueError(f"preconditioner='near' needs entries of plain operators, got {self.label}: leave it out")
        found = np.asarray(self.local[rows, columns], complex).ravel()
        return found + sum(each.near_entries(rows, columns) for each in self.media)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._of_type(self.product.matmat(x), x)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._of_type(self.product.rmatmat(x), x)

    def _of_type(self, found: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
        """Products with x, which are computed with complex numbers; those of a real operator with real x are real."""
        is_real = self.dtype.kind == "f" and not np.iscomplexobj(x)
        return np.asarray(found.real if is_real else found, np.result_type(self.dtype, 0.0 if is_real else 0j))

    def __str__(self) -> str:
        size = f"{self.shape[0]} x {self.shape[1]} {self.dtype}, {format_bytes(self.nbytes)}"
        levels = " and ".join(str(len(each)) for each in self.levels)
        levels += " levels" if any(self.levels) else " levels (all entries are near ones)"
        low = sum(level.points > 0 for each in self.levels for level in each)
        numbers = " and ".join(sorted({"single" if each.real == np.float32 else "double" for each in self.media}))
        return (
            f"multilevel fast multipole operator {size}, {levels}"
            f"{f', {low} of them low-frequency ones' if low else ''}, waves in {numbers} precision, "
            f"rtol {self.rtol:g}, error {self.error:.1e} on {self.checked} rows, "
            f"backend {self.backend}, {self.seconds:.2f} s, {self.label}"
        )

    __repr__ = __str__


class DeviceMultipole(OnOneDevice, Multipole):
    """The same where all parts are on one device, and vectors of `gmres` stay there; see `OnDevice`."""

    product: DeviceSum


class MediumProduct(LinearOperator):
    """The products of a medium; columns are multiplied some at a time. there: those of devices, once they have
    them."""

    def __init__(self, medium: Medium, dtype: np.dtype[Any]) -> None:
        super().__init__(dtype=dtype, shape=medium.shape)
        self.medium = medium
        self.there: DeviceMedium | SharedMedium | None = None

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.there.matmat(x) if self.there else self._some(x, False)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.there.rmatmat(x) if self.there else self._some(x.conj(), True).conj()

    def _some(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        together = self.medium.together
        parts = [self.medium.product(x[:, n : n + together], transposed) for n in range(0, x.shape[1], together)]
        return np.concatenate(parts, axis=1).astype(self.dtype, copy=False)


def assemble_mlfmm(
    operator: BoundaryOperator,
    *,
    backend: str = "numba",
    precision: str = "double",
    rtol: float | None = None,
    progress: bool | None = None,
    matrix_file: str | os.PathLike[str] | None = None,
) -> Multipole:
    """Prepare products with operators of Helmholtz's equation and of Maxwell's equations.

    All terms with one wavenumber take one traversal of the octree together: their charges enter one set of plane waves,
    and their tests read from it. Entries between unknowns of neighbouring leaves are exact.

    rtol: relative error of products, default 1e-3, measured with the whole operator at 64 to 1,024 random rows (fewer
    of large matrices). Above it the plane waves get higher degrees, and RuntimeError is raised where that does not
    help. Numbers are in single precision for 1e-4 and above, and never for less. matrix_file: an HDF5 file for near
    blocks, which are saved by chunks as they are computed, and taken from what is there.
    Raises ValueError for other equations and for a file of another operator, mesh or tolerance, MemoryError before
    there is no room.

    backend: a device gets near blocks, tables and lists, which the processor makes and checks, and multiplies; of
    several devices, "cuda:0+cuda:1", each the part of some leaves.
    """
    started = time.perf_counter()
    execution = Execution.of(backend, precision, several=True)
    if execution.team and execution.uses_processor:
        raise ValueError(
            f"backend {backend!r}: parts of method 'mlfmm' are fixed, and devices would wait for the processor: name "
            "devices alone"
        )
    wanted = rtol_of(rtol, precision)
    require_waves(operator)
    saved = None if matrix_file is None else SavedNear(matrix_file, operator, wanted, precision)
    with assembly_progress("computing near entries", "parts", progress) as advance, saved or nullcontext():
        precise = wanted < SINGLE and execution.real == np.float64
        prepared = _prepared(operator, wanted, execution, saved, advance, precise)
        product, name = prepared.product, execution.name
        if len(execution.devices) > 1:
            prepared.share(execution)
            name = execution.name
        elif execution.devices:
            product = prepared.sent(execution.devices[0])
            name = name if isinstance(product, DeviceSum) else f"{name} and numba"
    kind = DeviceMultipole if isinstance(product, DeviceSum) else Multipole
    result = kind(product, prepared.media, local_of(operator), short_label(operator), wanted, name)
    if kind is Multipole:
        result.dtype = execution.dtype(operator.is_complex)
    result.error, result.checked, result.attempt = prepared.error, prepared.checked, prepared.attempt
    return_memory()
    result.seconds = time.perf_counter() - started
    return result


def save_near(
    operator: BoundaryOperator,
    matrix: Multipole,
    matrix_file: str | os.PathLike[str],
    *,
    backend: str = "numba",
    precision: str = "double",
    rtol: float | None = None,
) -> None:
    """Have in an HDF5 file what `assemble_mlfmm`, which gave `matrix` with the same options, would have saved there.
    ValueError for a file of another operator, mesh or tolerance."""
    with SavedNear(matrix_file, operator, rtol_of(rtol, precision), precision) as saved:
        if saved.attempt is None:
            saved.write([near for each in matrix.media for _, _, near in each.near], matrix.attempt)


class _Prepared(NamedTuple):
    """Products of an attempt, by number: of the whole, of its terms, of its media; the error of its rows, and how many
    were checked."""

    product: LinearOperator
    terms: list[tuple[Term, Any]]
    parts: list[MediumProduct]
    error: float
    checked: int
    attempt: int

    @property
    def media(self) -> list[Medium]:
        """Of all parts."""
        return [each.medium for each in self.parts]

    def sent(self, device: Device) -> LinearOperator:
        """The products on a device; those that are composed are joined by the processor. MemoryError before there is no
        room."""
        require_room(device, self.media)
        for each in self.parts:
            each.there = DeviceMedium(device, each.medium, each.dtype)
        terms = [(term, _there(value)) for term, value in self.terms]
        return DeviceSum.of(device, terms, self.product.shape, self.product.dtype) or self.product

    def share(self, execution: Execution) -> None:
        """Let several devices have parts of each medium; the processor joins the terms. MemoryError before there is no
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


def _there(value: Any) -> Any:
    """Products on the device instead of those of a medium."""
    if isinstance(value, Congruence) and isinstance(value.inner, MediumProduct):
        return Congruence(value.inner.there, value.factors, value.left, value.right)
    return value.there if isinstance(value, MediumProduct) else value


def _prepared(
    operator: BoundaryOperator, rtol: float, execution: Execution, saved: SavedNear | None, advance: Any, precise: bool
) -> _Prepared:
    """The first attempt whose rows have the tolerance, at last one without plane waves; RuntimeError where none has.
    precise: whether numbers are in double precision, which they are, too, where fields cancel."""
    tried = _attempts(rtol, precise)
    choose, check = partial(chosen, operator, rtol, list(tried)), None
    if math.prod(operator.shape) <= ALL_NEAR:
        tried.append(tried[-1]._replace(edge=0.0))
    known = (saved.attempt or 0) if saved is not None else 0
    if known >= len(tried):
        raise ValueError(f"matrix_file is damaged: its leaves are those of attempt {known}, of {len(tried)}")
    if rtol >= SMALL:
        choice, check = at_once(choose, partial(Check.of, operator, rtol, precise))
        if not precise and execution.real == np.float64 and check.rounding > NOISE * rtol:  # fields cancel
            del choice  # what it took is free for numbers in double precision
            return _prepared(operator, rtol, execution, saved, advance, True)
    else:
        choice = choose()
    require_memory(choice.plan.nbytes, f"the multilevel fast multipole operator ({choice.plan.details})", ADVICE)
    error, found, near_rtol = np.inf, None, rtol if rtol >= RULES[-1][0] and not (precise or known) else 0.0
    local, waves_help, allowed = local_of(operator), True, rtol * (ENOUGH if rtol < SMALL else LIKELY)
    for number, attempt in list(enumerate(tried))[max(known, choice.number) :]:
        if not waves_help and attempt.edge:  # larger leaves help plane waves alone
            continue
        if saved is not None:
            saved.begin(number)
        found = None  # what an attempt took is free for the next one
        rules = near_rtol if attempt.edge else 0.0  # those that suit waves would be the error of all entries
        media = choice.media if number == choice.number and not known else {}
        parts = _Parts(rtol, rules, attempt, execution, saved, advance, media)
        found = parts.of(operator)
        if found is None:
            continue
        if check is None or rtol < SMALL:  # rows of the largest errors depend on where leaves end
            check = Check.of(operator, rtol, precise, parts.terms)
        first = None
        if (near := check.near_part(parts.media, local)) is not None:  # near entries are computed for waves that hold
            error, waves = _improved(parts, rtol, partial(check.products, found), check, near)
            if error > allowed:
                waves_help = parts.have_waves
                continue
            parts.fill_near()
            first = waves + parts.media[0].near_product(check.vectors, False)[check.rows]
        else:
            parts.fill_near()
        error, _ = _improved(parts, rtol, partial(check.products, found), check, first=first)
        if error <= allowed:
            if not attempt.edge:
                _warn_of_all_entries(operator, rtol, sum(each.nbytes for each in parts.media))
            if saved is not None:
                saved.finish()
            return _Prepared(found, parts.terms, parts.products, error, len(check.rows), number)
        waves_help = parts.have_waves or near_rtol > 0
        near_rtol = 0.0  # so that rules of near entries are no cause of the next error
    what = f"an error of {error:.1e} on {len(check.rows)} rows" if check and error < np.inf else "no degrees"
    raise ToleranceError(f"plane waves have {what} for rtol={rtol:g}: increase rtol, or use method='hmatrix'")


def _attempts(rtol: float, precise: bool) -> list[Attempt]:
    """The attempts of a tolerance; precise: with numbers in double precision."""
    return [each._replace(real=np.dtype(np.float64)) if precise else each for each in attempts(rtol)]


def _warn_of_all_entries(operator: BoundaryOperator, rtol: float, nbytes: int) -> None:
    warn_of_accuracy(
        f"plane waves do not hold rtol={rtol:g} for {short_label(operator)}: all its entries are computed, "
        f"{format_bytes(nbytes)}; increase rtol, or use method='dense'"
    )


def _improved(
    parts: "_Parts", rtol: float, products: Callable[[], NDArray[Any]], check: "Check", lacking: Any = 0.0,
    first: NDArray[Any] | None = None,
) -> tuple[float, NDArray[Any]]:  # fmt: skip
    """The error of products of the checked rows with the degrees that it requires, if these can be had, and these
    products. lacking: what they lack as yet; first: what they are at first, if that is known."""
    last, found = np.inf, products() if first is None else first
    error = check.error(found + lacking)
    for _ in range(TRIES):
        if error <= SAFETY * rtol or not parts.improve(error, error > LITTLE * last):
            break
        last, found = error, products()
        error = check.error(found + lacking)
    return error, found


def plan_mlfmm(operator: BoundaryOperator, rtol: float | None = None, precision: str = "double") -> Plan:
    """Levels, degrees, bytes and seconds of `assemble_mlfmm`; ValueError as there."""
    require_waves(operator)
    wanted = rtol_of(rtol, precision)
    precise = precision == "double" and (wanted < SINGLE or cancels(operator, wanted))
    return chosen(operator, wanted, _attempts(wanted, precise), PREPARED).plan


class _Parts:
    """The media of one assembly: plain terms of one wavenumber together, all other integral operators apart. near_rtol:
    tolerance that rules of near entries suit, 0 for those of a dense matrix; media: those that are there, of plain
    terms by wavenumber, of others by their key."""

    def __init__(
        self, rtol: float, near_rtol: float, attempt: Any, execution: Execution, saved: SavedNear | None, advance: Any,
        media: dict[Any, Medium],
    ) -> None:  # fmt: skip
        self.rtol, self.attempt, self.execution, self.products = rtol, attempt, execution, list[MediumProduct]()
        self.advance, self.made = advance, media
        self.held, self.saved, self.near_rtol = True, saved, near_rtol

    def of(self, operator: BoundaryOperator) -> LinearOperator | None:
        """The products, as yet without near entries; None where plane waves cannot hold the tolerance with these
        leaves."""
        groups, others = media_of(operator)
        products = Products(self.execution, lambda leaf: self._medium([Term(1.0, leaf)], leaf.shape, leaf.key))
        self.terms: list[tuple[Term, Any]] = [(term, products.value(term.atom)) for term in others]
        self.terms += [(Term(1.0, None), self._medium(terms, operator.shape, k)) for k, terms in groups.items()]
        return SumOfProducts(self.terms, operator.shape, self.execution.dtype(True)) if self.held else None

    def fill_near(self) -> None:
        """Compute the near entries of all media."""
        numbers = Execution.of("numba", "single" if self.attempt.real == np.float32 else "double")
        for each in self.media:
            each.fill_near(numbers, self.near_rtol, self.saved, self.advance)

    def _medium(self, terms: list[Term], shape: tuple[int, int], key: Any) -> MediumProduct:
        edge, real, _, mixed = self.attempt
        medium = self.made.pop(key, None) or Medium(terms, shape, edge, real, mixed)
        medium.packs = self.near_rtol >= PACKED
        share = self.attempt.share * self.rtol
        self.held = self.held and medium.fill_far(share, degree_of(self.rtol, terms))
        self.products.append(MediumProduct(medium, self.execution.dtype(True)))
        return self.products[-1]

    @property
    def media(self) -> list[Medium]:
        """Of all products."""
        return [each.medium for each in self.products]

    @property
    def have_waves(self) -> bool:
        """Whether there are levels with plane waves."""
        return any(each.far is not None and bool(each.far.traversal.levels) for each in self.media)

    def improve(self, error: float, finer: bool) -> bool:
        """Give the plane waves higher degrees, for a checked error that is too large; whether there are any. finer: the
        quadrature of charges, too."""
        factor = float(np.clip(AIM * self.rtol / error, *TIGHTER))
        self.attempt = self.attempt._replace(share=self.attempt.share * factor)
        must = error > ENOUGH * self.rtol
        return all(each.improve(self.attempt.share * self.rtol, finer, must) for each in self.media)
