"""Estimates of operators by plane waves, before memory is taken, and which leaves and numbers are tried."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from calderon.backends import free_memory
from calderon.mlfmm.channels import factorised, is_of_currents, table_of
from calderon.mlfmm.check import rows_checked
from calderon.mlfmm.degrees import guess, other_green
from calderon.mlfmm.equivalent.cubes import SUMS, Cubes, likely_points, nested_of
from calderon.mlfmm.levels import Degrees
from calderon.mlfmm.medium import LEAVES, Medium, loosened
from calderon.mlfmm.spectrum import Grid
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.boundary import in_transformed_form
from calderon.operators.memory_estimate import given_bytes, preparation_bytes
from calderon.operators.methods import Plan
from calderon.operators.tree import Term, integrals_of, local_matrix, terms_key, terms_of
from calderon.products.cost import BLOCKS, HALO, Cost, entry_flops, row_flops, touching_flops
from calderon.products.cost import SINGLE as SINGLE_COST
from calderon.products.packed import PACKED
from calderon.quadrature import triangle_rule
from calderon.solvers.iteration import tolerance

SINGLE = 8e-5
"""Tolerance from which numbers are in single precision."""
APART = 1e-20
"""Least ratio of the factors of two blocks of one medium in single precision, whose numbers end at 1e-38."""
FINE = 9e-6
"""Tolerance from which the quadrature of charges has degree 3 in double precision, not 4."""
ACCEPTED = {"double": 1e-9, "single": SINGLE}
"""Smallest tolerance by precision."""


class Trials(NamedTuple):
    """Which leaves are tried.

    share: error of a level, by the tolerance, that is tried first: near entries are exact, and errors of levels are not
    of one sign. larger, most, usual: ratio of the edges of leaves that are tried, how many, and the least one, but for
    the first. largest_low: edge in wavelengths up to which boxes may have equivalent sources. highest: degree of plane
    waves at most: above, one translation takes 200 MB.
    """

    share: float = 6.0
    larger: float = 1.4
    most: int = 6
    usual: float = 0.35
    largest_low: float = 0.7
    highest: int = 2500


class Work(NamedTuple):
    """Counts of the work and the memory of set-ups and products.

    direction: flops of a direction of a pair of boxes: a complex product and sum, 8, and what waits for memory
    meanwhile; it is the unit of `LEAVES.pair` and `LEAVES.point`. preparation: products that take as long as finding
    degrees with samples of charges, and checking them with four columns. calls, call: operations outside compiled code
    of a set-up, and of a product: over levels, octants and groups of boxes. tried: attempts that are expected: with
    numbers in single precision, from `FINE` on, and below it. packed: bytes of a near entry in 16 bits, with exponents.
    """

    direction: int = 12
    preparation: int = 10
    calls: float = 4e5
    call: float = 1e4
    tried: tuple[float, float, float] = (1.0, 1.5, 2.5)
    packed: float = 4.4


TRIALS, WORK = Trials(), Work()
ADVICE = "use method='hmatrix', or increase rtol"


class Attempt(NamedTuple):
    """The setting of an attempt. edge: of the smallest leaves, in wavelengths. real: type of real numbers. share: error
    of a level by the tolerance. mixed: whether smaller boxes may have equivalent sources."""

    edge: float
    real: Any
    share: float = TRIALS.share
    mixed: bool = True


def rtol_of(rtol: float | None, precision: str) -> float:
    """A tolerance that can be held; ValueError for others."""
    wanted = 1e-3 if rtol is None else tolerance(rtol, example="1e-3")
    least = ACCEPTED[precision]
    if wanted < least:
        more = ", or precision='double'" if precision == "single" else ""
        raise ValueError(
            f"rtol={wanted:g}: plane waves hold {least:g} and above with precision={precision!r}: increase rtol{more}"
        )
    return wanted


def needs_double(operator: BoundaryOperator, rtol: float, precision: str) -> bool:
    """Whether numbers are in double precision: for small tolerances, and for blocks whose largest factors are so far
    apart that the smaller ones would be lost. ValueError for these where single precision is requested."""
    ends = list[tuple[float, float]]()
    for group in groups_in(operator).values():
        sizes = dict[Any, float]()
        for term in group.terms:
            sizes[_part_of(term)] = max(abs(term.factor), sizes.get(_part_of(term), 0.0))
        if found := [each for each in sizes.values() if each]:
            ends.append((min(found), max(found)))
    least, most = min(ends, key=lambda each: each[0] / each[1], default=(1.0, 1.0))
    if least >= APART * most:
        return precision == "double" and rtol < SINGLE
    if precision == "single":
        raise ValueError(
            f"method='mlfmm' in single precision loses blocks whose factors are {least:.1g} and {most:.1g}: they may "
            f"be {1 / APART:.0e} apart; use precision='double', or scale rows and unknowns to like sizes"
        )
    return True


def attempts(rtol: float, precise: bool = False) -> Iterator[Attempt]:
    """Leaves of growing size: plane waves of small boxes cancel, and equivalent sources of large ones are rough.
    precise: whether numbers are in double precision whatever the tolerance."""
    real = np.float32 if rtol >= SINGLE and not precise else np.float64
    digits = -math.log10(rtol)
    edge = 0.33 if rtol >= 9e-4 else 0.5 if rtol >= SINGLE else max(0.35, 0.35 + 0.13 * (digits - 5))
    for _ in range(TRIALS.most):
        yield Attempt(edge, np.dtype(real), mixed=edge <= TRIALS.largest_low)
        edge = TRIALS.larger * max(TRIALS.usual, edge)


def degree_of(rtol: float, terms: Sequence[Term]) -> int:
    """Degree of the quadrature of charges at first, at most that of the operators."""
    wanted = 2 if rtol >= SINGLE else 3 if rtol >= FINE else 4
    if wanted == 2 and quadratic_error(terms) > 0.3 * rtol:
        wanted = 3
    return min(wanted, *(term.atom.quadrature.regular for term in terms))


def quadratic_error(terms: Sequence[Term]) -> float:
    """Relative error of products with a plane wave whose charges have the quadrature of degree 2, the root mean square
    over the surface with the coarser triangles: 1.9e-4 (k h / 1.05)^3.4 for the longest edge h of triangles, measured
    on spheres of 7 to 14 elements a wavelength, for electric and combined fields."""
    found, size, kh, power = 0.0, 1.9e-4, 1.05, 3.4
    for mesh in {id(side.mesh): side.mesh for term in terms for side in (term.atom.test, term.atom.trial)}.values():
        ratio = abs(complex(terms[0].atom.green.wavenumber)) * mesh.diameters / kh
        found = max(found, size * float(np.sqrt(np.average(ratio ** (2 * power), weights=mesh.areas))))
    return found


def media_of(operator: BoundaryOperator) -> tuple[dict[Any, list[Term]], list[Term]]:
    """Integral operators by their wavenumber, as one medium takes them, and all other terms. A medium takes plain
    terms, and transposed ones of a part of the matrix whose mirror image has the same terms plain. Hypersingular
    operators of functions that do not vanish at the boundary of their surface are in the transformed form: integrals by
    parts leave out the line charges there that normal derivatives of whole functions have."""
    # plain and transposed terms of each part of the matrix
    terms, parts = [_by_parts(term) for term in terms_of(operator)], dict[Any, tuple[set[Any], set[Any]]]()
    for term in terms:
        parts.setdefault(_part_of(term), (set(), set()))[term.transposed].add((term.atom.key, term.factor))
    # terms of integral operators by their medium
    media, others = dict[Any, list[Term]](), list[Term]()
    for term in terms:
        plain, transposed = parts[_part_of(term)]
        if not is_integral(term) or (term.transposed and plain != transposed):
            others.append(term)
        else:
            media.setdefault(group_of(term), []).append(term)
    return media, others


class Group(NamedTuple):
    """Terms with one wavenumber, which one medium takes; shape: of the matrix that they are parts of."""

    terms: list[Term]
    shape: tuple[int, int]

    @property
    def key(self) -> Any:
        """A key that is equal for groups with the same matrix."""
        return self.shape, terms_key(self.terms)


def groups_in(operator: Any) -> dict[Any, Group]:
    """All groups of terms of an expression and of those that its atoms are made of, by their keys."""
    media, others = media_of(operator)
    groups = [Group(terms, operator.shape) for terms in media.values()]
    found = {each.key: each for each in groups}
    for term in others:
        for inner in (term.atom,) if is_integral(term._replace(conjugated=False)) else term.atom.expressions:
            found |= groups_in(inner)
    return found


def _by_parts(term: Term) -> Term:
    """A term in the transformed form, where that is another one for waves."""
    atom = term.atom
    reaches = is_integral(term) and atom.integrand.curls and (atom.test.reaches_boundary or atom.trial.reaches_boundary)
    return term._replace(atom=in_transformed_form(atom)) if reaches else term


def is_integral(term: Term) -> bool:
    """Whether a term is an integral operator or a transposed one, times a factor."""
    return bool(term.atom.is_leaf and not term.atom.is_local and not term.conjugated)


def group_of(term: Term) -> Any:
    """Equal for terms that share plane waves or equivalent sources: the wavenumber, or a Green's function that is no
    wave."""
    green = term.atom.green
    other = other_green(green)
    return complex(green.wavenumber) if other is None else other


def _part_of(term: Term) -> tuple[Any, ...]:
    """Wavenumber and first row and column of a term, or of the mirror image of a transposed one."""
    k = group_of(term) if is_integral(term) else None
    return k, *((term.left, term.top) if term.transposed else (term.top, term.left))


class Choice(NamedTuple):
    """The number of an attempt, its estimate, and its media by the keys of their groups."""

    number: int
    plan: Plan
    media: dict[Any, Medium]


def chosen(operator: BoundaryOperator, rtol: float, tried: Sequence[Attempt], most: float = math.inf) -> Choice:
    """The first attempt whose leaves have plane waves and equivalent sources for the tolerance, with these, unless they
    do not fit into memory; the first one where no attempt has any. most: bytes of waves above which they are not
    prepared, and the first attempt is likely to hold the tolerance."""
    found: Choice | None = None
    for number, attempt in enumerate(tried):
        plan, media = estimate(operator, rtol, attempt)
        found = found or Choice(number, plan, media)
        parts = [_part(medium, rtol) for medium in media.values()]
        if plan.nbytes > free_memory() or sum(part.waves for part in parts) > most:
            break
        if all(medium.fill_far(attempt.share * rtol, degree_of(rtol, medium.terms)) for medium in media.values()):
            return Choice(number, _plan(operator, rtol, attempt, media), media)
    assert found is not None
    return found


def estimate(operator: BoundaryOperator, rtol: float, attempt: Attempt) -> tuple[Plan, dict[Any, Medium]]:
    """The estimate of an attempt, from its trees, and the media with these by the keys of their groups."""
    edge, real, _, mixed = attempt
    made = {key: Medium(*group, edge, real, mixed) for key, group in groups_in(operator).items()}
    return _plan(operator, rtol, attempt, made), made


def _plan(operator: BoundaryOperator, rtol: float, attempt: Attempt, media: dict[Any, Medium]) -> Plan:
    """The plan of these media, from the plane waves that they have, or from likely ones where they have none yet."""
    parts = [_part(medium, rtol) for medium in media.values()]
    nbytes = (
        sum(each.near + each.waves for each in parts)
        + max(each.passing for each in parts)
        + preparation_bytes(operator)
        + given_bytes(operator)
    )
    times = WORK.tried[0 if attempt.real == np.float32 else 1 if rtol >= FINE else 2]
    setup = sum((each.near_cost + times * each.far_cost for each in parts), Cost(calls=times * WORK.calls))
    product = sum((each.product for each in parts), Cost(nbytes=given_bytes(operator), calls=WORK.call))
    levels, half, full, low = max((each.levels for each in parts), default=(0, 0, 0, 0))
    text = f"{levels} levels" if levels else "all leaves are neighbours"
    text += f", degrees to {half} and {full}" if full else ""
    text += f", {low} of them low-frequency ones" if low else ""
    numbers = "single" if attempt.real == np.float32 else "double"
    return Plan("mlfmm", int(nbytes), setup.seconds, product.seconds, text, numbers)


class Part(NamedTuple):
    """The estimate of a wavenumber group.

    near, waves, passing: bytes of near entries, of waves that stay, and of those that pass. near_cost: of near entries
    and of the rows of the check; far_cost: of waves, once for each attempt; product: of a product. levels: their
    number, the largest degrees, and how many of them have equivalent sources.
    """

    near: float
    waves: float
    passing: float
    near_cost: Cost
    far_cost: Cost
    product: Cost
    levels: tuple[int, int, int, int]


def _part(medium: Medium, rtol: float) -> Part:
    """The estimate of one wavenumber group, from the coarsest level with separated boxes to the leaves and the points
    there, with the degrees that it has, or else likely ones. ValueError where the bodies are too far from each
    other."""
    real, tree, lists = medium.real, medium.tree, medium.lists
    size, cube = real.itemsize, Cubes(likely_points(rtol), nested_of(medium.green)).size
    spectra, sums = (2, SUMS) if any(is_of_currents(term) for term in medium.terms) else (1, 1)
    columns = factorised(table_of(medium.terms, not medium.least)[2])[0].shape[2]
    # bytes that stay and that pass, work of a product, levels as in Part, and directions of a leaf
    stay, passing, work, found, leaf = 0.0, 0.0, 0.0, (0, 0, 0, 0), 0
    level_of = tree.level[lists.far.target]
    for n, (low, high) in enumerate(tree.runs_of_levels()):
        pairs = int((level_of == n).sum())
        if not pairs and not found[0]:
            continue
        edge = 0.5**n * tree.cube.edge
        if edge < medium.least:  # equivalent sources
            found, leaf = (found[0] + 1, *found[1:3], found[3] + 1), cube * sums
            stay += (33 * cube**2 + 4 * (high - low) * columns * sums * cube) * 2 * size + 16 * pairs
            work += LEAVES.pair * pairs * columns * sums * cube**2
            continue
        half, full = (Grid(each) for each in medium.degrees.get(n) or _likely_degrees(medium, edge, rtol))
        if pairs and full.degree > TRIALS.highest:
            raise ValueError(
                f"method='mlfmm': the bodies lie in a cube of {tree.cube.edge * abs(medium.k) / (2 * math.pi):.0f} "
                f"wavelengths, whose plane waves need degree {full.degree}, and {TRIALS.highest} is the largest one: "
                "use method='hmatrix' for small bodies that are far apart, or solve parts"
            )
        found, leaf = (found[0] + 1, max(found[1], half.degree), max(found[2], full.degree), 0), half.count * spectra
        count = spectra * columns
        stay += 316 * 2 * full.pitch(real) * size if pairs else 0
        passing = max(passing, (high - low) * count * 2 * full.pitch(real) * size)
        stay += 2 * (high - low) * count * 2 * half.pitch(real) * size + 24 * pairs
        work += LEAVES.pair * pairs * count * full.count
    # the points of charges and tests, and near entries
    points = _points(medium, rtol)
    waves = medium.nbytes if medium.far is not None else stay + points * (15 + 30 * columns) * spectra
    flops = WORK.direction * size / 4 * (work + LEAVES.point * points * leaf)
    packs = size == 4 and rtol >= PACKED
    near = sum(medium.near_counts) * (WORK.packed if packs else 2 * size)
    setup = Cost((SINGLE_COST if size == 4 else 1.0) * _near_flops(medium, rtol))
    return Part(near, waves, passing, setup, Cost(WORK.preparation * flops), Cost(flops, BLOCKS * near), found)


def _likely_degrees(medium: Medium, edge: float, rtol: float) -> Degrees:
    """Degrees of a level with boxes of an edge in m, without a search."""
    kd = abs(medium.k) * edge * math.sqrt(3) * (1.15 if edge * abs(medium.k) < 4 else 1.0)
    return Degrees(guess(kd / 2, rtol), guess(kd, rtol))


def _points(medium: Medium, rtol: float) -> int:
    """Points of the charges and of the tests of a group."""
    degree = degree_of(rtol, medium.terms) if medium.waves is None else medium.waves.degree
    sides = [dict.fromkeys(getattr(term.atom, side) for term in medium.terms) for side in ("trial", "test")]
    return triangle_rule(degree).number_of_points * sum(len(each.triangles) for side in sides for each in side)


def _near_flops(medium: Medium, rtol: float) -> float:
    """Flops of near entries and of the rows of the check, in double precision."""
    flops, share = 0.0, rows_checked(medium.shape) / medium.shape[0]
    near_rtol = rtol if medium.real == np.float32 else 0.0
    for entries, alike in zip(medium.near_counts, medium.alike, strict=True):
        checked = share * math.prod(alike.terms[0].shape) * len(alike.regions)
        for each in alike.terms:
            flops += entries * entry_flops(loosened(each, near_rtol).atom)
            flops += touching_flops(each.atom) + checked * row_flops(each.atom) / HALO
    return flops


def local_of(operator: BoundaryOperator) -> sp.csr_array | None:
    """The sparse part of an expression; None where other parts are not plain integral operators."""
    if not all(term.atom.is_local for term in media_of(operator)[1]):
        return None
    return local_matrix(operator)


def require_waves(operator: BoundaryOperator) -> None:
    """Raise ValueError for an expression with other equations, or without an integral."""
    integrals = integrals_of(operator)
    for each in integrals:
        if each.is_own:
            raise ValueError(
                f"method='mlfmm' has no expansion of {each!r}, a form of yours: choose 'hmatrix' or 'dense'"
            )
        k = complex(getattr(each.green, "wavenumber", 0))
        if (k == 0 or k.real < 0 or other_green(each.green) is not None) and not is_radial(each):
            raise ValueError(
                "method='mlfmm' is for operators of Helmholtz's and Maxwell's equations with Re k >= 0, k not 0, and "
                f"other functions of the distance, got {each!r}: choose 'hmatrix' or 'dense', for Laplace's equation "
                "'fmm'"
            )
    if not integrals:
        raise ValueError(f"method='mlfmm' is for operators with an integral, got {operator!r}")


def is_radial(integral: Any) -> bool:
    """Whether an integral operator has equivalent sources of a Green's function that is no wave: one with a value and a
    slope, of functions with one component."""
    other = other_green(integral.green)
    known = other is not None and callable(getattr(other, "radial", None))
    return known and other.radial(math.inf).orders == (1, 3) and not integral.is_elastic


def require_device_waves(operator: BoundaryOperator) -> None:
    """Raise ValueError for functions of the distance that are no waves, which devices do not multiply."""
    for each in integrals_of(operator):
        if other_green(each.green) is not None:
            raise ValueError(
                f"method='mlfmm' multiplies {each.green!r}, which is no wave, on the CPU: leave out backend=, or "
                "choose 'hmatrix'"
            )
