"""Scattering by a box that is thinner than its elements: the warning, what it says, and the remedies."""

import re
import warnings

import numpy as np
import pytest

import calderon as cal
from calderon.mesh import AccuracyWarning

K = 3.0
LIMIT = 0.5049
"""|far field| along the wave of the rigid box 1 x 1 x 1e-4: cells graded by 3, h = 0.2, 0.1, 0.07, extrapolated. The
open sheet without thickness gives 0.5028, 0.5042 for h = 0.2, 0.1."""
WAVE = cal.PlaneWave((0.0, 0.0, 1.0), K)


def box(h, **options):
    return cal.mesh.cuboid((1.0, 1.0, 1e-4), h, **options)


def forward(mesh):
    solution = cal.SoundHardScattering(mesh, K).solve(WAVE, rtol=1e-6, solver="lu")
    return abs(solution.far_field(np.array([[0.0, 0.0, 1.0]]))[0])


def test_even_elements_are_warned_of_with_their_error():
    with pytest.warns(AccuracyWarning, match="thinner than half an element") as caught:
        value = forward(box(0.2))
    text = str(caught[0].message)
    predicted = float(re.search(r"wrong by about (\S+) %", text).group(1)) / 100
    assert abs(value / LIMIT - 1) == pytest.approx(predicted, rel=0.3)
    assert "36 triangles" in text and "0.2 high" in text and "0.0001 away" in text and "grading=3" in text


@pytest.mark.parametrize(
    ("make", "triangles", "error"),
    [
        (lambda: box(0.25, grading=3), 480, 7e-3),
        pytest.param(lambda: box(0.2, grading=2.5), 672, 5e-3, marks=pytest.mark.variant),
        pytest.param(lambda: box(0.1).refine_edges(0.2), 2200, 5e-3, marks=pytest.mark.variant),
    ],
    ids=["graded by 3", "graded by 2.5", "bisected"],
)
def test_graded_elements_reach_half_a_percent_without_a_warning(make, triangles, error):
    mesh = make()
    assert mesh.number_of_triangles <= triangles
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        assert abs(forward(mesh) / LIMIT - 1) < error


def test_the_ratio_that_the_warning_names_ends_it():
    mesh = box(0.1)
    with pytest.warns(AccuracyWarning, match="thinner") as caught:
        cal.SoundHardScattering(mesh, K)
    ratio = float(re.search(r"refine_edges\((\S+)\)", str(caught[0].message)).group(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        cal.SoundHardScattering(mesh.refine_edges(ratio), K)
    with pytest.warns(AccuracyWarning, match="thinner"):
        cal.SoundHardScattering(mesh.refine_edges(4 * ratio), K)
