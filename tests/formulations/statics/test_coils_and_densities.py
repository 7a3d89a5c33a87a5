"""Coils next to iron against series, coils that pass through iron, and given densities of charge and current."""

import numpy as np
import pytest
from scipy.special import eval_legendre

import calderon as cal

EPS0 = cal.exact.VACUUM_PERMITTIVITY


def loop_over_ball(mu, z, loop=1.2, height=0.9):
    """(inside,) H_z inside at (0, 0, z) of a ball of radius 1 below a loop of current 1 about the z axis: orders of the
    field of the loop, of which those on the axis are known, each with the factor of the ball."""
    far = np.hypot(loop, height)
    c, orders = height / far, np.arange(1, 60)
    slopes = orders * (eval_legendre(orders - 1, c) - c * eval_legendre(orders, c)) / (1 - c * c)
    applied = loop**2 / (2 * far**3) * slopes * (z / far) ** (orders - 1)
    return float(np.sum(applied * (2 * orders + 1) / (orders * mu + orders + 1)))


@pytest.mark.parametrize("mu, space", [(10.0, "P1"), (1e5, "P1"), (10.0, "P2")])
def test_a_loop_over_a_ball_of_iron(mu, space):
    mesh = cal.mesh.sphere(1.0, 0.25 if space == "P1" else 0.5)
    ball = cal.StaticProblem(mesh, {"iron": cal.Region("all", permeability=mu)}, space=space)
    found = ball.solve(sources=[cal.CurrentPath.loop(1.2, 1.0, [0, 0, 0.9])])
    for z in (0.0, 0.5):
        assert found.field_strength([[0, 0, z]])[0, 2] == pytest.approx(loop_over_ball(mu, z), rel=3e-3)
    x = np.array([[0.8, 0.3, 0.7], [0.8, 0.3, 0.7]]) / np.sqrt(1.22) * [[0.999], [1.001]]
    above, below = (found.flux_density(x) @ x[0])[::-1]
    assert above == pytest.approx(below, rel=0.1)  # B_n is continuous, the field of the coil included


def test_a_coil_through_iron_and_one_through_its_wall_are_refused():
    torus = cal.StaticProblem(cal.mesh.torus(1.0, 0.3, 0.35), {"core": cal.Region("all", permeability=100.0)})
    with pytest.raises(ValueError, match="passes through a loop of iron"):
        torus.solve(sources=[cal.CurrentPath.loop(0.6, 1.0, [1.0, 0, 0], [0, 1, 0], count=40)])
    with pytest.raises(ValueError, match="lies within one region"):
        torus.solve(sources=[cal.CurrentPath.loop(1.0, 1.0, [1.0, 0, 0], count=40)])
    with pytest.raises(ValueError, match="is magnetic"):
        cal.StaticProblem(torus.mesh, {"core": cal.Region("all", permittivity=2.0)}).solve(
            sources=[cal.CurrentPath.loop(0.3, 1.0, [3.0, 0, 0])]
        )


def test_a_loop_has_the_field_of_a_circle():
    loop = cal.CurrentPath.loop(0.5, 2.0, [0, 0, 1.0], [0, 0, -1])
    assert loop.magnetic_field([[0, 0, 1.0]])[0] == pytest.approx([0, 0, -2.0], abs=1e-3)
    assert loop.magnetic_field([[0, 0, 3.0]])[0, 2] == pytest.approx(-0.25 / 4.25**1.5, rel=1e-4)


def test_charge_on_a_wall_between_dielectrics():
    """A charged sphere of eps 3 in a medium of eps 2: u is constant inside."""
    glass = cal.StaticProblem(
        cal.mesh.sphere(1.0, 0.35), {"glass": cal.Region("all", permittivity=3.0)}, outside=cal.Region(permittivity=2.0)
    )
    found = glass.solve(densities={"all": 1e-9} if "all" in glass.mesh.names else {int(glass.mesh.tags[0]): 1e-9})
    inside, outside = found.field([[0, 0, 0.2], [0, 0, 2.0]])
    exact = glass.mesh.area * 1e-9 / (8 * np.pi * EPS0)
    assert inside == pytest.approx(exact, rel=5e-3) and outside == pytest.approx(exact / 2, rel=5e-4)
    assert found.density.coefficients == pytest.approx(1e-9, rel=1e-12)
    assert found.energy == pytest.approx(0.5e-9 * glass.mesh.area * exact, rel=5e-3)
    with pytest.raises(ValueError, match="between materials with a given density"):
        found.forces()


def test_current_that_enters_at_walls():
    """A bar with 1 A/m^2 through its ends: the potential falls by 1 / sigma in a metre; an electrode takes the rest."""
    bar = cal.mesh.cuboid((1.0, 0.5, 0.5), h=0.5)
    end = np.abs(bar.centroids[:, 0]) > 0.49
    tags = np.where(end, np.sign(bar.centroids[:, 0]).astype(int), 0)
    mesh = cal.TriangleMesh(bar.vertices, bar.triangles, tags, {"side": 0, "in": 1, "out": -1})
    regions = {"bar": cal.Region(["side", "in", "out"], conductivity=4.0)}
    open_bar = cal.StaticProblem(mesh, regions, outside=None)
    found = open_bar.solve(densities={"in": 1.0, "out": -1.0})
    assert np.diff(found.field([[-0.2, 0, 0], [0.2, 0, 0]]))[0] == pytest.approx(0.1, rel=1e-4)
    assert found.dissipated_power == pytest.approx(0.25 / 4.0, rel=1e-4)
    earthed = cal.StaticProblem(mesh, regions, {"earth": "out"}, outside=None)
    found = earthed.solve(voltages={"earth": 0.0}, densities={"in": 1.0})
    assert found.totals["earth"] == pytest.approx(-0.25, rel=1e-4)
    assert found.field([[0.25, 0, 0]])[0] == pytest.approx(0.75 / 4.0, rel=1e-4)
    with pytest.raises(ValueError, match="sum to"):
        open_bar.solve(densities={"in": 1.0})
    with pytest.raises(ValueError, match="an electrode, follow from"):
        earthed.solve(voltages={"earth": 0.0}, densities={"out": 1.0})
