"""Every key of the examples, changed: a case or a mistake with its line, never another error.

Examples of one folder are of similar kinds: each key of a table is changed where it stands first.
"""

import re
import warnings
from importlib import resources

import pytest

from calderon.case.reading import CaseError, parse

FOLDERS = [folder for folder in (resources.files("calderon") / "report" / "cases").iterdir() if folder.is_dir()]
EXAMPLES = {
    folder.name: sorted((each for each in folder.iterdir() if each.name.endswith(".toml")), key=lambda each: each.name)
    for folder in FOLDERS
}
VALUES = (
    '""', "nan", "-inf", "1e300", "1e-300", "-1", "0", "[]", "[[1, 2], [3]]", '["a", 1]', "{}", "{ a = 1 }", "true",
    "2020-01-01", '"3 parsec"', '"ünïcödé"', f'"{"x" * 5000}"', "99999999999999999999999", '"1e400 m"', '"1,5 GHz"',
)  # fmt: skip


def changed(text, seen):
    """The text with each key that is not seen before replaced, given twice, misspelt, left out, given as a table or a
    list."""
    lines, table = text.split("\n"), ""
    for number, line in enumerate(lines):
        table = line.split("#")[0].strip() if line.startswith("[") else table
        if not (entry := re.match(r"([\w.\-]+)\s*=\s*(.*)$", line)) or (table, entry[1]) in seen:
            continue
        key, value = entry[1], entry[2]
        seen.add((table, key))
        others = [f"{key} = {each}" for each in VALUES]
        others += ["", f"{line}\n{line}", f"{key}x = {value}", f"{key}.a = {value}", f"{key} = [{value}]", f"{key} ="]
        for other in others:
            yield "\n".join([*lines[:number], other, *lines[number + 1 :]])


@pytest.mark.variant
@pytest.mark.parametrize("folder", [name for name in EXAMPLES if EXAMPLES[name]])
def test_changed_keys_are_mistakes_with_their_line(folder):
    refused, seen = 0, set()
    for text in (text for path in EXAMPLES[folder] for text in changed(path.read_text(encoding="utf-8"), seen)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                parse(text, folder)
            except CaseError as error:
                refused += 1
                assert not [each for each in error.problems if not re.match(r"line \d+: ", each) or len(each) > 1500]
    assert refused > 100
