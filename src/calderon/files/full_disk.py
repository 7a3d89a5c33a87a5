"""Files that a disk has no room for: the error names the file, and a result that is not needed later is left out."""

import errno
import warnings
from pathlib import Path

from calderon.validation import callers_level

NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""Numbers of the errors of a full disk, a quota, a limit of the size of files, and a device that fails."""


def named(error: OSError, path: Path, scratch: Path) -> OSError:
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
