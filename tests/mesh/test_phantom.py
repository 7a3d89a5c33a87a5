"""The head next to a phone: volumes, surfaces, port, shapes of the elements."""

import numpy as np
import pytest

import calderon as cal

SEMI_AXES, THICKNESSES, BOX, DISTANCE, WIDTH = (0.1, 0.08, 0.115), (0.005, 0.007, 0.003), (0.05, 0.02, 0.11), 0.01, 4e-3
COARSE = {"brain": 0.02, "csf": 0.012, "skull": 0.014, "skin": 0.016, "air": 0.06, "phone": 0.02}


@pytest.fixture(scope="module")
def head():
    pytest.importorskip("gmsh")
    return cal.mesh.phantom(h=COARSE)


def ellipsoid(depth):
    return 4 / 3 * np.pi * np.prod(np.array(SEMI_AXES) - depth)


def test_tissues_have_the_volumes_of_the_ellipsoids(head):
    balls = [ellipsoid(depth) for depth in np.cumsum([0, *THICKNESSES])]
    exact = {"skin": balls[0] - balls[1], "skull": balls[1] - balls[2], "csf": balls[2] - balls[3], "brain": balls[3]}
    for name, volume in exact.items():
        assert head.volumes[head.tags == head.names[name]].sum() == pytest.approx(volume, rel=1e-9), name
    assert head.volumes[head.tags == head.names["feed"]].sum() == pytest.approx(WIDTH**3, rel=1e-9)


def test_metal_is_a_box_and_a_monopole_of_a_quarter_wavelength(head):
    corners = head.vertices[head.faces[head.face_tags == head.face_names["metal"]]]
    length = cal.exact.SPEED_OF_LIGHT / 900e6 / 4
    near = SEMI_AXES[1] + DISTANCE
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    np.testing.assert_allclose(low, [-BOX[0] / 2, near, -BOX[2]], atol=1e-9)
    np.testing.assert_allclose(high, [BOX[0] / 2, near + BOX[1], length], atol=1e-9)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
    x, y, z = BOX
    assert area == pytest.approx(2 * (x * y + y * z + z * x) + 4 * WIDTH * (length - WIDTH) + 2 * WIDTH**2, rel=1e-9)
    # its volume is missing in the air
    outer = np.linalg.norm(head.vertices[head.faces[head.face_tags == head.face_names["outer"]]], axis=2)
    np.testing.assert_allclose(outer, 0.3, rtol=1e-9)
    assert head.volumes.sum() < 4 / 3 * np.pi * 0.3**3 - x * y * z


def test_the_feed_joins_box_and_monopole(head):
    """Its two ends are metal, its four sides open to the air."""
    feed = np.flatnonzero(head.tags == head.names["feed"])
    across = head.neighbours[feed]
    corners = head.vertices[head.faces[-1 - across[across < 0]]]
    for height in (0.0, WIDTH):
        end = corners[np.isclose(corners[:, :, 2], height).all(axis=1)]
        area = np.linalg.norm(np.cross(end[:, 1] - end[:, 0], end[:, 2] - end[:, 0]), axis=1).sum() / 2
        assert area == pytest.approx(WIDTH**2, rel=1e-9)
    adjacent = set(head.tags[across[across >= 0]])
    assert adjacent == {head.names["feed"], head.names["air"]}


def test_few_tetrahedra_are_flat(head):
    assert head.quality.min() > 0.05 and np.quantile(head.quality, 0.01) > 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frequency": -1.0}, "frequency = -1.0: a positive, finite number"),
        ({"semi_axes": (0.1, 0.1)}, "semi_axes = .*3 positive lengths"),
        ({"thicknesses": (0.03, 0.03, 0.03)}, "smallest semi-axis"),
        ({"air_radius": 0.12}, "air_radius=0.12 m: more than 0.1.* m holds"),
        ({"width": 0.03}, "thinner than the box"),
        ({"h": {"bone": 0.01}}, "unknown name 'bone': choose 'skin', 'skull'"),
        ({"h": {"brain": 0.0}}, r"h\['brain'\] = 0.0: a positive, finite number"),
        ({"h": 0.01}, r"h=0.01: lengths by part are needed, such as h=\{'brain': 0.008\}"),
        ({"h": {"brain": "1 cm"}}, r"h\['brain'\] = '1 cm': a positive, finite number without a unit"),
        ({"box": 0.05}, "box = 0.05: 3 positive lengths"),
        ({"distance": None}, "distance = None: a positive, finite number"),
        ({"frequency": 900e9}, "a quarter of the wavelength, 8.3.*e-05 m: choose a smaller width or a lower frequency"),
        ({"semi_axes": (100, 80, 115)}, "all lengths are in metres"),
    ],
)
def test_what_cannot_be_built_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        cal.mesh.phantom(**options)


@pytest.mark.parametrize("options", [{"h": {"csf": 5e-5}}, {"air_radius": 300.0}])
def test_more_tetrahedra_than_memory_holds_are_refused(options):
    with pytest.raises(MemoryError, match="a mesh of about .* tetrahedra needs .* choose edges longer than h"):
        cal.mesh.phantom(**options)


def test_the_number_of_tetrahedra_is_known_before(head, monkeypatch):
    def stop(needed, *_):
        raise MemoryError(needed)

    monkeypatch.setattr("calderon.mesh.sizes.require_memory", stop)
    with pytest.raises(MemoryError) as error:
        cal.mesh.phantom(h=COARSE)
    assert error.value.args[0] / 1500 == pytest.approx(head.number_of_tetrahedra, rel=0.4)
