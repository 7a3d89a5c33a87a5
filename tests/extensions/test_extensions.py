"""Another package adds a Green's function, a kind of case, a problem, a mesh format and a panel by entry points.

The package is `examples/plugin`. It is "installed" as pip does it, its files and its metadata in a folder on the path,
and once by pip.
"""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import calderon as cal
from calderon.answers import WRONG_INPUT
from calderon.case import CaseError, parse, schema
from calderon.cli import app
from calderon.mesh import MeshError
from calderon.processes.extensions import ExtensionError
from calderon.report import run, sheet_of
from surface_case import CUBE, surface_case

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"
RAIN = PLUGIN / "src" / "rain"
DROPS = '[drops]\ncharge = 1e-12\nradius = "1 mm"\nplaces = [[0, 0, 0], [0, 0, "1 m"]]\n'
FILES_OF_A_KIND = {"__init__.py", "model.py", "panels.py"}


def install(name: str, entries: str, folder: Path) -> None:
    """Write the metadata of a package as pip does."""
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entries)


def entry_points_of(file: Path) -> str:
    """The entry points of a project as its metadata have them."""
    groups = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["entry-points"]
    return "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in groups.items()
    )


@pytest.fixture
def rain(tmp_path, monkeypatch):
    site = tmp_path / "site-packages"
    shutil.copytree(RAIN, site / "rain", ignore=shutil.ignore_patterns("__pycache__"))
    install("rain", entry_points_of(PLUGIN / "pyproject.toml"), site)
    monkeypatch.syspath_prepend(site)
    yield
    for name in [each for each in sys.modules if each.partition(".")[0] == "rain"]:
        del sys.modules[name]


def test_the_recipes_name_every_file_of_the_package():
    recipes = (PLUGIN.parents[1] / "CONTRIBUTING.md").read_text()
    entries = re.findall(r"(?m)^\S+ = (rain[\w.]+:\w+)", entry_points_of(PLUGIN / "pyproject.toml"))
    assert len(entries) == 5 and all(f'= "{each}"' in recipes for each in entries)
    for name in ("drops/", "panels.py", "readers.py"):
        assert f"examples/plugin/src/rain/{name}" in recipes


@pytest.mark.variant
def test_pip_installs_the_package_where_it_is_found(tmp_path):
    """From its folder, without a network, into a folder that another process has on its path."""
    if tuple(map(int, version("setuptools").split(".")[:1])) < (77,):
        pytest.skip(f"setuptools 77 builds the package, got {version('setuptools')}: pip install 'setuptools>=77'")
    shutil.copytree(PLUGIN, tmp_path / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
    alone = ["--no-deps", "--no-index", "--no-build-isolation", "--no-compile", "--target", str(tmp_path / "site")]
    given = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        *alone,
        str(tmp_path / "plugin"),
    ]
    subprocess.run(given, check=True, capture_output=True, text=True)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import calderon as cal\n"
        "from calderon.case import schema\n"
        "from calderon.mesh.files.formats.catalogue import suffixes\n"
        "from calderon.processes.extensions import extension_names\n"
        "print(cal.Screened(0.5), 'drops' in str(schema()), '.corners' in suffixes())\n"
        "print(extension_names('calderon.panels'), extension_names('calderon.problems'))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "site")], capture_output=True, text=True, check=True
    )
    assert found.stdout == "Screened(decay=2.0) True True\n['wetted'] ['drops', 'rigid-in-air']\n"


def test_a_greens_function_is_found_by_its_name(rain):
    mesh = cal.mesh.cube(1.0, h=1.0)
    found, known = (cal.single_layer(green, cal.P0(mesh)) for green in (cal.Screened(0.5), cal.ModifiedHelmholtz(2.0)))
    assert np.array_equal(found.assemble().to_array(), known.assemble().to_array())
    with pytest.raises(AttributeError, match="'calderon' has no attribute 'Screaned'"):
        cal.Screaned


def test_a_kind_of_case_is_a_folder_of_three_files(rain, tmp_path):
    """A case of it is checked, planned, run and reported like those of the package, with the panels of all kinds."""
    assert {each.name for each in (RAIN / "drops").glob("*.py")} == FILES_OF_A_KIND
    (tmp_path / "case.toml").write_text(DROPS)
    planned = CliRunner().invoke(app, ["run", "--plan", str(tmp_path / "case.toml")])
    assert planned.exit_code == 0 and "drops  2" in planned.output
    ran = CliRunner().invoke(app, ["run", str(tmp_path / "case.toml"), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    assert "largest potential" in ran.output and "unknowns" in ran.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    alone = 1e-12 / (4 * np.pi * 8.8541878128e-12 * 1e-3)
    assert summary["potentials_V"] == pytest.approx([alone * 1.001] * 2) and summary["unknowns"] == 2
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(text in page for text in ("Charged drops", "q / (4 pi eps0 r)", "potentials.csv", "Potentials."))
    assert {"drops", "mesh", "planar"} <= {name for one in schema()["$defs"].values() for name in one["properties"]}


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('radius = "1 mm"', 'radius = "1 s"', 'line 3: drops.radius = "1 s": a length is written like'),
        ("places", "place", "line 4: drops.place: unknown key; did you mean 'places'?"),
        ('"1 m"', "0", "line 1: drops: two drops are in one place"),
        ('"1 m"', "0.0005", "line 3: drops.radius = 0.001: the drops touch each other"),
    ],
)
def test_mistakes_in_cases_of_another_package_are_told_by_line_and_key(rain, old, new, message):
    with pytest.raises(CaseError) as caught:
        run(parse(DROPS.replace(old, new)))
    assert message in str(caught.value)


def test_a_problem_on_surfaces_is_an_entry(rain):
    case = surface_case('surface = []\nfar_field = { plane = "xy", count = 9 }', CUBE, 1.0)
    added, known = (run(parse(case.replace("sound-hard", name))) for name in ("rigid-in-air", "sound-hard"))
    assert np.array_equal(added.steps[0].strength, known.steps[0].strength)
    assert added.file.kind.subject(added.file.case) == "A rigid body in air"
    with pytest.raises(CaseError, match="did you mean 'rigid-in-air'?"):
        parse(case.replace("sound-hard", "rigid-in-ait"))


def test_a_mesh_format_is_one_record(rain, tmp_path):
    mesh, path = cal.mesh.cube(1.0, h=0.5), tmp_path / "cube.corners"
    mesh.write(path)
    found = cal.mesh.read(path)
    assert found.is_closed and found.volume == pytest.approx(1.0) and len(found.vertices) == len(mesh.vertices)
    shown = CliRunner().invoke(app, ["mesh", str(path)])
    assert shown.exit_code == 0 and "48, 26" in shown.output
    path.write_text("1 2 3\n")
    with pytest.raises(MeshError, match="cube.corners: nine coordinates a line are needed, got 3"):
        cal.mesh.read(path)
    with pytest.raises(MeshError, match="hold no names"):
        cal.mesh.sample("bracket").write(path)
    with pytest.raises(MeshError, match="unknown mesh format '.corner'; choose .msh, .*, .corners"):
        cal.mesh.read(tmp_path / "cube.corner")
    with pytest.raises(MeshError, match="unknown mesh format '.corners'; choose .msh, .vtu$"):
        cal.mesh.read_tetrahedra(path)


def test_a_panel_is_drawn_where_a_result_has_what_it_needs(rain):
    body = run(parse(surface_case("surface = []", CUBE, 1.0)))
    assert ("water on the surface", "0.6", "l") in sheet_of(body).headlines
    assert sheet_of(body).numbers["water_m3"] == pytest.approx(6e-4)
    assert "water_m3" not in sheet_of(run(parse(DROPS))).numbers


@pytest.fixture
def broken(tmp_path, monkeypatch):
    install("drizzle", "[calderon.problems]\nfog = drizzle:KIND\n[calderon.readers]\nmist = json:loads\n"
            "[calderon.panels]\nhaze = drizzle:HAZE\n[calderon.greens]\nDew = drizzle:Dew\n", tmp_path)  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)


def test_what_cannot_be_imported_is_named_with_its_package(broken, tmp_path):
    reason = "of drizzle 1.0 in the group 'calderon.{}' \\(drizzle:{}\\) cannot be imported: ModuleNotFoundError"
    with pytest.raises(ExtensionError, match="the entry point 'Dew' " + reason.format("greens", "Dew")):
        cal.Dew
    with pytest.raises(ExtensionError, match="'mist' of drizzle 1.0 .* gives 'function', but Format is needed"):
        cal.mesh.read(tmp_path / "a.unknown")
    (tmp_path / "case.toml").write_text("[fog]\n")
    ran = CliRunner().invoke(app, ["run", str(tmp_path / "case.toml")])
    assert ran.exit_code == WRONG_INPUT and "'fog' of drizzle 1.0" in " ".join(ran.output.split())
    failures = sheet_of(run(parse(surface_case("surface = []", CUBE, 1.0)))).failures
    assert len(failures) == 1 and "the entry point 'haze' of drizzle 1.0" in failures[0]


def test_a_panel_that_fails_costs_no_result(rain, monkeypatch):
    from rain import panels

    monkeypatch.setattr(panels, "FILM", "thin")
    sheet = sheet_of(run(parse(surface_case("surface = []", CUBE, 1.0))))
    assert sheet.failures == [
        "the panel 'wetted' is left out: TypeError: can't multiply sequence by non-int of type 'float'"
    ]
    assert sheet.numbers["mesh"]["triangles"] == 48


def test_metadata_is_read_when_a_name_is_unknown_only(tmp_path):
    program = (
        "import importlib.metadata as metadata\n"
        "found = metadata.entry_points\n"
        "def refuse(**chosen):\n"
        "    assert not chosen.get('group', '').startswith('calderon'), chosen\n"  # others read all groups at once
        "    return found(**chosen)\n"
        "metadata.entry_points = refuse\n"
        "import calderon as cal\n"
        "from calderon.report import example\n"
        "cal.mesh.sphere(1.0, h=1.0).write('a.stl'), cal.mesh.read('a.stl')\n"
        "example('submarine'), example('cavity'), example('hot-pipe')\n"
        "try: cal.Unknown\n"
        "except AssertionError as error: print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.stdout == "{'group': 'calderon.greens', 'name': 'Unknown'}\n", ran.stderr
