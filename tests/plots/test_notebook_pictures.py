"""Pictures, meshes and exact fields show themselves in notebooks."""

import io

import numpy as np
from PIL import Image

import calderon as cal
import calderon.plots as plots


def test_a_figure_shows_itself_as_png():
    figure = plots.cartesian(np.arange(5.0), {"a": np.arange(5.0)})
    bundle = figure._repr_mimebundle_()
    picture = Image.open(io.BytesIO(bundle["image/png"]))
    assert picture.format == "PNG" and min(picture.size) > 100 and len(set(picture.convert("L").tobytes())) > 5


def test_fields_on_planes_and_spheres_show_a_picture_and_their_data():
    """The dataset has the values of the picture; points alone have no picture."""
    problem = cal.LaplaceDirichlet(cal.mesh.cube(1.0, h=1.0), side="exterior")
    solution = problem.solve(1.0)
    for samples in (
        solution.on_plane(size=[4, 4], points=[9, 7]),
        solution.on_sphere(2.0, [0.5, 1.0], [0.0, 1.0, 2.0]),
    ):
        bundle = samples._repr_mimebundle_()
        assert Image.open(io.BytesIO(bundle["image/png"])).format == "PNG"
        assert bundle["text/html"].startswith("<img") and "xr-wrap" in bundle["text/html"]
    assert "image/png" not in solution.at_points([[2.0, 0, 0]])._repr_mimebundle_()


def test_a_mesh_shows_its_tags():
    text = cal.mesh.sample("bracket")._repr_html_()
    assert "closed surface" in text and all(name in text for name in ("base", "bolts", "bore"))


def test_exact_fields_have_one_line():
    sources = cal.exact.point_sources([[0, 0, 0], [1, 0, 0]], [1.0, 2.0], 3.0)
    fields = [cal.exact.rigid_sphere(2.0, 1.0), cal.exact.radiating_sphere(2.0, 1.0), sources]
    assert all("\n" not in repr(one) and len(repr(one)) < 100 for one in fields)
    assert repr(sources) == "PointSources(2 sources, k = 3)"
