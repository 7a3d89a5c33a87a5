"""Files that appear whole or not at all, also where the power fails or the disk is full."""

import errno
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from calderon.processes import leftovers, mark, remove
from calderon.validation import callers_level, describe

NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""Numbers of the errors of a full disk, a quota, a limit of the size of files, and a device that fails."""


def _named(error: OSError, path: Path, scratch: Path) -> OSError:
    """The error of a write to `scratch`, with the name of the file that was to be written in its place; other errors as
    they are."""
    if error.errno not in NO_ROOM or str(error.filename) not in ("None", str(scratch)):
        return error
    return OSError(error.errno, f"cannot write all of the file: {error.strerror}", str(path))


def warn_unsaved(error: OSError, what: str) -> None:
    """Warn that something that can be computed again is not saved; the error itself unless a disk lacks room."""
    if error.errno not in NO_ROOM:
        raise error
    warnings.warn(
        f"{what} is not saved, and the computation goes on without: {error}", RuntimeWarning, stacklevel=callers_level()
    )


def file_path(path: Any, what: str, example: str, place: str = "a file") -> Path:
    """The path of a file (or another place) that holds what is named; TypeError, with an example, if it is not a path,
    ValueError for one with a character that no path has."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{what} is stored in {place}, got {describe(path)}: give a path such as {example!r}")
    if "\0" in str(path):
        raise ValueError(f"{what} is stored in {place}, and {str(path)!r} has a zero character: no path has one")
    return Path(path)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """An empty hidden file next to `path`, with the same ending, that replaces it when the block ends without error.

        with whole_file("a.vtu") as scratch:
            scratch.write_text(content)

    It is created with the permissions of any new file (0666 less the umask), unlike those of the module tempfile, which
    its owner alone may read. Its contents are on the disk before it replaces an old file, and its name afterwards.
    After an error it is removed, and an old file at `path` stays. FileNotFoundError for a folder that does not exist,
    OSError with this name where the disk is full.
    """
    path = file_path(path, "a result", "result.csv")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder; give the name of a file")
    sweep(path)
    scratch = path.with_name(f"{_prefix(path)}{mark()}{path.suffix}")
    os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield scratch
        flush(scratch)
        os.replace(scratch, path)
        flush_folder(path.parent)
    except OSError as error:
        raise _named(error, path, scratch)  # noqa: B904 - the same error by another name
    finally:
        scratch.unlink(missing_ok=True)


def _prefix(path: Path) -> str:
    """The beginning of the names of its hidden files, cut since names have at most 255 bytes."""
    return f".{path.stem[:40]}."


def sweep(path: Path) -> None:
    """Remove what ended processes have left while they wrote a file."""
    for each in leftovers(path.parent, _prefix(path), path.suffix):
        remove(each)


def flush(path: str | os.PathLike[str]) -> None:
    """Wait until the contents of a file are on the disk; OSError where they cannot be written."""
    number = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)  # Windows flushes what it may write
    try:
        os.fsync(number)
    finally:
        os.close(number)


def flush_folder(folder: str | os.PathLike[str]) -> None:
    """Wait until the names in a folder are on the disk, where its file system can do that."""
    with suppress(OSError):
        flush(folder)


def flush_tree(folder: str | os.PathLike[str]) -> None:
    """Wait until everything below a folder is on the disk: files, folders and names. OSError as for `flush`."""
    for place, _, names in os.walk(folder):
        for name in names:
            each = Path(place, name)
            if not each.is_symlink():
                flush(each)
        flush_folder(place)
