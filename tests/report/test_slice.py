"""The field in a plane, next to the body and on its surface."""

import numpy as np
import pytest

from calderon.case import CaseError, parse
from calderon.kinds.surface.computing import moments_of
from calderon.kinds.surface.panels.fields import surface_scene
from calderon.report import Stages, run

CASE = """\
[mesh]
shape = "cube"
size = "1 m"
h = "0.25 m"
[physics]
problem = "sound-hard"
wavenumber = 1.0
[incident]
direction = [1, 0, 0]
[output]
slice = { plane = "xy", size = ["2 m", "2 m"], points = 9 }
"""


def test_points_on_the_surface_show_the_field_outside_not_the_mean_of_both_sides():
    """The grid of 0.25 m has points on the faces x = -0.5 and y = -0.5."""
    results = run(parse(CASE))
    assert not [text for text in results.warnings if "surface" in text]
    cut, step = results.steps[0].slice, results.steps[0]
    assert cut is not None
    vertices = results.mesh.vertices
    compared = 0
    for place in np.argwhere(np.isfinite(cut.values)):
        point = cut.points[tuple(place)]
        node = np.flatnonzero(np.linalg.norm(vertices - point, axis=1) < 1e-9)
        if len(node):
            surface = step.surface.coefficients[node[0]]
            assert abs(cut.values[tuple(place)] - surface) < 0.1 * abs(surface)
            compared += 1
    assert compared >= 8


def test_a_sweep_has_the_plane_at_five_frequencies():
    sweep = CASE.replace("wavenumber = 1.0", 'frequency = ["40 Hz", "60 Hz"]\nspeed_of_sound = "340 m/s"')
    results = run(parse(sweep))
    shown = surface_scene(results).layers[1].fields[0].values
    for step, values in zip(results.steps, shown, strict=True):
        np.testing.assert_array_equal(values.reshape(step.slice.values.shape), step.slice.values)
    assert not np.array_equal(*(step.slice.values for step in results.steps), equal_nan=True)
    many = parse(sweep.replace('["40 Hz", "60 Hz"]', '{ start = "40 Hz", stop = "60 Hz", count = 9 }'))
    assert [each.in_plane for each in moments_of(many.case)] == [n % 2 == 0 for n in range(9)]


INTERIOR = CASE.replace('"sound-hard"\nwavenumber = 1.0', '"laplace-dirichlet"\npotential = 1\nside = "interior"')
INTERIOR = INTERIOR.replace("[incident]\ndirection = [1, 0, 0]\n", "")


@pytest.mark.parametrize(
    ("case", "plane", "message"),
    [
        (
            CASE,
            'size = ["0.5 m", "0.5 m"]',
            r'line 11: output.slice = "xy, 0.5 m x 0.5 m": no point lies outside of the',
        ),
        (
            INTERIOR,
            'size = ["1 m", "1 m"], centre = [3, 0, 0]',
            r"no point lies inside the body, which has x from -0.5 to",
        ),
    ],
)
def test_a_plane_without_a_field_is_refused_before_the_solution(case, plane, message):
    text, begun = case.replace('size = ["2 m", "2 m"]', plane), []
    with pytest.raises(CaseError, match=message):
        run(parse(text, "case.toml"), Stages(lambda name, seconds: begun.append(name)))
    assert plane in text and begun == ["make the mesh"]
