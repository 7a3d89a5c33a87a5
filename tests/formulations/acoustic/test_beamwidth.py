"""Beamwidths against the piston in a baffle and multipoles."""

import numpy as np
import pytest
import scipy

import calderon as cal
from calderon.formulations.acoustic.results.beamwidth import beamwidth

X, Y, Z = np.eye(3)


def piston(ka, half_space="+z"):
    def pattern(directions):
        x = ka * np.linalg.norm(directions[:, :2], axis=1) + 1e-12
        return (2 * scipy.special.j1(x) / x) ** 2

    return lambda *given: beamwidth(pattern, *given, ka, half_space)


def test_a_piston_has_the_beamwidth_of_its_closed_form():
    for ka in (2.0, 8.0, 40.0):
        x = scipy.optimize.brentq(lambda x: 20 * np.log10(2 * scipy.special.j1(x) / x) + 3, 1.0, 2.5)
        assert piston(ka)(Z, X, 3.0) == pytest.approx(2 * np.arcsin(x / ka), rel=1e-9)
        assert piston(ka)(Z, X + 3 * Z, 3.0) == pytest.approx(2 * np.arcsin(x / ka), rel=1e-9)
    assert piston(1.0)(Z, X, 3.0) == pytest.approx(np.pi)  # up to the plane: it never falls by 3 dB
    assert piston(1.0, "")(Z, X, 3.0) == pytest.approx(2 * np.pi)


def test_a_dipole_and_one_side_of_a_beam():
    def cosine(directions):
        return 3 * directions[:, 2] ** 2

    expected = 2 * np.arccos(10 ** (-6 / 20))
    assert beamwidth(cosine, Z, X, 6.0, 0.1, "") == pytest.approx(expected, rel=1e-9)
    # in a half space x > 0 a beam along z ends at the plane on one side
    assert beamwidth(cosine, Z, X, 6.0, 0.1, "+x") == pytest.approx(expected / 2, rel=1e-9)


def test_what_a_beamwidth_refuses():
    for direction, toward, drop, match in (
        (Z, -2 * Z, 3.0, "span a plane"), (-Z, X, 3.0, "beyond the plane"),
        (Z, X, 0.0, "drop"), (Z, X, 30.0, "up to 20 dB"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            piston(2.0)(direction, toward, drop)
    with pytest.raises(ValueError, match="no sound goes"):
        beamwidth(lambda directions: directions[:, 0] ** 2, Z, X, 3.0, 1.0, "")


def test_a_solution_knows_its_beamwidth():
    fluid = cal.Fluid(1.2, 343.0)
    disc = cal.mesh.disc(1.0, 0.25)
    plate = cal.AcousticProblem(disc, 4.0, fluid=fluid, conditions=cal.Velocity(1.0), mirrors=cal.Baffle()).solve()
    assert plate.beamwidth(Z, X) == pytest.approx(piston(4.0)(Z, X, 3.0), rel=0.01)
    whole = cal.mesh.sphere(0.5, 0.4)
    sphere = cal.AcousticProblem(whole, 1.0, fluid=fluid, conditions=cal.Velocity([0, 0, 1.0])).solve()
    assert sphere.beamwidth(Z, Y) == pytest.approx(2 * np.arccos(10 ** (-3 / 20)), rel=1e-3)
