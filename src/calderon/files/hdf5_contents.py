"""What an HDF5 file holds, name by name, and its digest.

The SHA-256 of every dataset is an attribute of it. That of the file, an attribute of the root, is taken over the names,
types, shapes and attributes of everything, these digests included, so that all bytes enter it and each is read once.
"""

import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

DIGEST = "sha256"
PART = 1 << 22
"""Bytes from which a part of an array is worth a thread."""
DEPTH, ENTRIES = 8, 100_000
"""Largest number of groups within each other, and of names in a file."""


def entries(root: h5py.Group) -> Iterator[tuple[str, h5py.Group | h5py.Dataset]]:
    """The groups and datasets of a file with their names, in order, the root first.

    ValueError for links, virtual or external datasets, and filters, all of which lead out of the file or run other
    code, and for objects with two names.
    """
    seen, pending = set[int](), [("", root)]
    while pending:
        name, each = pending.pop()
        place = h5py.h5o.get_info(each.id).addr
        if place in seen or len(seen) >= ENTRIES or name.count("/") > DEPTH:
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
    written."""

    def __init__(self) -> None:
        self._total = hashlib.sha256()
        self._worker: ThreadPoolExecutor | None = None
        self._parts: list[Future[None]] = []

    def add(self, values: NDArray[Any]) -> None:
        """The next part, which must stay as it is until the digest is asked for."""
        data = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
        if self._worker is None and len(data) >= PART:
            self._worker = ThreadPoolExecutor(1, "calderon-digest")
        if self._worker is None:
            self._total.update(data)
        else:
            self._parts.append(self._worker.submit(self._total.update, data))

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
