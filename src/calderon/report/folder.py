"""A result folder appears whole or not at all: it is filled beside its place and renamed at the end."""

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MARK = "summary.json"


class ResultExists(FileExistsError):
    """The folder of a result is there already, or is not a result and must not be replaced."""


def refuse_existing(out: Path, force: bool) -> None:
    """Raise ResultExists unless `out` is free, empty, or an old result with force=True; PermissionError where nothing
    can be written beside it."""
    _refuse_closed(out.absolute().parent)
    if not out.exists():
        return
    if not out.is_dir():
        raise ResultExists(f"{out} is a file: choose another folder with --out")
    if not any(out.iterdir()):
        return
    if not (out / MARK).is_file():
        raise ResultExists(f"{out} is not empty and holds no result ({MARK}): choose another folder with --out")
    if not force:
        raise ResultExists(
            f"{out} holds a result already: replace it with --force, or choose another folder with --out"
        )


def _refuse_closed(folder: Path) -> None:
    """PermissionError where a folder cannot be made, or filled: known before the computation, not after it."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        Path(tempfile.mkdtemp(prefix=".", dir=there)).rmdir()
    except OSError as error:
        reason = f"{there} is a file" if there.is_file() else error.strerror or str(error)
        raise PermissionError(f"cannot write into {folder} ({reason}): choose another folder with --out") from None


@contextmanager
def result_folder(out: Path, force: bool = False) -> Iterator[Path]:
    """A scratch folder beside `out` to be filled; it takes the place of `out` when the block ends without an error.

    An error or an interruption inside the block removes the scratch folder and leaves an old result as it was.
    """
    out = out.absolute()
    refuse_existing(out, force)
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = out.with_name(f".{out.name}-{secrets.token_hex(6)}")
    scratch.mkdir()  # with the permissions of any new folder, unlike those of the module tempfile
    try:
        yield scratch
        refuse_existing(out, force)
        _take_place(scratch, out)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _take_place(scratch: Path, out: Path) -> None:
    """Rename scratch to out; an old folder steps aside first and comes back should the renaming fail."""
    if not out.exists():
        scratch.rename(out)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{out.name}-old-", dir=out.parent))
    old = aside / out.name
    out.rename(old)
    try:
        scratch.rename(out)
    except BaseException:
        old.rename(out)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
