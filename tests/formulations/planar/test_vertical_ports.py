"""Vertical metal with ports at the ground: images, balance of power, shorted patches, mistakes."""

from dataclasses import replace

import numpy as np
import pytest

import calderon as cal

VIA = (-8e-3, 0.0)
PATCH = cal.planar.patch(57e-3, 38e-3, h=9e-3, z=3e-3)
pytestmark = pytest.mark.filterwarnings("ignore:edges of up to")


def with_image(mesh):
    """The metal and its image in the plane z = 0, joined there."""
    places, triangles = mesh.vertices, mesh.triangles
    whole = np.concatenate([places, places * [1, 1, -1]])
    return cal.TriangleMesh(whole, np.concatenate([triangles, triangles[:, ::-1] + len(places)])).merged_vertices()


def wavenumber(frequency):
    return 2 * np.pi * frequency / 299792458.0


def test_a_monopole_is_half_a_dipole():
    """Impedance and far field of a ribbon on a conductor, without layers, and in two layers of air."""
    line, f = ((-2e-3, 0), (2e-3, 0)), 3.2e9
    gap = cal.DeltaGap(line=[[-2e-3, 0, 0], [2e-3, 0, 0]])
    monopole = cal.planar.ribbon(line, (0, 8e-3, 20e-3), 4e-3)
    dipole = cal.PECAntenna(with_image(monopole), wavenumber(f), gap).solve()
    theta = np.array([0.3, 1.0, 1.5])
    for layers in ([], [cal.Layer(8e-3)]):
        stack = cal.Stack(layers, below="pec")
        solution = cal.PlanarProblem(stack, monopole, ports=[cal.planar.EdgePort(line=line)]).solve(f)
        assert 2 * solution.input_impedances[0] == pytest.approx(dipole.input_impedance, rel=1e-5)
        assert np.allclose(solution.gain(theta, 0.4), 2 * dipole.gain(theta, 0.4), rtol=1e-4)
        assert solution.power.radiated == pytest.approx(solution.power.accepted, rel=1e-4)


def test_a_shorted_patch_and_its_image():
    """A ribbon of the full width joins the patch to the ground, another one feeds it."""
    f, short = 1.8e9, ((-19e-3, -28.5e-3), (-19e-3, 28.5e-3))
    x = np.unique(PATCH.vertices[:, 0])
    feed = tuple((float(x[np.abs(x).argmin()]), y) for y in sorted(np.unique(PATCH.vertices[:, 1]))[3:5])
    mesh = cal.planar.ribbon(feed, (0, 3e-3), 3e-3, cal.planar.ribbon(short, (3e-3, 0), 3e-3, PATCH))
    board = cal.Stack([cal.Layer(3e-3)], below="pec")
    problem = cal.PlanarProblem(board, mesh, ports=[cal.planar.EdgePort(line=feed, name="feed")])
    gap = cal.DeltaGap(line=[[*feed[0], 0], [*feed[1], 0]])
    expected = cal.PECAntenna(with_image(mesh), wavenumber(f), gap).solve().input_impedance / 2
    assert problem.impedance_matrix(f)[0, 0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.variant
def test_power_of_a_patch_that_a_via_feeds_through_two_layers():
    """The accepted power is radiated or travels along the layers."""
    board = cal.Stack([cal.Layer(2e-3, 2.33), cal.Layer(1e-3, 4.0)], below="pec")
    mesh = cal.planar.via(PATCH, VIA, 0.5e-3, board.interfaces)
    port = cal.planar.EdgePort(around=(*VIA, 0.5e-3))
    solution = cal.PlanarProblem(board, mesh, ports=[port]).solve(2.25e9)
    assert abs(solution.power.lost) < 1e-3 * solution.power.accepted
    assert 0.05 < solution.power.surface_waves / solution.power.accepted < 0.2


def test_ports_are_reciprocal_and_loads_end_them():
    """A ribbon and a via; a resistor at the foot of the via is a port that ends in it."""
    board = cal.Stack([cal.Layer(3e-3)], below="pec")
    line = ((19e-3, -28.5e-3), (19e-3, 28.5e-3))
    mesh = cal.planar.via(cal.planar.ribbon(line, (0, 3e-3), 3e-3, PATCH), VIA, 0.5e-3, (0, 3e-3))
    ports = [cal.planar.EdgePort(line=line), cal.planar.EdgePort(around=(*VIA, 0.6e-3))]
    two = cal.PlanarProblem(board, mesh, ports=ports)
    z = two.impedance_matrix(1.5e9)
    assert z[0, 1] == pytest.approx(z[1, 0], rel=1e-9)
    loaded = cal.PlanarProblem(board, mesh, ports=ports[:1], loads=[cal.Lumped(ports[1], resistance=30.0)])
    expected = z[0, 0] - z[0, 1] * z[1, 0] / (z[1, 1] + 30)
    assert loaded.impedance_matrix(1.5e9)[0, 0] == pytest.approx(expected, rel=1e-8)


def test_fft_and_hmatrices_take_vertical_metal_as_columns():
    """A via, and a ribbon that ends in a resistor, with a lossy sheet."""
    board, f = cal.Stack([cal.Layer(3e-3)], below="pec"), 2.25e9
    line = ((19e-3, -28.5e-3), (19e-3, 28.5e-3))
    mesh = cal.planar.via(cal.planar.ribbon(line, (0, 3e-3), 3e-3, PATCH), VIA, 0.5e-3, (0, 3e-3))
    load, port = cal.Lumped(cal.planar.EdgePort(line=line), resistance=30.0), cal.planar.EdgePort(around=(*VIA, 0.5e-3))
    problem = cal.PlanarProblem(board, mesh, ports=[port], loads=[load], sheet=3.0)
    matrix, side = problem.matrix(f), problem.weights[:, 0]
    x = np.random.default_rng(1).standard_normal(len(matrix))
    for method in ("fft", "hmatrix"):
        equation = problem.at(f)
        solution, info = equation.solve(side, method=method)
        product = equation.system.matrix @ x
        assert np.linalg.norm(product - matrix @ x) < 2e-5 * np.linalg.norm(matrix @ x)
        bound = 2e-5 * np.linalg.norm(matrix) * np.linalg.norm(solution)
        assert np.linalg.norm(matrix @ solution - side) < bound
        assert "GMRES" in info.method and "dense columns" in info.matrix
    assert len(problem.horizontal) > len(matrix) / 2
    monopole = cal.planar.ribbon(((-2e-3, 0), (2e-3, 0)), (0, 2e-3), 2e-3)
    with pytest.raises(ValueError, match="all is vertical: use method='dense'"):
        replace(problem, mesh=monopole, ports=(), loads=()).scatter(f, 0.3, 0.0, method="fft")


def test_mistakes_are_named():
    board = cal.Stack([cal.Layer(3e-3, 2.33)], below="pec")
    fed = cal.planar.via(PATCH, VIA, 0.5e-3, (0, 3e-3))
    port = cal.planar.EdgePort(around=(*VIA, 0.6e-3))
    with pytest.raises(ValueError, match=r"no vertical metal stands on the ground within 0.6 mm of \(8, 0\) mm"):
        cal.PlanarProblem(board, fed, ports=[cal.planar.EdgePort(around=(8e-3, 0, 0.6e-3))])
    with pytest.raises(ValueError, match=r"one of line=\(\(x, y\), \(x, y\)\) and around="):
        cal.planar.EdgePort()
    with pytest.raises(cal.MeshError, match="ends 0.1 mm from the wall at z = 0 mm"):
        cal.PlanarProblem(board, cal.planar.via(PATCH, VIA, 0.5e-3, (0.1e-3, 3e-3)), ports=[port])
    sheet = cal.Layer(35e-6, conductivity=5.8e7)
    with pytest.raises(ValueError, match="vertical metal ends on a conductor at z = 0.035 mm, into which"):
        lifted = cal.planar.via(cal.TriangleMesh(PATCH.vertices + [0, 0, 35e-6], PATCH.triangles), VIA, 0.5e-3,
                                (35e-6, 3.035e-3))  # fmt: skip
        cal.PlanarProblem(cal.Stack([sheet, cal.Layer(3e-3, 2.33)]), lifted)
    with pytest.raises(ValueError, match="let the probe be a planar.via with an EdgePort"):
        cal.PlanarProblem(board, fed, ports=[cal.ProbePort((8e-3, 0), radius=0.5e-3)])
    post = cal.planar.ribbon(((7.1e-3, 1e-3), (8.2e-3, 1e-3)), (0, 3e-3), 3e-3, cells=3)
    loose = cal.TriangleMesh(
        np.concatenate([PATCH.vertices, post.vertices]),
        np.concatenate([PATCH.triangles, post.triangles + len(PATCH.vertices)]),
    )
    with pytest.raises(cal.MeshError, match="meets flat metal at .* where this has no edge: join them by"):
        cal.PlanarProblem(board, loose, ports=[cal.planar.EdgePort(line=((7.1e-3, 1e-3), (8.2e-3, 1e-3)))])
    through = cal.planar.ribbon(((7.1e-3, 1e-3), (8.2e-3, 1e-3)), (0, 3e-3, 4e-3), 3e-3, cells=3)
    loose = cal.TriangleMesh(
        np.concatenate([PATCH.vertices, through.vertices]),
        np.concatenate([PATCH.triangles, through.triangles + len(PATCH.vertices)]),
    )
    with pytest.raises(cal.MeshError, match=r"meets flat metal at \(7.2375, 1, 3\) mm"):
        cal.PlanarProblem(cal.Stack([cal.Layer(3e-3, 2.33), cal.Layer(1e-3)], below="pec"), loose).scatter(
            1e9, 0.3, 0.0
        )
    with pytest.raises(ValueError, match="currents flow into a wall of 50 ohm"):
        absorber = cal.Stack([cal.Layer(3e-3)], below=cal.planar.SurfaceImpedance(50))
        cal.PlanarProblem(absorber, fed, ports=[port])
