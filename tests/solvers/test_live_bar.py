"""Bars that appear by themselves: on a terminal, for long work, where nothing else is displayed."""

import io
import time

import pytest
from rich.console import Console
from rich.progress import TextColumn

from calderon.solvers import live_bar as module
from calderon.solvers.live_bar import LiveBar, own_display, wanted


@pytest.fixture
def terminal(monkeypatch):
    """The output of bars, on what looks like a terminal, without patience."""
    out = io.StringIO()
    monkeypatch.setattr(module, "Console", lambda: Console(file=out, force_terminal=True))
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    monkeypatch.setattr("rich.progress.get_console", lambda: Console(file=out, force_terminal=True))
    return out


def test_bars_are_for_terminals(terminal, monkeypatch):
    assert wanted(None) and wanted(True) and not wanted(False)
    with own_display():
        assert not wanted(None) and wanted(True)
    assert wanted(None)
    monkeypatch.setattr(module, "Console", lambda: Console(file=io.StringIO()))
    assert not wanted(None)


@pytest.mark.parametrize("wait, seen", [(0.0, False), (0.1, True)])
def test_a_bar_appears_after_some_time(wait, seen, terminal):
    with LiveBar((TextColumn("assembling {task.completed}"),), "assembling", None, total=3) as bar:
        time.sleep(wait)
        bar.update(completed=1)
    assert ("assembling 1" in terminal.getvalue()) == seen


def test_the_terminal_is_left_as_it_was_after_an_error(terminal):
    with pytest.raises(KeyboardInterrupt), LiveBar((TextColumn("x"),), "x", True, total=1):
        raise KeyboardInterrupt
    assert terminal.getvalue().count("\x1b[?25l") == terminal.getvalue().count("\x1b[?25h") == 1
