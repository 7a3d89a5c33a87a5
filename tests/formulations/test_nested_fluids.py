"""Fluids one within another: layered spheres, several bodies and rigid ones inside of one, and the limits of all."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact import layered_fluid_sphere

K = 2.0
ALONG = np.array([0.0, 0.6, 0.8])
WAVE = cal.PlaneWave(ALONG, K)
POINTS = np.array([[0, 0, 0.2], [0.3, 0.1, 0], [0, 0.7, 0.1], [0.5, 0.5, 0.3], [0, 0, 1.5], [-1.5, 0, 1]])
TOWARD = cal.exact.unit_directions(np.linspace(0.1, 3.0, 9), 0.7)


def surfaces(balls, h=0.35):
    """One mesh of spheres {name: (radius, centre)}, each with a tag of its name."""
    parts = [cal.mesh.sphere(radius, h * np.sqrt(radius)).translated(centre) for radius, centre in balls.values()]
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    return cal.TriangleMesh(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.triangles + n for part, n in zip(parts, first[:-1], strict=True)]),
        np.repeat(np.arange(len(parts)), [len(part.triangles) for part in parts]),
        {name: number for number, name in enumerate(balls)},
    )


def concentric(*radii, h=0.35):
    return surfaces({f"{radius:g}": (radius, [0, 0, 0]) for radius in radii}, h)


def layers(mesh, wavenumbers, densities, k=K, **more):
    """From the outside in."""
    tables = (dict(zip(mesh.names, each, strict=False)) for each in (wavenumbers, densities))
    return cal.FluidTransmission(mesh, k, *tables, **more)


@pytest.fixture(scope="module")
def shell():
    return concentric(1.0, 0.5)


@pytest.mark.parametrize(
    "wavenumbers, densities, error",
    [
        pytest.param([3.0, 1.5], [2.0, 0.5], 0.004, id="coat"),
        pytest.param([3.0, 3.0], [2.0, 2.0], 0.001, id="equal inside"),
        pytest.param([2.0, 3.0], [1.0, 2.0], 0.002, id="equal outside"),
        pytest.param([2.5, 3.0 + 0.3j], [1.0, 3.0 + 0.5j], 0.004, id="loss", marks=pytest.mark.variant),
        pytest.param([2.2, 8.0], [1.1, 0.0012], 0.03, id="bladder"),
    ],
)
def test_a_layered_sphere_has_the_field_of_its_series(shell, wavenumbers, densities, error):
    """In every fluid and far away; what is absorbed is what the wave loses less what is scattered."""
    solution = layers(shell, wavenumbers, densities).solve(WAVE, rtol=1e-7)
    series = layered_fluid_sphere(K, [0.5, 1.0], wavenumbers[::-1], densities[::-1], ALONG)
    exact = series.total(POINTS)
    assert np.abs(solution.field(POINTS) - exact).max() < error * np.abs(exact).max()
    far = series.far_field(TOWARD)
    assert np.abs(solution.far_field(TOWARD) - far).max() < error * np.abs(far).max()
    strength = 20 * np.log10(np.abs(far))
    assert solution.target_strength(TOWARD)[np.abs(far) > 0.3 * np.abs(far).max()] == pytest.approx(
        strength[np.abs(far) > 0.3 * np.abs(far).max()], abs=30 * error
    )
    lost = series.extinction_cross_section()
    absorbed = lost - series.scattering_cross_section()
    assert solution.scattering_cross_section() == pytest.approx(lost - absorbed, abs=2 * error * lost)
    assert solution.absorption_cross_section() == pytest.approx(absorbed, abs=2 * error * lost)


def test_four_fluids_converge_and_do_not_depend_on_the_order_of_tags():
    radii, wavenumbers, densities = [1.0, 0.75, 0.45], [3.0, 1.4, 2.5], [1.6, 0.7, 2.4]
    series = layered_fluid_sphere(K, radii[::-1], wavenumbers[::-1], densities[::-1], ALONG)
    exact, errors = series.far_field(TOWARD), []
    solutions = [layers(concentric(*radii, h=h), wavenumbers, densities).solve(WAVE, rtol=1e-8) for h in (0.4, 0.25)]
    for solution in solutions:
        errors.append(np.linalg.norm(solution.far_field(TOWARD) - exact) / np.linalg.norm(exact))
    assert errors[1] < 0.002, errors
    assert solution.field(POINTS) == pytest.approx(series.total(POINTS), abs=0.002)
    assert np.log(errors[0] / errors[1]) / np.log(0.4 / 0.25) > 1.7
    turned = concentric(*radii[::-1], h=0.4)
    again = layers(turned, wavenumbers[::-1], densities[::-1]).solve(WAVE, rtol=1e-8)
    assert again.field(POINTS) == pytest.approx(solutions[0].field(POINTS), abs=1e-6)


@pytest.mark.parametrize("k", [pytest.param(4.4934 / 1.5, marks=pytest.mark.variant), np.pi / 1.5])
def test_one_solution_at_resonances_of_closed_cavities(shell, k):
    """j_1 and j_0 vanish at 1.5 k and at 3 k / 2: in the sphere and in the core, with soft walls."""
    problem = layers(shell, [1.5 * k, 3.0 * k], [2.0, 0.5], k)
    solution = problem.solve(cal.PlaneWave(ALONG, k), rtol=1e-7)
    series = layered_fluid_sphere(k, [0.5, 1.0], [3.0 * k, 1.5 * k], [0.5, 2.0], ALONG)
    assert solution.info.iterations < 40
    exact = series.total(POINTS)
    assert np.abs(solution.field(POINTS) - exact).max() < 0.12 * np.abs(exact).max()


def test_a_gas_bubble_in_a_droplet_resonates_as_its_series():
    """On both sides of the resonance at k = 0.0314, whose height is 300 times what is far below."""
    mesh, found, exact = concentric(1.0, 0.4, h=0.4), [], []
    for k in (0.015, 0.0267, 0.0361, 0.047):
        inside = [1.2 * k, 4.4 * k], [1.3, 0.0012]
        series = layered_fluid_sphere(k, [0.4, 1.0], inside[0][::-1], inside[1][::-1], ALONG)
        solution = layers(mesh, *inside, k).solve(cal.PlaneWave(ALONG, k), solver="lu")
        found.append(solution.far_field(ALONG)[0])
        exact.append(series.far_field(ALONG[None])[0])
    assert exact[1].real > 8 * exact[0].real and exact[2].real < -8 * exact[0].real
    assert np.abs(np.array(found) / exact - 1).max() < 0.05


def test_reciprocity_of_two_bodies_and_a_rigid_one_inside_of_another():
    """The echo from a to b is that from b to a; a rigid body in a coat."""
    balls = {"body": (1.0, [0, 0, 0]), "one": (0.3, [0.4, 0, 0]), "two": (0.25, [-0.3, 0.4, 0.1]),
             "stone": (0.3, [-0.2, -0.4, 0.2]), "grain": (0.1, [0.45, 0.05, 0])}  # fmt: skip
    mesh = surfaces(balls, 0.45)
    wavenumbers = {"body": 2.6, "one": 1.5, "two": 3.5, "grain": 4.0}
    densities = {"body": 1.3, "one": 0.4, "two": 2.0, "grain": 3.0}
    problem = cal.FluidTransmission(mesh, K, wavenumbers, densities, rigid=["stone"])
    a, b = np.array([0.0, 0.6, 0.8]), np.array([0.48, 0.8, -0.36])
    there = problem.solve(cal.PlaneWave(a, K), rtol=1e-8).far_field(b)
    back = problem.solve(cal.PlaneWave(-b, K), rtol=1e-8).far_field(-a)
    assert np.abs(there - back) < 0.01 * np.abs(there)
    solution = problem.solve(WAVE, rtol=1e-8)
    lost = 4 * np.pi * solution.far_field(ALONG)[0].imag / K
    assert solution.scattering_cross_section() == pytest.approx(lost, rel=0.01)
    strength = problem.monostatic_target_strength(TOWARD[:2])
    for toward, level in zip(TOWARD[:2], strength, strict=True):
        echo = problem.solve(cal.PlaneWave(-toward, K), rtol=1e-8).target_strength(toward)
        assert level == pytest.approx(float(np.squeeze(echo)), abs=1e-3)
    assert abs(solution.field([[-0.2, -0.4, 0.2]])[0]) < 0.01  # in the rigid body


def test_a_coat_of_the_fluid_around_is_none():
    """Two bodies and a rigid one in a body of the surrounding fluid are those three alone."""
    balls = {"one": (0.3, [0.4, 0, 0]), "two": (0.25, [-0.3, 0.4, 0.1]), "stone": (0.3, [-0.2, -0.4, 0.2])}
    fluids = {"one": 1.5, "two": 3.5}, {"one": 0.4, "two": 2.0}
    alone = cal.FluidTransmission(surfaces(balls), K, *fluids, rigid="stone").solve(WAVE, rtol=1e-8)
    mesh = surfaces({**balls, "coat": (1.0, [0, 0, 0])})
    coated = cal.FluidTransmission(mesh, K, {**fluids[0], "coat": K}, {**fluids[1], "coat": 1.0}, rigid="stone")
    solution = coated.solve(WAVE, rtol=1e-8)
    assert np.abs(solution.field(POINTS) - alone.field(POINTS)).max() < 2e-3
    far = alone.far_field(TOWARD)
    assert np.abs(solution.far_field(TOWARD) - far).max() < 0.004 * np.abs(far).max()


def test_a_rigid_core_in_a_coat():
    mesh = concentric(1.0, 0.5)
    solution = cal.FluidTransmission(mesh, K, {"1": 3.0}, {"1": 2.0}, rigid="0.5").solve(WAVE, rtol=1e-7)
    series = layered_fluid_sphere(K, [0.5, 1.0], [3.0], [2.0], ALONG, core="rigid")
    outside = POINTS[2:]
    assert solution.field(outside) == pytest.approx(series.total(outside), abs=0.02)
    assert np.abs(solution.field(POINTS[:1])).max() < 0.02
    assert solution.rigid == (1,)


def test_one_tag_of_bodies_in_different_fluids_is_several():
    """Oil in water in oil, and oil next to it: two tags, or a tag for each; bodies of one fluid side by side have
    layers of each other, whose sum is an error of quadrature."""
    places = {"drop": (0.9, [0, 0, 0]), "water": (0.6, [0, 0, 0]), "core": (0.3, [0, 0, 0]), "next": (0.4, [2.0, 0, 0])}
    mesh = surfaces(places, 0.45)
    oil, water = (2.5, 0.9), (2.1, 1.1)
    each = cal.FluidTransmission(mesh, K, *(
        {name: (water if name == "water" else oil)[k] for name in places} for k in (0, 1)
    ))  # fmt: skip
    two = cal.TriangleMesh(mesh.vertices, mesh.triangles, mesh.tags == 1, {"oil": 0, "water": 1})
    both = cal.FluidTransmission(two, K, {"oil": oil[0], "water": water[0]}, {"oil": oil[1], "water": water[1]})
    fields = [problem.solve(WAVE, rtol=1e-9).field(POINTS) for problem in (each, both)]
    assert fields[0] == pytest.approx(fields[1], abs=1e-4)


@pytest.mark.variant
def test_compressed_solutions(shell):
    problem = layers(shell, [3.0, 1.5], [2.0, 0.5])
    dense = problem.solve(WAVE, rtol=1e-7)
    solution = problem.solve(WAVE, method="mlfmm", rtol=1e-6)
    assert solution.field(POINTS) == pytest.approx(dense.field(POINTS), abs=1e-5)


def test_saved_solutions(shell, tmp_path):
    solution = layers(shell, [3.0, 1.5], [2.0, 0.5]).solve(WAVE, rtol=1e-7)
    solution.save(tmp_path / "nested.h5")
    again = cal.load(tmp_path / "nested.h5")
    assert again.field(POINTS) == pytest.approx(solution.field(POINTS), abs=1e-14)
    assert again.absorption_cross_section() == pytest.approx(solution.absorption_cross_section(), abs=1e-14)


def test_nested_bodies_that_are_refused(shell):
    with pytest.raises(ValueError, match="both have one fluid: give each surface a tag of its own"):
        cal.FluidTransmission(shell, K, 3.0, 2.0)
    with pytest.raises(ValueError, match=r"tags \[1\] lies within .* tags \[0\], which is rigid"):
        cal.FluidTransmission(shell, K, {"0.5": 3.0}, {"0.5": 2.0}, rigid="1")
    crossing = surfaces({"one": (1.0, [0, 0, 0]), "two": (0.5, [0.9, 0, 0])})
    with pytest.raises(ValueError, match="must not cross"):
        layers(crossing, [3.0, 1.5], [2.0, 0.5])
    x = shell.centroids[:, 2]
    walls = cal.TriangleMesh(shell.vertices, shell.triangles, np.where((shell.tags == 0) & (x > 0.3), 2, shell.tags))
    with pytest.raises(ValueError, match="walls of which a part is rigid: such bodies are not nested"):
        cal.FluidTransmission(walls, K, {0: 3.0, 1: 1.5}, {0: 2.0, 1: 0.5}, rigid=2)
    with pytest.raises(ValueError, match="density_ratio .* must be positive"):
        layers(shell, [3.0, 1.5], [2.0, 0.0])
