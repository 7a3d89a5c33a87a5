"""Layouts of chips (GDSII) between layers of dielectrics, against meshes that are made directly."""

import random

import numpy as np
import pytest
from typer.testing import CliRunner

import calderon as cal
from calderon.cli import app
from calderon.formulations.statics.files.gds import read_gds
from calderon.formulations.statics.files.layout import read_layout

gdstk = pytest.importorskip("gdstk", reason="extra gds")
pytest.importorskip("gmsh", reason="extra gmsh")
UM = 1e-6
STACK = """\
unit = "um"
margin = 1
layer = [
  { name = "oxide", bottom = 0, height = 4, permittivity = 3.9 },
  { name = "lower", bottom = 1, height = 0.5, number = 10, metal = true },
  { name = "via", bottom = 1.5, height = 1, number = 11, metal = true },
  { name = "upper", bottom = 2.5, height = 0.5, number = 12, metal = true },
]
"""


def written(folder, *shapes, cell="top", others=()):
    library = gdstk.Library(unit=1e-6, precision=1e-9)
    library.new_cell(cell).add(*shapes)
    library.add(*others)
    library.write_gds(folder / "a.gds")
    (folder / "stack.toml").write_text(STACK)
    return folder / "a.gds", folder / "stack.toml"


def box(x, y, layer, name=None):
    """A rectangle, and a label in its middle."""
    labels = [] if name is None else [gdstk.Label(name, (np.mean(x), np.mean(y)), layer=layer)]
    return [gdstk.rectangle((x[0], y[0]), (x[1], y[1]), layer=layer), *labels]


def test_two_plates_in_oxide(tmp_path):
    path, stack = written(tmp_path, *box((0, 4), (0, 4), 10, "low"), *box((0, 4), (0, 4), 12, "high"))
    found = cal.StaticProblem.from_layout(path, stack, h=1.2 * UM).capacitance_matrix()
    cuboid = cal.mesh.Solid.cuboid
    bodies = {
        "oxide": cuboid([-1 * UM, -1 * UM, 0], [5 * UM, 5 * UM, 4 * UM]),
        "low": cuboid([0, 0, UM], [4 * UM, 4 * UM, 1.5 * UM]),
        "high": cuboid([0, 0, 2.5 * UM], [4 * UM, 4 * UM, 3 * UM]),
    }
    oxide = {"oxide": cal.Region("oxide", permittivity=3.9)}
    direct = cal.StaticProblem(cal.mesh.solids(bodies, 1.2 * UM), oxide, {name: name for name in ("low", "high")})
    direct = direct.capacitance_matrix().sel(row=found.row, column=found.column)
    assert np.abs(found - direct).max() < 0.01 * direct.max()
    plates = 3.9 * cal.exact.VACUUM_PERMITTIVITY * 16 * UM  # of 16 um^2 at 1 um, without the field at edges
    assert plates < -found.sel(row="low", column="high").item() < 1.7 * plates


def test_polygons_that_touch_are_nets(tmp_path):
    """Two bars that a bridge joins, each bar a copy of a cell; a ring around; a bar that only its name joins."""
    bar = gdstk.Cell("bar").add(*box((0, 6), (0, 1), 10))
    ring = gdstk.boolean(gdstk.rectangle((-3, -2), (9, 9)), gdstk.rectangle((-2, -1), (8, 8)), "not", layer=10)
    path, stack = written(
        tmp_path, gdstk.Reference(bar, (0, 0), columns=1, rows=2, spacing=(0, 3)), *ring,
        *box((1, 2), (0.2, 0.8), 11), *box((1, 2), (3.2, 3.8), 11), gdstk.FlexPath([(1.5, 0), (1.5, 4)], 1, layer=12),
        gdstk.Label("signal", (5, 3.5), layer=10), gdstk.Label("guard", (-2.5, 0), layer=10),
        *box((0, 6), (6, 7), 10, "guard"), others=[bar],
    )  # fmt: skip
    mesh, regions, electrodes, _ = read_layout(path, stack, 1.5 * UM)
    assert sorted(electrodes) == ["guard", "signal"] and list(regions) == ["oxide"]
    for name, parts, volume in (("guard", 2, 0.5 * (132 - 90 + 6)), ("signal", 1, 0.5 * 16 + 2 * 0.6)):
        surface = mesh.restricted(name)
        assert surface.number_of_components == parts
        assert surface.volume == pytest.approx(volume * UM**3, rel=1e-9)


def test_a_case_of_a_layout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, *box((0, 4), (0, 4), 10, "low"), *box((0, 4), (0, 4), 12, "high"))
    command = ["mesh", "a.gds", "--stack", "stack.toml", "--h", "2e-6", "--out", "chip.toml"]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0 and "net low" in first.output, first.output
    assert "exists" in CliRunner().invoke(app, command).output
    plan = CliRunner().invoke(app, ["plan", "chip.toml"])
    assert plan.exit_code == 0 and "oxide" in plan.output, plan.output
    assert "--stack" in CliRunner().invoke(app, ["mesh", "a.gds"]).output
    assert "a .gds file" in CliRunner().invoke(app, ["mesh", "chip.msh", "--stack", "stack.toml"]).output


LOW = box((0, 4), (0, 4), 10, "low")
MISTAKES = [
    ([*LOW, *box((0, 1), (0, 1), 5)], "layer 5, datatype 0, has polygons.*layers 10, 11, 12.*ignored"),
    ([*LOW, *box((6, 7), (0, 1), 10)], r"the metal of 'lower' around \(6.5, 0.5\).*has no name: put a label"),
    ([*LOW, gdstk.Label("other", (1, 1), layer=10)], "'low' and 'other' are labels of one net"),
    ([*LOW, gdstk.Label("far", (9, 1), layer=10)], r"'far' at \(9, 1\).*no polygon of its layer 10"),
    ([*box((0, 4), (0, 4), 10, "oxide")], "no name of a net"),
    ([*box((0, 4), (0, 4), 10, "a|b")], "no name of a net"),
    ([], "the cell 'top' is empty"),
    ([gdstk.Label("low", (0, 0), layer=10)], "draws no polygons"),
    ([gdstk.Reference("lost", (0, 0))], "cell 'lost' is referred to"),
]


@pytest.mark.parametrize("shapes, message", MISTAKES)
def test_layouts_with_mistakes_are_refused(tmp_path, shapes, message):
    path, stack = written(tmp_path, *shapes)
    with pytest.raises(ValueError, match=message):
        cal.StaticProblem.from_layout(path, stack, h=2 * UM)


def test_cells_are_chosen_and_counted(tmp_path):
    one, full = gdstk.Cell("one").add(*LOW), gdstk.Cell("full")
    full.add(gdstk.Reference(one, (0, 0), columns=3000, rows=3000, spacing=(5, 5)))
    path, _ = written(tmp_path, *LOW, others=[one, full])
    assert len(read_gds(path, "one").polygons[10, 0]) == 1
    for cell, message in (
        (None, "2 cells are in no other, 'top', 'full'"),
        ("no", "no cell 'no'"),
        ("full", "at most"),
    ):
        with pytest.raises(ValueError, match=message):
            read_gds(path, cell)
    one.add(gdstk.Reference(full, (0, 0)))
    path, _ = written(tmp_path, *LOW, others=[one, full])
    with pytest.raises(ValueError, match="in themselves"):
        read_gds(path, "one")


CHANGES = [
    ('name = "via", bottom = 1.5', 'name = "lower", bottom = 1.5', "two layers are called 'lower'"),
    ("number = 11", "number = 10", "the same number 10"),
    ("permittivity = 3.9 }", "permittivity = 3.9, metal = true }", "either metal=True, or a dielectric"),
    ("permittivity = 3.9 }", "permittivity = -1 }", "positive"),
    (", permittivity = 3.9 }", " }", "either metal=True, or a dielectric"),
    ('unit = "um"', 'unit = "parsec"', "unknown unit 'parsec'"),
    ("margin", "margins", "the file has the key 'margins': choose margin"),
    ("bottom = 0,", "", "layer 1 needs bottom"),
    ("height = 4", "height = nan", "finite"),
    ("height = 4", "heigth = 4", "layer 1 has the key 'heigth'"),
    ("number = 10", "number = 1.5", "whole number"),
    ("margin = 1", "ignored = [10]", "'lower' is ignored and used"),
    ("layer = [", 'layer = [{ name = "b", bottom = 3, height = 4, permittivity = 2 },', "'b' from 3e-06.*overlap"),
    ("layer = [", "layer = [", "no TOML file"),
]  # fmt: skip


@pytest.mark.parametrize("old, new, message", CHANGES)
def test_stacks_with_mistakes_are_refused(tmp_path, old, new, message):
    assert old in STACK
    text = STACK.replace(old, new, 1) if old != new else STACK[:-3]
    (tmp_path / "stack.toml").write_text(text)
    with pytest.raises(ValueError, match=rf"(?s)stack.toml: .*{message}"):
        cal.LayoutStack.read(tmp_path / "stack.toml")


def test_damaged_files_are_refused_or_read(tmp_path):
    bar = gdstk.Cell("bar").add(*LOW, gdstk.FlexPath([(0, 0), (9, 5)], 1, layer=12))
    path, _ = written(tmp_path, gdstk.Reference(bar, (0, 0), columns=2, rows=3, spacing=(5, 5)), others=[bar])
    whole, refused = path.read_bytes(), 0
    for seed in range(300):
        damage, data = random.Random(seed), bytearray(whole)
        for _ in range(damage.choice([1, 2, 8])):
            data[damage.randrange(len(data))] = damage.randrange(256)
        path.write_bytes(data[: damage.choice([len(data), damage.randrange(len(data))])])
        try:
            read_gds(path)
        except ValueError as error:
            refused += 1
            assert str(error).startswith(str(path))
    assert refused > 100
