"""A result folder appears whole or not at all: it is filled under a scratch name next to it and renamed at the end.

An existing folder stays, since it may be a mount point or the current folder: everything is written in a hidden folder
within it and moved out at the end. One process at a time works on a place.
"""

import itertools
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from calderon.files import flush_folder, flush_tree
from calderon.parallel import world
from calderon.processes import held, leftovers, lock_path, mark, remove

OTHER = "wait for it, or choose another folder with --out"


def refuse_existing(out: Path, force: bool) -> None:
    """Raise ResultExists unless `out` is free, empty, or an old result with force=True; PermissionError where no file
    can be written."""
    place = _place(out)
    _refuse_closed(_home(place))
    _refuse_occupied(out, force)


@contextmanager
def claimed(out: Path, force: bool, case: str = "") -> Iterator[None]:
    """Hold the place of a result while the block runs, and complete or remove what killed processes have left there.
    Errors as for `refuse_existing`; InUse where another process holds it."""
    place = _place(out)
    _refuse_closed(_home(place))
    made = [each for each in place.parents if not each.exists()]
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with held(_locked(place), OTHER, case):
            recover(place)
            _refuse_occupied(out, force)
            yield
    finally:
        for folder in made:
            with suppress(OSError):  # the result is there
                folder.rmdir()


def _locked(place: Path) -> Path:
    """The path that is locked for a place: next to it, or within it where its own folder alone may be written."""
    return place if os.access(place.parent, os.W_OK) or not place.is_dir() else place / "result"


def _place(out: Path) -> Path:
    """Where a result goes: `out` with links followed, also those to a missing folder."""
    try:
        place = out.resolve()
        with suppress(FileNotFoundError, NotADirectoryError):
            place.stat()  # a name that is too long, a folder that may not be entered: exists() does not raise it
    except OSError as error:
        raise PermissionError(_cannot_write(out, error.strerror or str(error))) from None
    return place


def _home(place: Path) -> Path:
    """Where the scratch folder is: on the file system of the result, whatever is mounted there."""
    return place if place.is_dir() else place.parent


def _contents(folder: Path) -> list[Path]:
    """The contents of a folder, except results that are being written."""
    lock = lock_path(folder / "result").name
    return [path for path in folder.iterdir() if not path.name.startswith(SCRATCH) and path.name != lock]


def _refuse_occupied(out: Path, force: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise ResultExists(f"{out} is a file: choose another folder with --out")
    if not _contents(out):
        return
    if not (out / MARK).is_file():
        raise ResultExists(f"{out} is not empty and holds no result ({MARK}): choose another folder with --out")
    if not force:
        raise ResultExists(
            f"{out} holds a result already: replace it with --force, or choose another folder with --out"
        )
    listed(out)


def _refuse_closed(folder: Path) -> None:
    """PermissionError where a folder cannot be created or filled: reported before the computation, not after it."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        Path(tempfile.mkdtemp(prefix=".", dir=there)).rmdir()
    except OSError as error:
        reason = f"{there} is a file" if there.is_file() else error.strerror or str(error)
        raise PermissionError(_cannot_write(folder, reason)) from None


def _cannot_write(folder: Path, reason: str) -> str:
    return f"cannot write into {folder} ({reason}): choose another folder with --out"


@dataclass
class NewResult:
    """folder: to be filled. place: where it goes, or after the block, where it went."""

    folder: Path
    place: Path


@contextmanager
def result_folder(out: Path, force: bool = False) -> Iterator[NewResult]:
    """A scratch folder to be filled; when the block ends without an error it becomes `out`, or its files replace those
    of the result in an `out` that exists. Where the place was taken meanwhile, or its files cannot be moved, the result
    goes to the first free one of `out`-2, `out`-3, ... with a warning.

    An error or an interruption inside the block removes the scratch folder and leaves an old result as it was.
    """
    refuse_existing(out, force)
    place = _place(out)
    home = _home(place)
    home.mkdir(parents=True, exist_ok=True)
    new = NewResult(home / f"{SCRATCH}{mark()}", out)
    new.folder.mkdir()  # with the permissions of any new folder, unlike those of the module tempfile
    try:
        yield new
        flush_tree(new.folder)  # a power cut leaves an old result or the whole new one
        try:
            _refuse_occupied(place, force)
            if place.is_dir():
                fill(new.folder, place)
            else:
                new.folder.rename(place)
        except OSError as error:
            new.place = _elsewhere(new.folder, place, error)
        flush_folder(home)
    finally:
        remove(new.folder)


def _elsewhere(scratch: Path, place: Path, reason: OSError) -> Path:
    """Move a result to a free place next to the requested one, or within it, and say why; the reason is raised where
    none can be written."""
    for folder in (place.parent, _home(place)):
        other = next(each for n in itertools.count(2) if not (each := folder / f"{place.name}-{n}").exists())
        with suppress(OSError):
            shutil.move(scratch, other)
            warnings.warn(f"the result is in {other}: {reason}", UserWarning, stacklevel=2)
            return other
    raise reason


CHECKPOINT = "checkpoint.h5"


def scratch_folder(out: Path) -> Path:
    """The hidden folder next to `out` for a run that can be continued, created if needed."""
    out = out.absolute()
    folder = out.with_name(f".{out.name}.run")
    if world().rank == 0:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


class OtherCase(ValueError):
    """The checkpoint of an interrupted run belongs to another case."""


def has_checkpoint(scratch: Path | None) -> bool:
    """Whether an interrupted run can continue."""
    return scratch is not None and (scratch / CHECKPOINT).is_file()


def tidy(scratch: Path | None, finished: bool) -> None:
    """Remove the folder of a run whose result is written, or that has left nothing to continue from."""
    if scratch is not None and world().rank == 0 and (finished or not has_checkpoint(scratch)):
        shutil.rmtree(scratch, ignore_errors=True)


MARK = "summary.json"
SCRATCH = ".calderon-"
"""Prefix of the hidden folders that exist while a result is written."""
ASIDE = "-old"
"""Suffix of the folder for the files of an old result."""


class ResultExists(FileExistsError):
    """The folder of a result exists, or is not a result and must not be replaced."""


def leaves(folder: Path) -> list[str]:
    """All files below a folder by their paths from there, the mark of a result last."""
    found = []
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        found += [Path(place, name).relative_to(folder).as_posix() for name in files + links]
    return sorted(found, key=lambda name: (name == MARK, name))


def listed(folder: Path) -> list[str]:
    """The files of the result in a folder by its summary, which is the first; none without a summary. ResultExists
    where the summary does not say it."""
    if not (folder / MARK).is_file():
        return []
    try:
        names = json.loads((folder / MARK).read_text(encoding="utf-8"))["files"]
        inside = all(isinstance(each, str) and ".." not in Path(each).parts and Path(each).parts for each in names)
        home = folder.resolve()
        if not inside or any(not (folder / each).parent.resolve().is_relative_to(home) for each in names):
            raise ValueError("names of other folders")
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ResultExists(
            f"{folder / MARK} does not list the files of the result ({error}), so that --force cannot replace it: "
            "remove them, or choose another folder with --out"
        ) from None
    return [MARK, *(each for each in names if each != MARK)]


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _moves(scratch: Path, out: Path, aside: Path) -> list[tuple[Path, Path]]:
    """Moves that remain, (from, to) each. ResultExists where a file of the user has the name of a new one."""
    old, new = listed(aside) or listed(out), set(listed(scratch))
    leaving = [
        name
        for name in old
        if _exists(out / name) and not _exists(aside / name) and (_exists(scratch / name) or name not in new)
    ]
    coming = leaves(scratch)
    for name in coming:
        if _exists(out / name) and name not in leaving and not _is_below(name, leaving):
            raise ResultExists(f"{out / name} does not belong to the old result and is not replaced")
    return [(out / name, aside / name) for name in leaving] + [(scratch / name, out / name) for name in coming]


def _is_below(name: str, folders: list[str]) -> bool:
    return any(parent.as_posix() in folders for parent in Path(name).parents)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)


def fill(scratch: Path, out: Path) -> None:
    """Move the files of a new result to `out`, those of an old one away; after an error all are moved back."""
    aside = out / f"{scratch.name}{ASIDE}"
    moves = _moves(scratch, out, aside)
    aside.mkdir(exist_ok=True)
    try:
        for source, target in moves:
            _move(source, target)
    except BaseException:
        for source, target in reversed(moves):
            if _exists(target) and not _exists(source):
                _move(target, source)
        if not leaves(aside):  # files that could not be moved back stay there
            remove(aside)
        raise
    _finish(scratch, out, aside)


def _finish(scratch: Path, out: Path, aside: Path) -> None:
    """Remove the old result, and the folders that it leaves empty."""
    emptied = {out / parent for name in leaves(aside) for parent in Path(name).parents if parent.parts}
    remove(aside)
    remove(scratch)
    for folder in sorted(emptied, key=lambda path: -len(path.parts)):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def recover(out: Path) -> None:
    """Complete what a killed process has begun to move, and remove what ended processes have left at the place."""
    for aside in leftovers(out, SCRATCH, ASIDE):
        name = aside.name.removesuffix(ASIDE)
        scratch = next((each for each in (out / name, out.parent / name) if (each / MARK).is_file()), None)
        if scratch is not None:
            for source, target in _moves(scratch, out, aside):
                _move(source, target)
            _finish(scratch, out, aside)
        elif (out / MARK).is_file():
            _finish(out / name, out, aside)
        else:
            for each in leaves(aside):
                if not _exists(out / each):
                    _move(aside / each, out / each)
            if not leaves(aside):
                remove(aside)
    for folder in (out, out.parent):
        for path in leftovers(folder, SCRATCH):
            remove(path)
