"""Files of a result of which one may fail without the others: it is left out and told, and the numbers are kept."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Attempts:
    """What is written into a folder, file by file; failures tells those that could not be, each with its reason."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failures: list[str] = []

    @contextmanager
    def at(self, name: str) -> Iterator[Path]:
        """The path of a file, or a folder, that the block writes. Any error but an interruption leaves it out: after a
        solution of hours, nothing that is drawn from it is worth losing it for.
        """
        path = self.folder / name
        try:
            yield path
        except Exception as error:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            self.failures.append(f"{name} could not be written and is left out: {kind}{error}")
