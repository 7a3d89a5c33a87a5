"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calderon.mesh.errors import MeshError


def mesh_path(path: str | Path) -> Path:
    """The path of a mesh file; MeshError if it is not a path."""
    try:
        return Path(path)
    except TypeError:
        raise MeshError(f"a mesh is stored in a file, got {path!r}: give a path such as 'hull.msh'") from None


def file_path(path: Any, what: str, example: str) -> Path:
    """The path of a file that holds what is named; TypeError, with an example, if it is not a path."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{what} is stored in a file, got {path!r}: give a path such as {example!r}")
    return Path(path)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """An empty hidden file next to `path`, with the same ending, that replaces it when the block ends without error.

        with whole_file("a.vtu") as scratch:
            meshio.write(scratch, content)

    It is created with the permissions of any new file (0666 less the umask), unlike those of the module tempfile, which
    its owner alone may read. After an error it is removed, and an old file at `path` stays.
    FileNotFoundError for a folder that does not exist.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder; give the name of a file")
    scratch = path.with_name(f".{path.stem}.{secrets.token_hex(6)}{path.suffix}")
    os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield scratch
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
