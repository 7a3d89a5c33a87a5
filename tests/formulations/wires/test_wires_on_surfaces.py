"""Wires that end on metal or lie next to bodies: strips, wires alone, powers, reciprocity, other numbers."""

import tracemalloc

import numpy as np
import pytest

import calderon as cal
from calderon.pairs.rules import forget_rules

K = 2 * np.pi
AIR = {"air": cal.Material()}
FOOT = cal.WireGap([0, 0, 0], [0, 0, 1])
pytestmark = pytest.mark.filterwarnings("ignore:a segment of")


def sheet(mesh, wires, ports=FOOT, **given):
    surfaces = {tag: cal.Sheet("air") for tag in np.unique(mesh.tags).tolist()}
    given = {"wavenumber": K} | given
    return cal.MaxwellProblem(mesh, regions=AIR, surfaces=surfaces, wires=wires, ports=ports, **given)


def monopole(mesh=None, radius=1e-3, segments=6, **given):
    wire = cal.Wire([[0, 0, 0], [0, 0, 0.25]], radius, segments)
    return sheet(cal.mesh.plate([0.4, 0.4], 0.1) if mesh is None else mesh, wire, **given)


def grid(first, second, place):
    """Triangles between lines first and second, whose points place(u, v) gives."""
    u, v = (each.ravel() for each in np.meshgrid(first, second, indexing="ij"))
    i = np.arange(len(u)).reshape(len(first), len(second))
    a, b, c, d = (each.ravel() for each in (i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]))
    return place(u, v), np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def plate_with_strip(cells, parts, half=5e-3):
    """A plate of side 0.5, alone, and with an upright strip of height 0.25."""
    outer = np.geomspace(half, 0.25, cells + 1)
    lines = np.concatenate([-outer[::-1], [0.0], outer])
    plate = cal.TriangleMesh(*grid(lines, lines, lambda x, y: np.stack([x, y, 0 * x], axis=1)))
    upright = grid([-half, 0, half], np.linspace(0, 0.25, parts + 1), lambda y, z: np.stack([0 * y, y, z], axis=1))
    both = cal.mesh.merge([plate, cal.TriangleMesh(*upright)])
    tags = np.repeat([0, 1], [plate.number_of_triangles, len(upright[1])])
    names = {"plate": 0, "strip": 1}
    return plate, cal.TriangleMesh(both.vertices, both.triangles, tags, names).merged_vertices()


@pytest.mark.parametrize(("cells", "parts"), [(4, 10), (6, 16)])
def test_a_wire_on_a_plate_is_a_strip_of_four_radii(cells, parts):
    plate, joined = plate_with_strip(cells, parts)
    strip = cal.PECAntenna(joined, K, cal.DeltaGap(between=("strip", "plate"))).solve()
    wire = monopole(plate, 2.5e-3, parts).solve()
    assert wire.input_impedance == pytest.approx(strip.input_impedance, rel=0.05)
    assert wire.gain(1.0, 0.3, decibels=True) == pytest.approx(strip.gain(1.0, 0.3, decibels=True), abs=0.05)


def test_what_a_wire_accepts_is_radiated_whatever_the_mesh_is_called(tmp_path):
    mesh = cal.mesh.plate([0.4, 0.4], 0.1)
    solution = monopole(mesh).solve()
    assert solution.radiated_power() == pytest.approx(solution.input_power, rel=1e-4)
    assert abs(solution.far_field(0.7, 0.3)[2]) > 0
    # other numbers, and another place and direction
    order = np.random.default_rng(1).permutation(mesh.number_of_vertices)
    turned = np.roll(mesh.triangles[::-1], 1, axis=1)
    other = cal.TriangleMesh(mesh.vertices[np.argsort(order)], order[turned])
    assert monopole(other).solve().input_impedance == pytest.approx(solution.input_impedance, rel=1e-5)
    spin = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    shift = np.array([0.3, -1.0, 2.0])
    moved = cal.TriangleMesh(mesh.vertices @ spin.T + shift, mesh.triangles)
    wire = cal.Wire(np.array([[0, 0, 0.25], [0, 0, 0]]) @ spin.T + shift, 1e-3, 6)
    again = sheet(moved, wire, cal.WireGap(shift, spin @ [0, 0, 1])).solve()
    assert again.input_impedance == pytest.approx(solution.input_impedance, rel=1e-6)
    # a plate and a wire ten times as large, at a tenth of the frequency
    large = cal.TriangleMesh(10 * mesh.vertices, mesh.triangles)
    scaled = sheet(large, cal.Wire([[0, 0, 0], [0, 0, 2.5]], 1e-2, 6), wavenumber=K / 10).solve()
    assert scaled.input_impedance == pytest.approx(solution.input_impedance, rel=1e-6)
    solution.save(tmp_path / "monopole.h5")
    loaded, x = cal.load(tmp_path / "monopole.h5"), [[0.1, 0.1, 0.2]]
    assert np.array_equal(loaded.electric(x), solution.electric(x))
    assert loaded.radiated_power() == solution.radiated_power()
    assert "wires" in [layer.name for layer in solution.scene().layers]
    # what flows out of the wire is in the current that is shown: I = int div J, largest at the foot, radial there
    shown, current = solution.surface, solution.feed_currents[0]
    assert mesh.areas @ shown.divergence() == pytest.approx(current, rel=1e-9)
    assert (mesh.areas @ (2 * shown - shown).divergence()) == pytest.approx(current, rel=1e-9)
    vectors = shown.at_centroids()
    around = np.linalg.norm(mesh.vertices[mesh.triangles], axis=2).min(axis=1) < 1e-9
    assert np.linalg.norm(vectors, axis=1).argmax() in np.flatnonzero(around)
    radius = np.linalg.norm(mesh.centroids, axis=1)
    along = np.einsum("ni,ni->n", vectors, mesh.centroids / radius[:, None])[around]
    assert along == pytest.approx(-current / (2 * np.pi * radius[around]), rel=0.25)
    assert np.array_equal(loaded.surface.at_centroids(), vectors)
    np.testing.assert_allclose(again.surface.at_centroids(), vectors @ spin.T, rtol=0, atol=1e-6 * abs(vectors).max())
    plain = solution.currents.electric_currents[0]
    for feet in (shown - plain, -1 * (plain - shown), plain + shown - 2 * plain):
        assert np.array_equal(feet.at_centroids(), shown.feet) and abs(feet.coefficients).max() == 0
    twice = shown.perpendicular().perpendicular()
    np.testing.assert_allclose(twice.at_centroids(), -vectors, rtol=0, atol=1e-12 * abs(vectors).max())
    # an end that is as far off the metal as ends that are joined may be
    raised = sheet(mesh, cal.Wire([[0, 0, 1e-6], [0, 0, 0.25]], 1e-3, 6), cal.WireGap([0, 0, 1e-6], [0, 0, 1])).solve()
    assert mesh.areas @ raised.surface.divergence() == pytest.approx(raised.feed_currents[0], rel=1e-9)
    moment = mesh.areas @ vectors
    np.testing.assert_allclose(shown.integral(), moment, rtol=0, atol=1e-12 * abs(vectors).max())


def test_fields_next_to_wires_obey_the_laws_of_induction_and_of_circuits():
    solution = monopole().solve()
    # the current through a loop around the wire, and curl E = ik eta H
    angle = 2 * np.pi * (np.arange(32) + 0.5) / 32
    loop = np.stack([0.02 * np.cos(angle), 0.02 * np.sin(angle), 0 * angle + 0.05], axis=1)
    tangent = np.stack([-np.sin(angle), np.cos(angle), 0 * angle], axis=1)
    around = np.einsum("ni,ni->", solution.magnetic(loop), tangent) * 2 * np.pi * 0.02 / 32
    assert abs(around) == pytest.approx(abs(solution.feed_currents[0]), rel=0.1)
    x, step = np.array([0.08, 0.05, 0.1]), 1e-3
    ends = np.array([x + sign * step * np.eye(3)[i] for i in range(3) for sign in (1, -1)])
    slope = (solution.electric(ends)[::2] - solution.electric(ends)[1::2]) / (2 * step)
    curl = [slope[1, 2] - slope[2, 1], slope[2, 0] - slope[0, 2], slope[0, 1] - slope[1, 0]]
    field = 1j * K * cal.exact.VACUUM_IMPEDANCE * solution.magnetic([x])[0]
    np.testing.assert_allclose(curl, field, rtol=0, atol=2e-3 * abs(field).max())


def test_two_wires_on_one_plate_are_reciprocal_and_loads_in_series():
    x, mesh = 0.1, cal.mesh.plate([0.4, 0.2], 0.1)
    wires = [cal.Wire([[-x, 0, 0], [-x, 0, 0.2]], 1e-3, 4), cal.Wire([[x, 0, -0.2], [x, 0, 0]], 1e-3, 4)]
    ports = [cal.WireGap([-x, 0, 0], [0, 0, 1]), cal.WireGap([x, 0, 0], [0, 0, 1])]
    both = sheet(mesh, wires, ports)
    s = both.scattering_matrix()
    np.testing.assert_allclose(s, s.T, atol=1e-12)
    z = both.impedance_matrix()
    load = cal.Lumped(ports[1], resistance=20.0, inductance=1e-8)
    one = sheet(mesh, wires, ports[0], loads=load).solve()
    ended = z[0, 0] - z[0, 1] * z[1, 0] / (z[1, 1] + load.impedance_at(both.frequency))
    assert one.input_impedance == pytest.approx(ended, rel=1e-9)
    assert one.radiated_power() + one.load_powers().sum() == pytest.approx(one.input_power, rel=1e-3)
    # waves from two directions, each received in the other one
    toward, hats = np.array([[1.0, 0, 0], [0, 0, 1]]), np.array([[0.0, 0, 1], [1, 0, 0]])
    scatterer, pairs = sheet(mesh, wires, ()), zip(toward, hats, strict=True)
    waves = [cal.PlaneWave(-r, K, polarization=e) for r, e in pairs]
    found = scatterer.solve_all(waves, solver="lu")
    echo = [found[n].far_field(toward[[1 - n]])[0] @ hats[1 - n] for n in range(2)]
    assert abs(echo[0]) > 1e-3 and echo[0] == pytest.approx(echo[1], rel=1e-8)
    assert scatterer.monostatic_rcs(np.pi / 2, 0.0, solver="lu") == pytest.approx(
        found[0].rcs(np.pi / 2, 0.0, "V"), rel=1e-9
    )


def test_a_wire_next_to_a_body_of_air_is_alone_and_next_to_glass_keeps_power():
    wire, gap = cal.Wire([[0.05, 0, 0.15], [0.05, 0, 0.65]], 1e-3, 12), cal.WireGap([0.05, 0, 0.4])

    def problem(epsilon):
        media = AIR | {"body": cal.Material(epsilon)}
        mesh, walls = cal.mesh.cuboid((0.2, 0.2, 0.2), 0.1), {0: cal.Interface("air", "body")}
        return cal.MaxwellProblem(mesh, regions=media, surfaces=walls, wires=wire, ports=gap, wavenumber=K)

    alone, next_to = cal.WireAntenna(wire, gap, wavenumber=K).solve(), problem(1.0).solve()
    assert next_to.input_impedance == pytest.approx(alone.input_impedance, rel=2e-3)
    solution = problem(2.25).solve()
    assert solution.radiated_power() == pytest.approx(solution.input_power, rel=1e-4)
    assert abs(solution.input_impedance - alone.input_impedance) > 0.5


def test_a_wire_in_a_body_of_air_is_alone_and_in_lossy_glass_heats_it(tmp_path):
    wire, gap = cal.Wire([[0.05, 0, -0.12], [0.05, 0, 0.12]], 1e-3, 10), cal.WireGap([0.05, 0, 0])
    mesh, walls = cal.mesh.cuboid((0.36, 0.36, 0.36), 0.12), {0: cal.Interface("air", "body")}

    def problem(material, **given):
        media = AIR | {"body": material}
        given = {"wires": wire, "ports": gap, "wavenumber": K} | given
        return cal.MaxwellProblem(mesh, regions=media, surfaces=walls, **given)

    alone, inside = cal.WireAntenna(wire, gap, wavenumber=K).solve(), problem(cal.Material()).solve()
    assert inside.input_impedance == pytest.approx(alone.input_impedance, rel=2e-3)
    x = [[0.1, 0.05, 0.02], [0.3, 0.1, 0.1]]
    np.testing.assert_allclose(inside.electric(x), alone.electric(x), atol=0.02 * abs(alone.electric(x)).max())
    # an impedance of a load in series, metal with loss, a wire outside
    glass = cal.Material(2.0, loss_tangent=0.1)
    outer = cal.Wire([[0.3, 0, -0.2], [0.3, 0, 0.2]], 1e-3, 8)
    coppery = cal.Wire(wire.points, 1e-3, 10, conductor=cal.planar.Conductor(1e5))
    both = problem(glass, wires=[coppery, outer], ports=[gap, cal.WireGap([0.3, 0, 0])],
                   loads=cal.Lumped(gap, resistance=5.0))  # fmt: skip
    np.testing.assert_allclose(both.impedance_matrix(), both.impedance_matrix().T, rtol=1e-9)
    warm = both.solve([1.0, 0.3j])
    spent = warm.radiated_power() + warm.absorbed_power()["body"] + warm.metal_power + warm.load_powers().sum()
    assert spent == pytest.approx(warm.input_power, rel=1e-4)
    assert warm.absorbed_power()["body"] > 0.1 * warm.input_power > warm.metal_power > 0
    warm.save(tmp_path / "glass.h5")
    again = cal.load(tmp_path / "glass.h5")
    assert np.array_equal(again.electric(x), warm.electric(x)) and again.absorbed_power() == warm.absorbed_power()
    # without ports, by the wavenumber alone
    hit = problem(glass, wires=coppery, ports=()).solve(cal.PlaneWave([1, 0, 0], polarization=[0, 0, 1]))
    lost = hit.extinction_cross_section() - hit.scattering_cross_section()
    assert hit.absorption_cross_section() == pytest.approx(lost, rel=1e-2)


def test_wires_where_they_cannot_be_are_refused():
    plate = cal.mesh.plate([0.4, 0.4], 0.1)
    with pytest.raises(ValueError, match=r"goes through a surface, or touches it, near"):
        sheet(plate, cal.Wire([[0.01, 0.02, -0.1], [0.01, 0.02, 0.1]], 1e-3, 4), ())
    with pytest.raises(ValueError, match="end it on a vertex of metal"):
        sheet(plate, cal.Wire([[0.01, 0.02, 0.0], [0.01, 0.02, 0.1]], 1e-3, 4), ())
    with pytest.raises(ValueError, match="by more than its radius"):  # along the sheet
        sheet(plate, cal.Wire([[-0.1, 0.02, 8e-4], [0.1, 0.02, 8e-4]], 1e-3, 4), ())
    with pytest.raises(ValueError, match="by more than its radius"):  # next to its edge
        sheet(plate, cal.Wire([[0.2008, -0.1, 0.1], [0.2008, 0.1, -0.1]], 1e-3, 4), ())
    with pytest.raises(ValueError, match="by more than its radius"):  # an end above it
        sheet(plate, cal.Wire([[0.01, 0.02, 8e-4], [0.01, 0.02, 0.1]], 1e-3, 4), ())
    sheet(plate, cal.Wire([[-0.1, 0.02, 1.2e-3], [0.1, 0.02, 1.2e-3]], 1e-3, 4), ())
    body = cal.mesh.cuboid((0.4, 0.4, 0.4), 0.1)
    media, walls = AIR | {"body": cal.Material(2.0)}, {0: cal.Interface("air", "body")}
    with pytest.raises(ValueError, match="from one region to another"):
        through = cal.Wire([[0, 0, -0.1], [0.01, 0.02, 0.4]], 1e-3, 4)
        cal.MaxwellProblem(body, regions=media, surfaces=walls, wires=through, wavenumber=K)
    with pytest.raises(ValueError, match="lies in solid metal, near"):
        inside = cal.Wire([[0, 0, -0.1], [0, 0, 0.1]], 1e-3, 4)
        cal.MaxwellProblem(body, regions=AIR, surfaces={0: cal.Metal("air")}, wires=inside, wavenumber=K)
    with pytest.raises(ValueError, match="is at"):
        monopole(ports=cal.WireGap([0, 0, 0.25]))


@pytest.mark.parametrize("h", [0.05, *(pytest.param(each, marks=pytest.mark.variant) for each in (0.02, 0.0134))])
def test_planned_bytes_are_those_that_are_taken(h):
    """With 216, 1,200 and 2,680 unknowns."""
    problem = monopole(cal.mesh.plate([0.4, 0.4], h), segments=40)
    planned = problem.plan(method="dense").nbytes
    forget_rules()
    tracemalloc.start()
    problem.solve(method="dense")
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert planned / 1.5 < taken < planned


def test_a_device_has_the_same_matrix(opencl):
    problem = monopole()
    assert problem.solve(backend="opencl").input_impedance == pytest.approx(problem.solve().input_impedance, rel=1e-9)
