"""STL files as programs write them: a cube in capitals, with comments, odd normals and several solids, or a refusal."""

import re
import warnings

import numpy as np
import pytest

from calderon.mesh import MeshError, cube, read

CUBE = cube(1.0, 0.5)
TOP = np.flatnonzero(CUBE.centroids[:, 2] > 0.499)
REST = np.setdiff1d(np.arange(48), TOP)


def facets(chosen, normal="0 0 1", word="{:.6e}"):
    found = []
    for corners in CUBE.vertices[CUBE.triangles[chosen]].tolist():
        lines = [f"    vertex {' '.join(word.format(x) for x in corner)}" for corner in corners]
        found += [f"facet normal {normal}", "  outer loop", *lines, "  endloop", "endfacet"]
    return found


def solid(name, chosen, **options):
    return [f"solid {name}", *facets(chosen, **options), f"endsolid {name}"]


WHOLE = "\n".join(solid("cube", np.arange(48))) + "\n"
ONE = {
    "plain": WHOLE,
    "capitals": WHOLE.upper(),
    "a mixture": WHOLE.replace("facet", "Facet").replace("vertex", "VERTEX").replace("endsolid", "EndSolid"),
    "CR": WHOLE.replace("\n", "\r"),
    "CR LF": WHOLE.replace("\n", "\r\n"),
    "tabs": WHOLE.replace("    ", "\t").replace(" ", "\t").replace("solid\t", "solid "),
    "comments": "# made\n\n; by\n" + WHOLE.replace("endfacet\n", "endfacet\n  # next\n\n// and\n"),
    "comments of one facet": WHOLE.replace("  outer loop\n", "! loop\n  outer loop\n"),
    "no name": WHOLE.replace("solid cube", "solid"),
    "another name at the end": WHOLE.replace("endsolid cube", "endsolid"),
    "long names": WHOLE.replace("solid cube", "solid " + "facet normal vertex " * 50),
    "normals without numbers": WHOLE.replace("normal 0 0 1", "normal -1.#IND -1.#IND -1.#IND"),
    "normals of NaN": WHOLE.replace("normal 0 0 1", "normal nan -nan(ind) 1.#QNAN"),
    "no normals": WHOLE.replace(" normal 0 0 1", " normal"),
    "words apart": WHOLE.replace("endloop", "end loop").replace("endfacet", "end facet"),
    "no last line end": WHOLE.rstrip(),
    "a byte order mark": "\ufeff" + WHOLE,
    "facets on one line": re.sub(r"\s*\n\s*(?!facet|endsolid)", " ", WHOLE).replace("solid cube ", "solid cube\n", 1),
}


@pytest.mark.parametrize("name", ONE)
def test_every_way_of_writing_gives_the_cube(tmp_path, name):
    (tmp_path / "a.stl").write_bytes(ONE[name].encode())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = read(tmp_path / "a.stl")
    assert mesh.is_closed and mesh.number_of_vertices == CUBE.number_of_vertices
    assert mesh.volume == pytest.approx(1.0) and set(mesh.tags) == {0} and mesh.names == {}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("top", "other sides"), {"top": 1, "other sides": 2}),
        (("a", "a"), {"a": 1, "a (2)": 2}),
        (("", "b"), {"b": 2}),
        (("", ""), {}),
    ],
)
@pytest.mark.parametrize("change", [str, str.upper])
def test_several_solids_are_tags_with_names(tmp_path, names, expected, change):
    lines = [line for name, chosen in zip(names, (TOP, REST), strict=True) for line in solid(name, chosen)]
    (tmp_path / "a.stl").write_text(change("\n".join(lines) + "\n"))
    mesh = read(tmp_path / "a.stl")
    assert mesh.is_closed and mesh.names == {change(name): tag for name, tag in expected.items()}
    assert np.bincount(mesh.tags).tolist() == [0, len(TOP), len(REST)]
    assert np.allclose(mesh.vertices[mesh.triangles[mesh.tags == 1]][..., 2], CUBE.vertices[:, 2].max())


def test_binary_files_that_begin_with_solid(tmp_path):
    CUBE.write(tmp_path / "a.stl")
    data = (tmp_path / "a.stl").read_bytes()
    for head in (b"solid", b"SOLID model\nfacet normal", b"solid " + b" " * 74, b"\0" * 80):
        (tmp_path / "a.stl").write_bytes(head.ljust(80, b" ")[:80] + data[80:])
        assert read(tmp_path / "a.stl").volume == pytest.approx(1.0)
    (tmp_path / "a.stl").write_bytes(b"solid".ljust(80) + data[80:-1])
    with pytest.raises(MeshError, match="2483 bytes, but its 48 triangles take 2484"):
        read(tmp_path / "a.stl")


TRIANGLE = "\n".join(solid("t", [0])) + "\n"
WRONG = {
    "four vertices": (TRIANGLE.replace("  endloop", "vertex 0 0 0\n  endloop"), "line 2: no facet of three vertices"),
    "two vertices": (re.sub(r"    vertex.*\n", "", TRIANGLE, count=1), "line 2: no facet of three vertices"),
    "two coordinates": (TRIANGLE.replace("vertex ", "vertex", 1), "line 2: no facet of three vertices"),
    "a word": (re.sub(r"vertex \S+", "vertex one", TRIANGLE, count=1), "line 2: a facet has a coordinate 'one', which"),
    "a comma": (TRIANGLE.replace("e-01", "e,01"), r"line 2: a facet has a coordinate '-5.000000e,01'"),
    "an odd coordinate": (
        re.sub(r"vertex \S+", "vertex -1.#IND", TRIANGLE, count=1),
        "coordinate '-1.#IND', which is no",
    ),
    "NaN": (re.sub(r"vertex \S+", "vertex nan", TRIANGLE, count=1), "vertices are NaN"),
    "text between": (TRIANGLE + "hello\n" + TRIANGLE, "line 10: text outside of solid ... endsolid"),
    "a solid in a solid": (TRIANGLE.replace("endsolid t\n", "") + TRIANGLE, "line 9: a solid begins before the last"),
    "two ends": (TRIANGLE + "endsolid t\n", "line 10: an endsolid that no solid precedes"),
    "one line": (TRIANGLE.replace("\n", " "), "line 1: a solid has no endsolid on a line of its own"),
    "no facets": ("solid a\nendsolid a\n", "no triangles"),
    "no end": (TRIANGLE.replace("endsolid t\n", ""), "no 'endsolid' at the end of the text: incomplete"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_facet_is_refused_with_its_line(tmp_path, name):
    text, message = WRONG[name]
    (tmp_path / "a.stl").write_text(text)
    with pytest.raises(MeshError, match=f"a.stl: .*{message}"):
        read(tmp_path / "a.stl")
