"""Reactions of supports: in balance with all loads on coarse meshes, and shared by closed forms."""

import numpy as np
import pytest

import calderon as cal

STEEL = cal.ElasticMaterial(2.0, 0.3, density=1.5)
THIN = cal.ElasticMaterial(2.0, 0.0, density=1.5)
"""Bars of it do not become thinner, so that their stress is even."""
LONG, SIDE = 1.0, 0.5


def tagged(mesh, **chosen):
    return mesh.named({name: mesh.select(**words) for name, words in chosen.items()})


BLOCK = tagged(
    cal.mesh.cuboid([LONG, SIDE, SIDE], 0.3),
    wall={"plane": ([-LONG / 2, 0, 0], [1, 0, 0])},
    end={"plane": ([LONG / 2, 0, 0], [1, 0, 0])},
    top={"plane": ([0, 0, SIDE / 2], [0, 0, 1])},
)
RING = tagged(cal.mesh.tube(1.0, 0.5, 0.5, h=0.4), bore={"near": [0.4, 0, 0]}, outside={"near": [1.0, 0, 0]})
FORCE, WEIGHT = cal.elastic.Force([0.3, -0.2, 0.7], at=[1.4, 0.3, -0.2]), cal.elastic.Gravity([0.1, 0.0, -1.0])
FIXED, SPRING = cal.elastic.Fixed(), cal.elastic.ElasticSupport(0.05)


def left(solutions):
    """The force and the moment that loads and reactions leave, over the sum of the magnitudes of the loads."""
    total, size = np.zeros(6), 0.0
    for each in solutions:
        loads, magnitude = each.solid.applied
        total += np.concatenate(loads) + sum((about_origin(each, tag) for tag in each.reactions), np.zeros(6))
        size += magnitude
    return float(np.abs(total).max()) / size


def about_origin(solution, tag):
    """The force and the moment of a reaction."""
    return np.concatenate(solution.reactions[tag])


@pytest.mark.parametrize(
    ("mesh", "supports", "loads", "body", "space"),
    [
        (BLOCK, {"wall": FIXED}, {"end": FORCE}, [], "P1"),
        pytest.param(BLOCK, {"wall": FIXED}, {"end": FORCE}, [], "P2", marks=pytest.mark.variant),
        (BLOCK, {"wall": FIXED}, {"end": [FORCE, cal.elastic.PointMass(2.0, [1, 1, 1], [0, 0, -1.0])]}, [WEIGHT], "P1"),
        (BLOCK, {"wall": FIXED, "end": SPRING}, {"top": FORCE}, [WEIGHT], "P1"),
        (BLOCK, {"wall": [cal.elastic.Roller(), SPRING], "end": FIXED}, {"top": FORCE}, [cal.elastic.Spin(0.5)], "P1"),
        (RING, {"outside": FIXED}, {"bore": [cal.elastic.BearingLoad([0.6, 0.8, 0]), FORCE]}, [], "P1"),
        (RING, {"outside": FIXED}, {"bore": cal.elastic.Moment([0, 0, 1.0])}, [], "P1"),
    ],
)
def test_reactions_balance_forces_and_moments(mesh, supports, loads, body, space):
    """Integrals of the tractions miss the loads by more than a thousandth."""
    found = cal.ElasticSolid(mesh, STEEL, supports, loads, body, space).solve(method="dense")
    assert left([found]) < 1e-9
    missed = np.linalg.norm(found.info.corrections[:, :3].sum(axis=0)) / found.solid.applied[1]
    assert missed < 0.1 and (missed > 1e-3 or mesh is RING)
    parts = [sum(each[0] for _, each in found.patch_reactions[tag]) for tag in supports]
    assert np.allclose(parts, [found.reactions[tag].force for tag in supports], atol=1e-12)


def test_a_bolt_loads_no_support():
    bolt = cal.elastic.BoltPreload.between(BLOCK, "top", "end", 2.0)
    found = cal.ElasticSolid(BLOCK, STEEL, {"wall": FIXED}, bolt).solve(method="dense")
    assert np.abs(about_origin(found, "wall")).max() < 1e-9


@pytest.mark.parametrize("at", [0.0, 0.25])
def test_two_walls_share_a_force_by_their_distances(at):
    """F a / L at the wall at the distance b, whatever the mesh; integrals of tractions are wrong by a per cent."""
    x, across = BLOCK.centroids[:, 0], abs(BLOCK.normals[:, 0]) < 0.5
    middle = BLOCK.named({"band": np.flatnonzero((x > -0.25) & (x < at) & across)})
    held = {"wall": FIXED, "end": FIXED}
    found = cal.ElasticSolid(middle, THIN, held, {"band": cal.elastic.Force([1.0, 0, 0])}).solve(method="dense")
    own = middle.tags == middle.names["band"]
    share = 0.5 + middle.areas[own] @ middle.centroids[own, 0] / middle.areas[own].sum() / LONG
    assert found.info.by_influence
    assert found.reactions["end"].force[0] == pytest.approx(-share, abs=1e-5)
    assert found.reactions["wall"].force[0] == pytest.approx(share - 1, abs=1e-5)


def test_two_walls_share_a_weight_and_a_motion():
    """Half of the weight along the bar at each end, and E A u / L where one end moves by u along it."""
    weight, motion = cal.elastic.Gravity([2.0, 0, 0]), cal.elastic.RigidMotion([1e-3, 0, 0])
    found = cal.ElasticSolid(BLOCK, THIN, {"wall": FIXED, "end": motion}, {}, [weight]).solve(method="dense")
    half, pull = 2.0 * 1.5 * LONG * SIDE**2 / 2, 2.0 * SIDE**2 * 1e-3 / LONG
    assert found.reactions["end"].force[0] == pytest.approx(pull - half, rel=1e-3)
    assert found.reactions["wall"].force[0] == pytest.approx(-pull - half, rel=1e-3)


def test_iterations_find_the_same_reactions(monkeypatch):
    """Influence fields to 1e-3; where there are too many groups, these share what is left by their tractions."""
    solid = cal.ElasticSolid(BLOCK, STEEL, {"wall": FIXED, "end": FIXED}, {"top": FORCE}, [WEIGHT])
    direct, found = (solid.solve(method="dense", solver=solver) for solver in ("lu", "gmres"))
    assert found.info.by_influence and "by the influence of each" in str(found.info) and left([found]) < 1e-9
    assert np.allclose(about_origin(found, "wall"), about_origin(direct, "wall"), atol=3e-3)
    monkeypatch.setattr("calderon.formulations.elastic.problem.MOST_GROUPS", 1)
    rough = solid.solve(method="dense", solver="gmres")
    assert not rough.info.by_influence and "by their tractions" in str(rough.info) and left([rough]) < 1e-9
    assert 1e-2 < np.abs(about_origin(rough, "wall") - about_origin(direct, "wall")).max() < 0.1


def test_supports_of_bonded_parts_balance_together():
    mesh = cal.mesh.cuboid([LONG, SIDE, SIDE], 0.3)
    next_one = cal.TriangleMesh(mesh.vertices + [LONG, 0, 0], mesh.triangles)
    faces = {"far": ([1.5 * LONG, 0, 0], [1, 0, 0]), "up": ([0, 0, SIDE / 2], [0, 0, 1])}
    next_one = tagged(next_one, **{name: {"plane": each} for name, each in faces.items()})
    parts = {
        "one": cal.ElasticSolid(tagged(mesh, wall={"plane": ([-LONG / 2, 0, 0], [1, 0, 0])}), STEEL, {"wall": FIXED}),
        "two": cal.ElasticSolid(next_one, THIN, {"far": FIXED}, {"up": FORCE}, [WEIGHT]),
    }
    both = cal.BondedSolids(parts).solve(method="dense")
    assert left(both.values()) < 1e-9 and both["two"].info.by_influence
