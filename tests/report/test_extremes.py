"""Numbers and names at the ends of what is allowed: an error with a message, or the right text; no traceback."""

import os
import subprocess
import sys

import numpy as np
import pytest

import calderon as cal
from calderon.case import CaseError, parse
from surface_case import surface_case

LONG = "1" + 399 * "0"


CASE = surface_case('far_field = { plane = "xy" }')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("radius = 1", "radius = LONG"),
        ("h = 0.4", "h = LONG"),
        ("wavenumber = 1.5", "wavenumber = LONG"),
        ("[1, 0, 0]", "[LONG, 0, 0]"),
    ],
)
def test_integers_of_hundreds_of_digits_are_refused_with_their_line(old, new):
    line = CASE[: CASE.index(old)].count("\n") + 1
    with pytest.raises(CaseError, match=f"line {line}: "):
        parse(CASE.replace(old, new.replace("LONG", LONG)))


@pytest.mark.parametrize("radius", [1e300, 1e-300])
def test_lengths_without_squares_are_refused(radius):
    with pytest.raises(cal.MeshError, match="lengths from 1e-70 to 1e[+]70 can be computed with"):
        cal.mesh.sphere(radius, 0.4 * radius)


def test_vertices_without_squares_are_refused():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * 1e160
    for make in (
        lambda: cal.TriangleMesh(corners, [[0, 1, 2]]),
        lambda: cal.TetrahedralMesh(corners, [[0, 1, 2, 3]]),
    ):
        with pytest.raises(cal.MeshError, match="3 vertices lie beyond 1e[+]70: 1, 2, 3; check the unit"):
            make()


def test_a_wavenumber_without_a_square_is_refused():
    for refused in (lambda k: cal.PECScattering(cal.mesh.sphere(1.0, 0.9), k), cal.Helmholtz):
        with pytest.raises(ValueError, match="wavenumber must be 0 or between 1e-100 and 1e.100, got .*1e-300"):
            refused(1e-300)


def test_flat_tetrahedra_are_named():
    box = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2)
    vertices = box.vertices.copy()
    vertices[13] = [0.5, 0.5, 1e-9]
    with pytest.raises(
        cal.MeshError, match=r"tetrahedron \d+ is too flat .quality .*e-.*: remove it, or mesh that place"
    ):
        cal.MaxwellDG(cal.TetrahedralMesh(vertices, box.tetrahedra), 2)


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_names_are_shown_as_they_are_and_signs_as_the_output_can(tmp_path, encoding):
    box = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1)
    cal.TetrahedralMesh(box.vertices, box.tetrahedra, names={"[/red]": 0}).write(tmp_path / "box.vtu")
    cal.mesh.cube(1.0, 0.5).write(tmp_path / "cube.stl")
    program = """if True:
        import contextlib, sys, calderon.cli as c
        for name in sys.argv[1:]:
            with contextlib.suppress(SystemExit):
                c.app(["mesh", name])
    """
    names = {"box.vtu": ["part [/red]", "m³"], "cube.stl": ["m²", "45.0°"], ":x:.stl": [":x:.stl"]}
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": os.pathsep.join(sys.path)}
    given = [str(tmp_path / name) for name in names]
    done = subprocess.run([sys.executable, "-c", program, *given], env=environment, capture_output=True)
    said, wanted = done.stdout.decode(encoding) + done.stderr.decode(encoding), sum(names.values(), [])
    if encoding == "ascii":
        wanted = [each.replace("²", "2").replace("³", "3").replace("°", " deg") for each in wanted]
    assert all(each in said for each in wanted) and "Traceback" not in said
