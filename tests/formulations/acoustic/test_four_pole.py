"""Four-poles of silencers against plane waves, solutions with a piston, and each other."""

from dataclasses import replace

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.errors import AccuracyWarning

AIR = cal.Fluid(1.2, 343.0)


def surface_of(cells, h):
    """The surface of cells (n, 3), numbers of cubes of a grid of that step; tags 1 at its lower end in x, 2 at the
    upper one, 0 elsewhere."""
    filled, quads = set(map(tuple, cells)), []
    for cell in sorted(filled):
        for axis in range(3):
            one, two = (axis + 1) % 3, (axis + 2) % 3
            for side in (0, 1):
                beyond = list(cell)
                beyond[axis] += 2 * side - 1
                if tuple(beyond) in filled:
                    continue
                corners = np.tile(cell, (4, 1))
                corners[:, axis] += side
                corners[[1, 2], one] += 1
                corners[[2, 3], two] += 1
                quads.append(corners if side else corners[::-1])
    points, numbers = np.unique(np.concatenate(quads), axis=0, return_inverse=True)
    numbers = numbers.reshape(-1, 4)
    triangles = np.concatenate([numbers[:, [0, 1, 2]], numbers[:, [0, 2, 3]]])
    x = points[triangles][:, :, 0]
    tags = np.where((x == points[:, 0].min()).all(axis=1), 1, np.where((x == points[:, 0].max()).all(axis=1), 2, 0))
    return cal.TriangleMesh(points * h, triangles, tags, {"walls": 0, "inlet": 1, "outlet": 2})


def grid(x, y, z):
    return np.stack(np.meshgrid(*(np.arange(*each) for each in (x, y, z)), indexing="ij"), axis=-1).reshape(-1, 3)


def chamber(pipes=4):
    """0.08 x 0.08 x 0.16 m between square pipes of 0.04 m, 20 mm a cell."""
    middle = grid((0, 8), (-2, 2), (-2, 2))
    return surface_of(
        np.concatenate([middle, grid((-pipes, 0), (-1, 1), (-1, 1)), grid((8, 8 + pipes), (-1, 1), (-1, 1))]), 0.02
    )


def problem(mesh, kL, **more):
    return cal.AcousticProblem(mesh, kL / 0.16, fluid=AIR, side="interior", space="P2", **more)


@pytest.mark.parametrize("kL, loss", [(0.5, 2.50), (1.0, 5.35), (np.pi / 2, 6.57), (2.0, 6.08), (2.5, 3.92)])
def test_transmission_loss_of_an_expansion_chamber(kL, loss):
    """By its four-pole and by a solution with a piston and an end of rho c; plane waves alone give
    10 log10(1 + (m - 1/m)^2 sin^2(kL) / 4), m = 4 the ratio of sections."""
    mesh = chamber()
    assert mesh.number_of_triangles == 448
    pole = problem(mesh, kL).four_pole("inlet", "outlet", rtol=1e-8)
    assert pole.transmission_loss == pytest.approx(loss, abs=0.01)
    assert pole.determinant == pytest.approx(1, abs=1e-6)
    assert pole.areas == pytest.approx((0.0016, 0.0016))
    plane = 10 * np.log10(1 + (4 - 1 / 4) ** 2 / 4 * np.sin(kL) ** 2)
    assert pole.transmission_loss == pytest.approx(plane, abs=0.5)
    ends = {"inlet": cal.Velocity(1.0), "outlet": cal.Impedance.relative(1.0)}
    surface = problem(mesh, kL, conditions=ends).solve(rtol=1e-8).surface
    at_piston, at_end = (mean(surface, mesh.tags == tag) for tag in (1, 2))
    direct = 20 * np.log10(abs((at_piston + AIR.impedance) / 2 / at_end))
    assert direct == pytest.approx(pole.transmission_loss, abs=0.01)


def mean(surface, own):
    """The mean of a pressure over some triangles."""
    port = replace(surface.space, triangles=surface.space.triangles[own], dofs=surface.space.dofs[own])
    weights = port.load_vector(1.0)
    return weights @ surface.coefficients / weights.sum()


@pytest.mark.parametrize("k", [2.0, np.pi / 0.16])  # the second is a resonance of the closed pipe
def test_a_straight_pipe_is_the_closed_form(k):
    """With losses at its walls, it has the four-pole of the wavenumber that these give, and no gain."""
    mesh = surface_of(grid((0, 8), (-1, 1), (-1, 1)), 0.02)
    pole = problem(mesh, k * 0.16).four_pole("inlet", "outlet", rtol=1e-8)
    pipe = cal.FourPole.pipe(0.16, 0.0016, pole.frequency, AIR)
    size = np.array([[1, AIR.impedance / 0.0016], [0.0016 / AIR.impedance, 1]])
    assert np.abs((pole.matrix - pipe.matrix) / size).max() < 2e-4
    assert pipe.determinant == pytest.approx(1) and pipe.transmission_loss == pytest.approx(0, abs=1e-12)
    layers = cal.ViscothermalWall(1.5e-5, 1.4, 0.71)
    narrow = problem(mesh, k * 0.16, conditions={"walls": [layers, cal.Velocity(3.0)]}).four_pole("inlet", "outlet")
    assert narrow.determinant == pytest.approx(1, abs=1e-3) and narrow.transmission_loss > 0.01
    z = layers.thickness(k * 343.0, AIR)
    loss = 2 / 0.04 * (z.viscous.real + z.heat.real) / 2 * k * 0.16  # Im k l, with the hydraulic radius width / 2
    assert narrow.transmission_loss == pytest.approx(20 * np.log10(np.exp(1)) * loss, rel=0.1)


def test_parts_that_follow_each_other_are_their_product():
    """A chamber with pipes is its pipes and the chamber between, cut where waves are plane; sections may change."""
    kL = 1.0
    whole = problem(chamber(), kL).four_pole("inlet", "outlet", rtol=1e-8)
    shorter = problem(chamber(3), kL).four_pole("inlet", "outlet", rtol=1e-8)
    pipe = cal.FourPole.pipe(0.02, 0.0016, whole.frequency, AIR)
    chain = pipe @ shorter @ pipe
    size = np.array([[1, AIR.impedance / 0.0016], [0.0016 / AIR.impedance, 1]])
    assert np.abs((chain.matrix - whole.matrix) / size).max() < 5e-3
    assert chain.areas == whole.areas and "transmission loss 5.35 dB" in str(whole)
    step = cal.FourPole(np.eye(2), 100.0, (0.01, 0.04), AIR)  # a jump of the section by 4: 4 * 4 / (1 + 4)^2
    assert step.transmission_loss == pytest.approx(-10 * np.log10(16 / 25))
    assert np.linalg.det(step.of_particle_velocity) == pytest.approx(4)


def test_insertion_loss_is_the_ratio_of_flows_with_a_source():
    """In front of a pipe without end and behind a source that matches it, it is the transmission loss; a pipe instead
    of itself makes no difference."""
    pole = cal.FourPole.pipe(0.1, 0.01, 200.0, AIR) @ cal.FourPole.pipe(0.2, 0.04, 200.0, AIR)
    end = cal.FourPole.pipe(0.05, 0.01, 200.0, AIR)
    chamber = pole @ end
    pipe = cal.FourPole.pipe(0.35, 0.01, 200.0, AIR)
    matched = AIR.impedance / 0.01
    assert chamber.insertion_loss(pipe, source=matched) == pytest.approx(chamber.transmission_loss)
    assert pipe.insertion_loss(pipe, source=0.0, load=100j) == 0
    c, d = chamber.matrix[1]
    free = pipe.matrix[1] @ [matched, 1.0]
    assert chamber.insertion_loss(pipe) == pytest.approx(20 * np.log10(abs((c * matched + d) / free)))


@pytest.mark.variant
def test_mirrors_have_the_four_pole_of_the_whole():
    whole = problem(chamber(2), 1.0).four_pole("inlet", "outlet", rtol=1e-8)
    cells = np.concatenate(
        [grid((0, 8), (0, 2), (-2, 2)), grid((-2, 0), (0, 1), (-1, 1)), grid((8, 10), (0, 1), (-1, 1))]
    )
    half = surface_of(cells, 0.02)
    kept = half.centroids[:, 1] > 1e-6
    half = cal.TriangleMesh(half.vertices, half.triangles[kept], half.tags[kept], half.names)
    part = problem(half, 1.0, mirrors={"y": "even"}).four_pole("inlet", "outlet", rtol=1e-8)
    assert part.transmission_loss == pytest.approx(whole.transmission_loss, abs=2e-3)
    assert part.areas == pytest.approx(whole.areas)


def test_four_poles_without_meaning_are_refused_or_warned_of():
    mesh = surface_of(grid((0, 4), (-1, 1), (-1, 1)), 0.02)
    for call, text in [
        (lambda: problem(mesh, 1.0).four_pole("inlet", ["outlet", 1]), r"both have the tags \[1\]"),
        (lambda: problem(mesh, 1.0).four_pole("inlte", "outlet"), "did you mean 'inlet'"),
        (lambda: cal.AcousticProblem(mesh, 1.0, fluid=AIR).four_pole(1, 2), "side='interior'"),
        (lambda: cal.FourPole(np.eye(3), 1.0, (1.0, 1.0), AIR), "2 x 2"),
        (lambda: cal.FourPole.pipe(-1.0, 1.0, 1.0, AIR), "length must be a positive number"),
        (lambda: cal.FourPole.pipe(1.0, 1.0, 1.0, AIR) @ cal.FourPole.pipe(1.0, 1.0, 2.0, AIR), "take one frequency"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    short = chamber(0)
    corner = (np.abs(short.centroids - [0, 0.03, 0.03]) < 0.0101).all(axis=1)
    tags = np.where(corner & (short.centroids[:, 0] < 1e-6), 3, short.tags)
    with pytest.warns(AccuracyWarning, match="at the port 3 differs from its mean by"):
        problem(cal.TriangleMesh(short.vertices, short.triangles, tags), 6.0).four_pole(3, 2)
