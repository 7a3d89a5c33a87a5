"""Fields between the points of separated leaves: from charges at sources to fields at targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vectors import aligned, width
from calderon.fmm.lists import Lists
from calderon.fmm.octree import Octree
from calderon.fmm.translations import in_parts
from calderon.mlfmm.degrees import Degrees, Samples, Search, radii
from calderon.mlfmm.levels import Level, Patterns, Traversal, pairs_of_levels
from calderon.mlfmm.patterns import POINTS, emission_kernel, reception_kernel
from calderon.mlfmm.points import Points
from calderon.mlfmm.spectrum import Grid

KINDS = {"value": 1, "gradient": 3, "mixed": 1, "electric": 3, "magnetic": 3}
"""Components of charges and of fields. Out: charges; dipoles d, that is d.grad_y; charges with dipoles along normals;
currents J; d x J. In: value; gradient; value with normal derivative; E = (I - d d) J; d x J. Scalars have the first
three, currents the others."""


def is_vector(kinds: Sequence[str]) -> bool:
    """Whether kinds are of currents."""
    return kinds[0] in ("electric", "magnetic")


def factors_of(kinds: Sequence[str], grid: Grid, k: complex, outward: bool) -> NDArray[np.complex128]:
    """(spectra, components, count): what the components of sources contribute to patterns; the factors of fields are
    the same with i k d instead of -i k d."""
    directions, (theta, phi) = grid.directions, grid.frame
    one = np.ones((1, 1, grid.count))
    slope = (-1j if outward else 1j) * k * directions[None]
    turned = np.stack([-phi, theta]) if outward else np.stack([phi, -theta])  # d x J, d x (p_theta, p_phi)
    parts = {"value": one, "mixed": one, "gradient": slope, "electric": np.stack([theta, phi]), "magnetic": turned}
    return np.concatenate([parts[kind].astype(complex) for kind in kinds], axis=1)


@dataclass(frozen=True, eq=False)
class Far:
    """Products with the waves between separated leaves, times 1 where charges give fields; `traversal` is shared.

    source_kinds, target_kinds: of the components of charges and fields, all of scalars or all of currents.
    """

    k: complex
    tree: Octree
    lists: Lists
    traversal: Traversal
    sources: Points
    targets: Points
    source_kinds: tuple[str, ...]
    target_kinds: tuple[str, ...]

    @cached_property
    def _leaves(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Of each level with waves the leaves, and their numbers in the level."""
        found = []
        for level in self.traversal.levels:
            own = np.flatnonzero((self.lists.leaves >= level.low) & (self.lists.leaves < level.high))
            found.append((own, self.lists.leaves[own] - level.low))
        return found

    def growth(self, level: Level) -> float:
        """Im k times the radius within which all points of a box of the level are, at least."""
        return float(np.imag(self.k) * 1.75 * level.edge)

    def product(self, charges: NDArray[Any]) -> NDArray[Any]:
        """Fields (targets, columns, components) of charges (sources, columns, components), complex."""
        columns, real = charges.shape[1], self.traversal.real
        given = np.ascontiguousarray(charges, np.result_type(real, np.complex64)).view(real)
        count = sum(KINDS[kind] for kind in self.target_kinds)
        fields = np.zeros((len(self.targets.places), columns, count), given.dtype).repeat(2, axis=2)
        outgoing, incoming = self.traversal.empty(columns), self.traversal.empty(columns)
        self._points(outgoing, given.ravel(), columns, True)
        self.traversal.run(outgoing, incoming, columns)
        self._points(incoming, fields.ravel(), columns, False)
        return fields.view(np.result_type(real, np.complex64))

    def _points(self, patterns: Patterns, numbers: NDArray[Any], columns: int, outward: bool) -> None:
        """Emission of charges, or reception of fields."""
        points, kinds = (self.sources, self.source_kinds) if outward else (self.targets, self.target_kinds)
        real, spectra, k = self.traversal.real, self.traversal.spectra, complex(self.k)
        components, lossy = sum(KINDS[kind] for kind in kinds), k.imag > 0
        run = (emission_kernel if outward else reception_kernel)(lossy, points.is_mixed)
        mix = np.ascontiguousarray(points.mix).view(float).astype(real)
        for level, (leaves, boxes), x in zip(self.traversal.levels, self._leaves, patterns, strict=True):
            if not len(leaves):
                continue
            grid, pitch, growth = level.half, level.half.pitch(real), self.growth(level)
            along, table = np.zeros((3, pitch)), np.zeros((spectra, components, 2, pitch))
            along[:, : grid.count] = k.real * grid.directions
            values = factors_of(kinds, grid, k, outward) * np.exp(growth)
            table[:, :, 0, : grid.count], table[:, :, 1, : grid.count] = values.real, values.imag
            if not outward:
                table = table.swapaxes(0, 1)
            rows, factors = aligned_rows(along, real), aligned_rows(table, real)
            size = 4 * POINTS * width(real) + 2 * pitch * (1 + columns * components)
            arguments = (points.local, points.normals, mix, points.starts, numbers, components, rows, pitch,
                         real.type(k.imag / k.real), real.type(growth), factors, leaves, boxes, x, columns,
                         spectra)  # fmt: skip

            def work(low: int, high: int, arguments: Any = arguments, size: int = size) -> None:
                run(*arguments, aligned(size, real), low, high)

            in_parts(work, len(leaves))


def aligned_rows(values: NDArray[Any], real: Any) -> NDArray[Any]:
    out = aligned(values.size, real)
    out[:] = values.ravel()
    return out


def find_degrees(
    tree: Octree, lists: Lists, k: complex, rtol: float, real: Any, sources: Points, targets: Points,
    derivatives: tuple[bool, bool],
) -> dict[int, Degrees] | None:  # fmt: skip
    """Degrees of the levels with separated boxes, and of those between them and the leaves, that hold a tolerance; None
    where numbers cannot hold it. derivatives: of the kernel, at targets and at sources."""
    pairs, runs, found = pairs_of_levels(tree, lists), tree.runs_of_levels(), dict[int, Degrees]()
    search = Search(k, real, *derivatives)
    first = next((n for n, each in enumerate(pairs) if len(each.source)), len(runs))
    for n in range(len(runs) - 1, first - 1, -1):
        edge = 0.5**n * tree.cube.edge
        share = rtol * np.exp(np.imag(k) * edge)
        if share >= 1:  # waves have decayed before they reach separated boxes of this size
            break
        low, high = runs[n]
        near, far = (side.of_boxes(tree, lists, low, high) for side in (targets, sources))
        radius = max(max(radii(near)), max(radii(far)))
        degrees: Degrees | None = Degrees(1, 1)
        if (samples := Samples.of(pairs[n], edge, near, far)) is not None:
            degrees = search.degrees(samples, radius, share)
        if degrees is None:
            return None
        below = found.get(n + 1, Degrees(1, 1))
        found[n] = Degrees(max(degrees.half, below.half), max(degrees.full, below.half))
    return found
