"""Vertical metal between layers: images, free space, layers that are one, junctions, walls, mistakes."""

import numpy as np
import pytest

import calderon as cal
from calderon.layers import spatial_greens
from calderon.layers.parts import feet_of
from calderon.quadrature import triangle_rule
from calderon.spaces import half_functions

FREQUENCY = 3e8
K0 = 2 * np.pi * FREQUENCY / 299792458.0
HEIGHT = 0.05
PLATE = cal.mesh.plate((0.2, 0.1), 0.05)


def ribbon_under_plate(*levels, turn=0.3):
    """A plate at the last level; a ribbon with edges at all of them joins it at three triangles."""
    plate = PLATE.vertices * [1, 1, 0] + [0, 0, levels[-1]]
    points = [[0.0, y, z] for z in levels for y in (-0.05, 0.0)]
    cells = 2 * np.arange(len(levels) - 1)[:, None]
    triangles = np.concatenate([cells + [0, 1, 3], cells + [0, 3, 2]]) + len(plate)
    mesh = cal.TriangleMesh(np.concatenate([plate, points]), np.concatenate([PLATE.triangles, triangles]))
    c, s = np.cos(turn), np.sin(turn)
    return cal.TriangleMesh(
        mesh.vertices @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]), mesh.triangles
    ).merged_vertices()


def matrix(operator):
    return operator.assemble().to_array()


def layered(stack, space, **options):
    return matrix(cal.layered_electric_field(stack, FREQUENCY, space, **options))


def relative(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


def grounded(stack, mesh):
    return half_functions(mesh, feet_of(stack.at(FREQUENCY), mesh))


def test_layers_of_vacuum_are_free_space():
    """Also through an interface, and above all of them."""
    space = cal.RWG(ribbon_under_plate(0.0, 0.02, HEIGHT))
    stack = cal.Stack([cal.Layer(0.02), cal.Layer(0.03)])
    found = layered(stack, space)
    assert relative(found, matrix(cal.electric_field(K0, space))) < 1e-6
    assert relative(found.T, found) < 1e-12


def test_a_conductor_makes_an_image_into_which_currents_flow():
    """The impedance at the foot is half of that of ribbon, plate and their image in free space."""
    mesh, stack = ribbon_under_plate(0.0, HEIGHT), cal.Stack([cal.Layer(HEIGHT)], below="pec")
    space, feet = grounded(stack, mesh), feet_of(stack.at(FREQUENCY), mesh)
    places, triangles = mesh.vertices, mesh.triangles
    whole = cal.TriangleMesh(
        np.concatenate([places, places * [1, 1, -1]]), np.concatenate([triangles, triangles[:, ::-1] + len(places)])
    ).merged_vertices()
    free = cal.RWG(whole)
    middle = np.flatnonzero((np.abs(whole.vertices[whole.edges[free.edges], 2]) < 1e-12).all(axis=1))
    impedances = []
    for found, functions, operator in (
        (space, np.flatnonzero(np.isin(space.edges, feet)), cal.layered_electric_field(stack, FREQUENCY, space)),
        (free, middle, cal.electric_field(K0, free)),
    ):
        weights = np.zeros(found.dimension)
        weights[functions] = found.mesh.edge_lengths[found.edges[functions]]
        impedances.append(1 / (weights @ np.linalg.solve(matrix(operator), weights)))
    assert space.dimension == cal.RWG(mesh).dimension + 1
    assert 2 * impedances[0] == pytest.approx(impedances[1], rel=2e-6)


def test_equal_layers_are_one():
    """An interface between equal layers changes nothing."""
    mesh = ribbon_under_plate(0.0, 0.02, HEIGHT)
    one = cal.Stack([cal.Layer(HEIGHT, 4.0)], below="pec")
    two = cal.Stack([cal.Layer(0.02, 4.0), cal.Layer(0.03, 4.0)], below="pec")
    space = grounded(one, mesh)
    found = layered(one, space)
    assert relative(found.T, found) < 1e-10
    assert relative(layered(two, space), found) < 3e-6


def test_entries_are_sums_over_the_five_components():
    """Distant functions lie in different layers, one of them magnetic, with loss."""
    stack = cal.Stack([cal.Layer(0.05, 3.0 + 0.1j), cal.Layer(0.05, 2.0, mu_r=1.2)], below="pec")
    one = np.array([[0, 0, 0.01], [0.03, 0.02, 0.01], [0.03, 0.02, 0.04], [0, 0, 0.04]])
    two = np.array([[0.2, 0, 0.06], [0.22, -0.02, 0.06], [0.22, -0.02, 0.08], [0.2, 0, 0.08]])
    square = np.array([[0, 1, 2], [0, 2, 3]])
    space = cal.RWG(cal.TriangleMesh(np.concatenate([one, two]), np.concatenate([square, square + 4])))
    found, sections, rule = layered(stack, space)[0, 1], stack.at(FREQUENCY), triangle_rule(3)
    corners, total = space.mesh.vertices[space.mesh.triangles], 0j
    for i, j in ((0, 2), (0, 3), (1, 2), (1, 3)):
        (x, f, c), (y, g, d) = (
            (
                rule.barycentric @ corners[n],
                np.einsum("nqc->qc", space.values(rule.points)[n]),
                2 * space.scale[n].sum(),
            )
            for n in (i, j)
        )
        for p, q in np.ndindex(len(x), len(y)):
            offset = (x[p] - y[q])[:2]
            u = offset / np.linalg.norm(offset)
            xx, K, zx, xz, zz = (
                complex(each) for each in spatial_greens(sections, np.linalg.norm(offset), x[p, 2], y[q, 2], 0, 1)
            )
            value = xx * (f[p, :2] @ g[q, :2]) + zz * f[p, 2] * g[q, 2] - K * c * d / sections.k0**2
            value += xz * (f[p, :2] @ u) * g[q, 2] + zx * f[p, 2] * (u @ g[q, :2])
            areas = 4 * space.mesh.areas[i] * space.mesh.areas[j] * rule.weights[p] * rule.weights[q]
            total += 1j * sections.k0 * areas * value
    assert found == pytest.approx(total, rel=1e-4)


def test_horizontal_currents_alone_have_the_same_entries():
    """Next to vertical metal, and as part of the matrix."""
    mesh = ribbon_under_plate(0.0, HEIGHT, turn=0.0)
    stack = cal.Stack([cal.Layer(HEIGHT, 2.2 + 0.01j)], below=cal.planar.Conductor(1e7))
    operator = cal.layered_electric_field(stack, FREQUENCY, cal.RWG(mesh))
    whole = matrix(operator)
    plate = cal.RWG(cal.TriangleMesh(PLATE.vertices * [1, 1, 0] + [0, 0, HEIGHT], PLATE.triangles))
    middles = [mesh.vertices[mesh.edges[e]].mean(axis=0) for e in operator.trial.edges]
    numbers = {tuple(x.round(9)): n for n, x in enumerate(middles) if x[2] == HEIGHT and x[0] != 0}
    ends = [tuple(plate.mesh.vertices[plate.mesh.edges[e]].mean(axis=0).round(9)) for e in plate.edges]
    kept = [n for n, each in enumerate(ends) if each in numbers]
    places = [numbers[ends[n]] for n in kept]
    expected = layered(stack, plate)[np.ix_(kept, kept)]
    assert len(kept) > 15
    assert relative(np.abs(whole[np.ix_(places, places)]), np.abs(expected)) < 1e-9
    assert np.allclose(operator.entries([3, 0], slice(2, 9)), whole[[3, 0], 2:9], rtol=1e-12, atol=0)


def test_mistakes_are_named():
    stack = cal.Stack([cal.Layer(0.02, 2.2), cal.Layer(0.03)], below="pec")
    with pytest.raises(cal.MeshError, match=r"2 vertical triangles cross an interface .* 0 to 50 mm; .* 0, 20, 50"):
        layered(stack, cal.RWG(ribbon_under_plate(0.0, HEIGHT)))
    with pytest.raises(cal.MeshError, match="leave it, the first is number 16 with z from -10 to 20 mm"):
        layered(stack, cal.RWG(ribbon_under_plate(-0.01, 0.02)))
    tilted = cal.TriangleMesh(PLATE.vertices + [[0, 0, 0.03]] + PLATE.vertices[:, :1] * [0, 0, 0.1], PLATE.triangles)
    with pytest.raises(cal.MeshError, match="16 triangles are oblique, .* approximate slopes by steps"):
        layered(stack, cal.RWG(tilted))
    mesh = ribbon_under_plate(0.0, 0.02, HEIGHT)
    with pytest.raises(ValueError, match="multiplies horizontal metal, and 4 triangles are vertical"):
        cal.layered_electric_field(stack, FREQUENCY, cal.RWG(mesh)).assemble("fft")
    with pytest.raises(ValueError, match="edges of half functions are numbers below"):
        half_functions(mesh, [10_000])
