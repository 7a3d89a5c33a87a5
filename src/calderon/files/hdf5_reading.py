"""HDF5 files that are read back: nothing of a file is used before it is verified."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends import require_memory
from calderon.files.formats import h5py
from calderon.files.hdf5_contents import DIGEST, PART, ArrayDigest, entries, file_digest
from calderon.files.hdf5_writing import FileKind
from calderon.files.whole_file import file_path
from calderon.validation import callers_level

RAW = KeyError, OSError, RuntimeError, TypeError, ValueError, AttributeError, OverflowError, IndexError
"""Errors that h5py raises for a damaged file."""


class DamagedFile(ValueError):
    """A file that was read back is damaged, or does not describe what it should.

    file: its path. failure: what was found. remedy: what to do. Nothing of the file was used.
    """

    def __init__(self, file: str | os.PathLike[str], failure: str, remedy: str) -> None:
        super().__init__(file, failure, remedy)
        self.file, self.failure, self.remedy = os.fspath(file), failure, remedy

    def __str__(self) -> str:
        return f"{self.file!r} is damaged: {self.failure}; {self.remedy}"


@contextmanager
def saved_file(path: str | os.PathLike[str], kind: FileKind) -> Iterator[SavedGroup]:
    """The root of a file of a kind, whose names, types, shapes and attributes are verified; arrays are verified when
    they are read.

    ValueError for a file of another kind or version, DamagedFile for one that is damaged. A file of the former
    version, which has no checksums, is read with a warning.
    """
    with _opened(path, kind) as file:
        root = SavedGroup(os.fspath(path), kind.remedy, True, file)
        # kind and version of the file
        there = root.text("kind") if root.has_attribute("kind") else ""
        if there != kind.name:
            what = f"it is a {there}" if there.startswith("calderon ") else "it was not written by this package"
            raise ValueError(f"{root.path!r} holds no {kind.what}: {what}; name another file")
        version = root.whole("version")
        if version not in (kind.version, kind.former):
            raise ValueError(
                f"{root.path!r} holds a layout ({kind.what}) of version {version}, and this release reads version "
                f"{kind.version}: {kind.remedy}, or use the release that wrote it"
            )
        checked = version == kind.version
        if not checked:
            warnings.warn(
                f"{root.path!r} was written by an earlier release, without checksums: damage of its numbers is not "
                f"recognised. To have checksums, {kind.remedy}",
                UserWarning,
                stacklevel=callers_level(),
            )
        # checksums
        root = SavedGroup(root.path, root.remedy, checked, file)
        root.verify()
        yield root


@contextmanager
def _opened(path: str | os.PathLike[str], kind: FileKind) -> Iterator[h5py.File]:
    if not file_path(path, kind.what, "result.h5").is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    try:
        file = h5py.File(path, "r")
    except PermissionError:
        raise
    except RAW as error:
        raise DamagedFile(path, f"it is no HDF5 file ({_first_line(error)})", kind.remedy) from error
    with file:
        yield file


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


@dataclass(frozen=True, eq=False)
class SavedGroup:
    """A group of a file that is read back. Whatever is missing, has another type or shape, or fails its checksum raises
    DamagedFile. checked: whether the file has checksums."""

    path: str
    remedy: str
    checked: bool
    group: h5py.Group

    def refuse(self, failure: str) -> NoReturn:
        """Raise DamagedFile."""
        place = str(self.group.name)
        raise DamagedFile(self.path, failure if place == "/" else f"{place}: {failure}", self.remedy)

    def require(self, condition: Any, failure: str) -> None:
        """DamagedFile unless the condition holds."""
        if not condition:
            self.refuse(failure)

    @contextmanager
    def _raw(self, what: str) -> Iterator[None]:
        """Errors of h5py as DamagedFile."""
        try:
            yield
        except DamagedFile:
            raise
        except RAW as error:
            self.refuse(f"{what} cannot be read ({_first_line(error)})")

    def verify(self) -> None:
        """Compare the digest of a file, and the bytes that its arrays say they have with its length."""
        with self._raw("the table of contents"):
            nbytes, length = self.nbytes, os.stat(self.path).st_size
            self.require(nbytes <= length, f"its arrays have {nbytes} bytes and the file {length}")
            if self.checked:
                self.require(self.text(DIGEST) == file_digest(self.group), "the digest of its contents differs")

    @property
    def names(self) -> list[str]:
        """Names of the members of the group."""
        with self._raw("the table of contents"):
            return sorted(self.group)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> SavedGroup:
        with self._raw(f"group {name}"):
            found = self.group[name]
            self.require(isinstance(found, h5py.Group), f"{name} is no group")
        return SavedGroup(self.path, self.remedy, self.checked, found)

    def numbered(self, count: int | None = None) -> list[SavedGroup]:
        """The groups 0, 1, ..., as many as given."""
        count = len(self.names) if count is None else count
        self.require(self.names == sorted(map(str, range(count))), f"{count} numbered groups are expected")
        return [self[str(number)] for number in range(count)]

    def has_attribute(self, name: str) -> bool:
        """Whether there is an attribute."""
        with self._raw(f"attribute {name}"):
            return name in self.group.attrs

    def attribute(self, name: str) -> Any:
        """The value of an attribute, as h5py gives it."""
        with self._raw(f"attribute {name}"):
            return self.group.attrs[name]

    def scalar(self, name: str) -> Any:
        """A text or a single number of the attributes."""
        value = self.attribute(name)
        self.require(np.ndim(value) == 0, f"attribute {name} is a list")
        return value

    def text(self, name: str) -> str:
        """A text of the attributes."""
        value = self.attribute(name)
        self.require(isinstance(value, str), f"attribute {name} is no text")
        return str(value)

    def number(self, name: str, least: float = 0.0) -> float:
        """A finite number of the attributes that is not below the least."""
        value = np.asarray(self.attribute(name))
        self.require(value.shape == () and value.dtype.kind in "iuf", f"attribute {name} is no number")
        self.require(math.isfinite(value) and value >= least, f"{name} is {value}")
        return float(value)

    def whole(self, name: str, least: int = 0) -> int:
        """A whole number of the attributes that is not below the least."""
        value = np.asarray(self.attribute(name))
        self.require(value.shape == () and value.dtype.kind in "iu", f"attribute {name} is no whole number")
        self.require(value >= least, f"{name} is {value}")
        return int(value)

    def flag(self, name: str) -> bool:
        """A truth value of the attributes."""
        value = np.asarray(self.attribute(name))
        self.require(value.shape == () and value.dtype == bool, f"attribute {name} is no truth value")
        return bool(value)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays of the group."""
        with self._raw("the table of contents"):
            return sum(int(each.nbytes) for _, each in entries(self.group) if isinstance(each, h5py.Dataset))

    def require_memory(self, what: str) -> None:
        """MemoryError where the arrays of the group do not fit into the free memory."""
        require_memory(self.nbytes, f"{what} in {self.path!r}", "close what takes memory")

    def array(
        self,
        name: str,
        dtype: DTypeLike | None = None,
        shape: tuple[int | None, ...] | None = None,
        finite: bool = True,
    ) -> NDArray[Any]:
        """An array of numbers, of a type, or any, and a shape, or any; None stands for any length. finite: whether all
        numbers must be."""
        with self._raw(name):
            dataset = self.group[name]
            self.require(isinstance(dataset, h5py.Dataset), f"{name} is no array")
            given = dataset.dtype.newbyteorder("=")
            allowed = given.kind in "biufc" and given.itemsize <= 16 if dtype is None else given == np.dtype(dtype)
            self.require(allowed, f"{name} has the type {given} instead of {dtype or 'numbers'}")
            if shape is not None:
                lengths = zip(dataset.shape, shape, strict=False)
                fits = len(shape) == dataset.ndim and all(each is None or n == each for n, each in lengths)
                text = str(shape).replace("None", "n")
                self.require(fits, f"{name} has the shape {dataset.shape} instead of {text}")
            values, digest, all_are = _numbers(dataset, finite)
            if self.checked:
                self.require(dataset.attrs[DIGEST] == digest, f"the checksum of {name} differs")
        self.require(all_are, f"{name} has numbers that are not finite")
        return np.asarray(values, given)

    def texts(self, name: str) -> list[str]:
        """A list of texts, which `put_texts` has written, or the former version as texts of HDF5."""
        if self.checked:
            with self._raw(name):
                return [str(each) for each in json.loads(self.array(name, np.uint8, (None,)).tobytes())]
        with self._raw(name):
            return [str(each) for each in self.group[name].asstr()[()]]


def _numbers(dataset: h5py.Dataset, find_finite: bool) -> tuple[NDArray[Any], str, bool]:
    """All numbers of a dataset, their digest, and whether they are finite, if that is asked: both are found while the
    next numbers are read."""
    values, digest = np.empty(dataset.shape, dataset.dtype), ArrayDigest(find_finite)
    if values.nbytes < 4 * PART:
        values = np.asarray(dataset[()])
        digest.add(values)
        return values, digest.text(), digest.finite
    rows = max(1, 2 * PART * len(values) // values.nbytes)
    for first in range(0, len(values), rows):
        part = np.s_[first : first + rows]
        dataset.read_direct(values, part, part)
        digest.add(values[part])
    return values, digest.text(), digest.finite
