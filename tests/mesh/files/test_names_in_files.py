"""Names, tags and digits that the package writes come back, or are refused or reported when they are written."""

import re
import warnings

import numpy as np
import pytest

from calderon.mesh import MeshError, MeshWarning, TriangleMesh, cube, read, sphere

CUBE = cube(1.0, 0.5)
TAGS = np.where(np.arange(48) < 24, 7, 3)


def named(names, tags=TAGS):
    return TriangleMesh(CUBE.vertices, CUBE.triangles, tags, names)


def written_and_read(mesh, path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh.write(path)
        again = read(path)
    first, second = (np.lexsort(np.round(each.centroids, 6).T) for each in (mesh, again))
    assert np.array_equal(mesh.tags[first], again.tags[second])
    return dict(again.names)


@pytest.mark.parametrize("name", ["a.msh", "a.vtu", "a.obj", "a.ply", "a.inp"])
@pytest.mark.parametrize(
    "names",
    [
        {"a}b": 7, "c": 3},
        {"{": 3, "}": 7},
        {"first": 7, "second": 7, "c": 3},
        {"calderon triangles: 5": 7, "element face 999": 3},
        {"nowhere": 9, "a": 7, "b": 3},
    ],
)
def test_names_come_back(tmp_path, name, names):
    assert written_and_read(named(names), tmp_path / name) == names


@pytest.mark.parametrize("name", ["a.vtu", "a.obj", "a.ply", "a.inp"])
def test_names_longer_than_what_is_read_at_first(tmp_path, name):
    names = {f"part {i} {'x' * 2000}": 100 + i for i in range(48)}
    path = tmp_path / name
    assert written_and_read(named(names, 100 + np.arange(48)), path) == names
    if name == "a.obj":
        path.write_text(path.read_text().rsplit("f ", 1)[0])
        with pytest.raises(MeshError, match="holds 47 of 48 triangles"):
            read(path)


@pytest.mark.parametrize("name", ["a.obj", "a.inp"])
def test_names_that_are_made_up_are_those_of_no_other_tag(tmp_path, name):
    names = written_and_read(named({"tag 3": 7}), tmp_path / name)
    assert names["tag 3"] == 7 and sorted(names.values()) == [3, 7]


@pytest.mark.parametrize(
    ("name", "odd"),
    [("a.msh", "hull\\"), ("a.msh", "a\\\\b"), ("a.obj", "hull\\"), ("a.obj", "a\tb"), ("a.inp", "a,b")],
)
def test_names_that_a_format_spoils_are_refused(tmp_path, name, odd):
    with pytest.raises(MeshError, match=re.escape(f"cannot hold the name {odd!r}")):
        named({odd: 7, "a b": 3}).write(tmp_path / name)
    assert not (tmp_path / name).exists()
    assert written_and_read(named({odd: 7, "a b": 3}), tmp_path / "a.vtu") == {odd: 7, "a b": 3}


def test_abaqus_files_cut_between_or_within_their_sets(tmp_path):
    path = tmp_path / "a.inp"
    named({"a": 7, "b": 3}).write(path)
    rows = path.read_text().splitlines(keepends=True)
    sets = [number for number, row in enumerate(rows) if row.startswith("*ELSET")]
    for stop in (*sets, sets[-1] + 1, len(rows) - 1):
        path.write_text("".join(rows[:stop]))
        with pytest.raises(MeshError, match="incomplete, its last line .* is missing"):
            read(path)


def test_stl_files_have_seven_digits(tmp_path):
    path = tmp_path / "a.stl"
    ball = sphere(1.0, 0.4)
    with pytest.warns(MeshWarning, match="seven digits: vertices move by up to .*; move the mesh to the origin"):
        ball.translated([1e3, 0, 0]).write(path)
    for lost in (ball.translated([1e9, 0, 0]), ball.scaled(1e39), ball.scaled(1e-50)):
        with pytest.raises(MeshError, match="seven digits up to 3e38, too few for this mesh from"):
            lost.write(tmp_path / "b.stl")
    assert not (tmp_path / "b.stl").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kept in (ball, ball.translated([5.0, 0, 0]), ball.scaled(1e-6)):
            kept.write(path)


@pytest.mark.parametrize("parts", [1, 2])
def test_texts_of_stl_end_with_a_mark(tmp_path, parts):
    path = tmp_path / "a.stl"
    corners = [
        ["vertex {} {} {}\n".format(*place) for place in each] for each in CUBE.vertices[CUBE.triangles].tolist()
    ]
    facets = [f"facet normal 0 0 0\nouter loop\n{''.join(each)}endloop\nendfacet\n" for each in corners]
    solids = ["".join(facets[part::parts]) for part in range(parts)]
    whole = "".join(f"solid part {i}\n{solid}endsolid part {i}\n" for i, solid in enumerate(solids))
    path.write_text(whole)
    assert read(path).is_closed
    for end in (whole.rindex("endsolid"), whole.rindex("endfacet"), whole.index("endfacet") + len("endfacet\n")):
        path.write_text(whole[:end])
        with pytest.raises(MeshError, match="no 'endsolid' at the end of the text: incomplete"):
            read(path)
