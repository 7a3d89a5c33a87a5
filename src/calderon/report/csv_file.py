"""Tables of numbers as CSV files."""

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np


def write_csv(path: Path, columns: dict[str, Iterable[float]]) -> None:
    """Columns {name with unit: values}, ten digits; NaN is left empty."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow(["" if np.isnan(value) else f"{value:.10g}" for value in row])
