"""Reports put some numbers first, some aside, and leave some out: hints, columns of zeros, bands, times."""

import numpy as np
import pytest

import calderon.report.stages as stages
from calderon.report.formatting import number, typeset
from calderon.report.page import _facts, _hints, _notices
from calderon.report.reflection import bandwidth
from calderon.report.sheet import Sheet


def test_columns_of_zeros_are_left_out_of_tables_of_several_rows():
    sheet = Sheet()
    sheet.table("sweep", ["at", "iterations", "level"], [["1 GHz", "0", "0"], ["2 GHz", "0", "-3"]])
    sheet.table("parts", ["part", "slivers"], [["head", "0"]])
    assert "iterations" not in sheet.tables and "level" in sheet.tables and "slivers" in sheet.tables


def test_asides_are_grey_and_hints_are_commands_that_are_no_values():
    sheet = Sheet()
    sheet.headline("largest stress", "31.7", "MPa")
    sheet.aside("on an edge", "60.6", "MPa")
    sheet.hint("estimate <the> error", "--estimate")
    shown = _facts(sheet.headlines, sheet.asides)
    assert shown.count('class="aside"') == 1 and shown.index("60.6") > shown.index('class="aside"') > shown.index(
        "31.7"
    )
    hints = _hints(sheet.hints)
    assert 'data-copy="calderon run case.toml --estimate"' in hints and "estimate &lt;the&gt; error" in hints
    assert _hints([]) == ""


def test_the_bandwidth_of_a_parabola_is_that_between_its_roots():
    """S11 = -20 + 10 (x / 0.7)^2 is -10 dB at x = -0.7 and 0.7; linear interpolation errs by h^2 / 8 of its slope."""
    x = np.linspace(-2, 2, 401)
    found = bandwidth(x, -20 + 10 * (x / 0.7) ** 2)
    assert found is not None and found.ends and [found.low, found.high] == pytest.approx([-0.7, 0.7], abs=1e-4)
    cut = bandwidth(x[x < 0.3], (-20 + 10 * (x / 0.7) ** 2)[x < 0.3])
    assert cut is not None and not cut.ends and cut.high == x[x < 0.3][-1]
    assert bandwidth(x, np.full(401, -9.0)) is None


def test_compilation_is_a_row_of_its_own(monkeypatch):
    clock, compiled = iter([10.0, 15.0, 20.0, 21.0]), iter([1.0, 4.0, 4.0, 4.0])
    monkeypatch.setattr(stages.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(stages, "compilation_seconds", lambda: next(compiled))
    kept = stages.Stages()
    for name in ("solve", "draw"):
        with kept.stage(name):
            pass
    assert kept.seconds == {stages.COMPILATION: 3.0, "solve": 2.0, "draw": 1.0}


def test_pages_print_powers_and_leave_out_what_says_nothing():
    assert typeset("1.2e-05 of 3e+06, case2e") == "1.2\u202f×\u202f10⁻⁵ of 3\u202f×\u202f10⁶, case2e"
    assert (number(9999.96), number(55318.46), number(3.14159)) == ("9999.96", "55318.5", "3.142")
    sheet = Sheet()
    sheet.table("Walls", ["", "given", "absorbed"], [["front", "2e-06", ""], ["back", "", ""], ["top", "1", ""]])
    sheet.table("Forces", ["", "force"], [["left", "(0, 0, 0) kN"], ["right", "(0, 0, 0) kN"]])
    assert "<th>force" not in sheet.tables and "<th>given" in sheet.tables
    assert "absorbed" not in sheet.tables and "back" not in sheet.tables and "10⁻⁶" in sheet.tables


def test_warnings_that_differ_in_numbers_are_folded():
    found = _notices(("5 elements at 1.5 Hz", "4.3 elements at 2 Hz", "open edges"))
    assert found.count("<details>") == 1 and "1 more with other numbers" in found
    assert all(text in found for text in ("5 elements", "4.3 elements", "open edges"))
