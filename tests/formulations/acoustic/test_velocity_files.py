"""Velocities of structural codes: tables and grids are brought to a mesh, and refused with advice."""

import meshio
import numpy as np
import pytest

import calderon as cal

AIR = cal.Fluid(1.2, 343.0)


@pytest.fixture(scope="module")
def mesh():
    return cal.mesh.sphere(1.0, 0.5)


def wave(x):
    """A smooth complex velocity (n,)."""
    return (0.3 + x[:, 0]) + 1j * x[:, 2]


def lines(heading, *columns):
    rows = [", ".join(f"{each:.17g}" for each in row) for row in np.stack(columns, axis=1)]
    return "\n".join([heading, *rows]) + "\n"


def test_a_table_of_nodes_in_any_order_and_unit_gives_the_pressure_of_the_function(mesh, tmp_path):
    """The nodes of the mesh, mixed, in mm and mm/s, for exp(+i omega t): as the values at the vertices to rounding."""
    order = np.random.default_rng(1).permutation(mesh.number_of_vertices)
    x = mesh.vertices[order]
    v = wave(x).conj()
    file = tmp_path / "engine.csv"
    heading = "x [mm], y [mm], z [mm], vn_re [mm/s], vn_im [mm/s], stress"
    file.write_text(lines(heading, *(1e3 * x.T), 1e3 * v.real, 1e3 * v.imag, v.real))
    given = cal.Velocity.from_file(file, mesh, time_factor="exp(+i omega t)")
    assert given.value.largest_distance < 1e-12
    expected = cal.Velocity(wave(mesh.vertices))
    found, wanted = (
        cal.AcousticProblem(mesh, 1.0, fluid=AIR, conditions=each).solve(rtol=1e-8).surface.coefficients
        for each in (given, expected)
    )
    assert np.abs(found - wanted).max() < 1e-9 * np.abs(wanted).max()


def test_vectors_of_centroids_count_along_the_normal_of_their_triangle(mesh, tmp_path):
    tagged = cal.TriangleMesh(mesh.vertices, mesh.triangles, (mesh.centroids[:, 2] > 0).astype(int), {"top": 1})
    top = tagged.tags == 1
    x = mesh.centroids[top]
    file = tmp_path / "top.csv"
    file.write_text(lines("x;y;z;vx;vy;vz".replace(";", ","), *x.T, 0 * x[:, 0], 0 * x[:, 0], np.full(len(x), 2.0)))
    given = cal.Velocity.from_file(file, tagged, "top")
    moving = cal.AcousticProblem(tagged, 1.0, fluid=AIR, conditions={"top": given}).equation.moving
    expected = cal.AcousticProblem(tagged, 1.0, fluid=AIR, conditions={1: cal.Velocity([0, 0, 2.0])}).equation.moving
    assert moving.space.name == expected.space.name == "P0"
    np.testing.assert_allclose(moving.coefficients, expected.coefficients, rtol=1e-12)


def test_a_column_of_frequencies_follows_the_problem(mesh, tmp_path):
    """Linear between 100 and 200 Hz, in any order of the lines; refused beyond."""
    x, file = mesh.vertices, tmp_path / "sweep.csv"
    hertz = np.repeat([200.0, 100.0], len(x))
    twice = np.concatenate([x, x[::-1]])
    file.write_text(lines("frequency [Hz], x, y, z, v", hertz, *twice.T, hertz * twice[:, 0]))
    velocity = cal.Velocity.from_file(file, mesh)
    np.testing.assert_allclose(velocity.at(2 * np.pi * 130.0), 130.0 * x[:, 0], rtol=1e-12, atol=1e-12)
    problem = cal.AcousticProblem(mesh, frequency=100.0, fluid=AIR, conditions=velocity)
    assert np.abs(problem.equation.moving.coefficients).max() > 0
    with pytest.raises(ValueError, match="from 100 to 200 Hz, and the problem is at 50 Hz"):
        _ = problem.at(2 * np.pi * 50.0 / 343.0).equation.moving


@pytest.mark.parametrize("where", ["points", "cells"])
def test_grids_have_complex_data_at_points_or_in_cells(mesh, tmp_path, where):
    x = mesh.vertices if where == "points" else mesh.centroids
    real, imaginary = wave(x).real, wave(x).imag
    if where == "points":
        data = {"point_data": {"normal_re": real, "normal_im": imaginary}}
    else:
        data = {"cell_data": {"normal_re": [real], "normal_im": [imaginary]}}
    file = tmp_path / "grid.vtu"
    meshio.write(file, meshio.Mesh(1e3 * mesh.vertices, [("triangle", mesh.triangles)], **data))
    velocity = cal.Velocity.from_file(file, mesh, name="normal", scale=1e-3, unit=0.5)
    np.testing.assert_allclose(velocity.at(1.0), 0.5 * wave(x), rtol=1e-12)
    with pytest.raises(ValueError, match="holds no data 'velocity'.*'normal_re'.*give name="):
        cal.Velocity.from_file(file, mesh, scale=1e-3)


def test_damaged_grids_are_refused(mesh, tmp_path):
    file, triangles = tmp_path / "grid.vtu", mesh.triangles.copy()
    triangles[0, 0] = 9999
    speed = [np.ones(len(triangles))]
    meshio.write(file, meshio.Mesh(mesh.vertices, [("triangle", triangles)], cell_data={"velocity": speed}))
    with pytest.raises(ValueError, match="its cells do not fit their points"):
        cal.Velocity.from_file(file, mesh)
    bad = np.full(len(mesh.vertices), np.nan)
    meshio.write(file, meshio.Mesh(mesh.vertices, [("triangle", mesh.triangles)], {"velocity": bad}))
    with pytest.raises(ValueError, match="are NaN or infinite"):
        cal.Velocity.from_file(file, mesh)
    file.write_text("<VTKFile>")
    with pytest.raises(ValueError, match="cannot be read as a .vtu file"):
        cal.Velocity.from_file(file, mesh)
    with pytest.raises(FileNotFoundError):
        cal.Velocity.from_file(tmp_path / "none.csv", mesh)


def test_points_off_the_mesh_are_refused_with_advice(mesh, tmp_path):
    file = tmp_path / "mm.csv"
    file.write_text(lines("x, y, z, v", *(1e3 * mesh.vertices.T), mesh.vertices[:, 0]))
    with pytest.raises(ValueError, match="span .* m: give scale=1e-3 for a file in mm, tags= of the part that moves"):
        cal.Velocity.from_file(file, mesh)
    shifted = tmp_path / "shifted.csv"
    shifted.write_text(lines("x, y, z, v", *(mesh.vertices + [0.1, 0, 0]).T, mesh.vertices[:, 0]))
    assert 0 < cal.Velocity.from_file(shifted, mesh).value.largest_distance < 0.1 + 1e-12
    with pytest.raises(ValueError, match="0.05 m are accepted"):
        cal.Velocity.from_file(shifted, mesh, tolerance=0.05)


@pytest.mark.parametrize(
    "text, message",
    [
        ("x, y, z, v\n0, 0, 1, nan\n", "1 of 4 numbers are NaN or infinite"),
        ("x, y, z, v\n", "no lines below its headings"),
        ("", "hold no velocities at points"),
        ("x, y, z, pressure\n0, 0, 1, 2\n", "hold no velocities at points"),
        ("x, y, z, vx, vy\n0, 0, 1, 2, 2\n", "hold no velocities at points"),
        ("x, y, z, v, vx, vy, vz\n0, 0, 1, 2, 2, 2, 2\n", "hold no velocities at points"),
        ("x, y, z, v, V\n0, 0, 1, 2, 2\n", "two columns are 'V'"),
        ("x [furlong], y, z, v\n0, 0, 1, 2\n", r"unknown unit \[furlong\]"),
        ("x;y;z;v\n0;0;1,5;2\n", "a point, not a comma"),
        ("x, y, z, v\n0, 0, 1, 2\n0, 1\n", "engine.csv"),
        ("f, x, y, z, v\n-1, 0, 0, 1, 2\n", "frequencies are positive"),
        ("f, x, y, z, v\n1, 0, 0, 1, 2\n2, 0, 0, 1, 2\n2, 0, 1, 0, 2\n", "frequencies have different points, 1 to 2"),
        ("f, x, y, z, v\n1, 0, 0, 1, 2\n2, 0, 1, 1, 2\n", "frequencies have different points"),
        (b"\xff\xfe\x00\x01", "is no text"),
        ("x [" + " " * 60000 + ", y, z, v\n0, 0, 1, 2\n", "hold no velocities at points"),
    ],
)  # fmt: skip
def test_tables_that_are_none_are_refused(mesh, tmp_path, text, message):
    file = tmp_path / "engine.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message):
        cal.Velocity.from_file(file, mesh)
