"""The names of the package: those that users see are exported and documented, former ones warn."""

import re
from pathlib import Path

import pytest

import calderon as cal

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "api"


def test_exported_names_are_those_that_the_reference_lists():
    table = [line for line in (REFERENCE / "index.md").read_text().splitlines() if line.startswith("|")]
    listed = re.findall(r"(?<!\})`(\w+)`", "\n".join(table))
    assert sorted(listed) == sorted(cal.__all__)


@pytest.mark.parametrize("module", ["elastic", "planar"])
def test_words_of_solids_and_of_boards_are_those_that_the_reference_lists(module):
    words = getattr(cal, module)
    table = [line for line in (REFERENCE / "index.md").read_text().splitlines() if line.startswith("|")]
    listed = re.findall(rf"`{module}\.(\w+)`", "\n".join(table))
    flat = {"Traction", "Pressure", "Layer", "Stack", "ProbePort", "Lumped"}
    assert {*listed} == {*words.__all__} - flat - {*cal.mesh.planar.__all__}
    assert all(getattr(words, name) is getattr(cal, name) for name in flat & {*words.__all__})
    assert {*dir(words)} >= {*words.__all__}


def test_only_exported_names_are_visible():
    assert set(dir(cal)) == {*cal.__all__, "__version__"}
    assert all(hasattr(cal, name) for name in cal.__all__)
    for name in ("register", "import_module", "assemble_dense", "version", "warnings"):
        assert not hasattr(cal, name)


@pytest.mark.parametrize(
    "old, new",
    [
        ("TimeHarmonicPlaneWave", "TransientPlaneWave"),
    ],
)
def test_former_names_lead_to_the_new_ones_with_a_warning(old, new):
    with pytest.warns(DeprecationWarning, match=f"cal.{old} is called cal.{new} now") as seen:
        found = getattr(cal, old)
    assert found is getattr(cal, new)
    assert seen[0].filename == __file__
    assert old not in cal.__all__


def test_what_the_page_on_reliability_promises_is_tested():
    page = (ROOT / "docs" / "guides" / "reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", page)
    assert len(named) > 20
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file} has no {test}"
