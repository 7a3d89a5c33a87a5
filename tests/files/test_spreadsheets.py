"""Tables that spreadsheets open hold no formula, whatever the names of tags, and the numbers that they held."""

import csv

import numpy as np
import pytest

from calderon.data import Axis, LabelledArrays, Quantity
from calderon.files.spreadsheets import cell_text
from calderon.report.formatting import write_csv

FORMULAS = [
    "=2+3",
    "+SUM(A1)",
    "-2+3",
    "@A1",
    "\t=2",
    "\r=2",
    "\n=2",
    " =2+3",
    "=cmd|' /C calc'!A0",
    '="a,b"',
    "\uff1d2",
    "\t5",
]
TEXTS = ["hull", "a=b", "1-2", "a, b", 'say "so"', "", "'", "n@b", "-5", "+1e-3", "-nan", "a\nb"]


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_run_becomes_a_text(text):
    assert cell_text(text) == "'" + text
    assert cell_text(cell_text(text)) == "'" + text


@pytest.mark.parametrize("text", TEXTS)
def test_other_texts_and_numbers_stay(text):
    assert cell_text(text) == text


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_every_table_keeps_its_cells_apart(tmp_path):
    """Tables of results and labelled arrays, with texts in cells and in the names of columns."""
    texts = FORMULAS + TEXTS
    values = -np.arange(len(texts), dtype=float)
    write_csv(tmp_path / "a.csv", [("tag", texts), ("=x", values)])
    arrays = LabelledArrays((Axis("tag", np.array(texts, object)),), (Quantity("x", values, "m"),))
    arrays.write_csv(tmp_path / "b.csv")
    expected = [cell_text(text) for text in texts]
    for name, head in (("a.csv", ["tag", "'=x"]), ("b.csv", ["tag", "x_m"])):
        first, *rows = rows_of(tmp_path / name)
        assert first == head and [row[0] for row in rows] == expected
        assert [float(row[1]) for row in rows] == values.tolist()
