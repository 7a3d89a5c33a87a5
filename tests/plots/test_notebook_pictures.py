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


def test_a_mesh_shows_its_tags():
    text = cal.mesh.sample("bracket")._repr_html_()
    assert "closed surface" in text and all(name in text for name in ("base", "bolts", "bore"))


def test_exact_fields_have_one_line():
    sources = cal.exact.point_sources([[0, 0, 0], [1, 0, 0]], [1.0, 2.0], 3.0)
    fields = [cal.exact.rigid_sphere(2.0, 1.0), cal.exact.radiating_sphere(2.0, 1.0), sources]
    assert all("\n" not in repr(one) and len(repr(one)) < 100 for one in fields)
    assert repr(sources) == "PointSources(2 sources, k = 3)"
