"""Answers for programs: JSON by its schema, verdicts, exit codes, references, tools by the Model Context Protocol."""

import asyncio
import json
import math
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

import calderon.references.catalogue as catalogue
from calderon.answers import EXISTS, MEANINGS, NOT_SHOWN, NOT_SOLVED, OK, WRONG_INPUT, schema
from calderon.answers.server import Folder
from calderon.cli import app
from calderon.references.python_peers import Peer
from surface_case import surface_case

SMALL = "surface = []\n[solver]\nrtol = 1e-4"
CASE = surface_case(SMALL)


def asked(*arguments: str | Path):
    """The answer and the exit code of a command, of which the answer holds by the schema."""
    run = CliRunner().invoke(app, [str(each) for each in arguments])
    found = json.loads(run.stdout)
    jsonschema.validate(found, schema())
    assert found["exit_code"] == run.exit_code and found["version"] == "1.0"
    return found


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "case.toml").write_text(CASE)
    return tmp_path


def test_a_plan_is_an_answer(folder):
    found = asked("plan", folder / "case.toml", "--json")
    assert found["verdict"] == "ok" and found["kind"] == "Waves and potentials on surfaces"
    assert {"unknowns", "memory"} <= {row["name"] for row in found["plan"]}
    again = asked("run", folder / "case.toml", "--plan", "--json")  # the free memory may differ
    assert [row["name"] for row in found["plan"]] == [row["name"] for row in again["plan"]]
    (folder / "case.toml").write_text(CASE.replace("wavenumber", "wavenumbr"))
    found = asked("plan", folder / "case.toml", "--json")
    assert found["verdict"] == "refused" and found["exit_code"] == WRONG_INPUT
    assert "physics.wavenumbr: unknown key" in found["reasons"][0]


def test_the_verdict_of_a_run_is_about_its_errors(folder):
    case, out = folder / "case.toml", folder / "out"
    found = asked("run", case, "--json", "--out", out)
    assert (found["verdict"], found["exit_code"]) == ("ok", OK)
    error = found["errors"][0]
    assert error["of"].startswith("error estimate: field left inside") and 0 < error["relative"] < 0.1
    assert json.loads((out / "summary.json").read_text())["relative_errors"] == {error["of"]: error["relative"]}
    taken = asked("run", case, "--json", "--out", out)
    assert (taken["verdict"], taken["exit_code"]) == ("refused", EXISTS)
    strict = asked("run", case, "--json", "--out", out, "--force", "--error", "1e-9")
    assert (strict["verdict"], strict["exit_code"]) == ("accuracy not shown", NOT_SHOWN)
    assert "is above 1e-09" in strict["reasons"][0]
    (folder / "case.toml").write_text(CASE + "\nmax_iterations = 1\n")
    failed = asked("run", case, "--json", "--out", folder / "none")
    assert (failed["verdict"], failed["exit_code"]) == ("refused", NOT_SOLVED) and not (folder / "none").exists()


def test_a_warning_of_accuracy_and_no_error_at_all_leave_it_open(folder):
    coarse = CASE.replace("wavenumber = 1.5", "wavenumber = 6.0")
    (folder / "case.toml").write_text(coarse)
    found = asked("run", folder / "case.toml", "--json", "--out", folder / "out")
    assert found["verdict"] == "accuracy not shown" and any("elements" in each for each in found["reasons"])
    plate = surface_case(SMALL, 'shape = "plate"\nlengths = [1, 1]\nh = 0.5').replace("sound-hard", "conductor")
    plate = re.sub(r"(direction = .*)", '\\1\npolarization = "V"', plate)
    (folder / "case.toml").write_text(
        plate.replace("surface = []", "surface = []\nestimate = false").replace(
            "wavenumber", 'formulation = "efie"\nwavenumber'
        )
    )
    found = asked("run", folder / "case.toml", "--json", "--out", folder / "plate")
    assert found["errors"] == [] and "the result states no error" in found["reasons"][0]


def test_references_are_within_their_bounds_and_missing_ones_are_reported(monkeypatch):
    names = "rigid-sphere", "cube", "dipole"
    found = asked("validate", *names, "--json")
    assert found["exit_code"] == OK and [row["name"] for row in found["validations"]] == list(names)
    assert all(0 < row["error"] <= row["bound"] for row in found["validations"])
    cube = catalogue.REFERENCES[[each.name for each in catalogue.REFERENCES].index("cube")]
    absent = replace(cube, name="absent", packages=(("no_such_package", "fem"),))
    strict, nan = replace(cube, name="strict", bound=1e-9), replace(cube, name="nan", compute=lambda: math.nan)
    alone = replace(cube, name="alone", programs=("no_such_program",))
    for changed, code in (((strict, nan), NOT_SHOWN), ((strict, absent), WRONG_INPUT), ((alone,), WRONG_INPUT)):
        monkeypatch.setattr(catalogue, "REFERENCES", changed)
        assert asked("validate", "--json")["exit_code"] == code
        assert CliRunner().invoke(app, ["validate"]).exit_code == code
    other = Peer("json", "x", "found = 2 * given['half']")
    assert other.asked(half=1.5) == 3.0 and not other.missing()
    with pytest.raises(ValueError, match="json has found nothing: KeyError: 'half'"):
        other.asked()
    monkeypatch.setattr(catalogue, "REFERENCES", (replace(cube, peer=Peer("no_such", "that", "")),))
    row = asked("validate", "--json")
    assert row["exit_code"] == WRONG_INPUT and "pip install that" in row["validations"][0]["reason"]
    assert "unknown reference 'kube'" in asked("validate", "kube", "--json")["reasons"][0]


def test_exit_codes_are_those_of_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "guides" / "reliability.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"(?m)^\| (\d) \| (.*?) \|$", page)) == {str(n): text for n, text in MEANINGS.items()}


def test_names_stay_in_their_folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.toml").write_text(CASE)
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    (tmp_path / "in" / "linked.toml").symlink_to(tmp_path / "secret.toml")
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in" / "loop")
    folder = Folder(tmp_path / "in")
    outside = "../secret.toml", str(tmp_path / "secret.toml"), "link/secret.toml", "linked.toml", "a/../../x", "", "a\0"
    for name in outside:
        with pytest.raises(ValueError, match="no name in the folder|leads out of the folder"):
            folder.read(name) if name else folder.inside(name)
    assert folder.read(".")["names"] == ["link/", "linked.toml", "loop"]
    (tmp_path / "in" / "case.toml").write_text(CASE)
    for case, out in (("linked.toml", "out"), ("case.toml", "link/out")):
        case, out = tmp_path / "in" / case, tmp_path / "in" / out
        found = asked("run", case, "--json", "--inside", tmp_path / "in", "--out", out)
        assert found["exit_code"] == WRONG_INPUT and "is outside of" in found["reasons"][0]
    for mesh in ("../body.stl", "link/body.stl", "body.xdmf"):
        (tmp_path / "in" / "case.toml").write_text(surface_case(SMALL, f'file = "{mesh}"'))
        found = asked("plan", tmp_path / "in" / "case.toml", "--json", "--inside", tmp_path / "in")
        assert re.search("leads out of the folder|name other files", found["reasons"][0])


def test_a_client_describes_plans_runs_reads_and_is_refused(tmp_path):
    pytest.importorskip("mcp")
    (tmp_path / "work").mkdir()
    (tmp_path / "secret.toml").write_text(CASE)
    found = asyncio.run(conversation(tmp_path / "work"))
    assert "surface" in found["all"]["kinds"] and "rigid-sphere" in found["all"]["examples"]
    assert "properties" in found["kind"]["schema"] and "sound-hard" in found["example"]["text"]
    assert found["plan"]["verdict"] == "ok", found["plan"]
    assert found["run"]["verdict"] == "ok", found["run"]
    assert json.loads(found["summary"]["text"])["unknowns"] == 93
    assert found["wrong"]["verdict"] == "refused" and "unknown key" in found["wrong"]["reasons"][0]
    for name in ("outside", "above", "out"):
        assert "is no name in the folder" in json.dumps(found[name]), name
    assert sorted(each.name for each in tmp_path.iterdir()) == ["secret.toml", "work"]


async def conversation(folder: Path) -> dict[str, dict]:
    """The answers that a client on standard input and output is given."""
    from mcp import StdioServerParameters
    from mcp.client import Client
    from mcp.client.stdio import stdio_client

    arguments = ["-m", "calderon", "serve", str(folder)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
    calls = {
        "all": ("describe", {}),
        "kind": ("describe", {"name": "surface"}),
        "example": ("describe", {"name": "rigid-sphere"}),
        "plan": ("plan", {"case": "a/case.toml", "text": CASE}),
        "run": ("run", {"case": "a/case.toml", "out": "a/out"}),
        "summary": ("read", {"name": "a/out/summary.json"}),
        "wrong": ("plan", {"case": "wrong.toml", "text": CASE.replace("wavenumber", "wavenumbr")}),
        "outside": ("plan", {"case": str(folder.parent / "secret.toml")}),
        "above": ("read", {"name": "../secret.toml"}),
        "out": ("run", {"case": "a/case.toml", "out": "../out"}),
    }
    async with Client(stdio_client(server)) as client:
        assert {each.name for each in (await client.list_tools()).tools} == {"describe", "plan", "run", "read"}
        found = {}
        for name, (tool, arguments) in calls.items():
            answer = await client.call_tool(tool, arguments)
            found[name] = answer.structured_content or json.loads(answer.content[0].text)
        return found
