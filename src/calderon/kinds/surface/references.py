"""Curves of CSV files that are drawn with computed ones."""

import csv
from pathlib import Path

import numpy as np

from calderon.case import CaseFile
from calderon.kinds.surface.model import Case, Reference
from calderon.kinds.surface.results import Curve, Results

COMPARED = 25.0
"""Decibels below the maximum of a reference down to which it is compared: the difference at a null, which is large for
any error, would be most of the mean."""


def read_references(file: CaseFile[Case]) -> dict[str, dict[str, Curve]]:
    """{"far_field" or "monostatic": {label: (angles in degrees, levels in decibels)}}; CaseError for a file or a
    column that is missing.
    """
    curves: dict[str, dict[str, Curve]] = {}
    for one in file.case.output.reference:
        try:
            curve = _curve(file.path_of(one.file), one)
        except (OSError, ValueError) as error:
            raise file.mistake("output", "reference", str(error), f"{one.label}, {one.file}") from None
        curves.setdefault(one.curve, {})[one.label] = curve
    return curves


def mean_difference(results: Results, reference: Reference) -> float | None:
    """Mean of |a - b| in dB between the computed curve a and the reference b, at those angles of b where it is at most
    25 dB below its maximum; None in a sweep, and where angles or polarisations have nothing in common.
    """
    step, output = results.steps[0], results.file.case.output
    requested = getattr(output, reference.curve)
    levels = step.strength if reference.curve == "far_field" else step.monostatic.get(reference.polarization or "")
    angles, known = results.references[reference.curve][reference.label]
    degrees = np.degrees(requested.values)
    inside = (angles >= degrees.min() - 1e-9) & (angles <= degrees.max() + 1e-9) & (known >= known.max() - COMPARED)
    if len(results.steps) > 1 or levels is None or not inside.any():
        return None
    order = np.argsort(degrees)
    computed = np.interp(angles[inside], degrees[order], levels[order])
    return float(np.abs(computed - known[inside]).mean())


def _curve(path: Path, reference: Reference) -> Curve:
    if not path.is_file():
        raise ValueError(f"no such file in {path.parent.resolve()}, the folder of the case")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError("not a text file in UTF-8") from None
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    rows = list(csv.DictReader(lines))
    names = list(rows[0]) if rows else []
    for column in (reference.angle, reference.level):
        if column not in names:
            raise ValueError(f"no column {column!r}: the file has {', '.join(map(repr, names)) or 'none'}")
    if any(None in row.values() for row in rows):
        raise ValueError(f"not every line has {len(names)} values")
    try:
        values = np.array([[float(row[reference.angle]), float(row[reference.level])] for row in rows])
    except ValueError:  # its text quotes the file
        raise ValueError("not all angles and levels are numbers") from None
    if not np.isfinite(values).all():
        raise ValueError("not all angles and levels are finite")
    return values[:, 0], values[:, 1]
