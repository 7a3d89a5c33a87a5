"""Touching and near pairs of triangles on interfaces: the direct part by the rules of free space, the rest from tables.

What is left of Green's functions varies over the distance of the next image: its rule follows from the distance of
both triangles and that of the images, over their size.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution
from calderon.backends.threads import in_parts
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.block import Block
from calderon.galerkin.edge_block import EdgeBlock
from calderon.galerkin.layered.equal_pieces import equal_pieces
from calderon.galerkin.layered.metal import CLOSE, LayeredMetal
from calderon.galerkin.layered.pair_sums import near_products
from calderon.galerkin.layered.parallel_triangles import image_products, panel_rules
from calderon.galerkin.rows.special_pairs import SpecialPairs
from calderon.greens import Helmholtz
from calderon.integrands import ELECTRIC_FIELD
from calderon.layers.limits.images import FARTHEST
from calderon.mesh.geometry import extents
from calderon.pairs.classes import near_pairs, touching_pairs
from calderon.quadrature import Quadrature, TriangleRule, triangle_rule
from calderon.spaces import EdgeSpace

DEGREES = ((4.0, 6), (2.0, 8), (1.3, 10), (0.8, 14), (0.0, 20))
"""(ratio of distance to size, degree of the rule for what is left): from that ratio on."""
Index = NDArray[np.int64]
TOGETHER = 1 << 17
"""Pairs whose products are in memory together."""


@dataclass(frozen=True)
class LayerGreen(Helmholtz):
    """A singular part of the Green's functions of layers: current times G in G_xx, charge times G in K; k0 of vacuum in
    1/m; test: real factors of the horizontal and the vertical components and of the divergences of test functions."""

    current: complex = 1.0
    charge: complex = 1.0
    k0: float = 1.0
    test: tuple[float, float, float] = (1.0, 1.0, 1.0)


class LayerBlock(EdgeBlock):
    """i k0 int int (current G f . g - charge G div f div g / k0^2) of a `LayerGreen`."""

    def _coefficients(self, factor: complex) -> NDArray[np.float64]:
        green: Any = self.green
        re, im, *_ = super()._coefficients(factor)
        alpha = complex(re, im) * green.current * green.k0 / green.wavenumber
        charge = complex(4 * green.charge / green.current / (green.k0 / self.scale) ** 2)
        return np.array([alpha.real, alpha.imag, charge.real, charge.imag])

    def fields(self, test: bool, which: slice = slice(None)) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        values, charges = super().fields(test, which)
        across, along, charge = self.green.test if test else (1.0, 1.0, 1.0)
        return values * np.array([across, across, along]), charges * charge


@dataclass(frozen=True, eq=False)
class LayerForm(BilinearForm):
    """The form of a `LayerGreen`."""

    block: ClassVar[type[Block]] = LayerBlock


def near_matrix(
    metal: LayeredMetal, quadrature: Quadrature, functions: Index | None = None
) -> tuple[sp.csr_array, NDArray[np.int32]]:
    """The sparse matrix (dimension, dimension) of all special pairs, and these pairs (n, 2) of rows i <= j; functions:
    of those pairs alone of which one triangle carries one of these."""
    space, corners = metal.space, metal.corners
    # pairs that touch, and near ones with their distances
    numbers = space.mesh.vertex_places[space.mesh.triangles[space.triangles]]
    touching = touching_pairs(numbers, numbers, True).pairs
    near, ratio = near_pairs(corners, corners, (numbers, numbers), quadrature.near, True)
    pairs = np.concatenate([touching, near])
    distance = np.concatenate([np.zeros(len(touching)), ratio])
    pieces = equal_pieces(metal) if functions is None else None
    wanted: Any = () if functions is None else functions
    carries: Any = np.isin(space.dofs, wanted).any(axis=1)

    def kept(some: NDArray[Any]) -> Any:
        """(n,) which pairs of rows (n, 2) are integrated."""
        if functions is not None:
            return carries[some].any(axis=1)
        return np.full(len(some), True) if pieces is None else pieces.kept(some)

    # those that are integrated: of equal pieces only the first one's
    own = kept(pairs)
    chosen, distance = pairs[own], distance[own]
    pairs = chosen if pieces is None else pieces.all_pairs(chosen)
    # both parts of the Green's functions, then copies for equal pieces
    half = sp.csr_array((space.dimension,) * 2, dtype=complex)
    for low in range(0, len(chosen), TOGETHER):
        some = slice(low, low + TOGETHER)
        half = half + scattered(space, chosen[some], _indirect(metal, chosen[some], distance[some]))
    used = np.full(len(corners), False)
    used[chosen] = True
    for number in np.flatnonzero(~metal.thin.diagonal()):
        rows = np.flatnonzero(used & (metal.flat.heights == number))
        if len(rows):
            half = half + _direct(metal, int(number), rows, quadrature, kept)
    whole = (half + half.T).tocsr()
    return whole if pieces is None else pieces.copied(whole), pairs


def _indirect(metal: LayeredMetal, pairs: NDArray[np.int32], distance: NDArray[np.float64]) -> NDArray[np.complex128]:
    """(n, 3, 3) products of local functions of pairs without the direct part; next to thin layers with it. distance: of
    the triangles over their size."""
    one, two = metal.flat.heights[pairs].T
    size = extents(metal.corners).size[pairs].max(axis=1)
    away, image = (
        (each[one, two] / size) for each in (np.abs(metal.heights[:, None] - metal.heights), metal.image_distances)
    )
    across = np.sqrt(np.maximum(distance**2 - away**2, 0.0))
    out = np.empty((len(pairs), 3, 3), complex)
    thin = metal.thin[one, two]
    close, ratio = thin & (across < CLOSE), np.hypot(distance, image)
    ratio[close] = np.hypot(distance[close], FARTHEST)
    ratio[thin & ~close] = distance[thin & ~close]
    bounds, degrees = np.array(DEGREES).T
    which = np.searchsorted(-bounds, -ratio)
    for whole in (False, True):
        for number, degree in enumerate(degrees.astype(int)):
            chosen = np.flatnonzero((which == number) & ((thin & ~close) == whole))
            if len(chosen):
                out[chosen] = products_of_pairs(metal, pairs[chosen], triangle_rule(degree), whole)
    if close.any():
        out[close] += _of_images(metal, np.ascontiguousarray(pairs[close]))
    return out


def _of_images(metal: LayeredMetal, pairs: NDArray[np.int32]) -> NDArray[np.complex128]:
    """(n, 3, 3) what static images add."""
    k0, values = metal.sections.k0, np.zeros((len(pairs), 9), complex)

    def work(low: int, high: int) -> None:
        image_products(pairs, low, high, metal.flat, metal.images, panel_rules(), 1j * k0, metal.charge, values)

    in_parts(work, len(pairs), most=64)
    return values.reshape(-1, 3, 3)


def products_of_pairs(
    metal: LayeredMetal, pairs: NDArray[np.int32], rule: TriangleRule, whole: bool
) -> NDArray[np.complex128]:
    """(n, 3, 3) products of pairs by one rule; whole: with the direct part."""
    k0, values = metal.sections.k0, np.empty((len(pairs), 9), complex)
    rows, places = np.unique(pairs, return_inverse=True)
    flat, own = metal.flat.taken(rows), places.reshape(-1, 2).astype(np.int32)
    given = whole, flat, flat.points(rule), 2 * rule.weights, metal.joined, 1j * k0, metal.charge, values
    in_parts(lambda low, high: near_products(own, low, high, *given), len(own), most=64)
    return values.reshape(-1, 3, 3)


def _direct(
    metal: LayeredMetal, number: int, rows: Index, quadrature: Quadrature, kept: Callable[[NDArray[Any]], Any]
) -> sp.csr_array:
    """The direct part of the special pairs that are kept of some rows at one height, in one order."""
    part, k0 = metal.space.taken(rows), metal.sections.k0
    direct = metal.tables[metal.pairs.index((number, number))].direct
    green = LayerGreen(direct.k_xx, direct.xx, direct.K * metal.charges, k0)
    form = LayerForm(green, ELECTRIC_FIELD, part, part, quadrature)
    special = SpecialPairs.of(form, Execution.of("numba", "double"))
    half, some = sp.csr_array((metal.space.dimension,) * 2, dtype=complex), list[Any]()
    which = [kept(rows[special.test.triangles[each.pairs.triangles]]) for each in special.batches]
    batches = [each.part(np.flatnonzero(own)) for each, own in zip(special.batches, which, strict=True)]
    shares = [each.part(slice(low, low + TOGETHER)) for each in batches
              for low in range(0, len(each.rules), TOGETHER)]  # fmt: skip
    for number, share in enumerate(shares, start=1):
        some.append(share)
        if number == len(shares) or sum(len(each.rules) for each in some) >= TOGETHER:
            half = half + scattered(part, special.test.triangles[special.triangles(some)], special.values(some))
            some.clear()
    return half


def scattered(space: EdgeSpace, pairs: NDArray[Any], local: NDArray[np.complex128]) -> sp.csr_array:
    """Half of a symmetric matrix, which is that and its transposed, of products (n, 3, 3) of pairs (n, 2) of rows."""
    i, j = pairs.T
    dofs = space.dofs.astype(np.int32)
    rows = np.repeat(dofs[i], 3, axis=1).ravel()
    columns = np.tile(dofs[j], (1, 3)).ravel()
    values = (local * np.where(i == j, 0.5, 1.0)[:, None, None]).ravel()
    kept = (rows >= 0) & (columns >= 0)
    return sp.coo_array((values[kept], (rows[kept], columns[kept])), (space.dimension,) * 2).tocsr()
