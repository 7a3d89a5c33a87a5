"""One process at a time on a place of the disk: a file, or the folder of a result.

The lock is one of the operating system on a hidden file next to the place, so it ends with its process, whatever ends
that. The file says who holds it.
"""

import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from calderon.processes.leftovers import host


class InUse(RuntimeError):
    """Another process works on a file or a folder."""


def lock_path(place: Path) -> Path:
    """The hidden file next to a place that is locked."""
    name = f".{place.name}.lock"
    if len(os.fsencode(name)) > 255:  # bytes of a name, at most
        name = f".{place.name[:40]}-{hashlib.sha256(os.fsencode(place.name)).hexdigest()[:12]}.lock"
    return place.with_name(name)


def _in_use(place: Path, file: Path, advice: str) -> InUse:
    holder = "another process"
    with suppress(OSError, ValueError, KeyError, TypeError):
        said = json.loads(file.read_text(encoding="utf-8"))
        what = f" ({said['case']})" if said["case"] else ""
        holder = f"process {said['process']} on {said['host']}{what}, since {said['start']}"
    return InUse(f"{place} is in use by {holder}: {advice}")


@contextmanager
def held(place: Path, advice: str, case: str = "") -> Iterator[None]:
    """Hold a place while the block runs; its folder must exist. InUse, at once, where another process holds it, with
    its facts and the advice. Where the file system has no locks a warning says so."""
    file = lock_path(place)
    lock = FileLock(file, fallback_to_soft=False, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise _in_use(place, file, advice) from None
    except OSError as error:
        text = f"{place} cannot be locked ({error.strerror or error}): start no second run there"
        warnings.warn(text, UserWarning, stacklevel=3)
        yield
        return
    try:
        facts = {
            "process": os.getpid(),
            "host": host(),
            "case": case,
            "start": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
        }
        with suppress(OSError):  # a full disk
            file.write_text(json.dumps(facts), encoding="utf-8")
        yield
    finally:
        with suppress(OSError):
            file.unlink()  # while it is held: whoever has opened it finds that it has no name any more
        lock.release()


def refuse_held(place: Path, advice: str) -> None:
    """InUse where another process holds a place."""
    file = lock_path(place)
    if not file.exists():
        return
    lock = FileLock(file, fallback_to_soft=False, thread_local=False)
    with suppress(PermissionError, NotADirectoryError):
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise _in_use(place, file, advice) from None
        with suppress(OSError):
            file.unlink()
        lock.release()
