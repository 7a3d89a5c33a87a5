"""Sums of charges and dipoles over points, with a checked error."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import format_bytes, require_memory
from calderon.fmm.orders import POINTS, Promise, first_order
from calderon.fmm.point_tree import Array, PointTree
from calderon.greens import Laplace
from calderon.potentials.summation import FastSums
from calderon.products.point_sums import Kinds, direct_sums
from calderon.solvers.iteration import tolerance
from calderon.validation import points_in_space, unmasked

FEW = 2e7
"""Pairs of points that are summed one by one: the tree would take as long."""
SINGLE = 1e-5
"""Tolerance from which potentials of charges are summed in single precision."""
TWICE = 6
"""Errors of gradients of dipoles by those of gradients of charges."""
CHECKED = 64
"""Random targets whose sums are computed directly, too."""
CANCELLED = 1e-3, 3e-2
"""Parts of the sums of |q| / r and of |d| / r^2 (for gradients one power more) with which a sum is compared where it is
smaller: what cancels further, as dipoles on a closed surface do outside, is not resolved."""
SIZED = 8
"""Of the random targets, those at which these sums are computed."""
ADVICE = "split the targets into parts, or increase rtol"


class SumsInfo(NamedTuple):
    """What was computed. method: "fmm" or "direct". order: degree and number of combinations of the harmonics, None for
    direct sums. error, gradient_error: relative errors in the 2-norm at 64 random targets (0 for direct sums, None
    where there is no gradient). levels: of the octree. nbytes: of expansions, lists and tables. seconds: wall-clock."""

    method: str
    rtol: float
    order: tuple[int, int] | None
    error: float
    gradient_error: float | None
    levels: int
    nbytes: int
    seconds: float

    def __str__(self) -> str:
        if self.order is None:
            return f"direct sums, {self.seconds:.2f} s"
        slope = "" if self.gradient_error is None else f", of the gradient {self.gradient_error:.1e}"
        return (
            f"fast multipole sums, rtol {self.rtol:g}: error {self.error:.1e}{slope} at {CHECKED} points, degree "
            f"{self.order[0]} with {self.order[1]} combinations, {self.levels} levels, {format_bytes(self.nbytes)}, "
            f"{self.seconds:.2f} s"
        )


@dataclass(frozen=True, eq=False)
class LaplaceSums:
    """potential (n,), gradient (n, 3) or None, and `info`."""

    potential: NDArray[np.float64]
    gradient: NDArray[np.float64] | None
    info: SumsInfo


def laplace_sums(
    points: ArrayLike,
    charges: ArrayLike | None,
    dipoles: ArrayLike | None = None,
    *,
    targets: ArrayLike | None = None,
    gradient: bool = False,
    rtol: float = 1e-6,
) -> LaplaceSums:
    """Potentials of charges q_j and dipoles d_j at points y_j (n, 3),

        u(x) = sum_j (q_j + d_j . grad_y) 1 / (4 pi |x - y_j|),

    at targets x (m, 3), or at the points themselves; points that coincide with x are left out of its sum. charges (n,),
    None for none; dipoles (n, 3). gradient: its gradients, too.

    rtol: relative error in the 2-norm over all targets, of the potential (or of a thousandth of the sum of |q| / r and
    three hundredths of that of |d| / r^2, where these are larger) and likewise of the gradient; 2e-10 and above, with
    gradients or dipoles 6e-10. Sums of many points are computed by the fast multipole method, in time proportional to
    their number. 64 random targets are then summed directly; above rtol the next higher order is used, and after that
    RuntimeError is raised. Raises ValueError for other shapes and for numbers that are not finite, MemoryError before
    there is no room.
    """
    started, wanted = time.perf_counter(), tolerance(rtol)
    sources = points_in_space(points)
    places = None if targets is None else points_in_space(targets, "targets")
    kinds = Kinds(charges is not None, dipoles is not None, bool(gradient))
    numbers = _numbers(sources, charges, dipoles)
    at = sources if places is None else places
    if len(sources) * len(at) <= FEW:
        found = (
            direct_sums(sources)(at, numbers, kinds) if len(sources) and len(at) else np.zeros((kinds.fields, len(at)))
        )
        error = 0.0, 0.0 if kinds.gradient else None
        return _result(found, kinds, SumsInfo("direct", wanted, None, *error, 0, 0, time.perf_counter() - started))
    times = TWICE if kinds.gradient and kinds.dipoles else 1.0
    chosen = first_order(POINTS, wanted, kinds.gradient or kinds.dipoles, times)
    check = _Check.of(sources, at, numbers, kinds)
    for promise in chosen:  # few targets may have none of the largest gradients, and so an error above that of all
        found, levels, nbytes = _sums(sources, places, numbers, kinds, promise, wanted)
        errors = check.errors(found)
        if max(errors) <= wanted:
            break
    else:
        raise RuntimeError(
            f"fast multipole sums have an error of {max(errors):.1e} at {CHECKED} random targets, and rtol={wanted:g} "
            "was requested: increase rtol, or sum fewer targets at a time, which is done directly"
        )
    slope = errors[1] if kinds.gradient else None
    order = promise.order.p, promise.order.r
    seconds = time.perf_counter() - started
    return _result(found, kinds, SumsInfo("fmm", wanted, order, errors[0], slope, levels, nbytes, seconds))


def _numbers(sources: Array, charges: Any, dipoles: Any) -> Array:
    """(1, 3 or 4, n) charges and dipoles."""
    if charges is None and dipoles is None:
        raise ValueError("no charges and no dipoles: give at least one of them")
    rows = []
    for values, name, shape in ((charges, "charges", (len(sources),)), (dipoles, "dipoles", (len(sources), 3))):
        if values is None:
            continue
        array = unmasked(values, name)
        if array.dtype.kind not in "fiu":
            raise TypeError(
                f"{name} must be real numbers, got an array of {array.dtype}: sum the two parts of complex ones"
            )
        if array.shape != shape:
            raise ValueError(f"{name} of {len(sources)} points must have shape {shape}, got {array.shape}")
        array = np.asarray(array, float)
        if bad := int(np.count_nonzero(~np.isfinite(array))):
            raise ValueError(f"{bad} of the {name} are NaN or infinite")
        rows += [array] if array.ndim == 1 else list(array.T)
    return np.array(rows)


def _result(found: Array, kinds: Kinds, info: SumsInfo) -> LaplaceSums:
    found = found / (4 * np.pi)
    return LaplaceSums(found[0], found[1:].T.copy() if kinds.gradient else None, info)


def _sums(
    sources: Array, targets: Array | None, numbers: Array, kinds: Kinds, promise: Promise, rtol: float
) -> tuple[Array, int, int]:
    """(fields, m) sums, levels and bytes."""
    count = len(sources) + (0 if targets is None else len(targets))
    require_memory(promise.bytes_of_sums(count), f"the sum over {count} points", ADVICE)
    single = rtol >= SINGLE and kinds == Kinds(True, False, False)
    tree = PointTree.of(sources, targets, promise, kinds, (single, single))
    edge = tree.tree.cube.edge
    if kinds.dipoles:
        numbers = numbers.copy()
        numbers[-3:] /= edge
    found = tree.sums(numbers) / edge
    found[1:] /= edge
    return found, int(tree.tree.level[-1]), tree.nbytes


def potential_sums(
    points: Array, charges: Any, dipoles: Any, wavenumber: complex, *, targets: Array, gradient: bool, rtol: float
) -> NDArray[np.complex128]:
    """Of complex charges (n, c) or dipoles (n, c, 3), or both: potentials (m, c, 1) or gradients (m, c, 3)."""
    given = [None if each is None else np.asarray(each, complex) for each in (charges, dipoles)]
    columns = next(each.shape[1] for each in given if each is not None)
    out = np.zeros((len(targets), columns, 3 if gradient else 1), complex)
    for column in range(columns):
        for unit in (1, 1j):
            parts = [None if each is None else (each[:, column] / unit).real for each in given]
            if any(each is not None and each.any() for each in parts):
                found = laplace_sums(points, *parts, targets=targets, gradient=gradient, rtol=rtol)
                out[:, column] += unit * (found.gradient if found.gradient is not None else found.potential[:, None])
    return out


LAYERS = FastSums("fmm", "Laplace's equation", lambda green: isinstance(green, Laplace), potential_sums, 1e11)
"""For potentials at points."""


class _Check(NamedTuple):
    """Direct sums at some targets: their numbers, the sums (fields, m), the smallest norms that
    errors of potentials and gradients are compared with."""

    chosen: NDArray[np.int64]
    exact: Array
    least: Array

    @staticmethod
    def of(sources: Array, targets: Array, numbers: Array, kinds: Kinds) -> "_Check":
        chosen = np.random.default_rng(0).integers(len(targets), size=CHECKED)
        sums = direct_sums(sources)
        exact = sums(targets[chosen], numbers, kinds)
        if kinds == Kinds(True, False, False):
            absolute = sums(targets[chosen[:SIZED]], abs(numbers), kinds)
            return _Check(chosen, exact, CANCELLED[0] * np.linalg.norm(absolute, axis=1) * np.sqrt(CHECKED / SIZED))
        sizes = np.zeros((2, SIZED))
        for k, x in enumerate(targets[chosen[:SIZED]]):
            r = np.linalg.norm(sources - x, axis=1)
            inverse = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
            strength = np.zeros_like(r)
            if kinds.charges:
                strength += CANCELLED[0] * abs(numbers[0])
            if kinds.dipoles:
                strength += CANCELLED[1] * np.linalg.norm(numbers[-3:], axis=0) * inverse
            sizes[:, k] = strength @ inverse, strength @ inverse**2
        return _Check(chosen, exact, np.linalg.norm(sizes, axis=1) * np.sqrt(CHECKED / SIZED))

    def errors(self, found: Array) -> tuple[float, ...]:
        """Of the potential, and of the gradient if there is one."""
        pairs = [(found[:1], self.exact[:1]), (found[1:], self.exact[1:])][: 1 + (len(found) > 1)]
        errors = []
        for k, (each, exact) in enumerate(pairs):
            norm = max(float(np.linalg.norm(exact)), float(self.least[k]))
            change = float(np.linalg.norm(each[:, self.chosen] - exact))
            errors.append(change / norm if norm > 0 else (0.0 if change == 0 else np.inf))
        return tuple(errors)
