"""Static fields in several materials against closed forms: contrasts, junctions, coats, metal, shields, ions."""

import numpy as np
import pytest

import calderon as cal

EPS0 = cal.exact.VACUUM_PERMITTIVITY


@pytest.mark.parametrize("contrast", [1e-4, 4.0, 1e4, 1e6])
def test_a_dielectric_ball_in_a_uniform_field_at_any_contrast(contrast):
    problem = cal.StaticProblem(cal.mesh.sphere(1.0, 0.35), {"ball": cal.Region("all", permittivity=contrast)})
    found = problem.solve(sources=[cal.UniformField([0, 0, 1.0])])
    inside, outside = np.array([[0, 0, 0.5], [0.3, 0.2, -0.1]]), np.array([[0, 0, 2.0], [1.0, 1, 1]])
    error = np.abs(found.field(inside) / (-3 / (contrast + 2) * inside[:, 2]) - 1).max()
    assert error < 1e-4 * max(1.0, contrast / 5e4)  # what is left inside is a small difference
    r = np.linalg.norm(outside, axis=1)
    dipole = (contrast - 1) / (contrast + 2) * outside[:, 2] / r**3
    assert np.abs((found.field(outside) + outside[:, 2]) / dipole - 1).max() < 1e-4
    far = found.flux_density([[0, 0, 50.0]])[0]
    assert np.abs(far / EPS0 - [0, 0, 1]).max() < 1e-4


def bar(layers, across):
    """A bar along z whose ends are the tags "low" and "high", with the tags of its layers, or, `across`, a bar of two
    along its axis."""
    mesh = cal.mesh.layered_cuboid((1.0, 1.0), layers, h=0.5)
    axis = 0 if across else 2
    c, ends = mesh.centroids[:, axis], mesh.bounds[:, axis]
    tags = mesh.tags.copy()
    for sign, tag in ((0, 10), (1, 20)):  # in parallel each end has a part of each layer
        there = np.abs(c - ends[sign]) < 1e-9
        tags[there] = tag + (mesh.tags[there] if across else 0)
    names = {**mesh.names, **{f"{end} {n + 1}": t + n for end, t in (("low", 10), ("high", 20)) for n in range(2)}}
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, names)


@pytest.mark.parametrize("ratio", [4.0, 1e4])
@pytest.mark.parametrize("across", [False, True])
def test_two_conductors_in_series_and_in_parallel_with_junctions(across, ratio):
    layers = (0.4, 0.6) if across else (0.7, 1.3)
    mesh = bar(layers, across)
    low, high = (["low 1", "low 2"], ["high 1", "high 2"]) if across else (["low 1"], ["high 1"])
    first = ["layer 1", "joint 1", "low 1", *(["high 1"] if across else [])]
    second = ["layer 2", "joint 1", *(["low 2", "high 2"] if across else ["high 1"])]
    regions = {"a": cal.Region(first, conductivity=1.0), "b": cal.Region(second, conductivity=ratio)}
    problem = cal.StaticProblem(mesh, regions, {"low": low, "high": high}, outside=None)
    exact = 1 / (layers[0] + ratio * layers[1]) if across else layers[0] + layers[1] / ratio
    assert problem.resistance("low", "high") == pytest.approx(exact, rel=1e-5)
    found = problem.solve(voltages={"low": 2.0}, charges={"high": -1 / exact})
    assert found.potentials["high"] == pytest.approx(1.0, rel=1e-5)
    assert found.totals["low"] == pytest.approx(1 / exact, rel=1e-5)
    assert found.dissipated_power == pytest.approx(1 / exact, rel=2e-5)
    along = found.flux_density([[0.1, 0.1, -0.35 if not across else 0.2]])[0, 0 if across else 2]
    assert along == pytest.approx(1 / exact if not across else ratio, rel=1e-4)


def octahedral(n, radius):
    """Vertices and triangles of a sphere of eight triangles with n edges each, of the volume of the ball; corners with
    z = 0 lie on the equator."""
    steps = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    number = {step: k for k, step in enumerate(steps)}
    flat = [(number[i, j], number[i + 1, j], number[i, j + 1]) for i, j in steps if i + j < n]
    flat += [(number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]) for i, j in steps if i + j < n - 1]
    points, triangles = [], []
    for signs in np.ndindex(2, 2, 2):
        s = 1 - 2 * np.array(signs)
        triangles.append(np.array(flat)[:, :: int(np.prod(s))] + len(points) * len(steps))
        points.append(np.array([[n - i - j, i, j] for i, j in steps]) / n * s)
    points = np.concatenate(points)
    mesh = cal.TriangleMesh(
        points / np.linalg.norm(points, axis=1, keepdims=True), np.concatenate(triangles)
    ).merged_vertices(1e-9)
    return mesh.scaled(radius * (4 * np.pi / 3 / mesh.volume) ** (1 / 3))


def half_filled(n):
    """A spherical capacitor of radii 1 and 2, with tags of upper and lower halves and of the disc between them."""
    spheres = [octahedral(n, 1.0), octahedral(n, 2.0)]
    equators = []
    for mesh in spheres:
        equator = mesh.vertices[np.abs(mesh.vertices[:, 2]) < 1e-9]
        equators.append(equator[np.argsort(np.arctan2(equator[:, 1], equator[:, 0]))])
    rings, count = max(2, n // 2), len(equators[0])
    points = np.concatenate([equators[0] + (equators[1] - equators[0]) * t for t in np.linspace(0, 1, rings + 1)])
    quads = [(k * count + i, k * count + (i + 1) % count) for k in range(rings) for i in range(count)]
    disc = [t for a, b in quads for t in ((a, b, a + count), (b, b + count, a + count))]
    parts = {"disc": cal.TriangleMesh(points, disc)}
    for name, mesh in zip(("inner", "outer"), spheres, strict=True):
        upper = mesh.centroids[:, 2] > 0
        for half, chosen in (("upper", upper), ("lower", ~upper)):
            parts[f"{half} {name}"] = cal.TriangleMesh(mesh.vertices, mesh.triangles[chosen])
    return cal.mesh.joined(parts)


def test_a_spherical_capacitor_filled_by_halves_whose_wall_meets_both_electrodes():
    errors = []
    for n in (3, 6):
        regions = {
            half: cal.Region([f"{half} inner", f"{half} outer", "disc"], permittivity=value)
            for half, value in (("upper", 1.0), ("lower", 8.0))
        }
        metal = {name: [f"upper {name}", f"lower {name}"] for name in ("inner", "outer")}
        c = cal.StaticProblem(half_filled(n), regions, metal, outside=None).capacitance_matrix()
        exact = 2 * np.pi * EPS0 * 9.0 * 2.0
        assert np.abs(c.values - c.values.T).max() < 1e-12 * exact
        assert np.abs(c.values.sum(axis=1)).max() < 1e-5 * exact  # charges of both are opposite
        errors.append(abs(c.sel(row="inner", column="inner").item() / exact - 1))
    assert errors[1] < 2e-3 and errors[1] < errors[0] / 3


@pytest.mark.parametrize("permittivity, thickness", [(0.01, 0.5), (4.0, 0.5), (1e4, 0.5), (4.0, 0.01)])
def test_the_capacitance_of_a_coated_ball(permittivity, thickness):
    core = cal.mesh.sphere(1.0, 0.3)
    coat = core.scaled(1 + thickness)
    regions = {"coat": cal.Region(["core", "coat"], permittivity=permittivity)}
    problem = cal.StaticProblem(cal.mesh.joined({"core": core, "coat": coat}), regions, {"core": "core"})
    exact = 4 * np.pi * EPS0 / ((1 - 1 / (1 + thickness)) / permittivity + 1 / (1 + thickness))
    assert problem.capacitance_matrix().item() == pytest.approx(exact, rel=6e-4)


@pytest.mark.parametrize("charge", [0.0, 5 * EPS0])
def test_metal_floats_at_the_potential_that_its_charge_gives(charge):
    radii = [1.0, 1.5, 1.8, 3.0]
    mesh = cal.mesh.joined({f"r{r:g}": cal.mesh.sphere(r, 0.35 * r) for r in radii})
    regions = {"in": cal.Region(["r1", "r1.5"], permittivity=2.0), "out": cal.Region(["r1.8", "r3"], permittivity=3.0)}
    metal = {"ball": "r1", "shell": ["r1.5", "r1.8"], "earth": "r3"}
    found = cal.StaticProblem(mesh, regions, metal, outside=None).solve(
        voltages={"ball": 1.0, "earth": 0.0}, charges={"shell": charge}
    )
    one, two = (1 - 1 / 1.5) / (8 * np.pi * EPS0), (1 / 1.8 - 1 / 3) / (12 * np.pi * EPS0)
    inner = (1 - charge * two) / (one + two)
    assert found.potentials["shell"] == pytest.approx((inner + charge) * two, rel=5e-4)
    assert found.totals["ball"] == pytest.approx(inner, rel=1e-3)
    assert abs(found.totals["shell"] - charge) < 1e-12 * inner
    assert found.totals["earth"] == pytest.approx(-inner - charge, rel=2e-3)
    assert np.isnan(found.field([[0, 0, 1.65]])).all()  # in metal


def test_metal_floats_within_floating_metal():
    """A ball in resin in a shell, both with charges of their own; any numbers, order and turns of the mesh."""
    meshes = {name: cal.mesh.sphere(r, 0.5 * r) for name, r in (("a", 1.0), ("b", 1.5), ("c", 2.0))}
    mesh, resin = cal.mesh.joined(meshes), {"resin": cal.Region(["a", "b"], permittivity=3.0)}
    order, places = np.random.default_rng(0).permutation(len(mesh.triangles)), mesh.vertices[::-1]
    other = cal.TriangleMesh(
        places[:, [1, 2, 0]], len(places) - 1 - mesh.triangles[order], mesh.tags[order], mesh.names
    )
    shell = 3e-12 / (8 * np.pi * EPS0)
    ball = shell + 1e-12 / (12 * np.pi * EPS0) * (1 - 1 / 1.5)
    for each, space in ((mesh, "P1"), (mesh, "P2"), (other, "P1")):
        problem = cal.StaticProblem(each, resin, {"ball": "a", "shell": ["b", "c"]}, space=space)
        found = problem.solve(charges={"ball": 1e-12, "shell": 2e-12}).potentials
        assert found["shell"] == pytest.approx(shell, rel=1e-3) and found["ball"] == pytest.approx(ball, rel=1e-3)


@pytest.mark.parametrize("mu", [10.0, 1e5])
def test_what_a_shell_of_iron_leaves_of_a_field(mu):
    mesh = cal.mesh.joined({"inner": cal.mesh.sphere(0.9, 0.3), "outer": cal.mesh.sphere(1.0, 0.3)})
    regions = {"iron": cal.Region(["inner", "outer"], permeability=mu), "room": cal.Region("inner", permeability=1.0)}
    found = cal.StaticProblem(mesh, regions).solve(sources=[cal.UniformField([0, 0, 1.0])])
    left = 9 * mu / ((2 * mu + 1) * (mu + 2) - 2 * 0.9**3 * (mu - 1) ** 2)
    assert found.field_strength([[0, 0, 0.3]])[0, 2] == pytest.approx(left, rel=3e-4)
    assert found.flux_density([[0, 0, 0.3]])[0, 2] == pytest.approx(4e-7 * np.pi * left, rel=3e-4)


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_an_ion_in_salt_water(decay):
    radius, charge = 2e-10, 1.602176634e-19
    water = cal.Region(permittivity=80.0, debye_length=radius / decay if decay else None)
    problem = cal.StaticProblem(
        cal.mesh.sphere(radius, 0.35 * radius), {"ion": cal.Region("all", permittivity=4.0)}, outside=water
    )
    found = problem.solve(sources=[cal.PointCharge([0, 0, 0], charge)])
    born = charge**2 / (8 * np.pi * EPS0 * radius) * (1 / (80.0 * (1 + decay)) - 1 / 4.0)
    assert found.solvation_energy == pytest.approx(born, rel=2e-4)


def test_the_force_on_a_charge_near_a_ball():
    d, q, e = 1.5, 1e-9, 4.0
    ball = cal.StaticProblem(cal.mesh.sphere(1.0, 0.25), {"glass": cal.Region("all", permittivity=e)})
    found = ball.solve(sources=[cal.PointCharge([0, 0, d], q)])
    n = np.arange(1, 100)
    series = q**2 / (4 * np.pi * EPS0) * (e - 1)
    pull = series * np.sum(n * (n + 1) / (n * (e + 1) + 1.0) / d ** (2.0 * n + 3))
    assert np.abs(found.force_on_sources()[0] / pull - [0, 0, -1]).max() < 3e-3
    energy = -series / 2 * np.sum(n / (n * (e + 1) + 1.0) / d ** (2.0 * n + 2))
    assert found.energy == pytest.approx(energy, rel=3e-3)


def test_forces_on_a_ball_and_on_the_charge_next_to_it_balance():
    ball = cal.StaticProblem(cal.mesh.sphere(1.0, 0.3), {"glass": cal.Region("all", permittivity=4.0)})
    found = ball.solve(sources=[cal.PointCharge([0, 0.9, 1.2], 1e-9)])
    pull = found.force_on_sources()[0]
    (on_ball,) = found.forces().values()
    assert np.abs(on_ball + pull).max() < 0.012 * np.linalg.norm(pull)
    (torque,) = found.torques([0.0, 0.0, 0.0]).values()
    assert np.abs(torque).max() < 1e-3 * np.linalg.norm(pull)  # toward the centre


def test_plates_of_a_capacitor_attract_by_its_energy():
    """Spheres, the outer one at 0: pressures q^2 / (2 a) on the halves of the inner one."""
    core = cal.mesh.sphere(1.0, 0.35)
    upper = (core.centroids[:, 2] > 0).astype(int)
    halves = cal.TriangleMesh(core.vertices, core.triangles, upper, {"lower": 0, "upper": 1})
    problem = cal.StaticProblem(halves, electrodes={"ball": ["lower", "upper"]}, outside=cal.Region(permittivity=2.0))
    found = problem.solve(charges={"ball": 1e-9})
    force = 1e-18 / (32 * np.pi * 2.0 * EPS0)  # of half a sphere of radius 1
    assert found.forces()["upper"][2] == pytest.approx(force, rel=0.05)
    assert found.energy == pytest.approx(1e-18 / (16 * np.pi * EPS0), rel=1e-3)
    assert found.charge_errors["ball"] < 1e-3 * 1e-9
