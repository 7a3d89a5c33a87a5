"""Remote forces, bearings, torques, masses and springs along a direction, against closed forms and statics."""

import numpy as np
import pytest

import calderon as cal
from calderon.case import parse
from calderon.formulations.elastic.conditions.rigid_motions import resultant
from calderon.formulations.elastic.conditions.surface_conditions import faces_of
from calderon.kinds.solid.building import elastic_solid, solid_mesh

STEEL = cal.ElasticMaterial(2.0, 0.3)
RADIUS, OUTER, LENGTH = 0.5, 1.0, 0.5


def tagged(mesh, **chosen):
    return mesh.named({name: mesh.select(**words) for name, words in chosen.items()})


BLOCK = tagged(
    cal.mesh.cuboid([1.0, 0.5, 0.5], 0.3),
    wall={"plane": ([-0.5, 0, 0], [1, 0, 0])},
    end={"plane": ([0.5, 0, 0], [1, 0, 0])},
)
RING = tagged(cal.mesh.tube(OUTER, RADIUS, LENGTH, h=0.22), bore={"near": [0.4, 0, 0]}, outside={"near": [1.0, 0, 0]})
FORCE, AT = np.array([0.3, -0.2, 0.7]), np.array([1.4, 0.3, -0.2])


def solved(mesh, load, **supports):
    return cal.ElasticSolid(mesh, STEEL, supports, load).solve()


def about_origin(solution, tag):
    """The force and the moment of a reaction."""
    return np.concatenate(solution.reactions[tag])


@pytest.mark.parametrize("load", [cal.elastic.Force(FORCE, at=AT), cal.elastic.PointMass(2.0, AT, FORCE / 2)])
def test_a_remote_force_is_a_force_and_a_moment(load):
    found = solved(BLOCK, {"end": load}, wall=cal.elastic.Fixed())
    centre = faces_of(BLOCK, {"end": ()})["end"][1].centre
    both = [cal.elastic.Force(FORCE), cal.elastic.Moment(np.cross(AT - centre, FORCE))]
    other = solved(BLOCK, {"end": both}, wall=cal.elastic.Fixed())
    assert np.allclose(found.displacement.coefficients, other.displacement.coefficients, atol=1e-9)
    assert np.allclose(about_origin(found, "wall"), about_origin(other, "wall"), atol=1e-9)


@pytest.mark.parametrize("space", ["P1", "P2"])
@pytest.mark.parametrize("load", [cal.elastic.Force(FORCE, at=AT), cal.elastic.BearingLoad([0.6, 0.8, 0])])
def test_loads_have_their_resultant_on_any_mesh(load, space):
    mesh, tag = (BLOCK, "end") if isinstance(load, cal.elastic.Force) else (RING, "bore")
    solid = cal.ElasticSolid(mesh, STEEL, {}, {tag: load}, space=space)
    found = resultant(solid._whole_spaces[1].scalar, solid.conditions.loads)
    face = faces_of(mesh, {tag: ()})[tag][1]
    at = AT if isinstance(load, cal.elastic.Force) else face.centre
    assert np.allclose(found.force, load.resultant, atol=1e-12)
    assert np.allclose(found.moment, np.cross(at, load.resultant), atol=1e-3 if tag == "bore" else 1e-12)


def test_a_bearing_presses_with_a_cosine_on_half_of_its_bore():
    """Largest pressure 2 F / (pi r L); nothing on the other half."""
    load, (_, face) = cal.elastic.BearingLoad([0, 2.0, 0]), faces_of(RING, {"bore": ()})["bore"]
    traction = load.traction(face)(face.centroids, face.normals)
    pressure = -np.einsum("mi,mi->m", traction, face.normals)
    along = -face.normals[:, 1]
    assert np.allclose(pressure, pressure.max() / along[np.argmax(pressure)] * np.maximum(along, 0), atol=0.02)
    assert pressure.max() / along.max() == pytest.approx(2 * 2.0 / (np.pi * RADIUS * LENGTH), rel=0.01)


def test_torque_on_a_bore_twists_a_ring():
    """u_theta at the bore of a ring that is held outside: T / (4 pi G L) (1/a^2 - 1/b^2) a, for any length L."""
    length = 0.12
    ring = cal.mesh.tube(OUTER, RADIUS, length, h=0.12)
    found = solved(ring, {"inner": cal.elastic.Moment([0, 0, 1.0])}, outer=cal.elastic.Fixed())
    nodes = np.unique(ring.triangles[ring.tags == ring.names["inner"]])
    x, u = ring.vertices[nodes], found.displacement.at_nodes[nodes]
    turned = np.cross(x, u)[:, 2].mean() / (x[:, :2] ** 2).sum(axis=1).mean()
    exact = (1 / RADIUS**2 - 1 / OUTER**2) / (4 * np.pi * STEEL.shear_modulus * length)
    assert turned == pytest.approx(exact, rel=0.005)
    assert found.reactions["outer"].moment[2] == pytest.approx(-1.0, rel=1e-9)
    assert found.resultants["outer"].moment[2] == pytest.approx(-1.0, rel=0.003)


def test_a_beam_on_elastic_supports_at_its_ends():
    """Simply supported under q for each length: 5 q L^4 / (384 E I) + q L^2 / (8 kappa G A) in the middle, kappa of
    G. R. Cowper (1966), in addition to q L / (2 k A) of the springs."""
    length, side, pressure, k = 2.4, 0.4, 1e-4, 0.05
    beam = cal.mesh.cuboid([length, side, side], 0.1)
    low, high = beam.bounds
    beam = tagged(
        beam, left={"plane": (low, [1, 0, 0])}, right={"plane": (high, [1, 0, 0])}, top={"plane": (high, [0, 0, 1])}
    )
    spring = cal.elastic.ElasticSupport(k, direction=[0, 0, 1])
    found = solved(beam, {"top": cal.Pressure(pressure)}, left=spring, right=spring)
    q, area, nu = pressure * side, side**2, STEEL.poissons_ratio
    bent = 5 * q * length**4 / (384 * STEEL.youngs_modulus * side**4 / 12)
    sheared = q * length**2 / (8 * 5 * (1 + nu) / (6 + 5 * nu) * STEEL.shear_modulus * area)
    x, down = beam.vertices[:, 0] - (low + high)[0] / 2, -found.displacement.at_nodes[:, 2]
    middle, ends = down[abs(x) < 1e-9].mean(), down[abs(x) > length / 2 - 1e-9].mean()
    assert middle - ends == pytest.approx(bent + sheared, rel=0.01)
    assert ends == pytest.approx(q * length / (2 * k * area), rel=0.01)
    assert found.reactions["left"].force[2] == pytest.approx(q * length / 2, rel=0.01)


def test_a_bolt_shortens_a_shank_and_loads_nothing_else():
    """F L / (E A) between the faces of a bar; the loads of a seat and the wall of a thread are in balance."""
    force, tags = 1e-3, ("wall", "end")
    found = solved(BLOCK, cal.elastic.BoltPreload.between(BLOCK, *tags, force))
    u, x = found.displacement.at_nodes[:, 0], BLOCK.vertices[:, 0]
    assert u[x < -0.499].mean() - u[x > 0.499].mean() == pytest.approx(force / (STEEL.youngs_modulus * 0.25), rel=1e-3)
    ring = tagged(RING, seat={"plane": ([0, 0, LENGTH / 2], [0, 0, 1])})
    pair = cal.elastic.BoltPreload.between(ring, "seat", "bore", 2.0)
    applied, sizes = cal.ElasticSolid(ring, STEEL, {}, pair).applied
    assert sizes == pytest.approx(4.0) and np.abs(np.concatenate(applied)).max() < 1e-9
    assert np.allclose(pair["seat"].axis, [0, 0, -1], atol=1e-9)
    with pytest.raises(ValueError, match="have one centroid"):
        cal.elastic.BoltPreload.between(RING, "bore", "outside", 1.0)


def test_springs_along_a_direction_and_reactions_of_patches():
    """A block on springs at both ends of its length goes down by F / (k A), and each end bears its part."""
    mesh = tagged(BLOCK, ends={"name": ["wall", "end"]}, top={"plane": ([0, 0, 0.25], [0, 0, 1])})
    held = mesh.select(plane=([0, 0.25, 0], [0, 1, 0]))
    mesh = mesh.named({"side": held})
    spring = cal.elastic.ElasticSupport(0.01, direction=[0, 0, -2])
    load = cal.elastic.Force([0, 0, -0.001], at=[0.25, 0, 0])
    supports = {"ends": spring, "side": cal.elastic.Prescribed([0, 0, None])}
    found = cal.ElasticSolid(mesh, STEEL, supports, {"top": load}).solve()
    ends = found.patch_reactions["ends"]
    share = {round(centre[0], 6): each.force[2] for centre, each in ends}
    area = 0.25
    down = -np.array(list(share.values())) / (0.01 * area)
    assert len(ends) == 2 and sum(share.values()) == pytest.approx(0.001, rel=1e-9)
    assert down.mean() == pytest.approx(-0.001 / (0.01 * 0.5), rel=0.005)


@pytest.mark.parametrize(
    ("mesh", "tag", "load", "message"),
    [
        (RING, "bore", cal.elastic.BearingLoad([0, 1, 1]), "acts across the axis"),
        (BLOCK, "end", cal.elastic.BearingLoad([0, 1, 0]), "needs the wall of a bore"),
    ],
)
def test_loads_that_do_not_suit_a_face_are_refused(mesh, tag, load, message):
    with pytest.raises(ValueError, match=message):
        cal.ElasticSolid(mesh, STEEL, {}, {tag: load}).conditions


CASE = """[mesh]
shape = "tube"
radius = 1000
inner_radius = 500
length = 500
h = 400
[solid]
units = "mm-N-MPa"
[material]
youngs_modulus = 2e5
poissons_ratio = 0.3
[[face]]
name = "bore"
near = [400, 0, 0]
[[face]]
name = "outside"
near = [1000, 0, 0]
[[support]]
tag = "outside"
kind = "elastic"
stiffness = 10
direction = [0, 0, 1]
[[load]]
tag = "bore"
kind = "bearing"
force = [0, "1 kN", 0]
[[load]]
tag = "bore"
kind = "mass"
mass = "100 kg"
at = [0, 0, "1 m"]
acceleration = [0, 0, "-9.81 m/s^2"]
[[load]]
tag = "bore"
kind = "force"
force = [0, 0, 5]
at = [2000, 0, 0]
[[face]]
name = "seat"
near = [700, 0, 250]
[[load]]
tag = "seat"
other = "bore"
kind = "bolt"
preload = "2 kN"
"""


def test_cases_have_the_same_loads():
    file = parse(CASE)
    solid = elastic_solid(file, solid_mesh(file))
    bearing, mass, force, thread = solid.loads["bore"]
    (seat,) = solid.loads["seat"]
    assert seat.force == thread.force == 2e3 and np.allclose(seat.axis, -np.asarray(thread.axis))
    assert np.allclose(seat.axis, [0, 0, -1], atol=1e-9)
    assert isinstance(bearing, cal.elastic.BearingLoad) and np.allclose(bearing.resultant, [0, 1e3, 0])
    assert np.allclose(mass.weight.resultant, [0, 0, -981.0]) and np.allclose(mass.at, [0, 0, 1000])
    assert np.allclose(force.at, [2000, 0, 0])
    (spring,) = solid.supports["outside"]
    assert np.allclose(spring.stiffness, 10 * np.diag([0, 0, 1]))
