"""The error that a second mesh tells is that of the solution."""

import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import calderon as cal
from calderon.case import parse
from calderon.cli import app
from calderon.report import Stages, run
from calderon.report.second_mesh import estimated

CHARGED = "[physics]\nproblem = 'laplace-dirichlet'\npotential = 1.0\n"
DIELECTRIC = """[physics]
problem = 'dielectric'
wavenumber = 1.5
permittivity = 2.25
[incident]
direction = [0, 0, 1]
polarization = 'H'
"""
FLUID = """[physics]
problem = 'transmission'
frequency = 1.5
speed_of_sound = 6.283185307
density = 1.0
interior_speed_of_sound = 4.7123889
interior_density = 1.5
[incident]
direction = [0, 0, 1]
"""
SPHERE = "[mesh]\nshape = 'sphere'\nradius = 1.0\nh = 0.5\n"
PLATE = "[mesh]\nshape = 'plate'\nlengths = [1.0, 1.0]\nh = 0.2\n"
EXACT = "exact = true\nfar_field = { plane = 'xz', start = '0 rad', stop = '6.2 rad', count = 30 }\n"


def step(text, folder="."):
    return run(parse(text, "case.toml", folder)).steps[-1]


def test_second_meshes_hide_turned_triangles_and_no_other_warning():
    def others():
        ball = cal.mesh.sphere(1.0, 1.0)
        cal.TriangleMesh(ball.vertices, ball.triangles[:, ::-1])
        warnings.warn("quadrilaterals were split", cal.MeshWarning, stacklevel=1)
        yield ball, None

    with pytest.warns(cal.MeshWarning) as caught:
        assert estimated(others(), lambda mesh, problem: None, Stages()) is None
    assert [str(each.message) for each in caught] == ["quadrilaterals were split"]


@pytest.mark.parametrize(
    "mesh, exact",
    [(SPHERE, 4 * np.pi), (PLATE, 4 * np.pi * 0.3667892)],  # the plate: F. H. Read, J. Comput. Phys. 133 (1997) 1
    ids=["sphere", "plate"],
)
def test_the_charge_of_a_conductor(mesh, exact):
    found = step(mesh + CHARGED + "[output]\nestimate = true\n")
    error = abs(found.total_flux / exact - 1)
    assert error / 3 < found.second_mesh.error < 3 * error
    assert 1.2 < found.second_mesh.ratio < 2.1 and found.second_mesh.quantity == "charge"


@pytest.mark.parametrize(
    "problem", [pytest.param(DIELECTRIC, marks=pytest.mark.variant), FLUID], ids=["light", "sound"]
)
def test_the_far_field_of_a_penetrable_sphere(problem):
    found = step(SPHERE + problem + "[output]\nestimate = true\n" + EXACT)
    assert found.exact_error / 3 < found.second_mesh.error < 3 * found.exact_error


def test_triangles_of_a_file_are_divided_where_that_is_requested(tmp_path):
    cal.mesh.cube(1.0, h=0.25).write(tmp_path / "cube.stl")
    text = "[mesh]\nfile = 'cube.stl'\n" + CHARGED
    assert step(text, tmp_path).second_mesh is None  # the field left inside tells it
    found = step(text + "[output]\nestimate = true\n", tmp_path)
    error = abs(found.total_flux / (4 * np.pi * cal.exact.cube_capacitance(1.0)) - 1)
    assert error / 3 < found.second_mesh.error < 3 * error and found.second_mesh.ratio == 0.5


@pytest.mark.variant
def test_scattering_of_a_patch_below_its_resonance():
    def s11(h, more=""):
        text = f"""[planar]
frequency = "2 GHz"
{more}
[metal]
shape = "patch"
length = "38 mm"
width = "57 mm"
h = "{h} mm"
[[port]]
kind = "probe"
place = ["-8 mm", 0.0]
radius = "0.5 mm"
[[layer]]
thickness = "3.175 mm"
permittivity = 2.33
"""
        found = run(parse(text))
        return found.sweep.s[0, 0, 0], found.second_mesh

    value, second = s11(14, "estimate = true")
    error = abs(s11(5)[0] - value)
    assert second.quantity == "S over the band" and error / 5 < second.error < 5 * error


def test_kinds_without_a_second_mesh_refuse_it():
    result = CliRunner().invoke(app, ["example", "bracket", "--estimate"])
    assert result.exit_code == 2 and "only problems on surfaces and printed" in result.output
