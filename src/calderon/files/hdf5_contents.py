"""The contents of an HDF5 file, name by name, and its digest.

The SHA-256 of every dataset is an attribute of it. That of the file, an attribute of the root, is taken over the names,
types, shapes and attributes of everything, these digests included, so that all bytes enter it and each is read once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.files.formats import h5py

DIGEST = "sha256"
PART = 1 << 22
"""Bytes from which a part of an array is worth a thread."""


def entries(root: h5py.Group) -> Iterator[tuple[str, h5py.Group | h5py.Dataset]]:
    """The groups and datasets of a file with their names, in order, the root first.

    ValueError for links, virtual or external datasets, and filters, all of which lead out of the file or run other
    code, and for objects with two names.
    """
    seen, pending = set[int](), [("", root)]
    while pending:
        name, each = pending.pop()
        place = h5py.h5o.get_info(each.id).addr
        if place in seen or len(seen) >= 100_000 or name.count("/") > 8:
            raise ValueError(f"{name!r} has a second name, or too many are within each other")
        seen.add(place)
        if isinstance(each, h5py.Dataset):
            _require_plain(name, each)
        elif not isinstance(each, h5py.Group):
            raise ValueError(f"{name!r} is neither a group nor a dataset")
        yield name, each
        if isinstance(each, h5py.Group):
            for below in sorted(each, reverse=True):
                if not isinstance(each.get(below, getlink=True), h5py.HardLink):
                    raise ValueError(f"{name}/{below} is a link, perhaps to another file")
                pending.append((f"{name}/{below}", each[below]))


def _require_plain(name: str, dataset: h5py.Dataset) -> None:
    """ValueError for a dataset whose numbers are not in this file as they are."""
    made = dataset.id.get_create_plist()
    if dataset.is_virtual or made.get_external_count():
        raise ValueError(f"the numbers of {name!r} are in another file")
    filters = [made.get_filter(number)[0] for number in range(made.get_nfilters())]
    if set(filters) - {h5py.h5z.FILTER_FLETCHER32}:
        raise ValueError(f"{name!r} is compressed")


class ArrayDigest:
    """SHA-256 of the bytes of an array, row by row: large parts in a thread of its own, while others are read or
    written. finite: whether all numbers are, if that is to be found out, too. half: numbers, twice as many of which
    are still in the cache of a core when they have been hashed, and whose product BLAS does not divide on threads."""

    half = 1 << 13

    def __init__(self, find_finite: bool = False) -> None:
        self._total, self._find_finite, self.finite = hashlib.sha256(), find_finite, True
        self._worker: ThreadPoolExecutor | None = None
        self._parts: list[Future[None]] = []

    def add(self, values: NDArray[Any]) -> None:
        """The next part, which must stay as it is until the digest is requested."""
        if self._worker is None and values.nbytes >= PART:
            self._worker = ThreadPoolExecutor(1, "calderon-digest")
        if self._worker is None:
            self._take(values)
        else:
            self._parts.append(self._worker.submit(self._take, values))

    def _take(self, values: NDArray[Any]) -> None:
        flat = np.ascontiguousarray(values).reshape(-1)
        nbytes = flat.view(np.uint8).data
        if not self._find_finite or values.dtype.kind not in "fc":
            self._total.update(nbytes)
            return
        flat = flat.view(flat.real.dtype)
        size, proof = flat.itemsize, 0.0
        with np.errstate(all="ignore"):
            for start in range(0, len(flat), 2 * self.half):
                half, stop = start + self.half, start + 2 * self.half
                self._total.update(nbytes[size * start : size * stop])
                if stop <= len(flat):  # NaN or infinity times any number is neither zero nor finite
                    proof += np.dot(flat[start:half], flat[half:stop])
                else:
                    proof += flat[start:].sum()
        self.finite &= isfinite(proof) or all_finite(flat)

    def text(self) -> str:
        """The digest of all parts."""
        if self._worker is not None:
            self._worker.shutdown()
        for each in self._parts:
            each.result()
        return self._total.hexdigest()


def file_digest(file: h5py.File) -> str:
    """SHA-256 over names, types, shapes and attributes of everything in a file, but for this digest."""
    total = hashlib.sha256()
    for name, each in entries(file):
        attributes = {key: _as_text(each.attrs[key]) for key in sorted(each.attrs) if name or key != DIGEST}
        is_dataset = isinstance(each, h5py.Dataset)
        layout = [each.dtype.str, list(each.shape)] if is_dataset else None
        total.update(json.dumps([name, layout, attributes]).encode() + b"\n")
    return total.hexdigest()


def _as_text(value: Any) -> Any:
    """An attribute in a form that tells all values apart."""
    if isinstance(value, str):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return ["texts", list(array.shape), [str(each) for each in array.ravel()]]
    return [array.dtype.str, list(array.shape), array.tobytes().hex()]


def all_finite(values: NDArray[Any]) -> bool:
    """Whether no number is infinite or NaN; a sum that is finite is a fast proof."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())
