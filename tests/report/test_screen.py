"""Messages of a terminal about long stages."""

from io import StringIO

from rich.console import Console

from calderon.report.stages import stages_on


def test_the_time_left_is_that_of_what_is_left(monkeypatch):
    """A run that goes on at half of 100 steps, a second for each ten: the first half took no time now."""
    now = [1000.0]
    monkeypatch.setattr("calderon.report.stages.time.monotonic", lambda: now[0])
    output = StringIO()
    with stages_on(Console(file=output, width=200)) as stages, stages.stage("advance", "100 steps"):
        for done in range(50, 101, 10):
            stages.progress(done, 100)
            now[0] += 1
    lines = [line.strip() for line in output.getvalue().splitlines()]
    assert lines[:3] == ["advance, 100 steps ...", "50 %", "60 %, 4 s left"]
    assert lines[3:5] == ["70 %, 3 s left", "80 %, 2 s left"] and lines[-1].startswith("advance, 100 steps: ")
