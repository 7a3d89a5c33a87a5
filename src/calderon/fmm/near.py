"""Entries between the pieces of functions in neighbouring leaves, as a near store."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Execution, run_tasks, thread_count
from calderon.backends.numba import kernel
from calderon.fmm.layout import Layout
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.device.local_matrices import LIMITS, TooLarge
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.products.device.near_filling import DeviceNumbers, NearFilling, memory_for, special_bytes
from calderon.products.near_entries import empty_blocks, fill_blocks
from calderon.products.near_store import NearStore
from calderon.spaces.pieces import Pieces

SCRATCH_BYTES = 256_000_000
"""Bytes of entries of touching and near pairs of triangles that are held at a time; a device holds more of them."""
BLOCK_BYTES = 256_000_000
"""Bytes of blocks that are computed at a time: parts of some leaves repeat what the leaves around them need."""


def near_store(
    form: BilinearForm,
    factor: complex,
    layout: Layout,
    execution: Execution,
    kind: Any = None,
    work: Any = None,
    packs: bool = False,
    devices: Sequence[Device] = (),
) -> NearStore:
    """Entries of factor * form between the pieces in neighbouring leaves, of symmetric forms one block of two.

    Touching and near pairs of triangles are held for some leaves at a time. execution: what computes entries, in its
    precision; kind, work: real types of stored entries and of sums, those of the execution unless given; packs: whether
    entries are kept in 16 bits. devices: the one that computes entries, where they stay, if there is one that has room
    and the form has kernels for it.
    """
    sides = layout.rows.pieces(form.test), layout.columns.pieces(form.trial)
    lists, symmetric = layout.lists, form.is_symmetric
    pairs = np.empty((len(lists.near), 2), np.int64)
    count = put_pairs(lists.near_start, lists.near, sides[0].starts, sides[1].starts, symmetric, pairs)
    pairs = pairs[:count]
    clusters = _clusters(sides[0]), _clusters(sides[0] if symmetric else sides[1])
    components = getattr(form.trial, "components", 1)
    special = special_bytes(form, execution.dtype(False))
    scratch = max([SCRATCH_BYTES, *(each.memory() // LIMITS.share for each in devices[:1])])
    more = min(scratch, special)
    take = memory_for(devices, [form], execution.real, "a fast multipole operator", more)
    store = NearStore.empty(
        clusters, pairs, execution.real if kind is None else kind, packs, (sides[0].dimension, sides[1].dimension),
        symmetric, components, execution.real if work is None else work, take,
    )  # fmt: skip
    # leaves whose touching and near pairs are held at a time; several are filled side by side,
    # as one thread makes most of their lists (last digits of entries depend on which are filled together)
    lines = 1 if take is not None else 4 if thread_count() >= 8 else 2  # a device is asked by one thread
    most = (2 if symmetric else 1) * (SCRATCH_BYTES if take is None else scratch) // lines
    pairs_of = np.cumsum(layout.rows.counts) * (special // max(1, len(form.test.triangles)))
    share = pairs_of // most
    if take is None and not _in_place(store, execution):  # blocks are made before they are stored
        entries = np.cumsum(np.bincount(pairs[:, 0], np.diff(store.layout.starts), len(layout.rows.counts)))
        blocks = entries.astype(np.int64) * execution.dtype(False).itemsize
        share = np.maximum(share, (blocks - 1) // (BLOCK_BYTES // lines))
    waiting = iter(np.unique(share).tolist())

    def line(_: int) -> None:
        for number in waiting:  # shared: each number comes once
            for same in (True, False) if symmetric else (False,):
                _fill(store, form, factor, layout, sides, execution, share == number, (number, same))

    try:
        run_tasks(line, lines)
    except TooLarge:
        return near_store(form, factor, layout, execution, kind, work, packs)
    return store


def _in_place(store: NearStore, execution: Execution) -> bool:
    """Whether entries are stored as they are computed."""
    return not store.is_packed and store.kind == execution.dtype(store.parts == 2)


@kernel
def put_pairs(starts, near, rows, columns, half, pairs):
    """Fill pairs with the row and the column leaf of near blocks, and return how many there are.

    starts, near: of `Lists`; rows, columns (leaves + 1,): where the functions of each leaf begin, of which some have
    none; half: whether the row leaf is not behind the column leaf.
    """
    count = 0
    for i in range(starts.size - 1):
        for n in range(starts[i], starts[i + 1] if rows[i + 1] > rows[i] else starts[i]):
            j = near[n]
            if columns[j + 1] > columns[j] and (i <= j or not half):
                pairs[count, 0], pairs[count, 1] = i, j
                count += 1
    return count


def _clusters(pieces: Pieces) -> Clusters:
    """The pieces of each leaf, with the function of each as its unknown."""
    return Clusters(pieces.whole, pieces.starts[:-1], pieces.starts[1:])


def _fill(
    store: NearStore,
    form: BilinearForm,
    factor: complex,
    layout: Layout,
    sides: tuple[Pieces, Pieces],
    execution: Execution,
    own: NDArray[np.bool_],
    key: tuple[Any, ...],
) -> None:
    """Enter the blocks of the row leaves `own` (leaves,); of symmetric forms those with columns in `own`, too, where
    key[1], or else all others. key: of the search for special pairs in layout.searches."""
    pairs, same = store.layout.pairs, key[1]
    chosen = own[pairs[:, 0]]
    if store.half:
        chosen &= own[pairs[:, 1]] == same
    numbers = np.flatnonzero(chosen)
    if not len(numbers):
        return
    # the form on the triangles of these leaves alone
    test, trial = (
        side.within(own if same else np.isin(np.arange(len(own)), leaves))
        for side, leaves in zip(sides, pairs[numbers].T, strict=True)
    )
    part = replace(form, test=test, trial=test if same else trial)
    # entries between pieces, which are the unknowns here
    rows = Clusters(np.arange(sides[0].starts[-1]), *store.layout.rows[1:3])
    columns = rows if store.half else Clusters(np.arange(sides[1].starts[-1]), *store.layout.columns[1:3])
    if isinstance(store.memory, DeviceNumbers):
        terms = [[(factor, part)]]
        key = (*key, store.memory.device.name)
        found = NearFilling(store, execution).fill(numbers, terms, (rows, columns), [layout.searches.get(key)])
    else:
        place = _in_place(store, execution)
        made = empty_blocks([(factor, form)], rows, columns, pairs[numbers], execution) if not place else None
        blocks = store.in_place(numbers, rows, columns) if made is None else made
        found = fill_blocks(blocks, np.arange(len(numbers)), [(factor, part)], execution, layout.searches.get(key))
        if made is not None:
            store.enter(numbers, made.numbers, made.starts[:-1])
    if layout.several and found is not None:
        layout.searches[key] = found
