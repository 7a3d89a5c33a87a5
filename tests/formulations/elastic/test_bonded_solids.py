"""Solids of different materials bonded at common faces: one material, bars in series, an inclusion, a bimetal strip."""

import numpy as np
import pytest

import calderon as cal

STEEL = cal.ElasticMaterial(2.1, 0.3, expansion=12e-6)
GRADIENT = np.array([[0.3, -0.5, 0.8], [0.1, 0.4, -0.2], [0.6, 0.9, -0.7]])


def halves(lengths=(1.0, 1.0, 1.0), h=0.5):
    """A cuboid below z = 0 and its mirror image above, with equal triangles at z = 0."""
    mesh = cal.mesh.cuboid(lengths, h)
    places = mesh.vertices - mesh.bounds.mean(axis=0)
    places[:, 2] -= places[:, 2].max()
    tags = 1 + np.rint(mesh.normals[:, 2]).astype(int)
    names = {"far": 0, "side": 1, "joint": 2}
    lower = cal.TriangleMesh(places, mesh.triangles, tags, names)
    return lower, cal.TriangleMesh(places * [1, 1, -1], mesh.triangles[:, ::-1], tags, names)


@pytest.mark.parametrize(
    "space, method",
    [
        ("P1", "dense"),
        ("P1", "fmm"),
        pytest.param("P2", "dense", marks=pytest.mark.variant),
    ],
)
def test_one_material_in_two_parts_is_one_solid(space, method):
    """A linear displacement, held and loaded on either part, and rigid motions without supports; P2 with finer rules,
    as those by default leave 4e-4."""
    rules = cal.Quadrature() if space == "P1" else cal.Quadrature(regular=8, singular=11, near=2.0)
    lower, upper = halves()
    strain = (GRADIENT + GRADIENT.T) / 2
    stress = STEEL.lame * np.trace(strain) * np.eye(3) + 2 * STEEL.shear_modulus * strain
    exact, held = cal.Traction(lambda x, n: n @ stress.T), cal.elastic.Prescribed(lambda x: x @ GRADIENT.T)
    below = cal.ElasticSolid(lower, STEEL, {"far": held}, {"side": exact}, space=space, quadrature=rules)
    above = cal.ElasticSolid(upper, STEEL, loads={"side": exact, "far": exact}, space=space, quadrature=rules)
    free = cal.ElasticSolid(lower, STEEL, loads={"far": exact, "side": exact}, space=space, quadrature=rules)
    for first in (below, free):
        parts = cal.BondedSolids({"below": first, "above": above}).solve(method=method, rtol=1e-7)
        moved = [
            each.displacement.at_nodes - each.displacement.space.scalar.nodes @ GRADIENT.T for each in parts.values()
        ]
        if first is below:
            assert max(np.abs(each).max() for each in moved) < 1e-4
            energy = sum(each.strain_energy for each in parts.values())
            assert energy == pytest.approx(np.sum(stress * GRADIENT), rel=1e-3)  # half of it in each unit of volume
            assert parts["below"].resultants["joint"].force == pytest.approx(stress[:, 2], abs=1e-3)
            assert parts["above"].stress([[0.1, 0.2, 0.4]])[0] == pytest.approx(stress, abs=1e-3)
        assert parts["above"].stress([[0.0, 0.0, 0.5]])[0] == pytest.approx(stress, abs=1e-3)
        assert max(each.equilibrium for each in parts.values()) < 1e-4
    assert parts["above"].info.free_motions == 6
    assert parts["above"].info.free_tags == ()


@pytest.mark.parametrize("modulus, ratio", [(210.0, 0.3), (0.02, 0.45)])
def test_bars_in_series(modulus, ratio):
    """Confined sideways: the strains are the stress over lambda + 2 mu of each."""
    lower, upper = halves()
    other = cal.ElasticMaterial(modulus, ratio)
    strains = 1 / STEEL.longitudinal_modulus, 1 / other.longitudinal_modulus

    def exact(x):
        return x * [0, 0, 1] * np.where(x[:, 2] < 0, *strains)[:, None]

    held = cal.elastic.Prescribed(exact)
    below = cal.ElasticSolid(lower, STEEL, {"side": held, "far": held})
    above = cal.ElasticSolid(upper, other, {"side": held}, {"far": cal.Traction([0.0, 0.0, 1.0])})
    for each in cal.BondedSolids({"below": below, "above": above}).solve().values():
        places = each.displacement.space.scalar.nodes
        assert np.abs(each.displacement.at_nodes - exact(places)).max() < 1e-4 * max(strains)
        assert abs(each.resultants["joint"].force[2]) == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("modulus", [10.0, 0.1])
def test_a_spherical_inclusion_is_stressed_evenly(modulus):
    """J. D. Eshelby (1957): the stress inside of an inclusion in a solid without end."""
    sphere, matrix, inner = cal.mesh.sphere(1.0, 0.6), cal.ElasticMaterial(1.0, 0.25), cal.ElasticMaterial(modulus, 0.3)
    remote = np.array([[1, 0.3, 0], [0.3, -0.2, 0.1], [0, 0.1, 0.5]])
    around = cal.ElasticSolid(sphere, matrix, body=[cal.elastic.RemoteStress(remote)], exterior=True)
    solution = cal.BondedSolids({"matrix": around, "inclusion": cal.ElasticSolid(sphere, inner)}).solve()
    bulk, shear = ([m.lame + 2 * m.shear_modulus / 3 for m in (matrix, inner)],
                   [m.shear_modulus for m in (matrix, inner)])  # fmt: skip
    mean = np.trace(remote) / 3 * np.eye(3)
    share = 2 * (4 - 5 * 0.25) / (15 * (1 - 0.25))
    exact = mean * bulk[1] * (3 * bulk[0] + 4 * shear[0]) / (bulk[0] * (3 * bulk[1] + 4 * shear[0]))
    exact = exact + (remote - mean) * shear[1] / shear[0] / (1 + share * (shear[1] / shear[0] - 1))
    found = solution["inclusion"].stress([[0.0, 0.0, 0.0], [0.5, 0.2, 0.1]])
    assert np.abs(found - exact).max() < 5e-3 * np.abs(exact).max()


def test_a_bimetal_strip_bends():
    """S. P. Timoshenko (1925), the curvature of two heated strips; free in space."""
    lower, upper = halves((6.0, 1.0, 0.5))
    brass, heat = cal.ElasticMaterial(1.05, 0.3, expansion=19e-6), [cal.elastic.TemperatureChange(100.0)]
    parts = {"steel": cal.ElasticSolid(lower, STEEL, body=heat), "brass": cal.ElasticSolid(upper, brass, body=heat)}
    solution = cal.BondedSolids(parts).solve()["steel"]
    x = lower.vertices
    middle = np.isclose(x[:, 2], 0) & (np.abs(x[:, 0]) < 2)
    curvature = -2 * np.polyfit(x[middle, 0], solution.displacement.at_nodes[middle, 2], 2)[0]
    ratio = 2.0
    assert curvature == pytest.approx(24 * 7e-6 * 100 / (12 + (1 + ratio) * (1 + 1 / ratio)), rel=0.05)


def test_load_cases_of_bonded_solids_share_one_matrix():
    """Each is the solution of its loads alone."""
    lower, upper = halves()
    weight, heat = cal.elastic.Gravity([0.1, 0.0, -1.0]), cal.elastic.TemperatureChange(1000.0)
    heavy = cal.ElasticMaterial(0.3, 0.2, density=0.1)

    def bonded(below, above, body=()):
        return cal.BondedSolids({
            "below": cal.ElasticSolid(lower, STEEL, {"far": cal.elastic.Fixed()}, below, body),
            "above": cal.ElasticSolid(upper, heavy, {"far": cal.elastic.Roller()}, above, () if body else [weight]),
        })  # fmt: skip

    push, pull = {"side": cal.Pressure(0.1)}, {"side": cal.elastic.Force([0.1, 0.2, 0.3])}
    cases = {"push": {"below": push, "above": cal.elastic.LoadCase(body=[weight])},
             "pull": {"above": pull, "below": cal.elastic.LoadCase(body=[heat])}}  # fmt: skip
    found = bonded(None, None).solve_cases(cases)
    alone = {"push": bonded(push, None).solve(), "pull": bonded(None, pull, [heat]).solve()}
    for case, parts in alone.items():
        for name, each in parts.items():
            for one, two in (
                (each.displacement, found[case][name].displacement),
                (each.traction, found[case][name].traction),
            ):
                assert np.abs(one.coefficients - two.coefficients).max() < 1e-9 * np.abs(one.coefficients).max()
    with pytest.raises(ValueError, match="unknown parts"):
        bonded(None, None).solve_cases({"push": {"middle": push}})
    with pytest.raises(TypeError, match="a load case of bonded solids"):
        bonded(None, None).solve_cases({"push": cal.elastic.LoadCase(push)})


def test_what_cannot_be_bonded():
    lower, upper = halves()
    below = cal.ElasticSolid(lower, STEEL, {"far": cal.elastic.Fixed()})

    def bonded(mesh, **conditions):
        return cal.BondedSolids({"below": below, "above": cal.ElasticSolid(mesh, STEEL, **conditions)})

    with pytest.raises(ValueError, match="'below' shares no triangle with the other parts"):
        bonded(upper.translated([0.0, 0.0, 0.1]))
    with pytest.raises(ValueError, match="triangles of 'below' and 'above' overlap"):
        bonded(upper.translated([0.1, 0.0, 0.0]))
    with pytest.raises(ValueError, match="tag 'joint' of 'above' has a condition, and triangles that are bonded"):
        bonded(upper, loads={"joint": cal.Pressure(1.0)})
    with pytest.raises(ValueError, match="bonded solids have one space"):
        bonded(upper, space="P2")
    with pytest.raises(ValueError, match="supports of '.*' and of another part prescribe different displacements"):
        cal.BondedSolids(
            {"below": cal.ElasticSolid(lower, STEEL, {"side": cal.elastic.Fixed()}),
             "above": cal.ElasticSolid(upper, STEEL, {"side": cal.elastic.Prescribed([0.1, 0, 0])})}
        ).solve()  # fmt: skip
    with pytest.raises(ValueError, match="not balanced.*unbalanced force"):
        loaded = cal.ElasticSolid(upper, STEEL, loads={"far": cal.Pressure(1.0)})
        cal.BondedSolids({"below": cal.ElasticSolid(lower, STEEL), "above": loaded}).solve()
    with pytest.raises(TypeError, match="bonded solids are given by name"):
        cal.BondedSolids([below])
    with pytest.raises(ValueError, match="cannot be bonded"):
        cal.BondedSolids({"below": below})


def test_the_plan_counts_the_tractions_of_common_faces():
    """They are loads of both parts, and unknowns that test the equation of the softer one."""
    lower, upper = halves(h=0.2)
    soft, stiff = cal.ElasticMaterial(1.0, 0.3), cal.ElasticMaterial(2.0, 0.3)
    below = cal.ElasticSolid(lower, soft, {"far": cal.elastic.Fixed()})
    above = cal.ElasticSolid(upper, stiff, loads={"far": cal.Pressure(1.0)})
    parts = cal.BondedSolids({"below": below, "above": above})
    nodes, faces = 3 * lower.number_of_vertices, 3 * int((lower.tags != 1).sum())
    entries = (nodes + faces) ** 2 + nodes * (nodes + faces)
    dense = parts.plan(method="dense")
    assert dense.nbytes == 8 * (entries + 3 * parts.unknowns**2)
    assert parts.plan(method="fmm").nbytes > below.plan(method="fmm").nbytes + above.plan(method="fmm").nbytes
    found = [parts.plan(method=each) for each in ("fmm", "hmatrix", "matrix-free")]
    assert all(f": about {float(f'{each.seconds:.1g}'):g} s and " in str(each) for each in (dense, *found))
    assert all(f"unknowns {parts.unknowns}, " in str(each) for each in (dense, *found))


def test_parts_share_faces_and_no_space():
    """Parts are given twice, lie on one side of a face, within another one (also two that are bonded to each other), or
    in a solid without end; a body in the cavity of another and one in a solid without end are right."""
    lower, upper = halves()
    small = [cal.TriangleMesh(0.2 * m.vertices - [0.2, 0.1, 0.3], m.triangles) for m in (lower, upper)]
    slab = cal.TriangleMesh(lower.vertices * [1, 1, 2], lower.triangles)
    away = small[0].translated([5.0, 0.0, 0.0])
    hollow = cal.TriangleMesh(
        np.concatenate([lower.vertices, small[0].vertices]),
        np.concatenate([lower.triangles, small[0].triangles + len(lower.vertices)]),
    )
    solids = {name: cal.ElasticSolid(mesh, STEEL) for name, mesh in {
        "lower": lower, "upper": upper, "one": small[0], "two": small[1], "slab": slab, "hollow": hollow, "away": away,
    }.items()}  # fmt: skip
    solids["again"] = solids["upper"]
    for name, mesh in {"around": small[0], "around lower": lower}.items():
        solids[name] = cal.ElasticSolid(mesh, STEEL, exterior=True)
    one_side, within = (
        "triangles of '{}' and '{}' have both parts on the same side",
        "'{}' lies within '{}' or overlaps",
    )
    for names, message in {
        ("upper", "again"): one_side.format("upper", "again"),
        ("lower", "slab"): one_side.format("lower", "slab"),
        ("lower", "upper", "again"): "more than two parts .'lower', 'upper', 'again'",
        ("lower", "one"): within.format("one", "lower"),
        ("lower", "upper", "one", "two"): within.format("one", "lower"),
        ("one", "around", "away"): within.format("away", "around"),
        ("one", "around", "lower", "around lower"): "lies within",
    }.items():
        with pytest.raises(ValueError, match=message):
            cal.BondedSolids({name: solids[name] for name in names})
    for names in (("upper", "hollow", "one"), ("one", "around")):
        assert cal.BondedSolids({name: solids[name] for name in names}).faces.numbers.shape[1] == 2
