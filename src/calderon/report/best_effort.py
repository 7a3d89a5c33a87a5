"""Output files that are written independently: a failure is reported and the other files are kept."""

import csv
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np


class BestEffort:
    """What is written into a folder, file by file; failures lists those that could not be written, each with its
    reason."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failures: list[str] = []

    @contextmanager
    def at(self, name: str) -> Iterator[Path]:
        """The path of a file, or a folder, that the block writes. After any error but an interruption it is left out:
        after a solution of hours, no output file is worth losing the result.
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


def write_csv(path: Path, columns: dict[str, Iterable[float]]) -> None:
    """Columns {name with unit: values}, ten digits; NaN is left empty."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow(["" if np.isnan(value) else f"{value:.10g}" for value in row])
