"""Vibrating spheres, caps and the ear of a rigid head against series, at the meshes of a user."""

import numpy as np
import pytest

import calderon as cal

AIR = cal.Fluid(1.2, 343.0)
POINTS = np.array([[0.0, 0.0, 3.0], [2.0, 0.0, 1.5], [1.0, 1.0, 1.5]])


def ringed_sphere(h, angle):
    """The unit sphere with rings of vertices in theta, one at `angle` (rad), and edges of about h; tag 2 within that
    ring about z, 1 outside of it."""
    above, below = max(1, round(angle / h)), max(1, round((np.pi - angle) / h))
    thetas = np.concatenate([np.linspace(0, angle, above + 1), np.linspace(angle, np.pi, below + 1)[1:]])
    rings, vertices, triangles, tags = [], [], [], []
    for theta in thetas:
        count = max(3, round(2 * np.pi * np.sin(theta) / h)) if 1e-9 < theta < np.pi - 1e-9 else 1
        phi = 2 * np.pi * np.arange(count) / count
        ring = [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.full(count, np.cos(theta))]
        rings.append(len(vertices) + np.arange(count))
        vertices += np.stack(ring, axis=1).tolist()
    for number, (upper, lower) in enumerate(zip(rings[:-1], rings[1:], strict=True)):
        i = j = 0
        n, m = len(upper), len(lower)
        while i < n * (n > 1) or j < m * (m > 1):
            down = j < m * (m > 1) and (i >= n * (n > 1) or (j + 1) / m <= (i + 1) / n)
            a, b = upper[i % n], lower[j % m]
            triangles.append([a, b, lower[(j + 1) % m] if down else upper[(i + 1) % n]])
            i, j = (i, j + 1) if down else (i + 1, j)
            tags.append(2 if number < above else 1)
    return cal.TriangleMesh(np.array(vertices), np.array(triangles), np.array(tags))


@pytest.mark.parametrize("h, k", [(0.12, 2.0), pytest.param(0.09, 8.0, marks=pytest.mark.variant)])
def test_a_cap_on_a_rigid_sphere_has_morses_directivity(h, k):
    """A velocity that jumps along edges: levels to 0.2 dB, the impedance to 2 % (a cap of facets is smaller)."""
    exact, angles = cal.exact.radiating_cap(k, 1.0, np.radians(30)), np.radians([0, 30, 60, 120, 180])
    conditions = {2: cal.Velocity(1.0)}
    solution = cal.AcousticProblem(ringed_sphere(h, np.radians(30)), k, fluid=AIR, conditions=conditions).solve()
    levels = [20 * np.log10(np.abs(each.far_field(angles, 0 * angles))) for each in (solution, exact)]
    assert np.abs(levels[0] - levels[0][0] - levels[1] + levels[1][0]).max() < 0.2
    assert solution.directivity_index([0, 0, 1.0]) == pytest.approx(exact.directivity_index(), abs=0.05)
    area, velocity = 2 * np.pi * (1 - np.cos(np.radians(30))), 1 / (1j * k * AIR.impedance)
    z = 2 * exact.complex_power(1.2, 343.0) / (area * abs(velocity) ** 2)
    assert solution.radiation_impedance(2) == pytest.approx(z, rel=0.02)
    assert solution.radiation_efficiency == pytest.approx(z.real / AIR.impedance, rel=0.02)


def test_the_ear_of_a_rigid_head_hears_a_source_and_is_heard_by_it():
    """Pressure at the ear over that of the free field, 1.5 a away at ka = 5, to 0.3 dB and 3 degrees with 10 elements
    per wavelength; and by reciprocity, with the ear as a source M^-1 e, to 0.4 %."""
    k, r = 5.0, 1.5
    mesh = cal.mesh.sphere(1.0, 2 * np.pi / k / 10)
    ear = int(np.argmax(mesh.vertices[:, 2]))
    up = mesh.vertices[ear] / np.linalg.norm(mesh.vertices[ear])
    across = np.cross(up, [1.0, 0, 0]) / np.linalg.norm(np.cross(up, [1.0, 0, 0]))
    places = np.array([r * (np.cos(angle) * up + np.sin(angle) * across) for angle in np.radians([0, 60, 150, 180])])
    free = np.exp(1j * k * r) / (4 * np.pi * r)
    exact = [cal.exact.rigid_sphere(k, 1.0, source=place).surface_pressure([up])[0] / free for place in places]
    assert np.allclose(20 * np.log10(np.abs(exact)), [14.91, 2.54, -14.44, -7.59], atol=0.005)
    observed = cal.AcousticProblem(mesh, k, fluid=AIR).solve_all([cal.PointSource(place) for place in places])
    direct = np.array([each.surface.coefficients[ear] for each in observed]) / free
    assert np.abs(20 * np.log10(np.abs(direct / exact))).max() < 0.3
    assert np.abs(np.angle(direct / exact)).max() < np.radians(3)
    unit = np.zeros(mesh.number_of_vertices)
    unit[ear] = 1.0
    velocity = cal.P1(mesh).solve_mass(unit) / (1j * k * AIR.impedance)
    ear_speaks = cal.AcousticProblem(mesh, k, fluid=AIR, conditions=cal.Velocity(velocity)).solve()
    assert np.abs(-ear_speaks.field(places) / free / direct - 1).max() < 4e-3


@pytest.mark.variant
@pytest.mark.parametrize("k", [0.1, 1.0, 5.0, np.pi, 2 * np.pi, 4.4934])
@pytest.mark.parametrize("order", [0, 1])
def test_surface_field_and_power_of_spheres_at_resonances_of_the_inside(order, k):
    """Facets of h = 0.12: surface and field to 0.3 %, power to 0.5 %."""
    exact = cal.exact.radiating_sphere(k, 1.0, slopes=[0] * order + [1j * k * AIR.impedance * 1e-3])
    mesh, velocity = cal.mesh.sphere(1.0, 0.12), cal.Velocity([1e-3, [0, 0, 1e-3]][order])
    solution = cal.AcousticProblem(mesh, k, fluid=AIR, conditions=velocity).solve(rtol=1e-7)
    surface = exact(mesh.vertices / np.linalg.norm(mesh.vertices, axis=1)[:, None])
    assert np.linalg.norm(solution.surface.coefficients - surface) < 3e-3 * np.linalg.norm(surface)
    assert np.abs(solution.field(POINTS) - exact(POINTS)).max() < 3e-3 * np.abs(exact(POINTS)).max()
    assert solution.sound_power == pytest.approx(exact.radiated_power(1.2, 343.0), rel=5e-3)
