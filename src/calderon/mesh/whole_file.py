"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """An empty file beside `path`, hidden and with the same ending, that takes its place when the block ends well.

        with whole_file("a.vtu") as scratch:
            meshio.write(scratch, content)

    It is created with the permissions of any new file (0666 less the umask), unlike those of the module tempfile, which
    its owner alone may read. After an error it is removed, and what stood at `path` stays.
    FileNotFoundError for a folder that does not exist.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    scratch = path.with_name(f".{path.stem}.{secrets.token_hex(6)}{path.suffix}")
    os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield scratch
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
