"""Cases with method = "mlfmm": what they compute, what the report says about levels, and options that are refused."""

import re

import numpy as np
import pytest

from calderon.case import CaseError, parse
from calderon.report import run, write
from surface_case import surface_case

SOLVER = '[solver]\nmethod = "mlfmm"\nrtol = 1e-3\ncompression_rtol = 1e-2\n'
FAR = 'surface = []\nfar_field = { plane = "xy", count = 19 }\n'
SOUND = surface_case(FAR + SOLVER, 'shape = "sphere"\nradius = 1\nh = 0.2', wavenumber=8)


def table_of(page: str, title: str) -> list[list[str]]:
    """The cells of the rows below the header of a table in a page."""
    rows = re.search(rf"<h2>{title}</h2><table[^>]*>(.*?)</table>", page)[1].split("<tr>")[2:]
    return [re.findall(r"<td>(.*?)</td>", row) for row in rows]


def test_sound_by_plane_waves_and_its_levels_in_the_report(tmp_path):
    results = run(parse(SOUND))
    dense = run(parse(SOUND.replace(SOLVER, "")))
    far, expected = (each.steps[0].far_field["far_field", "Pa_m"] for each in (results, dense))
    assert np.linalg.norm(far - expected) < 1e-2 * np.linalg.norm(expected)
    waves = results.steps[0].plane_waves
    assert waves is not None and dense.steps[0].plane_waves is None
    assert 0 < waves.error <= waves.rtol == 1e-2
    write(results, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    rows = table_of(page, "Levels of boxes")
    ((wavenumber, levels),) = waves.levels
    assert wavenumber == 8 and len(rows) == len(levels) >= 1
    for row, level in zip(rows, levels, strict=True):
        assert float(row[2]) == pytest.approx(float(row[1]) * 8 / (2 * np.pi), rel=1e-2)
        assert [int(each) for each in row[3:7]] == [level.boxes, level.half, level.full, level.pairs]
    assert f"error of products, on {waves.checked} rows" in page and "near blocks" in page


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ('solver = "lu"', "method 'mlfmm' keeps no entries"),
        ('preconditioner = "hlu"', "method 'mlfmm' has no hierarchical factors"),
        ("keep_on_device = true", "solver.keep_on_device: unknown key"),
    ],
)
def test_options_that_plane_waves_do_not_have_are_refused(option, reason):
    with pytest.raises(CaseError, match=re.escape(reason)):
        parse(SOUND + option + "\n")
