"""One process at a time compiles a kernel; others that need it wait and take it from the disk."""

import hashlib
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

LONGEST = 60.0
"""Seconds that a process waits for another one, which may have been stopped."""
PAUSE = 0.02
"""Seconds between two looks at a lock."""


class Claim:
    """The right to compile the kernel of that key, held by a lock of the operating system in the folder of compiled
    kernels, so that it ends with its process."""

    def __init__(self, folder: Path, key: object) -> None:
        self._file = folder / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.lock"
        self._lock = FileLock(self._file, thread_local=False)

    def waited(self) -> bool:
        """Take it; whether another process had it before. Without it where the file system has no locks, or the other
        one takes too long."""
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            with suppress(Timeout, OSError):
                self._lock.acquire(timeout=LONGEST, poll_interval=PAUSE)
            return True
        except (OSError, NotImplementedError):
            pass
        return False

    def release(self) -> None:
        """Let others compile; they look for the kernel on the disk first."""
        if self._lock.is_locked:
            with suppress(OSError):
                self._file.unlink()  # while it is held: whoever has opened it finds that it has no name any more
            self._lock.release()
