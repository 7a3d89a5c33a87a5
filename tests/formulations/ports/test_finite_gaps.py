"""Gaps of finite width in metal between unlike media."""

import numpy as np
import pytest

import calderon as cal

K = 2 * np.pi
GAP = cal.FiniteGap("gap", ("left", "right"))
NAMES = {"board": 0, "left": 1, "right": 2, "gap": 3, "other": 4}
SIDES = ("air", "board")


def printed(eps, h=0.05, ports=GAP, change=None, **given):
    """A strip of 0.35 x 0.1 on a board of 0.45 x 0.2 x 0.05 with a gap of 0.05 in its middle."""
    board = cal.mesh.cuboid((0.45, 0.2, 0.05), h)
    x, y, _ = board.centroids.T
    strip = (board.normals[:, 2] > 0.5) & (abs(x) < 0.175) & (abs(y) < 0.05)
    tags = np.where(strip, np.where(abs(x) < 0.025, 3, np.where(x < 0, 1, 2)), 0)
    if change is not None:
        tags = change(tags, x, y)
    surfaces = {"board": cal.Interface(*SIDES), "left": cal.Metal(*SIDES), "right": cal.Metal(*SIDES)}
    surfaces |= {"gap": cal.Interface(*SIDES)} | ({"other": cal.Metal(*SIDES)} if (tags == 4).any() else {})
    mesh = cal.TriangleMesh(board.vertices, board.triangles, tags, NAMES)
    media = {"air": cal.Material(), "board": cal.Material(eps)}
    given = {"regions": media, "surfaces": surfaces, "wavenumber": K, **given}
    return cal.MaxwellProblem(mesh, ports=ports, **given)


@pytest.mark.parametrize("eps", [1.0, 4.0])
def test_what_goes_in_comes_out_and_more_so_in_finer_meshes(eps):
    errors = [abs(printed(eps, h).solve().power_ratio - 1) for h in (0.05, 0.025)]
    assert errors[0] < 0.02 and errors[1] < 0.3 * errors[0]


def test_loads_circuits_and_losses_of_a_gap():
    bare, load = printed(4.0).solve(), cal.Lumped(GAP, resistance=30.0, inductance=1e-9)
    loaded = printed(4.0, loads=load)
    found, f = loaded.solve(), loaded.frequency
    assert found.input_impedance == pytest.approx(bare.input_impedance + load.impedance_at(f), rel=1e-10)
    joined = printed(4.0).connected([[0.01]], GAP).solve()
    assert 1 / joined.input_impedance == pytest.approx(0.01 + 1 / bare.input_impedance, rel=1e-9)
    assert joined.input_power == pytest.approx(joined.radiated_power() + joined.circuit_power, rel=0.02)
    lossy = {"air": cal.Material(), "board": cal.Material(4.0, loss_tangent=0.05)}
    warm = printed(4.0, regions=lossy).solve()
    assert 0.5 < warm.efficiency() < 0.95 and abs(warm.power_ratio - 1) < 0.02
    assert "% of the input power" in str(warm)


def test_a_gap_and_a_wire_are_reciprocal_and_turning_a_gap_changes_the_sign():
    wire, at = cal.Wire([[0.1, -0.1, 0.2], [0.1, 0.15, 0.25]], 1e-3, 8), cal.WireGap([0.1, 0.025, 0.225])
    y = printed(4.0, ports=[GAP, at], wires=wire).admittance_matrix()
    assert y[0, 1] == pytest.approx(y[1, 0], rel=1e-9)
    back = printed(4.0, ports=[cal.FiniteGap("gap", ("right", "left")), at], wires=wire).admittance_matrix()
    np.testing.assert_allclose(back, y * [[1, -1], [-1, 1]], rtol=1e-8)


def test_an_infinite_load_in_a_gap_is_no_gap():
    wave = cal.PlaneWave([0, 0.6, -0.8], polarization=[1, 0, 0], wavenumber=K)
    bare = printed(4.0, ports=(), frequency=299792458.0, wavenumber=None).solve(wave, solver="lu")
    cut = printed(4.0, ports=(), loads=cal.Lumped(GAP, resistance=1e8)).solve(wave, solver="lu")
    short = printed(4.0, ports=GAP).solve(wave)
    directions = np.linspace(0, np.pi, 5), 0.3
    np.testing.assert_allclose(cut.far_field(*directions), bare.far_field(*directions), rtol=1e-4, atol=1e-7)
    assert abs(short.rcs(0.0, 0.0) / bare.rcs(0.0, 0.0) - 1) > 0.05


REFUSED = {
    "are metal": cal.FiniteGap("left", ("gap", "right")),
    "no edge joins": cal.FiniteGap("gap", ("left", "other")),
    "two pieces of metal": cal.FiniteGap("gap", ("left", "board")),
    "unknown tags": cal.FiniteGap("none", ("left", "right")),
}


@pytest.mark.parametrize("message", [*REFUSED, "a pair of tags"])
def test_gaps_that_cannot_be_are_refused(message):
    with pytest.raises((ValueError, KeyError), match=message):
        gap = REFUSED.get(message) or cal.FiniteGap("gap", ("left",))
        far = lambda tags, x, y: np.where((tags == 0) & (x > 0.18) & (abs(y) > 0.06), 4, tags)  # noqa: E731
        printed(4.0, ports=gap, change=far)
