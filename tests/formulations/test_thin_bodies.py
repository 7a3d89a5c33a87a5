"""A box that is thinner than its elements: the warning, what it says, and the remedies."""

import re
import warnings

import numpy as np
import pytest

import calderon as cal
from calderon.mesh import AccuracyWarning

K = 3.0
FORWARD = 0.5049
"""|far field| along the wave of the rigid box 1 x 1 x 1e-4: cells graded by 3, h = 0.2, 0.1, 0.07, extrapolated. The
open sheet without thickness gives 0.5028, 0.5042 for h = 0.2, 0.1."""
ADDED_MASS = 0.579 * np.pi / 4
"""Added mass of a square plate that moves across (W. K. Meyerhoff, J. Ship Res. 14 (1970) 100)."""


def box(h, **options):
    return cal.mesh.cuboid((1.0, 1.0, 1e-4), h, **options)


def forward(mesh):
    solution = cal.SoundHardScattering(mesh, K).solve(cal.PlaneWave((0.0, 0.0, 1.0), K), rtol=1e-6, solver="lu")
    return abs(solution.far_field(np.array([[0.0, 0.0, 1.0]]))[0])


def added_mass(mesh):
    potential = cal.LaplaceNeumann(mesh).solve(lambda x, n: -n[:, 2], solver="lu").surface
    mean = potential.coefficients[potential.space.dofs].mean(axis=1)
    return mean @ (mesh.normals[:, 2] * mesh.areas)


def test_even_elements_are_warned_of_with_their_error():
    with pytest.warns(AccuracyWarning, match="thinner than half an element") as caught:
        value = added_mass(box(0.2))
    text = str(caught[0].message)
    predicted = float(re.search(r"wrong by about (\S+) %", text).group(1)) / 100
    assert abs(value / ADDED_MASS - 1) == pytest.approx(predicted, rel=0.3)
    assert "36 triangles" in text and "0.2 high" in text and "0.0001 away" in text and "grading=3" in text


@pytest.mark.parametrize(
    ("compute", "exact", "make", "triangles"),
    [
        (added_mass, ADDED_MASS, lambda: box(0.25, grading=2.5), 480),
        pytest.param(forward, FORWARD, lambda: box(0.2, grading=2.5), 672, marks=pytest.mark.variant),
    ],
    ids=["added mass", "far field"],
)
def test_graded_elements_reach_half_a_percent(compute, exact, make, triangles):
    mesh = make()
    assert mesh.number_of_triangles <= triangles
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        assert abs(compute(mesh) / exact - 1) < 5e-3


def wrong_by(problem):
    """The error in per cent that building the problem warns of, 0 without a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem()
    thin = [str(each.message) for each in caught if "thinner than half an element" in str(each.message)]
    return float(re.search(r"about (\S+) %", thin[0]).group(1)) if thin else 0.0


def test_each_problem_warns_by_its_own_measured_error():
    even, fine = box(0.2), box(0.2).refine_edges(0.05)
    sound, fields = cal.SoundHardScattering, cal.PECScattering
    problems = {
        8.0: [lambda m: sound(m, K), lambda m: cal.ImpedanceScattering(m, K, 0.1), lambda m: cal.LaplaceNeumann(m)],
        3.2: [lambda m: cal.SoundSoftScattering(m, K)],
        2.6: [lambda m: fields(m, K, formulation="efie"), lambda m: fields(m, K, formulation="calderon")],
        5.4: [lambda m: fields(m, K)],
        1.4: [lambda m: cal.LaplaceDirichlet(m)],
    }
    for error, several in problems.items():
        for problem in several:
            assert wrong_by(lambda problem=problem: problem(even)) == pytest.approx(error, rel=1e-6)
            assert wrong_by(lambda problem=problem: problem(fine)) == 0
    # a penetrable body has no jump
    assert wrong_by(lambda: cal.FluidTransmission(even, K, 2.0, 1.5)) == 0


def test_the_ratio_that_the_warning_names_ends_it():
    mesh = box(0.1)
    with pytest.warns(AccuracyWarning, match="thinner") as caught:
        cal.SoundHardScattering(mesh, K)
    ratio = float(re.search(r"refine_edges\((\S+)\)", str(caught[0].message)).group(1))
    assert wrong_by(lambda: cal.SoundHardScattering(mesh.refine_edges(ratio), K)) == 0
    assert wrong_by(lambda: cal.SoundHardScattering(mesh.refine_edges(4 * ratio), K)) > 0.5
