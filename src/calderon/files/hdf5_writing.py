"""HDF5 files that will be read back: written whole or not at all, with a digest."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calderon.files.formats import h5py
from calderon.files.hdf5_contents import DIGEST, ArrayDigest, file_digest
from calderon.files.whole_file import whole_file
from calderon.processes import package_version

LIBRARY = "v110", "v110"
"""Oldest and newest release of HDF5 whose format is used: the first that has checksums of names and types, too."""


@dataclass(frozen=True)
class FileKind:
    """name: as the file says it. what: in an error. remedy: for a damaged file. version: of the layout. former: the
    version before, without checksums, which is read with a warning."""

    name: str
    what: str
    remedy: str
    version: int = 2
    former: int = 1


@contextmanager
def new_file(path: str | os.PathLike[str], kind: FileKind) -> Iterator[h5py.File]:
    """A file of a kind, to be filled by `put` and attributes, that takes its place when the block ends well. OSError
    where it cannot be written, most often since the disk is full."""
    with whole_file(path) as scratch, Patient(scratch) as drain:
        with h5py.File(drain, "w", libver=LIBRARY) as file:
            file.attrs.update(kind=kind.name, version=kind.version, package=package_version(), byte_order=sys.byteorder)
            yield file
            file.attrs[DIGEST] = file_digest(file)


class Patient(io.FileIO):
    """A file for HDF5 that reports an error at the end of its block only. After a failed write HDF5 cannot close its
    file, and crashes when the process ends."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "r+")
        self._error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all of the data; nothing after an error."""
        rest = memoryview(data)
        try:
            while len(rest) and self._error is None:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self._error = error
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer; zeros stand where nothing could be written."""
        found = super().readinto(buffer) or 0
        buffer[found:] = bytes(len(buffer) - found)
        return len(buffer)

    def __exit__(self, kind: type[BaseException] | None, *details: Any) -> None:
        super().__exit__(kind, *details)
        if self._error is not None and (kind is None or issubclass(kind, Exception)):
            raise self._error


def put(group: h5py.Group, name: str, values: ArrayLike) -> None:
    """Write an array of numbers with its digest."""
    array: np.ndarray[Any, Any] = np.asarray(values)
    options = {}
    if array.size:  # about a megabyte shares a checksum of HDF5
        row = max(1, array.nbytes // len(array)) if array.ndim else 1
        chunks = (min(len(array), max(1, (1 << 20) // row)), *array.shape[1:]) if array.ndim else None
        options = {"chunks": chunks, "fletcher32": True} if chunks else {}
    digest = ArrayDigest()
    digest.add(array)
    dataset = group.create_dataset(name, data=array, **options)
    dataset.attrs[DIGEST] = digest.text()


def put_texts(group: h5py.Group, name: str, values: Sequence[str]) -> None:
    """Write a list of texts with its digest."""
    put(group, name, np.frombuffer(json.dumps(list(values)).encode(), np.uint8))
