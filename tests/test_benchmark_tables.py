"""The tables of benchmarks/README.md are those that `python -m benchmarks --tables` writes from results/*.json."""

import json

from benchmarks.__main__ import MEASUREMENTS
from benchmarks.common import tables
from benchmarks.common.results import FOLDER

PAGE = tables.README.read_text(encoding="utf-8")
LONGEST = 250


def test_tables_are_those_of_the_records():
    assert tables.written(PAGE) == PAGE
    assert PAGE.count("\n") <= LONGEST


def test_a_changed_figure_changes_the_page():
    marked = next(match for match in tables.MARKED.finditer(PAGE) if match[1] == "columns")
    assert tables.written(PAGE.replace(marked[0], marked[0].replace("7.4 ms", "7.5 ms"))) == PAGE
    assert "7.4 ms" in marked[0]


def test_every_table_names_a_command_that_measures_it():
    named = [name for match in tables.MARKED.finditer(PAGE) for name in match[1].split()]
    assert len(named) == len(set(named)) > 10
    for name in set(named) - {"machines"}:
        commands = [tables.MEASURED[name][0]] if name in tables.MEASURED else tables.stored(name)["command"].split()[3:]
        assert commands and set(commands) <= set(MEASUREMENTS), name
        assert all(command in PAGE for command in commands), name


def test_every_record_is_used():
    """Each file of results is a table of the page, or the measurement behind one."""
    names = {name for match in tables.MARKED.finditer(PAGE) for name in match[1].split()}
    measured = {measurement for measurement, _ in tables.MEASURED.values()} | {"gpu"}
    for path in FOLDER.rglob("*.json"):
        kind = json.loads(path.read_text(encoding="utf-8")).get("benchmark")
        assert path.stem in names or kind in measured or path.stem.rsplit("-", 2)[0] in measured, path.name
