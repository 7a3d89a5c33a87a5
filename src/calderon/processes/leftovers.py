"""Names of hidden files and folders that exist while a process writes, and removal of those whose process has ended.

A name holds the process, its host and a random number: .calderon-1234-node7-0a1b2c3d4e5f. A process of another host
counts as alive, since it cannot be asked.
"""

import ctypes
import os
import re
import secrets
import shutil
import socket
import sys
from contextlib import suppress
from pathlib import Path

MARK = re.compile(r"(\d+)-([\w-]+)-[0-9a-f]{12}")


def host() -> str:
    """The name of this host in letters that any file system accepts."""
    return re.sub(r"[^A-Za-z0-9]", "_", socket.gethostname())[:40] or "host"


def mark() -> str:
    """A mark for names of files: this process, its host and a random part, so that each call gives another one."""
    return f"{os.getpid()}-{host()}-{secrets.token_hex(6)}"


def has_ended(text: str) -> bool:
    """Whether a text is the mark of a process of this host that has ended."""
    found = MARK.fullmatch(text)
    if found is None or found[2] != host():
        return False
    return not _runs(int(found[1]))


def _runs(process: int) -> bool:
    """Whether a process of this host may still run; one that cannot be asked counts as running."""
    if sys.platform == "win32":  # os.kill would end it
        kernel = ctypes.windll.kernel32
        synchronize, access_denied = 0x00100000, 5  # the right to wait for a process, and the error without rights
        handle = kernel.OpenProcess(synchronize, False, process & 0xFFFFFFFF)
        if not handle:
            return bool(kernel.GetLastError() == access_denied)
        ended = kernel.WaitForSingleObject(handle, 0) == 0
        kernel.CloseHandle(handle)
        return not ended
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def leftovers(folder: Path, prefix: str, suffix: str = "") -> list[Path]:
    """Files and folders named prefix + mark + suffix of processes that have ended."""
    found = []
    with suppress(OSError):
        for entry in os.scandir(folder):
            name = entry.name
            if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix) + len(suffix):
                if has_ended(name[len(prefix) : len(name) - len(suffix)]):
                    found.append(Path(entry.path))
    return found


def remove(path: Path) -> None:
    """Remove a file or a folder as far as possible."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
