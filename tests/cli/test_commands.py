"""The command line: what it prints, writes, and refuses, with exit codes and without tracebacks."""

import errno
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

import calderon
from calderon.answers import EXISTS, INCOMPLETE, NOT_SOLVED, WRONG_INPUT
from calderon.cli import app
from calderon.mesh import cube, sphere

CASE = """\
title = "A small sphere <&>"
[mesh]
shape = "sphere"
radius = "1 m"
h = "0.45 m"
[physics]
problem = "sound-hard"
wavenumber = 1.5
[incident]
direction = [1, 0, 0]
[solver]
rtol = 1e-6
[output]
exact = true
far_field = { plane = "xy", count = 37 }
monostatic = { plane = "xy", start = "0 deg", stop = "90 deg", count = 3 }
slice = { plane = "xy", points = 12 }
"""


def calderon_command(*arguments: str | Path):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


QUICK = CASE[: CASE.index("exact")].replace("0.45 m", "0.75 m") + "surface = []\n"


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> Path:
    """A folder with case.toml and the result of running it in out/."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "case.toml").write_text(CASE)
    run = calderon_command("run", folder / "case.toml", "--out", folder / "out")
    assert run.exit_code == 0, run.output
    return folder


def test_a_run_writes_numbers_tables_surface_pictures_and_report(result):
    names = {path.name for path in (result / "out").iterdir()}
    assert {"summary.json", "case.toml", "far_field.csv", "monostatic.csv", "residuals.csv", "surface.vtu"} <= names
    assert {"far_field_polar.png", "surface_abs.png", "slice.png", "convergence.png", "report.html"} <= names
    assert set(json.loads((result / "out" / "summary.json").read_text())["files"]) == names
    for picture in (result / "out").glob("*.png"):
        assert imread(picture).std() > 0.02


def test_the_numbers_are_those_of_the_exact_sphere(result):
    table = np.genfromtxt(result / "out" / "far_field.csv", delimiter=",", names=True)
    exact = calderon.exact.rigid_sphere(1.5, 1.0, [1, 0, 0])
    angles = np.radians(table["angle_deg"])
    directions = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    far = table["far_field_real_Pa_m"] + 1j * table["far_field_imag_Pa_m"]
    error = np.linalg.norm(far - exact.far_field(directions)) / np.linalg.norm(exact.far_field(directions))
    assert error < 0.12  # two elements across the radius
    step = json.loads((result / "out" / "summary.json").read_text())["steps"][0]
    assert step["far_field_error_against_exact"] == pytest.approx(error, rel=1e-3)
    backward = np.genfromtxt(result / "out" / "monostatic.csv", delimiter=",", names=True)
    levels = backward["target_strength_dB_re_1m"]
    assert np.ptp(levels) < 0.3 and levels[0] == pytest.approx(exact.target_strength([[-1, 0, 0]])[0], abs=1.0)


def test_the_report_needs_nothing_else_and_escapes_its_texts(result):
    page = (result / "out" / "report.html").read_text()
    assert "A small sphere &lt;&amp;&gt;" in page and "<&>" not in page
    assert page.count("data:image/webp;base64,") == 1 and page.count('<div class="chart">') == 5
    assert page.count("<canvas") == 1 and 'href="far_field.csv"' in page
    written = re.sub(r'base64,[A-Za-z0-9+/=]+|"data":"[^"]*"', "", page)  # any four letters may come up in bytes
    written = written.replace('xmlns="http://www.w3.org/2000/svg"', "")  # the name of a format, which loads nothing
    assert "http" not in written and "<link" not in page and "<script src" not in page
    assert not re.search(r'"matrix": "[^"]*\w\.\.\."', (result / "out" / "summary.json").read_text())
    for text in ("dB re 1 m", "relative residual", "elements per wavelength", "assemble and solve", "far_field = {"):
        assert text in page


def test_an_existing_result_is_not_replaced_without_force(result):
    before = (result / "out" / "summary.json").stat().st_mtime_ns
    run = calderon_command("run", result / "case.toml", "--out", result / "out")
    assert run.exit_code == EXISTS and "--force" in run.output
    assert (result / "out" / "summary.json").stat().st_mtime_ns == before


def test_a_picture_that_fails_is_told_beside_the_result(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError("no room for a picture")

    monkeypatch.setattr("calderon.plots.field_slice", fail)
    (tmp_path / "case.toml").write_text(QUICK + 'slice = { plane = "xy", points = 12 }\n')
    run = calderon_command("run", tmp_path / "case.toml", "--out", tmp_path / "out")
    assert run.exit_code == INCOMPLETE, run.output
    assert "the result is not whole" in run.output
    assert "warning slice.png could not be written and is left out: MemoryError: no room" in run.output
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert "slice.png" not in names and {"summary.json", "residuals.csv", "convergence.png", "report.html"} < names


def test_an_interrupted_run_leaves_the_old_result(tmp_path, monkeypatch):
    (tmp_path / "case.toml").write_text(QUICK)
    command = ["run", tmp_path / "case.toml", "--out", tmp_path / "out", "--force"]
    assert calderon_command(*command).exit_code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for stop, code in ((KeyboardInterrupt, 130), (MemoryError, WRONG_INPUT)):

        def fail(*arguments, stop=stop):
            raise stop("stopped")

        monkeypatch.setattr("calderon.report.writing.summarise", fail)
        assert calderon_command(*command).exit_code == code
        assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["case.toml", "out"]


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (("wavenumber = 1.5", "wavenumbr = 1.5"), WRONG_INPUT, "line 8: physics.wavenumbr: unknown key; did you mean"),
        (("[output]", "max_iterations = 1\n[output]"), NOT_SOLVED, "in a case file: [solver] max_iterations"),
        (('"sphere"\nradius = "1 m"', '"plate"\nlengths = [1, 1]'), WRONG_INPUT, "closed"),
        (('shape = "sphere"\nradius = "1 m"\nh = "0.45 m"', 'file = "none.msh"'), WRONG_INPUT, "none.msh"),
        (("[output]", 'backend = "cuda"\n[output]'), WRONG_INPUT, "solver.backend = \"cuda\": 'cuda' is not available"),
    ],
)
def test_what_cannot_be_run_is_told_without_a_traceback(tmp_path, change, code, message):
    assert change[0] in CASE
    text = CASE.replace(*change, 1).replace("exact = true\n", "")
    (tmp_path / "case.toml").write_text(text)
    run = calderon_command("run", tmp_path / "case.toml", "--out", tmp_path / "out")
    assert run.exit_code == code, run.output
    assert message in run.output.replace("\n", " ") and "Traceback" not in run.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "fields.vtu"), "error fields.vtu: No space left on device\n"),
        (OSError(errno.EBUSY, "Device or resource busy"), "error Device or resource busy\n"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "file/x"), "error file/x: Not a directory\n"),
        (OSError("Can't synchronously write data"), "error Can't synchronously write data\n"),
    ],
)
def test_errors_of_the_system_are_reported_without_a_traceback(tmp_path, monkeypatch, error, message):
    def fail(*arguments):
        raise error

    monkeypatch.setattr("calderon.report.run", fail)
    (tmp_path / "case.toml").write_text(CASE)
    run = calderon_command("run", tmp_path / "case.toml", "--out", tmp_path / "out")
    assert run.exit_code == WRONG_INPUT and message in run.output
    assert isinstance(run.exception, SystemExit) and not (tmp_path / "out").exists()


def test_names_that_are_too_long_are_told_before_anything_is_computed(tmp_path):
    long = "n" * 300
    (tmp_path / "case.toml").write_text(CASE)
    for arguments in (
        ("run", f"{long}.toml"),
        ("run", tmp_path / "case.toml", "--out", tmp_path / long),
        ("mesh", f"{long}.stl"),
    ):
        run = calderon_command(*arguments)
        assert run.exit_code == WRONG_INPUT and "ile name too long" in run.output and "mesh: " not in run.output
        assert isinstance(run.exception, SystemExit)


def test_mesh_prints_size_quality_and_resolution(tmp_path):
    cube(1000.0, 250.0).write(tmp_path / "cube.stl")
    run = calderon_command(
        "mesh", tmp_path / "cube.stl", "--scale", "0.001", "--frequency", "500", "--speed-of-sound", "1500"
    )
    assert run.exit_code == 0, run.output
    assert "closed, 1 component" in run.output and "-0.5 to 0.5 m" in run.output
    shown = calderon_command("mesh", tmp_path / "cube.stl", "--html", tmp_path / "faces.html")
    assert shown.exit_code == 0 and "Mesh of" in (tmp_path / "faces.html").read_text(encoding="utf-8")
    mean = 3.0 / cube(1.0, 0.25).mean_edge_length
    assert f"{mean:.1f}" in run.output and "no problems found" in run.output


def test_mesh_doubts_units_and_coarse_meshes(tmp_path):
    cube(1000.0, 250.0).write(tmp_path / "cube.stl")
    run = calderon_command("mesh", tmp_path / "cube.stl", "--frequency", "500")
    assert run.exit_code == 0 and "too coarse" in run.output and "mesh in millimetres?" in run.output
    run = calderon_command("mesh", tmp_path / "cube.stl", "--frequency", "0")
    assert run.exit_code == WRONG_INPUT and "--frequency 0 Hz" in run.output
    for wrong in (("--frequency", "nan"), ("--frequency", "inf"), ("--frequency", "1", "--speed-of-sound", "nan")):
        run = calderon_command("mesh", tmp_path / "cube.stl", *wrong)
        assert run.exit_code == WRONG_INPUT and "all must be finite and greater than zero" in run.output


def test_mesh_tells_problems_by_its_exit_code(tmp_path):
    whole = sphere(1.0, 0.4)
    calderon.TriangleMesh(whole.vertices, whole.triangles[1:]).write(tmp_path / "hole.msh")
    run = calderon_command("mesh", tmp_path / "hole.msh")
    assert run.exit_code == 1 and "problem" in run.output


@pytest.mark.parametrize("content", [b"", b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 2", b"\x00\xff garbage"])
def test_a_corrupt_mesh_is_told_in_words(tmp_path, content):
    (tmp_path / "bad.msh").write_bytes(content)
    run = calderon_command("mesh", tmp_path / "bad.msh")
    assert run.exit_code == WRONG_INPUT
    assert "bad.msh" in run.output.replace("\n", "") and "Traceback" not in run.output
    assert "SystemExit" not in run.output


def test_examples_are_listed_shown_and_unknown_ones_answered():
    listed = calderon_command("example")
    assert listed.exit_code == 0 and "submarine" in listed.output and "rigid-sphere" in listed.output
    assert all(name in listed.output for name in ("almond", "ogive", "dipole"))
    shown = calderon_command("example", "submarine", "--show")
    assert shown.exit_code == 0 and 'sample = "submarine"' in shown.output
    unknown = calderon_command("example", "submarin")
    assert unknown.exit_code == WRONG_INPUT and "did you mean 'submarine'" in unknown.output


def test_a_conductor_is_announced_with_its_memory_and_told_in_decibels(tmp_path):
    text = CASE[: CASE.index("[solver]")].replace('"sound-hard"', '"conductor"')
    text = text.replace("direction = [1, 0, 0]", 'direction = [1, 0, 0]\npolarization = "V"')
    text += '[solver]\nsolver = "lu"\n[output]\nmonostatic = { plane = "xy", count = 3, polarizations = ["HH"] }\n'
    (tmp_path / "case.toml").write_text(text)
    run = calderon_command("run", tmp_path / "case.toml", "--out", tmp_path / "out")
    assert run.exit_code == 0, run.output
    edges = sphere(1.0, 0.45).number_of_edges
    assert f"assemble and solve, {edges} unknowns, matrix and factors" in run.output
    assert re.search(r"largest monostatic radar cross-section, HH +−?\d+\.\d dB re 1 m²", run.output)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Electromagnetic scattering, perfect conductor" in page and "toward the radar" in page


def test_info_names_version_backends_threads_and_packages():
    run = calderon_command("info")
    assert run.exit_code == 0
    for text in (calderon.__version__, "numba", "threads", "memory", "numpy", "pyvista", "opencl", "cuda"):
        assert text in run.output


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "calderon", "run", "missing.toml"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == WRONG_INPUT and "missing.toml: no such file" in run.stderr + run.stdout


def test_tetrahedra_are_checked_with_what_they_mean_for_the_step(tmp_path):
    box = calderon.mesh.box([0, 0, 0], [1, 1, 1], cells=2)
    vertices = box.vertices.copy()
    vertices[13] = [0.5, 0.5, 0.02]  # the middle, moved close to a face
    thin = calderon.TetrahedralMesh(vertices, box.tetrahedra, names={"glass": 0})
    thin.write(tmp_path / "box.msh")
    run = calderon_command("mesh", tmp_path / "box.msh", "--scale", "0.1", "--frequency", "1e9")
    assert run.exit_code == 0, run.output
    text = " ".join(run.output.split())
    for part in (
        "tetrahedra, vertices 48, 27",
        "part glass 48 tetrahedra",
        "boundary wall 48 faces",
        "volume 0.001 m³",
    ):
        assert part in text
    assert "slivers (quality below 0.1); without them the step would be" in text
    assert "1e+09 0.2998" in text  # the wavelength of light


def test_version_warm_up_and_completion():
    assert calderon_command("--version").output == f"calderon {calderon.__version__}\n"
    assert re.fullmatch(r"statics: \d+\.\d s\n", calderon_command("warm-up", "statics").output)
    unknown = calderon_command("warm-up", "music")
    assert unknown.exit_code == WRONG_INPUT and "unknown physics 'music': choose 'statics' or" in unknown.output
    assert "--install-completion" in calderon_command("--help").output


def test_compiling_is_said_on_the_terminal(tmp_path, monkeypatch):
    import logging

    from calderon.backends import kernel_cache

    monkeypatch.setattr(logging.getLogger("calderon"), "handlers", [])
    (tmp_path / "case.toml").write_text(QUICK)
    plan = calderon_command("run", tmp_path / "case.toml", "--plan")
    assert plan.exit_code == 0
    kernel_cache._announce.cache_clear()
    kernel_cache.report_compilation("kernel")
    assert [type(each).__name__ for each in logging.getLogger("calderon").handlers] == ["_Lines"]
