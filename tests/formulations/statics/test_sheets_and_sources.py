"""Sheets of metal, sources near walls and lead fields by reciprocity, saved solutions, and what is refused."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.errors import AccuracyWarning

EPS0 = cal.exact.VACUUM_PERMITTIVITY


def test_a_sheet_alone_is_a_disc_and_two_problems_agree():
    disc = cal.mesh.disc(1.0, 0.25)
    c = cal.StaticProblem(disc, electrodes={"disc": "all"}).capacitance_matrix().item()
    other = cal.LaplaceDirichlet(disc).capacitance_matrix()[0, 0]
    assert c == pytest.approx(other, rel=1e-9)


def pad_on_block(h, permittivity):
    """A block with a square pad of metal on its upper face, and metal all over the lower one."""
    block = cal.mesh.cuboid((1.0, 1.0, 0.5), h=h)
    upper, lower = block.normals[:, 2] > 0.5, block.normals[:, 2] < -0.5
    pad = upper & (np.abs(block.centroids[:, :2]) < 0.25).all(axis=1)
    names = {"free": 0, "pad": 1, "ground": 2}
    mesh = cal.TriangleMesh(block.vertices, block.triangles, pad + 2 * lower, names)
    regions = {"block": cal.Region([*names], permittivity=permittivity)}
    return cal.StaticProblem(mesh, regions, {"pad": "pad", "ground": "ground"})


def test_metal_between_two_regions_charges_both_sides():
    """Around a block of vacuum the capacitances become those of sheets alone, as meshes get finer."""
    apart = []
    for h in (0.25, 0.125):
        c = pad_on_block(h, 1.0).capacitance_matrix().values
        sheets = pad_on_block(h, 1.0).mesh.restricted(["pad", "ground"])
        alone = cal.StaticProblem(sheets, electrodes={"pad": "pad", "ground": "ground"}).capacitance_matrix().values
        apart.append(np.abs(c - alone).max() / alone.max())
    assert apart[1] < 0.6 * apart[0] < 0.08
    c = pad_on_block(0.25, 11.7).capacitance_matrix().values
    assert abs(c[0, 1] - c[1, 0]) < 1e-10 * c[0, 0] and -c[0, 1] > 3 * -alone[0, 1]


def test_single_capacitors_and_resistors(tmp_path):
    """They are minus the entries off the diagonal and sums of rows, as labelled arrays and as lines of SPICE."""
    ball = cal.mesh.sphere(1.0, 0.7)
    mesh = cal.mesh.joined({"a": ball, "b": ball.translated([3.0, 0, 0])})
    problem = cal.StaticProblem(mesh, electrodes={"net a": "a", "b": "b"})
    c = problem.capacitance_matrix()
    mutual = c.mutual()
    assert mutual.sel(row="net a", column="b").item() == -c.values[0, 1] > 0
    assert np.diag(mutual) == pytest.approx(c.values.sum(axis=1)) and mutual.attrs["units"] == "F"
    c.spice(tmp_path / "balls.sp", "balls")
    lines = [each.split() for each in (tmp_path / "balls.sp").read_text().splitlines()[1:]]
    assert lines[0] == [".subckt", "balls", "net_a", "b"] and lines[-1] == [".ends", "balls"]
    found = {(one, other): float(value) for _, one, other, value in lines[1:-1]}
    assert found["net_a", "b"] == pytest.approx(mutual.values[0, 1], rel=1e-8)
    assert found["b", "0"] == pytest.approx(mutual.values[1, 1], rel=1e-8) and len(found) == 3
    for name in ("NET_A", "0", "gnd", "GND", ""):
        with pytest.raises(ValueError, match="for one pin, for none, or for node 0"):
            c.assign_coords(row=["net a", name]).spice(tmp_path / "balls.sp")
    for path, name, message in (("balls.txt", "b", "ends with .sp"), ("b.sp", "my chip", "try 'my_chip'")):
        with pytest.raises(ValueError, match=message):
            c.spice(tmp_path / path, name)
    oil = cal.StaticProblem(
        cal.mesh.joined({"a": ball, "b": ball.scaled(2.0)}),
        {"oil": cal.Region(["a", "b"], conductivity=2.0)}, {"a": "a", "b": "b"}, outside=None,
    )  # fmt: skip
    oil.conductance_matrix().spice(tmp_path / "oil.cir")
    letter, *pins, value = (tmp_path / "oil.cir").read_text().splitlines()[2].split()
    assert letter == "R1" and pins == ["a", "b"] and float(value) == pytest.approx(oil.resistance("a", "b"), rel=1e-6)


def test_fields_on_surfaces():
    """u is that of both sides on walls, and of the side with a field on metal; the flux is the mean of both."""
    mesh = cal.mesh.joined({"core": cal.mesh.sphere(1.0, 0.5), "coat": cal.mesh.sphere(1.5, 0.7)})
    problem = cal.StaticProblem(mesh, {"oil": cal.Region(["core", "coat"], permittivity=2.2)}, {"core": "core"})
    found = problem.solve({"core": 1.0})
    core, coat = (mesh.restricted(each) for each in ("core", "coat"))
    assert found.field([*core.vertices[:3], *core.centroids[:3]]) == pytest.approx(1.0, rel=0.02)
    x = coat.centroids[:3]
    middle = np.mean([found.field(s * x) for s in (1 - 1e-6, 1 + 1e-6)], axis=0)
    assert found.field(x) == pytest.approx(middle, rel=1e-5)
    charged = problem.solve({"core": 1.0}, sources=cal.PointCharge([0, 0, 1.25], 1e-12))
    with np.errstate(divide="ignore"):  # at the charge itself
        assert charged.field([[0, 0, 1.25], x[0]])[0] == np.inf
    with pytest.warns(AccuracyWarning, match="3 of 3 points lie on the surface"):
        flux = found.flux_density(x)
    both = np.mean([found.flux_density(s * x) for s in (1 - 1e-6, 1 + 1e-6)], axis=0)
    assert np.abs(flux - both).max() < 1e-4 * np.abs(flux).max()
    with pytest.warns(AccuracyWarning, match="on the surface"):  # on metal, of the side with a field
        outward = np.einsum("ni,ni->n", found.field_strength(core.centroids), core.normals)
    assert outward == pytest.approx(1 / (1 - 1 / 1.5 + 2.2 / 1.5), rel=0.15)


def test_forces_where_metal_meets_walls_come_with_a_warning():
    found = pad_on_block(0.25, 11.7).solve({"pad": 1.0, "ground": 0.0})
    with pytest.warns(AccuracyWarning, match="metal meets walls between materials at 24 edges"):
        found.forces()


def metal_on_silicon(cells):
    """Capacitances of metal all over two faces of a block of silicon, on a mesh that is graded toward its edges."""
    block = cal.mesh.cuboid((1.0, 1.0, 0.5), h=1 / cells, grading=2.0)
    tags = np.where(block.normals[:, 2] > 0.5, 1, np.where(block.normals[:, 2] < -0.5, 2, 0))
    mesh = cal.TriangleMesh(block.vertices, block.triangles, tags, {"free": 0, "pad": 1, "ground": 2})
    silicon = {"silicon": cal.Region(["free", "pad", "ground"], permittivity=11.7)}
    return cal.StaticProblem(mesh, silicon, {"pad": "pad", "ground": "ground"})


@pytest.mark.variant
def test_sheets_at_junctions_of_silicon_air_and_metal():
    coarse, fine = (metal_on_silicon(n).capacitance_matrix().values for n in (3, 4))
    assert np.abs(fine - fine.T).max() < 1e-10 * fine[0, 0]
    assert np.abs(coarse - fine).max() < 1e-3 * fine[0, 0]


def test_metal_on_a_block_that_only_some_of_its_walls_name():
    """Solid metal on top of a dielectric: walls in the outside close with the face that they share."""
    mesh = cal.mesh.layered_cuboid((1.0, 1.0), (0.5, 0.5), h=0.5)
    regions = {"glass": cal.Region(["layer 1", "joint 1"], permittivity=1.0)}
    problem = cal.StaticProblem(mesh, regions, {"metal": ["joint 1", "layer 2"]})
    upper = mesh.restricted(["layer 2", "joint 1"])  # whose triangles are turned outward
    assert upper.is_closed and upper.volume == pytest.approx(0.5)
    alone = cal.StaticProblem(upper, electrodes={"metal": "all"})
    assert not (problem.skeleton.sides[mesh.tags == mesh.names["joint 1"]] >= 0).all()
    assert problem.capacitance_matrix().item() == pytest.approx(alone.capacitance_matrix().item(), rel=1e-2)


def test_a_sheet_within_a_region():
    ball = cal.mesh.sphere(1.0, 0.4)
    plate = cal.mesh.disc(0.4, 0.2)
    mesh = cal.mesh.joined({"wall": ball, "plate": plate})
    problem = cal.StaticProblem(mesh, {"gas": cal.Region("wall")}, {"wall": "wall", "plate": "plate"}, outside=None)
    c = problem.capacitance_matrix()
    assert np.abs(c.values.sum(axis=1)).max() < 1e-3 * c.values.max()
    alone = cal.StaticProblem(plate, electrodes={"plate": "all"}).capacitance_matrix().item()
    assert 1.2 * alone < c.sel(row="plate", column="plate").item() < 2.5 * alone


def head(h=0.35):
    radii = {"brain": 0.87, "skull": 0.92, "scalp": 1.0}
    mesh = cal.mesh.joined({name: cal.mesh.sphere(r, h) for name, r in radii.items()})
    regions = {
        "b": cal.Region("brain", conductivity=0.33),
        "s": cal.Region(["brain", "skull"], conductivity=0.0042),
        "c": cal.Region(["skull", "scalp"], conductivity=0.33),
    }
    return cal.StaticProblem(mesh, regions, outside=None)


def test_the_lead_field_of_a_head_is_that_of_a_series_and_of_dipoles():
    problem = head()
    points = problem.mesh.restricted("scalp").vertices[::5]
    places, moment = np.array([[0, 0, 0.5], [0.1, 0.2, 0.6]]), np.array([0.3, -0.2, 1.0])
    leads = problem.lead_field(points, places)
    solutions = problem.solve_all([{"sources": [cal.StaticDipole(x, moment)]} for x in places])
    radii, sigma = [0.87, 0.92, 1.0], [0.33, 0.0042, 0.33]
    for number, solution in enumerate(solutions):
        one = leads[:, number] @ moment
        nodes = {tuple(x): u for x, u in zip(solution.surface.space.nodes, solution.surface.coefficients, strict=True)}
        assert np.abs(one - [nodes[tuple(x)] for x in points]).max() < 1e-10 * np.abs(one).max()
        two = cal.exact.layered_head(radii, sigma, places[number], moment, points)
        one, two = one - one.mean(), two - two.mean()
        rdm = np.linalg.norm(one / np.linalg.norm(one) - two / np.linalg.norm(two))
        assert rdm < 0.03 and abs(np.linalg.norm(one) / np.linalg.norm(two) - 1) < 0.06


def test_a_dipole_nearer_to_a_wall_than_its_triangles_are_long():
    ball = cal.mesh.sphere(1.0, 0.3)
    problem = cal.StaticProblem(ball, {"ball": cal.Region("all", conductivity=1.0)}, outside=None)
    x, m = [0.0, 0.0, 0.93], [0.0, 0.0, 1.0]
    found = problem.solve(sources=[cal.StaticDipole(x, m)]).surface.coefficients
    exact = cal.exact.layered_head([1.0], [1.0], x, m, problem.function_space.nodes)
    far = problem.function_space.nodes[:, 2] < 0.5
    assert np.linalg.norm((found - exact)[far]) < 0.05 * np.linalg.norm(exact[far])


def test_saved_solutions_are_the_same_to_the_last_bit(tmp_path):
    mesh = cal.mesh.joined({"core": cal.mesh.sphere(1.0, 0.5), "coat": cal.mesh.sphere(1.5, 0.7)})
    problem = cal.StaticProblem(mesh, {"oil": cal.Region(["core", "coat"], permittivity=2.2)}, {"core": "core"})
    found = problem.solve(voltages={"core": 3.0}, sources=[cal.PointCharge([0, 0, 2.0], 1e-9)])
    found.save(tmp_path / "coated.h5")
    again = cal.load(tmp_path / "coated.h5")
    x = np.array([[0.0, 0, 1.2], [0, 2.5, 0], [0.2, 0, 0]])
    assert np.array_equal(again.field(x), found.field(x), equal_nan=True) and again.totals == found.totals
    assert np.array_equal(again.gradient(x), found.gradient(x), equal_nan=True)
    assert str(again) == str(found) and "3 V" in str(found)
    plane = found.on_plane(size=4.0, points=5).data
    assert plane["E"].attrs["units"] == "V/m" and np.isnan(plane["potential"].values[2, 2])


def ball(**options):
    return cal.StaticProblem(cal.mesh.sphere(1.0, 0.6), {"a": cal.Region("all", permittivity=2.0)}, **options)


def test_what_contradicts_itself_is_refused():
    sphere, two = cal.mesh.sphere(1.0, 0.6), {"a": cal.mesh.sphere(1.0, 0.6), "b": cal.mesh.sphere(2.0, 0.8)}
    mesh = cal.mesh.joined(two)
    half = cal.TriangleMesh(sphere.vertices, sphere.triangles, (sphere.centroids[:, 2] > 0).astype(int))
    layered = cal.mesh.layered_cuboid((1.0, 1.0), (0.5, 0.5), h=0.5)
    region = cal.Region("all", conductivity=1.0)
    for wrong, error, text in (
        (lambda: cal.Region("a", permittivity=2.0, conductivity=1.0), ValueError, "one material"),
        (lambda: cal.Region("a", permittivity=-2.0), ValueError, "permittivity"),
        (lambda: cal.Region("a", conductivity=2.0, debye_length=1.0), ValueError, "debye_length"),
        (lambda: cal.StaticProblem(half, {"a": cal.Region(1)}), ValueError, "not closed.*first from"),
        (lambda: cal.StaticProblem(mesh, {"a": cal.Region("a")}, outside=None), ValueError, "'b' bounds no region"),
        (lambda: cal.StaticProblem(mesh, {"a": cal.Region(["a", "b"])}), ValueError, "hollow at the tag 'a'"),
        (lambda: cal.StaticProblem(sphere, {"a": region}), ValueError, "outside=None lets none leave"),
        (lambda: cal.StaticProblem(sphere, {"a": cal.Region("all"), "b": cal.Region("all")}), ValueError, "overlap"),
        (lambda: ball(outside=cal.Region(permeability=2.0)), ValueError, "one kind of material"),
        (lambda: ball(electrodes={"m": "all", "n": 0}), ValueError, "tag in common"),
        (lambda: cal.StaticProblem(layered, {}, {"m": ["layer 1", "joint 1"], "n": "layer 2"}), ValueError, "touch at"),
        (lambda: ball(electrodes={"m": "all"}).solve(), ValueError, "neither a potential nor a charge"),
        (lambda: ball(electrodes={"m": "all"}).solve({"m": 1.0}, {"m": 0.0}), ValueError, "a potential and a charge"),
        (lambda: ball(electrodes={"m": "all"}, outside=None).solve(charges={"m": 0.0}), ValueError, "nothing fixes"),
        (lambda: ball().solve(sources=[cal.StaticDipole([0, 0, 1.01], [0, 0, 1])] * 0 + [1]), TypeError, "sources"),
        (lambda: ball().solve(sources=[cal.PointCharge(sphere.centroids[3], 1.0)]), ValueError, "on triangle"),
        (lambda: ball(outside=None).solve(sources=[cal.UniformField([0, 0, 1.0])]), ValueError, "far away"),
        (lambda: ball().conductance_matrix(), ValueError, "conductances"),
    ):
        with pytest.raises(error, match=text):
            wrong()
    with pytest.raises(ValueError, match="sum to 1 A"):
        cal.StaticProblem(sphere, {"a": region}, outside=None).solve(sources=[cal.PointCharge([0, 0, 0], 1.0)])


def test_joined_surfaces_share_their_common_wall():
    one = cal.mesh.cube(1.0, 0.5)
    mesh = cal.mesh.joined({"a": one, "b": one.translated([1.0, 0, 0])})
    assert mesh.number_of_triangles == 2 * one.number_of_triangles - 8 and mesh.names == {"a": 0, "b": 1}
    assert mesh.is_closed and not mesh.is_manifold
    with pytest.raises(cal.MeshError, match="without area"):
        cal.mesh.joined({"a": one}, tolerance=0.6)
    with pytest.raises(cal.MeshError, match="by name"):
        cal.mesh.joined([one])
