"""Every public name has a page of the reference with a program that contains it, and the programs run."""

import re
import sys
import warnings
from pathlib import Path

import pytest

import calderon as cal

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "tools"))
import api_reference  # noqa: E402

sys.path.pop(0)

NAMES = list(api_reference.names())
USED = ("mesh", "planar", "exact", "plots", "coupling")
"""Modules of which every name has an example; `backends` and `hmatrix` export also what the package needs."""


def test_every_public_name_has_a_page_of_its_own():
    shown = {f"cal.{name}" for name in cal.__all__ if name not in api_reference.MODULES}
    known = {id(one.value) for one in NAMES}
    shown |= {f"cal.{module}.{name}" for module in USED for name in getattr(cal, module).__all__}
    assert not [name for name in shown if id(eval(name, {"cal": cal})) not in known]
    pages = [one.page.casefold() for one in NAMES]
    assert len(pages) == len(set(pages))


def test_the_pages_that_the_reference_links_have_the_tables_of_the_names():
    group = {one.shown.removeprefix("cal."): one.group for one in NAMES}
    for line in (api_reference.PAGES / "index.md").read_text(encoding="utf-8").splitlines():
        listed, pages = re.findall(r"(?<!\})`(\w+)`", line), re.findall(r"\{doc\}`(\w+)`", line)
        if line.startswith("|") and pages:
            assert {group[name] for name in set(listed) - set(api_reference.MODULES)} <= set(pages), line


def test_every_public_name_has_an_example():
    required = {f"cal.{name}" for name in cal.__all__} | {f"cal.{module}." for module in USED}
    missing = {
        one.shown
        for one in NAMES
        if (one.shown in required or one.shown.rpartition(".")[0] + "." in required) and not api_reference.example(one)
    }
    assert not missing


def test_a_page_has_types_description_and_the_program():
    one = next(one for one in NAMES if one.shown == "cal.mesh.torus")
    page = api_reference.page(one)
    assert ".. autofunction:: torus" in page and "cal.mesh.torus(1.0, 0.3" in page and "cal.mesh.plate" not in page
    assert "| [`cal.mesh.torus`](names/mesh.torus.md) |" in api_reference.table("calderon.mesh")


@pytest.mark.parametrize("group", sorted(group for group in api_reference.groups() if api_reference.programs(group)))
def test_the_programs_of_a_page_run(group, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, *others = (compile(each, group, "exec") for each in api_reference.programs(group))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cal.AccuracyWarning)  # tiny meshes
        start = {"__name__": group}
        exec(first, start)
        for each in others:
            exec(each, dict(start))
