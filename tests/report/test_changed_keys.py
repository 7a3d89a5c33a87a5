"""Every key of the examples, changed: a case or a mistake with its line, never another error."""

import re
import warnings
from importlib import resources

import pytest

from calderon.case.reading import CaseError, parse

FOLDERS = [folder for folder in (resources.files("calderon") / "report" / "cases").iterdir() if folder.is_dir()]
EXAMPLES = {path.name: path for folder in FOLDERS for path in folder.iterdir() if path.name.endswith(".toml")}
VALUES = (
    '""', "nan", "-inf", "1e300", "1e-300", "-1", "0", "[]", "[[1, 2], [3]]", '["a", 1]', "{}", "{ a = 1 }", "true",
    "2020-01-01", '"3 parsec"', '"ünïcödé"', f'"{"x" * 5000}"', "99999999999999999999999", '"1e400 m"', '"1,5 GHz"',
)  # fmt: skip


def changed(text):
    """The text with each key replaced, given twice, misspelt, left out, given as a table or a list."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not (entry := re.match(r"([\w.\-]+)\s*=\s*(.*)$", line)):
            continue
        key, value = entry[1], entry[2]
        others = [f"{key} = {each}" for each in VALUES]
        others += ["", f"{line}\n{line}", f"{key}x = {value}", f"{key}.a = {value}", f"{key} = [{value}]", f"{key} ="]
        for other in others:
            yield "\n".join([*lines[:number], other, *lines[number + 1 :]])


@pytest.mark.variant
@pytest.mark.parametrize("name", EXAMPLES)
def test_changed_keys_are_mistakes_with_their_line(name):
    refused = 0
    for text in changed(EXAMPLES[name].read_text(encoding="utf-8")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                parse(text, name)
            except CaseError as error:
                refused += 1
                assert not [each for each in error.problems if not re.match(r"line \d+: ", each) or len(each) > 1500]
    assert refused > 100
