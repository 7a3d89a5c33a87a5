"""Faces of CAD models and of surfaces without tags: the table, selections by cylinder, plane, name, point and box."""

import re

import numpy as np
import pytest

import calderon as cal
from calderon.case import parse
from calderon.case.faces import with_faces

HOLES = [(0.1, 0.15), (0.5, 0.15), (0.1, 0.45), (0.5, 0.45)]
STYLE = """#9001 = COLOUR_RGB('',0.9,0.1,0.1);
#9002 = FILL_AREA_STYLE_COLOUR('',#9001);
#9003 = FILL_AREA_STYLE('',(#9002));
#9004 = SURFACE_STYLE_FILL_AREA(#9003);
#9005 = SURFACE_SIDE_STYLE('',(#9004));
#9006 = SURFACE_STYLE_USAGE(.BOTH.,#9005);
#9007 = PRESENTATION_STYLE_ASSIGNMENT((#9006));
#9008 = STYLED_ITEM('color',(#9007),#FACE);
#9009 = MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION('',(#9008),#CONTEXT);
"""


@pytest.fixture(scope="module")
def plate(tmp_path_factory):
    """A STEP file of a plate, 0.6 m x 0.6 m x 0.1 m, with four holes of radius 0.05 m along z, tilted about x; three
    faces and the solid have names, the first hole a colour."""
    gmsh = pytest.importorskip("gmsh")
    path = tmp_path_factory.mktemp("plate") / "plate.step"
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    occ = gmsh.model.occ
    body = occ.addBox(0, 0, 0, 600, 600, 100)
    occ.cut([(3, body)], [(3, occ.addCylinder(1e3 * x, 1e3 * y, -10, 0, 0, 120, 50)) for x, y in HOLES])
    occ.rotate([(3, 1)], 0, 0, 0, 1, 0, 0, 0.3)
    occ.synchronize()
    gmsh.write(str(path))
    gmsh.finalize()
    text = path.read_text()
    numbers = re.findall(r"#(\d+) = ADVANCED_FACE", text)
    for number, name in [(2, "top"), (6, "first hole"), (7, r"B\X2\006F\X0\hrung ''two''")]:
        text = text.replace(f"#{numbers[number]} = ADVANCED_FACE(''", f"#{numbers[number]} = ADVANCED_FACE('{name}'")
    context = re.search(r"#(\d+) = \( GEOMETRIC_REPRESENTATION_CONTEXT\(3\)", text)[1]
    style = STYLE.replace("#FACE", f"#{numbers[6]}").replace("#CONTEXT", f"#{context}")
    text = re.sub(r"(PRODUCT\('[^']*',\s*)'[^']*'", r"\1'base plate'", text).replace(
        "ENDSEC;\nEND-ISO", style + "ENDSEC;\nEND-ISO"
    )
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def part(plate):
    return cal.mesh.read(plate, h=0.025)


def turned(point):
    """A point of the plate before it was tilted, where it is now."""
    x, y, z = point
    return np.array([x, y * np.cos(0.3) - z * np.sin(0.3), y * np.sin(0.3) + z * np.cos(0.3)])


AXIS = turned((0, 0, 1))


def on_hole(mesh, hole):
    """Numbers of the triangles of a hole, from tags: its tag is that of the triangle nearest to its wall."""
    place = turned((hole[0] + 0.05, hole[1], 0.05))
    tag = mesh.tags[np.argmin(np.linalg.norm(mesh.centroids - place, axis=1))]
    return np.flatnonzero(mesh.tags == tag)


def test_the_table_tells_planes_and_bores_names_and_colours(part):
    faces = part.faces()
    kinds = [one.kind for one in faces]
    assert len(faces) == 10 and kinds.count("plane") == 6 and kinds.count("cylinder") == 4
    for one in faces:
        assert (
            one.area == pytest.approx(part.areas[one.triangles].sum()) and (part.tags[one.triangles] == one.tag).all()
        )
        if one.kind == "cylinder":
            assert one.is_bore and one.radius == pytest.approx(0.05, rel=1e-6) and abs(one.axis @ AXIS) > 1 - 1e-9
        else:
            assert np.allclose(part.normals[one.triangles], one.normal, atol=1e-9)
    named = {one.name: one for one in faces if one.name}
    assert set(named) == {"top", "first hole", "Bohrung 'two'"}
    assert np.allclose(named["top"].normal, AXIS, atol=1e-9) and "bore, radius 0.05" in str(faces)
    assert part.colours == {named["first hole"].tag: "#e51919"} == part.scaled(2.0).colours
    assert part.solids == {"base plate": tuple(range(1, 11))} and len(part.tag_numbers("base plate")) == 10


@pytest.mark.parametrize("hole", HOLES)
def test_a_hole_is_selected_by_its_cylinder_and_by_a_point(part, hole):
    wanted = on_hole(part, hole)
    found = part.select(cylinder=(turned((*hole, 0.7)), -AXIS, 0.05))
    assert np.array_equal(found.triangles, wanted) and found.tag == part.tags[wanted[0]] and not found.cut
    assert np.array_equal(part.select(near=turned((hole[0], hole[1] - 0.049, 0.06))).triangles, wanted)
    soup = cal.mesh.TriangleMesh(part.vertices, part.triangles)  # as from STL: no tags
    assert np.array_equal(soup.select(cylinder=(turned((*hole, 0.7)), AXIS, 0.05)).triangles, wanted)
    assert np.array_equal(soup.select(near=turned((hole[0], hole[1] - 0.049, 0.06))).triangles, wanted)


def test_planes_names_and_several_words(part):
    top = np.flatnonzero(part.tags == part.names["top"])
    assert np.array_equal(part.select(name="top").triangles, top)
    assert np.array_equal(part.select(plane=(turned((0.3, 0, 0.1)), AXIS)).triangles, top)
    assert np.array_equal(part.select(name="base plate", normal=AXIS).triangles, top)
    both = part.select(name=["top", "first hole"])
    assert len(both.faces) == 2 and both.tag is None


def test_a_box_that_cuts_faces_says_which_and_how_much(part):
    with pytest.warns(cal.MeshWarning, match=r"cuts 4 of 10 faces.*% of the area\) of face 2 'top' \(tag 3, plane"):
        found = part.select(box=(turned((0, 0, 0)) - 0.1, turned((0.3, 0.3, 0.1)) + [0, 0, 0.1]))
    share = dict(zip([one.name for one in found.faces], found.shares, strict=True))
    own = found.triangles[part.tags[found.triangles] == part.names["top"]]
    assert share["top"] == pytest.approx(part.areas[own].sum() / part.faces()[2].area) and share["first hole"] == 1


def test_selections_name_tags_of_problems_and_of_cases(part, plate):
    bolts = part.select(cylinder=(turned((*HOLES[1], 0)), AXIS, 0.05))
    named = part.named({"bolt": bolts, "rest": part.select(name="top")})
    assert np.array_equal(np.flatnonzero(named.tags == named.names["bolt"]), bolts.triangles)
    point, axis = turned((*HOLES[1], 0)).tolist(), AXIS.tolist()
    text = f"""[mesh]\nfile = "{plate.name}"\nh = "50 mm"\n[solid]
[material]\nyoungs_modulus = 1e9\npoissons_ratio = 0.3
[[face]]\nname = "bolt"\ncylinder = {{ point = {point}, axis = {axis}, radius = "50 mm" }}
[[face]]\nname = "base"\nplane = {{ point = [0, 0, 0], normal = {axis} }}
[[face]]\nname = "hole"\nnear = {turned((0.1, 0.101, 0.05)).tolist()}
[[face]]\nname = "lid"\ntag = "top"
[[support]]\ntag = "base"\nkind = "fixed"\n[[load]]\ntag = "bolt"\nkind = "pressure"\npressure = 1"""
    mesh = with_faces(parse(text, plate.parent), part)
    for name, wanted in {"bolt": bolts.triangles, "hole": on_hole(part, HOLES[0])}.items():
        assert np.array_equal(np.flatnonzero(mesh.tags == mesh.names[name]), wanted)
    assert len(np.unique(mesh.tags)) == 10


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({}, "needs one of cylinder=, plane="),
        ({"cylinder": ([0, 0, 0], [0, 0, 1], 0.07)}, "no triangle lies on the cylinder.*bore, radius 0.05"),
        ({"cylinder": ([0, 0, 0], [0, 0, 1])}, r"cylinder = .*\(point, axis, radius\) is needed"),
        ({"near": [9, 9, 9]}, "away from the surface"),
        ({"plane": ([0, 0, 9], [0, 0, 1])}, "no triangle lies there, by plane"),
        ({"name": "frist hole"}, "did you mean 'first hole'.*lists the faces"),
    ],
)
def test_what_selects_nothing_is_refused(part, words, message):
    with pytest.raises(cal.MeshError, match=message):
        part.select(**words)


def test_shapes_without_tags_fall_into_their_faces():
    kinds = {
        "cube": (cal.mesh.cube(1.0, 0.5), 6, 0), "tube": (cal.mesh.tube(1.0, 0.5, 1.0, h=0.4), 2, 2),
        "sphere": (cal.mesh.sphere(1.0, 0.4), 0, 0),
    }  # fmt: skip
    for mesh, planes, cylinders in kinds.values():
        found = [one.kind for one in mesh.faces()]
        assert (found.count("plane"), found.count("cylinder")) == (planes, cylinders)
    assert sum(one.is_bore for one in kinds["tube"][0].faces()) == 1


def test_coarse_bores_are_round_and_boxes_are_not():
    """Tubes of five and six sides with turned rings, and of four."""
    for sides, kind in ((4, "other"), (5, "cylinder"), (6, "cylinder")):
        turns = 2 * np.pi * (np.arange(sides) / sides + np.array([[0.0], [0.0], [0.01], [0.01]]))
        x = np.stack([np.cos(turns), np.sin(turns), np.repeat([[0.0], [0.4], [1.1], [2.0]], sides, axis=1)], axis=2)
        i = np.arange(3)[:, None] * sides + np.arange(sides)
        j = np.arange(3)[:, None] * sides + np.roll(np.arange(sides), -1)
        triangles = np.stack([i, j, i + sides, j, j + sides, i + sides], axis=2).reshape(-1, 3)
        (face,) = cal.TriangleMesh(x.reshape(-1, 3), triangles).faces(angle=np.radians(100.0))
        assert face.kind == kind


def test_names_in_another_order_are_left_out(plate, tmp_path):
    text = plate.read_text()
    shell = re.search(r"CLOSED_SHELL\('',\(([^)]*)\)", text)[1]
    numbers = shell.split(",")
    (tmp_path / "other.step").write_text(text.replace(shell, ",".join(numbers[1:])))
    with pytest.warns(cal.MeshWarning, match="the names are left out"):
        cal.mesh.files.step_names.step_face_names(tmp_path / "other.step", ["Plane"] * 6 + ["Cylinder"] * 4)


def test_the_picture_has_a_part_for_each_tag(part):
    scene = part.scene()
    called = {layer.name: layer for layer in scene.layers}
    assert len(called) == 10 and called["first hole"].colour == "#e51919" and "tag 1" in called
    assert len({layer.colour for layer in scene.layers}) == 10
    assert sum(len(layer.triangles) for layer in scene.layers) == len(part.triangles)
