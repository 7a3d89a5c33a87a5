"""Results that take long, saved piece by piece: a computation that ended early goes on with the pieces that are there.

Each piece is a file of its own next to that of the result, whole or not at all. The result replaces all of them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.files.formats import h5py
from calderon.files.hdf5_reading import SavedGroup, saved_file
from calderon.files.hdf5_writing import FileKind, new_file, put, put_texts
from calderon.files.whole_file import file_path, sweep
from calderon.processes import InUse, held, leftovers, remove

Identity = dict[str, str]
OTHER = "wait for it, or name another file"
NAME = re.compile(r"[0-9a-z-]+")


def put_identity(file: h5py.Group, identity: Identity) -> None:
    """Write what a file belongs to, a few named texts."""
    put_texts(file, "identity", [json.dumps(identity)])


def identity_of(text: str, file: SavedGroup) -> Identity:
    """The identity that a text of a file holds, the names of the problem it belongs to; DamagedFile for another
    text."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        file.refuse("the identity is no table of names")
    return {str(name): str(value) for name, value in found.items()}


def require_identity(path: Path, what: str, there: Identity, identity: Identity) -> None:
    """ValueError, with the names that differ, for a file that belongs to something else."""
    if there != identity:
        names = [name for name in identity if there.get(name) != identity[name]]
        differences = "; ".join(f"{name} {there.get(name)} instead of {identity[name]}" for name in names)
        raise ValueError(
            f"{str(path)!r} holds {what} of another problem: {differences}. Name another file, or remove this one"
        )


def checked_path(path: str | os.PathLike[str], kind: FileKind) -> Path:
    """ValueError for the name of a file that does not end in .h5 or .hdf5, FileNotFoundError for a folder that does not
    exist, TypeError for what is no path."""
    found = file_path(path, kind.what, "result.h5")
    if found.suffix not in (".h5", ".hdf5"):
        raise ValueError(f"{kind.what} are saved in HDF5: {str(path)!r} should end in .h5 or .hdf5")
    if not found.parent.is_dir():
        raise FileNotFoundError(f"the folder {found.parent} does not exist; create it first")
    return found


def discard(path: Path) -> None:
    """Remove a result, its pieces and its lock, unless another process computes it."""
    with suppress(InUse), held(path.resolve(), OTHER):
        for each in (*_places(path), path):
            each.unlink(missing_ok=True)


def _places(path: Path) -> list[Path]:
    """The pieces of a result that are there; what ended processes have left while they wrote some is removed."""
    begin, suffix, found = f"{path.stem}.part-", path.suffix, []
    for each in path.parent.iterdir():
        if each.name.startswith(f".{begin}"[:40]) and each.suffix == suffix:
            hidden = each.stem[: each.stem.rindex(".") + 1]
            for left in leftovers(each.parent, hidden, suffix):
                remove(left)
        elif re.fullmatch(re.escape(begin) + NAME.pattern + re.escape(suffix), each.name):
            found.append(each)
    return sorted(found)


class Pieces:
    """Pieces of the result that `path` will hold, held by this process until `close`.

    kind: of the result. identity: what it belongs to. ValueError for a file of another problem, and for one that does
    not end in .h5 or .hdf5; FileNotFoundError for a folder that does not exist; InUse while another process computes
    the same; DamagedFile where a piece is read that is damaged.
    """

    def __init__(self, path: str | os.PathLike[str], kind: FileKind, identity: Identity) -> None:
        self.path, self.kind, self.identity = checked_path(path, kind), kind, identity
        self._holding = ExitStack()
        self._holding.enter_context(held(self.path.resolve(), OTHER))
        sweep(self.path)
        self._part = replace(kind, name=f"{kind.name}, a piece", what=f"piece of {kind.what}")
        try:
            for place in _places(self.path)[:1]:  # all pieces are of one problem
                with self._opened(place):
                    pass
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Pieces:
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

    def close(self) -> None:
        """Let others compute the same."""
        self._holding.close()

    @property
    def is_complete(self) -> bool:
        """Whether the result is there."""
        return self.path.exists()

    @contextmanager
    def result(self) -> Iterator[SavedGroup]:
        """The result, to be read."""
        with saved_file(self.path, self.kind) as file:
            self._require(self.path, file)
            yield file

    def keep(self, name: str, values: NDArray[Any]) -> None:
        """Save the numbers of a piece; name: of small letters, digits and hyphens."""
        with new_file(self._place(name), self._part) as file:
            put_identity(file, self.identity)
            put(file, "values", values)

    def piece(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any] | None:
        """The numbers of a piece, None where it is missing."""
        place = self._place(name)
        if not place.exists():
            return None
        with self._opened(place) as file:
            return file.array("values", np.dtype(dtype), shape)

    @contextmanager
    def finish(self) -> Iterator[h5py.File]:
        """The file of the result, to be filled, that takes its place when the block ends well; pieces go then."""
        with new_file(self.path, self.kind) as file:
            put_identity(file, self.identity)
            yield file
        self.clear()

    def clear(self) -> None:
        """Remove all pieces."""
        for place in _places(self.path):
            place.unlink(missing_ok=True)

    def _place(self, name: str) -> Path:
        assert NAME.fullmatch(name)
        return self.path.with_name(f"{self.path.stem}.part-{name}{self.path.suffix}")

    @contextmanager
    def _opened(self, place: Path) -> Iterator[SavedGroup]:
        with saved_file(place, self._part) as file:
            self._require(place, file)
            yield file

    def _require(self, path: Path, file: SavedGroup) -> None:
        texts = file.texts("identity")
        file.require(len(texts) == 1, "one identity is expected")
        require_identity(path, self.kind.what, identity_of(texts[0], file), self.identity)
