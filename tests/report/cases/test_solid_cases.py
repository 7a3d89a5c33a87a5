"""Case files of elastic solids: mistakes by line and key, both systems of units, faces by place, results by closed
forms, the files of a result."""

import csv
import json

import meshio
import numpy as np
import pytest

import calderon as cal
from calderon.case import CaseError, parse
from calderon.kinds.solid.building import elastic_solid, solid_mesh
from calderon.mesh import MeshWarning
from calderon.report import example, headlines, run, sheet_of, write

BAR = """\
title = "bar"
[mesh]
shape = "cuboid"
lengths = [200, 50, "5 cm"]
h = "60 mm"
[solid]
units = "mm-N-MPa"
[material]
youngs_modulus = "210 GPa"
poissons_ratio = 0.3
density = "7850 kg/m^3"
yield_strength = 355
[[face]]
name = "wall"
normal = [-1, 0, 0]
[[face]]
name = "end"
low = [100, -25, -25]
[[support]]
tag = "wall"
kind = "symmetry"
[[support]]
tag = 0
kind = "prescribed"
displacement = ["free", 0, 0]
[[load]]
tag = "end"
kind = "traction"
traction = ["100 MPa", 0, 0]
[[output.near_field]]
name = "axis"
line = { start = [-50, 0, 0], end = ["150 mm", 0, 0], count = 3 }
"""

SIDES = """[[support]]
tag = 0
kind = "prescribed"
displacement = ["free", 0, 0]
"""
WALL, LOAD = '[[support]]\ntag = "wall"\nkind = "symmetry"\n', "[[load]]\n"


def mistakes(text, built=False):
    with pytest.raises(CaseError) as caught:
        file = parse(text, "case.toml")
        if built:
            elastic_solid(file, solid_mesh(file))
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"mm-N-MPa"', '"mm"', "line 7: solid.units = \"mm\": choose 'SI', 'mm-N-MPa'"),
        ("= 0.3", "= 0.5", "line 10: material.poissons_ratio = 0.5: it should be less than 0.5"),
        ("poissons_ratio = 0.3\n", "", "line 8: [material] needs the key 'poissons_ratio'"),
        ('"210 GPa"', '"210 GN"', 'a stress is written like "10 Pa", in one of: Pa, kPa, MPa, GPa'),
        ('"210 GPa"', "-1", "line 9: material.youngs_modulus = -1: a stress here must be greater than zero"),
        ('"prescribed"', '"prescibed"', "line 24: support.kind = \"prescibed\": choose 'fixed', 'prescribed'"),
        ('"free", 0, 0', '"free", 0', 'line 25: support.displacement = ["free", 0]: the list has too few entries'),
        ('"free", 0, 0', '"free", "free", "free"', "all three components of the displacement are free"),
        ('"symmetry"', '"elastic"', "line 19: support: kind = 'elastic' also needs stiffness"),
        ('"symmetry"', '"fixed"\nstiffness = 3', "stiffness is not supported by kind = 'fixed': it accepts nothing"),
        ('kind = "traction"', 'kind = "pressure"', "line 26: load: kind = 'pressure' also needs pressure"),
        ('tag = "end"\nkind = "traction"', 'kind = "traction"', "kind = 'traction' also needs tag"),
        ("[[load]]", "[[lod]]", "line 26: lod: unknown key; did you mean 'load'?"),
        ("normal = [-1, 0, 0]", "", "line 13: face: a face needs low = [x, y, z], high = [x, y, z] or normal"),
        (
            'tag = "end"\nkind = "traction"\ntraction = ["100 MPa", 0, 0]',
            'kind = "temperature"\nchange = "50 K"',
            "the load 'temperature' needs material.expansion",
        ),
        (
            'tag = "end"\nkind = "traction"\ntraction = ["100 MPa", 0, 0]',
            'kind = "remote-stress"\nstress = [0, 0, 1, 0, 0, 0]',
            "the load 'remote-stress' is not supported by a bounded solid",
        ),
        (BAR[BAR.index("[[load]]") :], "", "nothing loads the solid"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(old, new, message):
    assert old in BAR
    assert message in mistakes(BAR.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('tag = "end"', 'tag = "top"', "line 27: load.tag = \"top\": unknown tags ['top']"),
        ("tag = 0", "tag = 7", "line 23: support.tag = 7: unknown tags [7]"),
        ("low = [100,", "low = [101,", 'line 17: face.name = "end": no triangle lies there'),
        (SIDES, SIDES[: SIDES.index("prescribed")] + 'roller"\n', "line 23: support.tag = 0: "),
        ('tag = "wall"\nkind = "symmetry"', 'tag = "end"\nkind = "fixed"', "has a traction of 100 along a direction"),
    ],
)  # fmt: skip
def test_what_the_mesh_does_not_have_is_named_with_the_key(old, new, message):
    assert old in BAR
    assert message in mistakes(BAR.replace(old, new, 1), built=True)


@pytest.mark.parametrize(("units", "unit", "volume"), [("mm-N-MPa", "", 5e5), ("SI", 'unit = "mm"\n', 5e-4)])
def test_faces_of_a_file_without_tags_are_named_by_place(tmp_path, units, unit, volume):
    cal.mesh.cuboid((200.0, 50.0, 50.0), 60.0).write(tmp_path / "bar.stl")
    shape = BAR[BAR.index("shape") : BAR.index("[solid]")]
    text = BAR.replace(shape, f'file = "bar.stl"\n{unit}').replace("mm-N-MPa", units)
    text = text.replace("low = [100, -25, -25]", 'low = ["100 mm", "-25 mm", "-25 mm"]')
    mesh = solid_mesh(parse(text, folder=tmp_path))
    assert mesh.volume == pytest.approx(volume)
    assert mesh.restricted("wall").areas.sum() == pytest.approx(volume / 200 * (1 if unit == "" else 1e3))
    assert mesh.restricted("end").areas.sum() == pytest.approx(mesh.restricted("wall").areas.sum())


def test_a_cad_file_is_meshed_with_a_tag_for_each_face(tmp_path):
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.occ.addBox(0, 0, 0, 200, 50, 50)  # STEP says that these are mm
    gmsh.model.occ.synchronize()
    gmsh.write(str(tmp_path / "bar.step"))
    gmsh.finalize()
    text = BAR.replace('shape = "cuboid"\nlengths = [200, 50, "5 cm"]\n', 'file = "bar.step"\n').replace(
        "100, -25, -25", "200, 0, 0"
    )
    mesh = solid_mesh(parse(text, folder=tmp_path))
    assert mesh.volume == pytest.approx(5e5) and len(np.unique(mesh.tags)) == 6 and mesh.edge_lengths.max() < 1.5 * 60
    assert mesh.restricted("end").areas.sum() == pytest.approx(2500)
    assert "the file 'bar.step' also needs h" in mistakes(text.replace('h = "60 mm"\n', ""))
    (tmp_path / "bar.step").write_text("no model")
    with pytest.raises(CaseError, match='line 3: mesh.file = "bar.step": .*bar.step: '):
        solid_mesh(parse(text, folder=tmp_path))


def test_numbers_of_another_system_are_warned_about():
    file = parse(BAR.replace('"7850 kg/m^3"', "7850").replace('"210 GPa"', "2.1e11"))
    with (
        pytest.warns(MeshWarning, match="density is"),
        pytest.warns(MeshWarning, match=r"youngs_modulus is 2.1e\+17 Pa"),
    ):
        solid_mesh(file)


@pytest.fixture(scope="module")
def bar():
    """A bar that cannot become thinner: its strain is s (1 - 2 nu) / ((1 - nu) 2 mu) along x, its stress s there."""
    return run(parse(BAR))


def test_a_bar_in_both_systems_of_units(bar):
    text = BAR.replace("mm-N-MPa", "SI").replace('[200, 50, "5 cm"]', "[0.2, 0.05, 0.05]").replace("= 355", "= 3.55e8")
    text = text.replace("[100, -25, -25]", "[0.1, -0.025, -0.025]").replace("[-50, 0, 0]", "[-0.05, 0, 0]")
    in_si = run(parse(text))
    strain = 100 * (1 + 0.3) * (1 - 2 * 0.3) / ((1 - 0.3) * 210e3)
    for results, metre, pascal in ((bar, 1e-3, 1e6), (in_si, 1.0, 1.0)):
        assert results.furthest[0] * metre == pytest.approx(strain * 0.2, rel=1e-4)
        assert results.largest.value * pascal == pytest.approx(1e8 * (1 - 0.3 / 0.7), rel=2e-3)
        assert results.reactions["wall"].force[0] == pytest.approx(-1e8 * 0.05**2, rel=1e-4)
        moved = results.near_fields["axis"].arrays["displacement"][:, 0] * metre
        assert moved[:2] == pytest.approx([strain * 0.05, strain * 0.15], rel=1e-2) and np.isnan(moved[2])
        assert results.imbalance < 1e-4 and max(results.estimates) < 1e-3
    shown = [{name: (value, unit) for name, value, unit in headlines(each, {})} for each in (bar, in_si)]
    assert shown[0]["reaction of “wall”"] == shown[1]["reaction of “wall”"] == ("250", "kN")
    assert {unit for name, (_, unit) in shown[1].items() if "von Mises" in name or "principal" in name} == {"MPa"}


def test_a_result_has_units_everywhere(bar, tmp_path):
    write(bar, tmp_path / "out")
    out = tmp_path / "out"
    assert {each.name for each in out.glob("*.png")} == {
        "conditions.png", "deformed.png", "von_mises.png", "principal_1.png", "principal_3.png"
    }  # fmt: skip
    with (out / "resultants.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["what"], row["tag"]) for row in rows][-2:] == [("reaction", "wall"), ("reaction", "0")]
    assert float(rows[-2]["force_x_N"]) == pytest.approx(-250e3, rel=1e-4) and "moment_x_N_mm" in rows[0]
    with (out / "near_field_axis.csv").open() as stream:
        assert {"distance_mm", "x_mm", "displacement_x_mm", "von_mises_MPa"} <= set(next(csv.reader(stream)))
    with (out / "surface.csv").open() as stream:
        assert next(csv.reader(stream))[-3:] == ["von_mises_MPa", "principal_1_MPa", "principal_3_MPa"]
    assert {"displacement [mm]", "von Mises [MPa]"} <= set(meshio.read(out / "solid.vtu").point_data)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["units"]["moment"] == "N mm" and summary["principal"]["largest"] == pytest.approx(100, rel=1e-3)
    page = (out / "report.html").read_text()
    assert "displacements enlarged" in page and "prescribed" in page and "(250, 0, 0) kN" in page


def test_load_cases_share_a_matrix_and_the_worst_is_drawn():
    """Twice the traction has twice the stress; a load without a case is of both."""
    load = BAR[BAR.index("[[load]]") : BAR.index("[[output.near_field]]")]
    twice = load.replace("[[load]]", '[[load]]\ncase = "twice"')
    both = run(parse(BAR.replace(load, load.replace("[[load]]", '[[load]]\ncase = "once"') + twice + twice)))
    assert both.load_case == "twice" and [*both.load_cases] == ["once", "twice"]
    assert [each[""].largest_stress[0] for each in both.load_cases.values()] == pytest.approx(
        [57.143, 114.286], rel=1e-3
    )
    assert both.reactions["wall"].force[0] == pytest.approx(-500e3, rel=1e-4) and both.imbalance < 1e-4
    shown = {name: value for name, value, _ in headlines(both, {})}
    assert shown["load case of 2 with the largest stress"] == "twice"
    common = run(parse(BAR + twice))
    assert [*common.load_cases] == ["twice"] and common.applied[0].force[0] == pytest.approx(500e3)


def test_stresses_on_clamped_and_hollow_edges_stand_aside():
    """The place of the largest stress of a cantilever is the edge of its clamped face: the report begins with that away
    from it."""
    text = BAR.replace(SIDES, "").replace("symmetry", "fixed").replace('["100 MPa", 0, 0]', "[0, 0, -1]")
    clamped = run(parse(text))
    assert clamped.largest.edge == "the edge of a clamped face"
    assert clamped.largest.away[0] < clamped.largest.value
    sheet, shown = sheet_of(clamped), clamped.units.shown
    assert sheet.headlines[0][1:] == shown("stress", clamped.largest.away[0])
    assert sheet.asides[0][1:] == shown("stress", clamped.largest.value)
    assert "edge of a clamped face" in sheet.asides[0][0]
    assert not any("no limit" in text for text in clamped.warnings)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (WALL, "", r"unbalanced force \(2.5e\+05, 0, 0\), .*translation along x"),
        (LOAD, f"[output]\npoints = [[0, 0, 0], [0, 0, 26]]\n{LOAD}", r"1 of 2 points are not inside .* \[0, 0, 26\]"),
        (LOAD, f'[output.slice]\nplane = "xy"\ncentre = [0, 0, 40]\n{LOAD}', "no point of the plane lies in the solid"),
        (LOAD, f'[solver]\nmethod = "quick"\n{LOAD}', "unknown method 'quick'"),
    ],
)  # fmt: skip
def test_what_cannot_be_solved_is_reported_before_it_is_tried(old, new, message):
    assert old in BAR
    with pytest.raises(ValueError, match=message):
        run(parse(BAR.replace(old, new, 1)))


def test_memory_is_asked_for_before_anything_is_computed(monkeypatch):
    small = elastic_solid(file := parse(BAR), solid_mesh(file)).plan()
    monkeypatch.setattr(cal.ElasticSolid, "plan", lambda self, **options: small._replace(nbytes=10**18))
    with pytest.raises(MemoryError, match="the solution of 82 unknowns .dense. needs .*: use a coarser mesh"):
        run(file)


def small(name, h):
    """An example on a coarse mesh, without a plane."""
    text = "\n".join(line for line in example(name).text.splitlines() if not line.startswith(("slice", "h =")))
    return parse(text.replace("[mesh]", f"[mesh]\nh = {h}", 1))


def test_a_hollow_sphere_under_pressure():
    results = run(small("hollow-sphere", '"45 mm"'))
    assert results.mesh.number_of_triangles < 300
    radial = results.points.displacement[0, 0]
    assert radial == pytest.approx(1.0396825e-5, rel=0.01)
    assert results.points.principal[0, 0] == pytest.approx(31.22e6, rel=0.02)
    line = results.lines[0]
    r = line.points[:, 0]
    hoop = 100e6 * 0.05**3 / (0.1**3 - 0.05**3) * (1 + 0.1**3 / (2 * r**3))
    middle = (r > 0.06) & (r < 0.09)
    np.testing.assert_allclose(line.principal[middle, 0], hoop[middle], rtol=0.05)


def test_a_cavity_under_tension():
    results = run(small("spherical-cavity", 5.5))
    assert results.mesh.number_of_triangles < 300
    line = results.lines[0]
    a3, a5 = (10 / line.points[:, 0]) ** 3, (10 / line.points[:, 0]) ** 5
    exact = 100 * (1 + (4 - 5 * 0.3) / (2 * (7 - 5 * 0.3)) * a3 + 9 / (2 * (7 - 5 * 0.3)) * a5)
    far = line.points[:, 0] > 14
    np.testing.assert_allclose(line.stress[far, 2, 2], exact[far], rtol=0.01)


def test_a_spinning_disc():
    """Free in space: no support. Hoop stress of the plane theory at mid radius."""
    results = run(small("spinning-disc", 60))
    assert results.mesh.number_of_triangles < 300 and results.parts[""].info.free_motions == 6
    line = results.lines[0]
    r, omega = line.points[:, 0], 10000 * np.pi / 30
    strength = (3 + 0.3) / 8 * 7.85e-9 * omega**2
    hoop = strength * (40**2 + 200**2 + (40 * 200 / r) ** 2 - (1 + 3 * 0.3) / (3 + 0.3) * r**2)
    middle = (r > 90) & (r < 150)
    np.testing.assert_allclose(line.principal[middle, 0], hoop[middle], rtol=0.06)


def test_a_bimetal_strip_bends():
    """Timoshenko's curvature; both parts have stresses of their own at their common face."""
    file = small("bimetal-strip", 4)
    cold = '[[load]]\ncase = "cold"\nkind = "temperature"\nchange = -50\n[[load]]\ncase = "hot"'
    results = run(parse(file.text.replace("count = 40", "count = 4").replace("[[load]]", cold)))
    bending = [parts["brass"].displacement.at_nodes for parts in results.load_cases.values()]
    np.testing.assert_allclose(-2 * bending[0], bending[1], atol=1e-9)
    assert results.load_case == "hot"
    assert results.mesh.number_of_triangles < 400 and set(results.mesh.names) == {
        "steel: layer 1", "steel: joint 1", "brass: layer 2", "brass: joint 1"
    }  # fmt: skip
    x, sinking = results.mesh.vertices[:, 0], results.displacement[:, 2]
    bent = sinking[np.abs(x) < 3].mean() - sinking[np.abs(x) > 29].mean()
    assert bent == pytest.approx(57.3e-3, rel=0.12)
    steel, brass = (results.resultants[f"{part}: joint 1"].force for part in ("steel", "brass"))
    np.testing.assert_allclose(steel, -brass, atol=1e-9 * np.abs(results.von_mises).max())


def test_a_hot_pipe():
    """Plane strain; the stress along the axis follows from the temperature."""
    results = run(small("hot-pipe", 45))
    assert results.mesh.number_of_triangles < 200 and results.strain_energy is None
    assert results.temperature.max() == pytest.approx(180) and results.temperature.min() == pytest.approx(0)
    line = results.lines[0]
    r, unit = line.points[:, 0], 200e3 * 12e-6 * 180 / (2 * 0.7 * np.log(2))
    hoop = unit * (1 - np.log(100 / r) - (1 / 3) * (1 + (100 / r) ** 2) * np.log(2))
    middle = (r > 60) & (r < 90)
    assert np.abs(line.stress[middle, 1, 1] - hoop[middle]).max() < 0.06 * unit
    wrong = example("hot-pipe").text.replace("inner =", "inside =")
    assert "line 33: load.temperatures = { inside = 200.0, outer = 20.0 }: unknown tags" in mistakes(wrong, built=True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"layer 2", "joint 1"', '"layer 2"', "needs a closed surface"),
        ('"layer 2", "joint 1"', '"layer 3"', "line 23: region.tags = "),
        ("expansion = 19e-6", "density = 1", "the load 'temperature' needs region 'brass', material.expansion"),
        ('name = "brass"', 'name = "steel"', "two [[region]] tables have the same name"),
        ("[[load]]", '[[load]]\ntag = "joint 1"\nkind = "pressure"\npressure = 1\n[[load]]', "joint 1"),
    ],
)
def test_mistakes_in_regions_are_named(old, new, message):
    text = example("bimetal-strip").text
    assert old in text
    assert message in mistakes(text.replace(old, new, 1), built=True)


@pytest.mark.parametrize("name", ["bracket", "machine-tool"])
def test_the_other_examples_are_posed(name):
    file = example(name)
    posed = elastic_solid(file, solid_mesh(file))
    assert posed.mesh.check().ok and posed.unknowns < 3000
    assert np.linalg.norm(posed.applied[0].force) > 0 and posed.joined.free_motions.shape == (6, 0)
    fine = cal.mesh.sample(name, "fine")
    assert fine.check().ok and fine.volume == pytest.approx(cal.mesh.sample(name, "coarse").volume, rel=0.02)


@pytest.mark.variant
@pytest.mark.parametrize("name", ["bracket", "machine-tool"])
def test_the_other_examples_balance(name):
    results = run(example(name))
    assert results.imbalance < 0.02 and results.parts[""].info.rotation_error < 1e-3
