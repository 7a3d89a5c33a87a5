"""Walls between solids that touch, overlap or are read from CAD files, and static fields on them."""

import numpy as np
import pytest

import calderon as cal

pytest.importorskip("gmsh")
Solid = cal.mesh.Solid
EPS0 = cal.exact.VACUUM_PERMITTIVITY


def test_two_dielectrics_between_plates():
    mm = 1e-3
    parts = {
        "low": Solid.cuboid([0, 0, -0.1 * mm], [mm, mm, 0]),
        "oil": Solid.cuboid([0, 0, 0], [mm, mm, 0.4 * mm]),
        "glass": Solid.prism([[0, 0], [mm, 0], [mm, mm], [0, mm]], 0.4 * mm, 0.6 * mm),
        "high": Solid.cuboid([0, 0, mm], [mm, mm, 1.1 * mm]),
    }
    mesh = cal.mesh.solids(parts, h=0.4 * mm)
    assert list(mesh.names) == [
        "low|oil", "low|outside", "oil|glass", "oil|outside", "glass|high", "glass|outside", "high|outside",
    ]  # fmt: skip
    for name in parts:
        assert mesh.restricted(name).is_closed
    regions = {"oil": cal.Region("oil", permittivity=2.2), "glass": cal.Region("glass", permittivity=7.0)}
    electrodes = {"low": "low", "high": "high"}
    problem = cal.StaticProblem(mesh.restricted(["oil", "glass"]), regions, electrodes, outside=None)
    exact = EPS0 * mm / (0.4 / 2.2 + 0.6 / 7.0)
    assert problem.capacitance_matrix().values[0, 0] == pytest.approx(exact, rel=1e-6)


def test_what_comes_later_counts():
    air, ball = Solid.cuboid([-1, -1, -1], [1, 1, 1]), Solid.ball(0.5)
    mesh = cal.mesh.solids({"air": air, "ball": ball}, h=0.4)
    assert list(mesh.names) == ["air|ball", "air|outside"]
    inside = mesh.restricted("ball").volume
    assert 0.8 < inside / (np.pi / 6) < 1 and mesh.restricted("ball").number_of_components == 1
    regions = {"air": cal.Region("air"), "ball": cal.Region("ball", permittivity=4.0)}
    found = cal.StaticProblem(mesh, regions).solve(sources=[cal.UniformField([0, 0, 1.0])])
    alone = cal.StaticProblem(mesh.restricted("ball"), {"ball": regions["ball"]})
    x = np.array([[0, 0, 0.2], [0, 0.1, 0.8]])
    assert found.field(x) == pytest.approx(alone.solve(sources=[cal.UniformField([0, 0, 1.0])]).field(x), rel=1e-3)
    pin = Solid.cylinder(0.2, [0, 0, -1.5], [0, 0, 0])
    crossed = cal.mesh.solids({"air": air, "pin": pin}, h=0.3)
    assert set(crossed.names) == {"air|pin", "air|outside", "pin|outside"}
    assert crossed.restricted("air").volume == pytest.approx(8 - 0.2**2 * np.pi, abs=0.04)
    with pytest.raises(cal.MeshError, match="nothing is left of the solid 'ball'"):
        cal.mesh.solids({"ball": ball, "air": air}, h=0.4)


def test_solids_of_files(tmp_path):
    import gmsh

    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.occ.addBox(0, 0, 0, 10, 10, 4)  # mm
        gmsh.model.occ.addBox(0, 0, 4, 10, 10, 6)
        gmsh.model.occ.synchronize()
        gmsh.write(str(tmp_path / "two.step"))
    finally:
        gmsh.finalize()
    mesh = cal.mesh.solids(tmp_path / "two.step", h=4e-3)
    assert len(mesh.names) == 3 and mesh.bounds.max() == pytest.approx(0.01)
    one, other = next(iter(mesh.names)).split("|")
    assert mesh.restricted(one).volume == pytest.approx(4e-7) and mesh.restricted(other).volume == pytest.approx(6e-7)
    around = {"air": Solid.ball(0.02), "body": Solid.read(tmp_path / "two.step")}
    placed = cal.mesh.solids(around, h=5e-3)
    assert placed.restricted("body").volume == pytest.approx(1e-6) and list(placed.names) == ["air|body", "air|outside"]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Solid.cuboid([0, 0, 0], [1, 1, 0]), "no volume"),
        (lambda: Solid.cylinder(1.0, [0, 0, 0], [0, 0, 0]), "both ends"),
        (lambda: Solid.ball(-1.0), "size = -1.0"),
        (lambda: Solid.prism([[0, 0], [1, 0]], 0.0, 1.0), "from 3 to"),
        (lambda: Solid.read("a.stl"), "CAD files"),
        (lambda: cal.mesh.solids({"a|b": Solid.ball(1.0)}, 0.3), "name a text without"),
        (lambda: cal.mesh.solids({"a": Solid.ball(1.0)}, 10.0), "longer than all solids"),
        (lambda: cal.mesh.solids({"a": Solid.read("none.step")}, 10.0), "no such file"),
        (lambda: cal.mesh.solids({}, 10.0), "by name"),
    ],
)
def test_what_is_no_solid(make, message):
    with pytest.raises(cal.MeshError, match=message):
        make()
