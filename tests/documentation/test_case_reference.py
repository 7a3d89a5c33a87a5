"""The pages and the schema of case files know the keys that are accepted, and no others."""

import json
import re
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from calderon.case import CaseError, parse, schema
from calderon.case.registry import models
from calderon.cli import app

ROOT = Path(__file__).parents[2]
KINDS = models()
CASES = {
    each.name: each.read_text("utf-8")
    for folder in files("calderon.report").joinpath("cases").iterdir()
    for each in folder.iterdir()
    if each.name.endswith(".toml")
}


@pytest.fixture(scope="module")
def reference():
    sys.path.insert(0, str(ROOT / "docs" / "tools"))
    import case_reference

    sys.path.remove(str(ROOT / "docs" / "tools"))
    return case_reference


@pytest.mark.parametrize("title", KINDS)
def test_the_page_lists_every_accepted_key_with_its_meaning_and_no_other(title, reference):
    sections = re.split(r"(?m)^## ", reference.page(title, KINDS[title]))[1:]
    tables = list(reference.tables(KINDS[title]))
    assert len(sections) == len(tables) > 3
    for section, (header, _, table) in zip(sections, tables, strict=True):
        rows = re.findall(r"(?m)^\| `(\w+)` \| (.*) \| (.*) \| (.+) \|$", section.split("\n\n| `")[0])
        assert [row[0] for row in rows] == list(table["properties"]), header
        assert all(value.strip() and len(meaning) > 5 for _, value, _, meaning in rows), header


def test_every_kind_of_case_has_a_page_and_every_model_a_meaning(reference, tmp_path):
    reference.write(tmp_path)
    toctree = (ROOT / "docs" / "case_files.md").read_text("utf-8")
    named = set(re.findall(r"(?m)^cases/(\w+)$", toctree))
    assert named == {path.stem for path in tmp_path.glob("*.md")}
    for model in KINDS.values():
        assert all(table.get("description") for _, _, table in reference.tables(model))


def test_pages_name_the_keys_that_a_choice_needs(reference):
    page = reference.page("", KINDS["Waves and potentials on surfaces"])
    assert '| `"torus"` | h, major_radius, minor_radius | volume |' in page
    assert '| `"dielectric"` | frequency or wavenumber, permittivity | permeability, formulation |' in page
    torus = '[mesh]\nshape = "torus"\nh = 1\nmajor_radius = 3\n'
    with pytest.raises(CaseError, match="also needs minor_radius"):
        parse(f'{torus}[physics]\nproblem = "laplace-dirichlet"\npotential = 1\n')


def test_the_command_prints_the_schema():
    ran = CliRunner().invoke(app, ["schema"])
    assert ran.exit_code == 0
    assert json.loads(ran.output) == json.loads(json.dumps(schema()))


@pytest.mark.parametrize(
    "old, new",
    [
        ("[solver]", "[solver]\nrtoll = 1e-3"),
        ('surface = ["abs"]', 'surface = ["phases"]'),
        ('frequency = "150 Hz"', 'frequency = "150 m"'),
        ("[incident]", "[incidence]"),
    ],
)
def test_the_schema_accepts_the_shipped_cases_and_refuses_what_reading_refuses(old, new):
    jsonschema = pytest.importorskip("jsonschema", reason="checks a document against a schema")
    check = jsonschema.Draft202012Validator(schema()).is_valid
    assert all(text.startswith("#:schema ") for text in CASES.values())
    assert not [name for name, text in CASES.items() if not check(tomllib.loads(text))]
    text = CASES["submarine.toml"]
    assert old in text
    assert not check(tomllib.loads(text.replace(old, new)))
    with pytest.raises(CaseError):
        parse(text.replace(old, new))
