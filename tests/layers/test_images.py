"""Static images next to thin layers: series of one layer, what tables are without them, and refusals."""

import numpy as np
import pytest

from calderon import Layer, Stack
from calderon.layers import tables
from calderon.layers.limits.images import NO_IMAGES, static_images
from calderon.layers.tables import table_of
from catalogue import cases

SIZE = 2e-3


def static_charge_potential(eps, d, rho):
    """K of a charge on a layer over a conductor: c sum (-r)^n (1 / R_n - 1 / R_(n+1)) / (4 pi), as differences."""
    r, total = (eps - 1) / (eps + 1), 0.0
    for n in range(400):
        one, two = np.hypot(rho, 2 * n * d), np.hypot(rho, 2 * (n + 1) * d)
        total = total + (-r) ** n * 4 * d**2 * (2 * n + 1) / (one * two * (one + two))
    return 2 / (1 + eps) * total / (4 * np.pi)


@pytest.mark.parametrize("eps", cases([1.0, 2.2, 10.0], [1.0, 10.0]))
@pytest.mark.parametrize("ratio", cases([0.1, 1e-3, 1e-4], [0.1, 1e-4]))
def test_tables_of_a_thin_layer_over_a_conductor(eps, ratio):
    d = ratio * SIZE
    sections = Stack([Layer(d, eps)], below="pec").at(1e6)
    images = static_images(sections, d, d, SIZE)
    assert images.distances[:2].tolist() == [0.0, 2 * d] and len(images.distances) < 40
    table = table_of(sections, d, d, 20 * SIZE, images, (SIZE / 10, np.inf))
    rho = SIZE * np.array([0.1, 0.3, 1.0, 3.0, 15.0])
    errors = np.abs(table(rho)[1] / static_charge_potential(eps, d, rho) - 1)
    assert errors[:3].max() < 1e-6 and errors.max() < 1e-3  # of what is 1e-10 of the source's potential
    near = d * np.array([1e-2, 0.5, 2.0])
    whole = (table.rest(near) + images(near))[1]
    assert np.abs(whole / static_charge_potential(eps, d, near) - 1).max() < 1e-6
    rest = np.abs(table.rest(SIZE * np.linspace(0, 1, 30))[1])
    assert rest.max() < 0.2 / SIZE  # no peak is left where the source has 1 / (8 pi d)


def test_two_heights_with_several_layers_have_the_potentials_of_free_space():
    """Layers of one medium are none: what is left of both potentials is a multiple of k."""
    d = 1e-4 * SIZE
    sections = Stack([Layer(d), Layer(d), Layer(3 * d)]).at(1e9)
    faces = np.unique(sections.high[:-1])
    images = static_images(sections, faces[2], faces[1], SIZE)
    rho = SIZE * np.array([1e-4, 1e-2, 1.0])
    wave = np.exp(1j * sections.k0 * np.hypot(rho, d)) / (4 * np.pi * np.hypot(rho, d))
    table = table_of(sections, faces[2], faces[1], 10 * SIZE, images)
    for found in (table(rho), table.rest(rho) + images(rho)):
        assert np.abs(np.array(found) - wave).max() < 1e-6 * np.abs(wave).max()


def test_thick_layers_have_none():
    sections = Stack([Layer(SIZE, 2.2)], below="pec").at(1e9)
    assert static_images(sections, SIZE, SIZE, SIZE) is NO_IMAGES
    source = static_images(sections, SIZE, SIZE, SIZE, required=True)
    assert source.distances.tolist() == [0.0] and np.allclose([source.xx[0], source.K[0]], [1.0, 2 / 3.2])


def test_a_table_that_misses_is_refused(monkeypatch):
    """Without images, and with few intervals, a layer of a ten thousandth of the reach is not resolved."""
    sections = Stack([Layer(1e-6, 2.2)], below="pec").at(1e9)
    monkeypatch.setattr(tables, "LIMITS", tables.LIMITS._replace(halvings=3))
    with pytest.raises(ValueError, match="change so fast at distances .* make the layers next to the metal thicker"):
        table_of(sections, 1e-6, 1e-6, 20e-3)
