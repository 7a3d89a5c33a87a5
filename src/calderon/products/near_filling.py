"""Entries of a near store: blocks of sums of forms are computed chunk by chunk.

Of symmetric forms only one block of two transposed ones is computed; the other one is copied.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Execution, return_memory
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.device.local_matrices import TooLarge
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.products.device.near_filling import DeviceNumbers, NearFilling, memory_for, special_bytes
from calderon.products.near_entries import BEYOND, Search, add_entries, compiled_terms, strips_for
from calderon.products.near_file import SavedNear
from calderon.products.near_kernels import copy_images
from calderon.products.near_store import NearStore

BATCH = 50_000_000
"""Entries whose pairs of triangles are listed at a time: lists take more bytes than entries do."""
WAVES = "a multilevel fast multipole operator"

Terms = Sequence[tuple[complex, BilinearForm]]


def inside_runs(first: NDArray[np.int64], last: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """(count,) whether each number is in one of the disjoint runs first up to, without, last."""
    steps = np.bincount(first, minlength=count + 1) - np.bincount(last, minlength=count + 1)
    return np.asarray(np.cumsum(steps[:count]) > 0)


def filled_store(
    clusters: tuple[Clusters, Clusters],
    pairs: NDArray[np.int64],
    packs: bool,
    groups: Sequence[Terms],
    execution: Execution,
    saved: SavedNear | None = None,
    advance: Callable[[int, int], None] | None = None,
    devices: Sequence[Device] = (),
) -> NearStore:
    """The complex blocks of a sum of terms between row and column clusters: on a device if one computes all of them and
    has room for the local matrices of the largest, and if nothing is to be saved.

    clusters, pairs, packs: as in `NearStore.empty`. groups: as in `fill`. execution: the processor, in the precision of
    entries. saved: takes blocks that are there, and keeps the others. advance(done, total): called after each chunk.
    """
    forms = [form for terms in groups for _, form in terms]
    more = sum(special_bytes(each, execution.dtype(True)) for each in forms)
    take = memory_for(devices, forms, execution.real, WAVES, more) if saved is None else None
    store = NearStore.empty(clusters, pairs, execution.dtype(True), packs, take=take)
    if isinstance(store.memory, DeviceNumbers):
        numbers = np.arange(len(store.layout.pairs))
        try:
            NearFilling(store, execution).fill(numbers, groups, clusters, [None] * len(groups))
        except TooLarge:
            return filled_store(clusters, pairs, packs, groups, execution, saved, advance)
        if advance is not None:
            advance(1, 1)
        return store
    missing = list(range(len(store.chunks) - 1)) if saved is None else saved.restore(store)
    for done, (chunk, values) in enumerate(fill(store, missing, groups, execution), start=1):
        if saved is not None:
            saved.keep(chunk, values)
        if advance is not None:
            advance(done, len(missing))
    return store


def fill(
    store: NearStore, chunks: Sequence[int], groups: Sequence[Terms], execution: Execution
) -> Iterator[tuple[int, Any]]:
    """Compute some of the chunks of a store, and yield the number and the entries of each when it is ready.

    groups: factors and forms, those of one group on one test and one trial space; the store has their sum.
    """
    ends = store.layout.starts[store.chunks[1:]]
    batch = ends[np.asarray(chunks, np.int64)] // BATCH
    searches = Search.of(groups, execution) if len(chunks) else []
    for own in np.split(np.asarray(chunks, np.int64), np.flatnonzero(np.diff(batch)) + 1):
        return_memory()
        yield from _fill(store, own.tolist(), groups, searches, execution)
    return_memory()


def _fill(
    store: NearStore,
    chunks: Sequence[int],
    groups: Sequence[Terms],
    searches: Sequence[Search],
    execution: Execution,
) -> Iterator[tuple[int, Any]]:
    """Do as `fill` for so few chunks that there is room for the lists of all their pairs of triangles; searches: of
    each group, for special pairs."""
    layout, bounds, compiled = store.layout, store.chunks, []
    chosen = [np.arange(bounds[c], bounds[c + 1]) for c in chunks]
    if not chosen:
        return
    # the test functions of these chunks, and which blocks are transposed ones of others
    own = np.unique(layout.pairs[np.concatenate(chosen), 0])
    functions = np.zeros(len(layout.rows.order), bool)
    functions[layout.rows.order[inside_runs(layout.rows.start[own], layout.rows.stop[own], len(functions))]] = True
    images, nothing = [_images(store, own) for own in chosen], [np.full(len(own), -1) for own in chosen]
    square = _is_square(store)
    symmetric = [square and all(form.is_symmetric for _, form in terms) for terms in groups]
    # entries of all groups by strips of blocks, first those that are computed by half
    for half, terms, search in sorted(zip(symmetric, groups, searches, strict=True), key=lambda each: not each[0]):
        left = [own[image < 0] for own, image in zip(chosen, images if half else nothing, strict=True)]
        strips = strips_for(terms, layout, np.concatenate(left))
        boxes = layout.pairs[strips.numbers[strips.columns.run_starts[:-1]], 0]
        found = search.around(functions)
        compiled.append((half, strips, boxes, list(compiled_terms(terms, layout, strips, execution, found))))
    # the sum of all groups, chunk by chunk
    for c, own, image in zip(chunks, chosen, images, strict=True):
        low, high = bounds[c : c + 2]
        room = np.zeros(int(layout.starts[high] - layout.starts[low]) + BEYOND, store.kind)
        blocks = layout._replace(starts=layout.starts - layout.starts[low], room=room)
        first, last = layout.pairs[own[[0, -1]], 0]
        for half, strips, boxes, entries in compiled:
            part = slice(int(np.searchsorted(boxes, first)), int(np.searchsorted(boxes, last, side="right")))
            for factor, each in entries:
                add_entries(blocks, strips, factor, each, part)
            if half:
                copy_images(room, blocks.starts, *store.sizes, own, image)
        store.enter(own, room[:-BEYOND], blocks.starts[own])
        yield c, room[:-BEYOND]


def _is_square(store: NearStore) -> bool:
    """Whether rows and columns are the same unknowns in the same clusters."""
    sides = zip(store.layout.rows[:3], store.layout.columns[:3], strict=True)
    return all(np.array_equal(*each) for each in sides)


def _images(store: NearStore, own: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) of which of some blocks `own` (n,) each is the transposed one where all terms are symmetric: that of the row
    cluster that comes first, so that no block waits for one of another chunk; -1 for none."""
    pairs, count = store.layout.pairs[own], len(store.layout.columns.start)
    keys, wanted = pairs @ np.array([count, 1]), pairs @ np.array([1, count])
    order = np.argsort(keys, kind="stable")
    found = order[np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)]
    return np.where((pairs[:, 0] > pairs[:, 1]) & (keys[found] == wanted), own[found], -1)
