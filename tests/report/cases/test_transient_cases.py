"""Case files of fields in time: mistakes, what is built, what a run writes, ranks, interruptions."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import meshio
import numpy as np
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

import calderon as cal
from calderon.answers import WRONG_INPUT
from calderon.case import CaseError, parse
from calderon.cli import app
from calderon.dg.stepping.leap_frog import CentredLeapFrog
from calderon.kinds.transient.computing import simulation, volume_mesh
from calderon.report import example, run, write
from calderon.report.stages import Stages

CAVITY = """\
title = "A cube"
[mesh]
shape = "box"
low = [0, 0, 0]
high = ["2 m", "200 cm", 2]
cells = 3
[physics]
problem = "transient"
[boundaries]
wall = "pec"
[initial]
mode = [1, 1, 0]
electric_field = "3 V/m"
[solver]
order = 2
courant = 0.5
[run]
until = "10 ns"
[output]
exact = true
probes = [[0.5, 1.0, 1.0]]
snapshots = { count = 3 }
[[output.slice]]
points = 12
frames = 4
"""
# a block of tissue beside a feed between two metal plates, the ends of a short column of air
COLUMN = """\
[mesh]
file = "column.msh"
unit = "cm"
[physics]
problem = "transient"
frequency = "2 GHz"
[materials]
tissue = { permittivity = 4, conductivity = "0.3 S/m", density = "1 g/cm^3" }
feed = {}
[boundaries]
ends = "pec"
sides = "absorbing"
[[source]]
kind = "current"
part = "feed"
direction = [0, 0, 1]
[solver]
order = 2
[run]
periods = 5
[output]
fed_power = "2 W"
sar = { mass = "0.2 g", voxel = "2.5 mm" }
[[output.slice]]
plane = "xz"
centre = ["2 cm", "0.5 cm", "0.5 cm"]
size = ["4 cm", "1 cm"]
points = 24
quantity = "sar"
[[output.slice]]
plane = "xz"
centre = ["2 cm", "0.5 cm", "0.5 cm"]
size = ["4 cm", "1 cm"]
points = 24
quantity = "db"
frames = 3
"""


def column(folder: Path) -> None:
    """4 cm x 1 cm x 1 cm, in cm: a feed, air, tissue; metal below and above."""
    mesh = cal.mesh.box([0, 0, 0], [4, 1, 1], cells=[8, 2, 2])
    x = mesh.centroids[:, 0]
    tags = np.where(x < 1, 1, np.where(x < 2, 2, 3))
    z = mesh.vertices[mesh.faces][:, :, 2]
    marks = np.where(np.isclose(z, 0).all(axis=1) | np.isclose(z, 1).all(axis=1), 1, 2)
    names = {"feed": 1, "air": 2, "tissue": 3}
    named = {"ends": 1, "sides": 2}
    whole = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, names, mesh.faces, marks, named)
    whole.write(folder / "column.msh")


def calderon_command(*arguments: str | Path):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cells = 3", "", "line 2: mesh: the shape 'box' also needs cells"),
        (
            "cells = 3",
            "cells = 3\nradii = [1.0]",
            "radii is not supported by shape = 'box': it accepts low, high, cells",
        ),
        ('"box"', '"sphere"', "line 3: mesh.shape = \"sphere\": choose 'box', 'layered_ball', 'phantom'"),
        ('shape = "box"', 'shape = "box"\nfile = "a.msh"', "give exactly one of file or shape: got file and shape"),
        ('wall = "pec"', 'wall = "open"', "boundaries.wall = \"open\": choose 'pec', 'pmc', 'absorbing'"),
        ('until = "10 ns"', 'until = "10 n"', 'run.until = "10 n": a time is written like "10 s"'),
        ('until = "10 ns"', "periods = 3", "need a frequency in [physics]"),
        ('until = "10 ns"', "", "give either periods or until"),
        ("order = 2", "order = 7", "solver.order = 7: it should be less than or equal to 6"),
        ("order = 2", 'flux = "central"', "solver.flux = \"central\": choose 'centred', 'upwind'"),
        (
            "order = 2",
            'local_time_stepping = "yes"',
            'solver.local_time_stepping = "yes": choose true or false, without quotation marks',
        ),
        ("mode = [1, 1, 0]", "mode = [1, 1]", "initial.mode = [1, 1]: the list has too few entries"),
        ("mode = [1, 1, 0]", "mode = [1, 1, 0, 2]", "initial.mode = [1, 1, 0, 2]: the list has too many entries"),
        ("low = [0, 0, 0]", "low = 0", "line 4: mesh.low = 0: a list such as [1, 2, 3] is needed"),
        (
            "cells = 3",
            "cells = [3, 3]",
            "line 6: mesh.cells = [3, 3]: a whole number of cells along each side, or a list",
        ),
        ("order = 2", "local_time_stepping = 1", "solver.local_time_stepping = 1: choose true or false"),
        ("order = 2", "order = true", "solver.order = true: a boolean is not allowed here"),
        ("mode = [1, 1, 0]", "mode = [1, true, 0]", "initial.mode = [1, true, 0]: a boolean is not allowed here"),
        ('until = "10 ns"', "until = true", 'run.until = true: a time is a number or a text such as "10 s"'),
        ("order = 2", 'local_time_stepping = true\nflux = "upwind"', "local_time_stepping requires flux = 'centred'"),
        ("frames = 4", "frame = 4", "output.slice.frame: unknown key; did you mean 'frames'?"),
        ("exact = true", 'far_field = { plane = "xy" }', "far_field is that of one frequency: it needs run.periods"),
        ("frames = 4", 'quantity = "sar"', "needs run.periods and the density of a material"),
        ("exact = true", 'fed_power = "1 W"', "output.fed_power requires run.periods and a [[source]]"),
        ('[initial]\nmode = [1, 1, 0]\nelectric_field = "3 V/m"', "", "no excitation of the fields"),
        ("[solver]", '[[source]]\nkind = "current"\n[solver]', 'a current needs part = "name" and direction'),
        (
            "[solver]",
            '[[source]]\nkind = "plane-wave"\npart = "a"\n[solver]',
            "part is not supported by kind = 'plane-wave'",
        ),
        (
            "[solver]",
            "[materials.glass]\npermitivity = 2\n[solver]",
            "did you mean 'permittivity'? [materials.glass] accepts",
        ),
        (
            "[solver]",
            '[materials.part]\nmaterial = "muscel"\n[solver]',
            "unknown material 'muscel': did you mean 'muscle'?",
        ),
        (
            "[solver]",
            '[materials.part]\nmaterial = "muscle"\nconductivity = 1.0\n[solver]',
            "material and conductivity: give the name of a material, or constants",
        ),
        (
            "[solver]",
            '[materials.part]\nmaterial = "muscle"\n[solver]',
            "material = 'muscle' has constants at a frequency: give it in [physics]",
        ),
        ('problem = "transient"', 'problem = "transint"', "did you mean 'transient'?"),
        ('"3 V/m"', '"0 V/m"', 'line 13: initial.electric_field = "0 V/m": a field strength here must not be zero'),
        (
            "[solver]",
            '[source]\nkind = "plane-wave"\n[solver]',
            "source is one table, but a list of tables is needed: write [[s",
        ),
    ],
)
def test_a_mistake_is_answered_with_what_is_allowed(old, new, message):
    assert old in CAVITY
    with pytest.raises(CaseError) as caught:
        parse(CAVITY.replace(old, new, 1), "case.toml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cells = 3", "cells = -3", 'mesh.shape = "box": cells=-3: a positive number'),
        ("[1, 1, 0]", "[1, 0, 0]", "line 12: initial.mode = (1, 0, 0): mode=(1, 0, 0): three whole numbers"),
        ('"200 cm"', '"1 m"', "a cube is needed"),
        ('shape = "box"\nlow = [0, 0, 0]\nhigh = ["2 m", "200 cm", 2]\ncells = 3', 'file = "none.msh"', "no such file"),
    ],
)
def test_what_cannot_be_built_is_answered_with_its_line(old, new, message):
    text = CAVITY.replace(old, new, 1)
    if "file =" in new:
        text = text.replace('[initial]\nmode = [1, 1, 0]\nelectric_field = "3 V/m"\n', "").replace("exact = true\n", "")
        text = text.replace("[solver]", '[[source]]\nkind = "current"\npart = "a"\ndirection = [1, 0, 0]\n[solver]')
        text = text.replace('problem = "transient"', 'problem = "transient"\nfrequency = 1e9')
    file = parse(text, "case.toml")
    with pytest.raises(CaseError) as caught:
        simulation(file, volume_mesh(file))
    assert message in str(caught.value)


def test_a_case_is_in_si_units():
    """The wave of a cube of 2 m: c / (sqrt 2 * 2 m) oscillations per second."""
    file = parse(CAVITY)
    posed = simulation(file, volume_mesh(file))
    points = [[0.5, 1.0, 1.0]]
    assert posed.electric(points)[0] == pytest.approx([0, 0, 3 * np.sin(np.pi / 4)], abs=0.2)
    period = 2 * np.sqrt(2) / cal.exact.SPEED_OF_LIGHT
    posed.run(period / 2)
    assert posed.electric(points)[0, 2] == pytest.approx(-3 * np.sin(np.pi / 4), abs=0.2)


def test_a_cavity_is_run_and_reported(tmp_path):
    (tmp_path / "cube.toml").write_text(CAVITY)
    done = calderon_command("run", tmp_path / "cube.toml", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "P2, centred flux, leap-frog, 162 tetrahedra, 9720 unknowns" in " ".join(done.output.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cube.toml", "out"]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "case.toml", "fields.vtu", "probes.csv", "probes.png", "report.html", "slice.gif", "slice.npz", "slice.png",
        "slice.vti", "snapshots", "summary.json",
    }  # fmt: skip
    assert {path.name for path in (tmp_path / "out" / "snapshots").iterdir()} == {
        "fields.pvd", "fields_0001.vtu", "fields_0002.vtu", "fields_0003.vtu",
    }  # fmt: skip
    said = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert 0 < said["relative_l2_error"] < 0.1 and said["unknowns"] == 9720 and said["mesh"]["slivers"] == 0
    table = np.genfromtxt(tmp_path / "out" / "probes.csv", delimiter=",", names=True)
    angular = np.pi / np.sqrt(2) * cal.exact.SPEED_OF_LIGHT
    exact = 3 * np.sin(np.pi / 4) * np.cos(angular * table["time_s"])
    assert np.abs(table["Ez_1_V_m"] - exact).max() < 0.3
    assert said["end_s"] == table["time_s"][-1] == pytest.approx(1e-8)
    last = meshio.read(tmp_path / "out" / "fields.vtu").cell_data["|E| at the end (V/m)"][0]
    assert last.shape == (162,) and last.max() == pytest.approx(3 * abs(np.cos(angular * 1e-8)), rel=0.1)
    page = (tmp_path / "out" / "report.html").read_text()
    for text in (
        '"steps":{"name":"time","labels":["',
        "error against the exact wave",
        "Electromagnetic fields in time",
        "slivers",
    ):
        assert text in page
    assert imread(tmp_path / "out" / "slice.png").std() > 0.02


def test_power_is_fed_absorbed_and_radiated(tmp_path):
    column(tmp_path)
    (tmp_path / "column.toml").write_text(COLUMN)
    done = calderon_command("run", tmp_path / "column.toml", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    said = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert said["feeds"]["feed"]["fed_W"] == pytest.approx(2.0, rel=1e-9)
    assert 0.02 < said["absorbed_W"]["tissue"] < 1.9 and said["absorbed_W"]["air"] == 0
    assert said["absorbed_W"]["tissue"] + said["outward_W"] == pytest.approx(2.0, rel=0.1)
    assert abs(said["power_balance_over_fed"]) < 0.05
    average = said["averaged_sar"]
    assert average["cube_side_m"] == pytest.approx((0.2e-3 / 1000) ** (1 / 3), rel=0.3)
    assert average["absorbed_in_voxels_W"] == pytest.approx(said["absorbed_W"]["tissue"], rel=0.1)
    assert average["local_maximum_W_kg"] > average["maximum_W_kg"] > average["whole_body_W_kg"]
    assert average["place_m"][0] == pytest.approx(0.02, abs=0.006)  # where the tissue begins
    with np.load(tmp_path / "out" / "averaged_sar.npz") as grid:
        assert np.nanmax(grid["averaged_W_kg"]) == average["maximum_W_kg"]
    for picture in ("slice_1.png", "slice_2.png"):
        assert imread(tmp_path / "out" / picture).std() > 0.02
    with np.load(tmp_path / "out" / "slice_1.npz") as plane:  # 0.3 S/m, 1 g/cm^3, within tissue
        rate = 0.5 * 0.3 / 1000 * (np.abs(plane["electric_field"]) ** 2).sum(axis=2)
        rate[plane["points"][..., 0] < 0.02] = np.nan
        assert np.allclose(plane["absorption_rate"], rate, equal_nan=True)
    assert "W/kg" in (tmp_path / "out" / "report.html").read_text()


def stopped_at(step, number=signal.SIGTERM):
    """A method for Probe.record: the program gets a signal in that step."""
    record = cal.dg.Probe.record

    def stop(self, now):
        record(self, now)
        if now.step == step:
            signal.raise_signal(number)

    return stop


SHORT = CAVITY.replace('until = "10 ns"', 'until = "4 ns"').replace("cells = 3", "cells = 2")
SHORT = SHORT[: SHORT.index("[[output.slice]]")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a short run writes that nothing interrupts."""
    folder = tmp_path_factory.mktemp("short")
    (folder / "cube.toml").write_text(SHORT)
    assert calderon_command("run", folder / "cube.toml", "--out", folder / "whole").exit_code == 0
    return folder / "whole"


def same_numbers(one: Path, other: Path) -> bool:
    names = ("probes.csv", "fields.vtu", "snapshots/fields_0003.vtu")
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_a_signal_saves_the_present_step_and_the_same_command_goes_on(tmp_path, monkeypatch, whole):
    """A minute before a checkpoint is due; the numbers are those of a run that was not interrupted."""
    case = tmp_path / "cube.toml"
    case.write_text(SHORT)
    for step, number in ((4, signal.SIGINT), (8, signal.SIGTERM), (12, signal.SIGHUP)):
        with monkeypatch.context() as patched:
            patched.setattr(cal.dg.Probe, "record", stopped_at(step, number))
            done = calderon_command("run", case, "--out", tmp_path / "out")
        said = " ".join(done.output.split())
        assert done.exit_code == 128 + number
        assert f"error interrupted by {number.name}: no result was written, an earlier one is unchanged; the" in said
        assert "same command goes on from the last checkpoint" in said and not (tmp_path / "out").exists()
        with h5py.File(tmp_path / ".out.run" / "checkpoint.h5") as file:
            assert file.attrs["steps"] == step
    assert calderon_command("run", case, "--out", tmp_path / "out").exit_code == 0
    assert not (tmp_path / ".out.run").exists() and same_numbers(tmp_path / "out", whole)


@pytest.mark.parametrize("failing", ["calderon.kinds.transient.computing._error", "calderon.report.writing.summarise"])
def test_an_error_after_the_last_step_loses_nothing(tmp_path, monkeypatch, failing, whole):
    """The same command goes on from the last state, and does no step."""
    case = tmp_path / "cube.toml"
    case.write_text(SHORT)

    def fail(*arguments):
        raise OSError("Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(failing, fail)
        done = calderon_command("run", case, "--out", tmp_path / "out")
    assert done.exit_code == WRONG_INPUT and not (tmp_path / "out").exists()
    assert "error Input/output error\nthe same command goes on from the last checkpoint" in done.output
    with monkeypatch.context() as patched:
        patched.setattr(CentredLeapFrog, "advance", fail)
        done = calderon_command("run", case, "--out", tmp_path / "out")
        assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cube.toml", "out"]
    assert same_numbers(tmp_path / "out", whole)


def test_an_interrupted_run_of_another_case_is_refused(tmp_path, monkeypatch):
    """With the tables that differ, before a step; what is only looked at in the end may change."""
    text = SHORT.replace("snapshots = { count = 3 }\n", "").replace("exact = true\n", "")
    case, out, kept = tmp_path / "cube.toml", tmp_path / "out", tmp_path / ".out.run" / "checkpoint.h5"
    case.write_text(text)
    with monkeypatch.context() as patched:
        patched.setattr(cal.dg.Probe, "record", stopped_at(8))
        assert calderon_command("run", case, "--out", out).exit_code == 143
    changes = {
        "[materials]": ("[boundaries]", "[materials.vacuum]\nconductivity = 1e-4\n[boundaries]"),
        "[boundaries]": ('"pec"', '"pmc"'),
        "[initial]": ("3 V/m", "4 V/m"),
        "probes, frames or snapshots of [output]": ("0.5, 1.0, 1.0", "0.6, 1.0, 1.0"),
    }
    for table, (old, new) in changes.items():
        case.write_text(text.replace(old, new))
        done = calderon_command("run", case, "--out", out, "--force")
        said = " ".join(done.output.split())
        assert (
            done.exit_code == WRONG_INPUT
            and f"an interrupted run of another case ({table} differ): restore the case" in said
        )
        assert "delete that folder to restart" in said and "goes on" not in said
        assert kept.exists() and not out.exists()
    case.write_text(text.replace("A cube", "The same cube"))
    assert calderon_command("run", case, "--out", out).exit_code == 0 and not kept.exists()


def test_ranks_share_a_run_and_one_speaks(tmp_path):
    pytest.importorskip("pymetis")
    command = _mpiexec()
    column(tmp_path)
    (tmp_path / "column.toml").write_text(COLUMN.replace("periods = 5", "periods = 2"))
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}

    def launched(count, case, out):
        given = [command, "-n", str(count), sys.executable, "-m", "calderon", "run", str(case), "--out", str(out)]
        return subprocess.run(given, env=environment, capture_output=True, text=True, timeout=300)

    said = {}
    for count in (1, 2):
        done = launched(count, tmp_path / "column.toml", tmp_path / f"out{count}")
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("power fed") == 1
        said[count] = json.loads((tmp_path / f"out{count}" / "summary.json").read_text())
    assert said[2]["ranks"] == 2
    for key in ("maximum_W_kg", "absorbed_in_voxels_W", "local_maximum_W_kg"):
        assert said[2]["averaged_sar"][key] == pytest.approx(said[1]["averaged_sar"][key], rel=1e-9)
    assert said[2]["feeds"]["feed"]["input_resistance_ohm"] == pytest.approx(
        said[1]["feeds"]["feed"]["input_resistance_ohm"], rel=1e-9
    )
    refused = launched(2, _surface_case(tmp_path), tmp_path / "none")
    assert refused.returncode != 0 and refused.stderr.count("not shared among ranks") == 1


def test_two_currents_of_one_part_need_names(tmp_path):
    again = '[[source]]\nkind = "current"\npart = "feed"\ndirection = [1, 0, 0]\n'
    text = COLUMN.replace("[solver]", f"{again}[solver]")
    with pytest.raises(CaseError, match="two currents flow through one part of the mesh: give each .* name"):
        parse(text)
    column(tmp_path)
    file = parse(text.replace(again, again + 'name = "across"\n'), "column.toml", tmp_path)
    assert set(simulation(file, volume_mesh(file)).ports) == {"feed", "across"}


def test_more_snapshots_than_steps_are_refused(tmp_path):
    file = parse(CAVITY.replace("count = 3", "count = 900"))
    with pytest.raises(ValueError, match="output.snapshots.count = 900: only 82 steps to show: choose fewer"):
        run(file, scratch=tmp_path)


FAILING = """
from calderon.commands import plain_errors
from calderon.parallel import world
with plain_errors():
    if world().rank == {rank}:
        raise {error}("the lamp went out")
    world().total(1)
"""


@pytest.mark.parametrize(
    ("rank", "error", "code", "said"),
    [
        (0, "ValueError", 2, "error the lamp"),
        pytest.param(1, "ValueError", 2, "error rank 1: the lamp", marks=pytest.mark.variant),
        pytest.param(1, "KeyError", 1, "Traceback", marks=pytest.mark.variant),
    ],
)
def test_a_rank_that_fails_alone_speaks_and_ends_all(rank, error, code, said):
    given = [_mpiexec(), "-n", "2", sys.executable, "-c", FAILING.format(rank=rank, error=error)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(given, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == code and said in done.stderr and "the lamp went out" in done.stderr


def _mpiexec() -> str:
    pytest.importorskip("mpi4py")
    command = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if command is None:
        pytest.skip("mpiexec is not at hand")
    return command


def _surface_case(folder: Path) -> Path:
    (folder / "sphere.toml").write_text(example("rigid-sphere").text)
    return folder / "sphere.toml"


def test_a_part_without_a_material_is_refused(tmp_path):
    column(tmp_path)
    (tmp_path / "column.toml").write_text(COLUMN.replace("feed = {}\n", ""))
    done = calderon_command("run", tmp_path / "column.toml", "--out", tmp_path / "out")
    assert done.exit_code == WRONG_INPUT and "'feed'" in done.output and "give one for each part" in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["column.msh", "column.toml"]


def test_snapshots_need_a_folder():
    with pytest.raises(ValueError, match="scratch="):
        run(parse(CAVITY))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('mass = "0.2 g"', 'mass = "1 kg"', 'line 23: output.sar = "1 kg, 0.0025 m": the tissue weighs 0.002 kg, less'),
        ('voxel = "2.5 mm"', 'voxel = "1 um"', "voxels needs 360.0 TB"),
        (
            '"2 cm", "0.5 cm", "0.5 cm"]',
            '"2 m", "0.5 cm", "0.5 cm"]',
            "meets no tetrahedron of the mesh, .* x from",
        ),
        ("[output]", '[output]\nprobes = [["1 m", "0 m", "0 m"]]', "output.probes = .* number 1 lies outside the mesh"),
        ('sides = "absorbing"', 'sides = "pmc"', "output.far_field = .xy.: no faces absorb"),
    ],
)
def test_what_a_run_cannot_give_is_told_before_it(old, new, message, tmp_path):
    column(tmp_path)
    text = COLUMN.replace('fed_power = "2 W"', 'fed_power = "2 W"\nfar_field = { plane = "xy" }').replace(old, new, 1)
    if "sides" not in old:
        text = text.replace('\nfar_field = { plane = "xy" }', "", 1)
    begun = []
    stages = Stages(lambda name, seconds: begun.append(name))
    with pytest.raises(ValueError, match=message):
        run(parse(text, "case.toml", tmp_path), stages)
    assert old in COLUMN and not any("advance" in name for name in begun)


def test_a_head_beside_a_phone_balances_its_power(tmp_path):
    """The example on a coarse mesh at degree 1: what is fed is absorbed and radiated, in shares and with an impedance
    as known of quarter-wave monopoles beside heads."""
    pytest.importorskip("gmsh")
    sizes = "brain = 0.026, csf = 0.02, skull = 0.022, skin = 0.024, air = 0.09, "
    sizes += "phone = 0.024, antenna = 0.014, feed = 8e-3"
    text = example("phone").text.split("probes =")[0] + 'far_field = { plane = "xy", count = 73 }\n'
    for old, new in (
        ('shape = "phantom"', f'shape = "phantom"\nwidth = "8 mm"\nh = {{ {sizes} }}'),
        ("order = 2", "order = 1"),
        ("periods = 8", "periods = 5"),
        ('voxel = "2 mm"', 'voxel = "4 mm"'),
    ):
        assert old in text
        text = text.replace(old, new)
    results = run(parse(text))
    found = results.amplitudes
    absorbed, feed = sum(found.absorbed.values()), found.feeds["feed"]
    assert feed.power == pytest.approx(0.25) and absorbed + found.outward == pytest.approx(0.25, rel=0.06)
    assert 0.45 < absorbed / 0.25 < 0.7
    assert 60 < feed.impedance.real < 130 and abs(feed.impedance.imag) < 50
    assert found.averaged.weight == pytest.approx(4.66, rel=0.02)  # kg of ellipsoids
    assert found.averaged.place[1] > 0.06 and abs(found.averaged.place[0]) < 0.03  # at the ear
    assert 0.3 < found.averaged.maximum < 0.8
    assert len(results.facts.elements_by_step) > 1 and results.facts.saving > 1.5
    assert write(results, tmp_path / "out")
    assert "tetrahedra with 1/2 of the step" in (tmp_path / "out" / "report.html").read_text()
    table = np.genfromtxt(tmp_path / "out" / "far_field.csv", delimiter=",", names=True)
    gain = table["gain_dBi"]
    assert gain[18] > gain[54] + 2  # away from the head, and behind it
    assert np.abs(gain[:37] - gain[36::-1]).max() < 0.5  # left and right of the plane of symmetry
    assert -2 < gain.max() < 5 and imread(tmp_path / "out" / "far_field_polar.png").std() > 0.02
    squares = sum(table[f"F{axis}_{part}_V"] ** 2 for axis in "xyz" for part in ("real", "imag"))
    np.testing.assert_allclose(2 * np.pi * squares / cal.exact.VACUUM_IMPEDANCE / 0.25, 10 ** (gain / 10), rtol=1e-6)
