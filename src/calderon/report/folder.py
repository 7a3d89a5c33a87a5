"""A result folder appears whole or not at all: it is filled under a scratch name next to it and renamed at the end.

An existing folder stays, since it may be a mount point or the current folder: everything is written in a hidden folder
within it and moved out at the end, the mark of a result last.
Output files are written independently: a failure is reported and the other files are kept.
"""

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from calderon.files import flush_folder, flush_tree
from calderon.parallel import world

MARK = "summary.json"
SCRATCH = ".calderon-"
"""Prefix of the hidden folders that exist while a result is written."""


class ResultExists(FileExistsError):
    """The folder of a result exists, or is not a result and must not be replaced."""


def refuse_existing(out: Path, force: bool) -> None:
    """Raise ResultExists unless `out` is free, empty, or an old result with force=True; PermissionError where no file
    can be written."""
    place = _place(out)
    _refuse_closed(_home(place))
    _refuse_occupied(out, force)


def _place(out: Path) -> Path:
    """Where a result goes: `out` with links followed, also those to a missing folder."""
    try:
        place = out.resolve()
        place.exists()
    except OSError as error:
        raise PermissionError(_cannot_write(out, error.strerror or str(error))) from None
    return place


def _home(place: Path) -> Path:
    """Where the scratch folder is: on the file system of the result, whatever is mounted there."""
    return place if place.is_dir() else place.parent


def _contents(folder: Path) -> list[Path]:
    """The contents of a folder, except results that are being written."""
    return [path for path in folder.iterdir() if not path.name.startswith(SCRATCH)]


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


@contextmanager
def result_folder(out: Path, force: bool = False) -> Iterator[Path]:
    """A scratch folder to be filled; when the block ends without an error it becomes `out`, or its files replace those
    in an `out` that exists.

    An error or an interruption inside the block removes the scratch folder and leaves an old result as it was.
    """
    refuse_existing(out, force)
    place = _place(out)
    home = _home(place)
    home.mkdir(parents=True, exist_ok=True)
    scratch = home / f"{SCRATCH}{secrets.token_hex(6)}"
    scratch.mkdir()  # with the permissions of any new folder, unlike those of the module tempfile
    try:
        yield scratch
        flush_tree(scratch)  # a power cut leaves an old result or the whole new one
        _refuse_occupied(place, force)
        if place.is_dir():
            _fill(scratch, place)
        else:
            scratch.rename(place)
        flush_folder(home)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _fill(scratch: Path, out: Path) -> None:
    """Move the contents of scratch to out, the mark last. An old result is moved away, its mark first; after an error,
    or an interruption, all is moved back."""
    aside = out / f"{SCRATCH}{secrets.token_hex(6)}"
    aside.mkdir()
    leaving = sorted(_contents(out), key=lambda path: path.name != MARK)
    coming = sorted(scratch.iterdir(), key=lambda path: path.name == MARK)
    moves = [(path, aside / path.name) for path in leaving] + [(path, out / path.name) for path in coming]
    try:
        for source, target in moves:
            source.rename(target)
    except BaseException:
        for source, target in reversed(moves):
            if target.exists() and not source.exists():
                target.rename(source)
        with suppress(OSError):  # files that could not be moved back stay there
            aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)


@dataclass(frozen=True)
class Picture:
    """A file in the result folder and its caption."""

    file: str
    caption: str


class BestEffort:
    """What is written into a folder, file by file: the pictures, and failures of files that could not be written, each
    with its reason."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failures: list[str] = []
        self.pictures: list[Picture] = []

    @contextmanager
    def at(self, name: str, caption: str = "") -> Iterator[Path]:
        """The path of a file, or a folder, that the block writes; of a picture with its caption. After any error but an
        interruption it is left out: after a solution of hours, no output file is worth losing the result.
        """
        path = self.folder / name
        try:
            yield path
            if caption:
                self.pictures.append(Picture(name, caption))
        except Exception as error:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            self.failures.append(f"{name} could not be written and is left out: {kind}{error}")


CHECKPOINT = "checkpoint.h5"


def scratch_folder(out: Path) -> Path:
    """The hidden folder next to `out` for a run that can be continued, created if needed."""
    out = out.absolute()
    folder = out.with_name(f".{out.name}.run")
    if world().rank == 0:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def has_checkpoint(scratch: Path | None) -> bool:
    """Whether an interrupted run can continue."""
    return scratch is not None and (scratch / CHECKPOINT).is_file()


def tidy(scratch: Path | None, finished: bool) -> None:
    """Remove the folder of a run whose result is written, or that has left nothing to continue from."""
    if scratch is not None and world().rank == 0 and (finished or not has_checkpoint(scratch)):
        shutil.rmtree(scratch, ignore_errors=True)
