"""Impedances of metal that is thin, rough or magnetic: layers of that metal, limits, and round wires."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact import VACUUM_IMPEDANCE
from calderon.layers import Conductor, Layer, Stack, spectral_greens

F, SIGMA = 1e8, 1e6
DELTA = 1 / np.sqrt(np.pi * F * 4e-7 * np.pi * SIGMA)


def ohms_of(stack):
    """The impedance that a plane wave from above meets: V_i on the face is that of it next to vacuum."""
    sections = stack.at(F)
    voltage = -1j * sections.k0 * spectral_greens(sections, 0.0, stack.top, stack.top).xx
    return VACUUM_IMPEDANCE / (1 / voltage - 1)


@pytest.mark.parametrize("thickness", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("mu", [1.0, 50.0 + 20.0j])
def test_metal_of_a_thickness_is_a_layer_with_no_current_behind(thickness, mu):
    t = thickness * DELTA / np.sqrt(abs(mu))
    layers = Stack([Layer(t, mu_r=mu, conductivity=SIGMA)], below="pmc")
    assert Conductor(SIGMA, t, mu).impedance(F) == pytest.approx(ohms_of(layers), rel=1e-4)


def test_limits_of_thickness_and_sheets():
    thick, thin = Conductor(SIGMA, 20 * DELTA), Conductor(SIGMA, 1e-4 * DELTA)
    assert thick.impedance(F) == pytest.approx(Conductor(SIGMA).impedance(F), rel=1e-12)
    assert thick.sheet_impedance(F) == pytest.approx(thick.impedance(F) / 2, rel=1e-6)
    for found in (thin.impedance(F), thin.sheet_impedance(F)):
        assert found == pytest.approx(1 / (SIGMA * 1e-4 * DELTA), rel=1e-6)
    assert cal.Sheet("air", thin).loss(F) == thin.sheet_impedance(F)


def test_roughness_doubles_the_resistance_at_most():
    smooth = Conductor(SIGMA).impedance(F)
    factors = [Conductor(SIGMA, roughness=r * DELTA).impedance(F).real / smooth.real for r in (0, 1e-3, 1, 100)]
    assert factors == pytest.approx([1, 1 + 2.8e-6 / np.pi, 1 + 2 / np.pi * np.arctan(1.4), 2], rel=1e-4)
    assert Conductor(SIGMA, roughness=DELTA).impedance(F).imag == smooth.imag


def test_thick_wires_have_the_impedance_of_a_face_around_them():
    metal = Conductor(SIGMA, permeability=20.0, roughness=DELTA)
    wire = cal.Wire([[0, 0, 0], [0, 0, 1]], 200 * DELTA, 2, metal)
    assert wire.impedance(F) == pytest.approx(metal.impedance(F) / (2 * np.pi * 200 * DELTA), rel=2e-3)
    with pytest.raises(ValueError, match="wires are solid"):
        cal.Wire([[0, 0, 0], [0, 0, 1]], 1e-3, 2, Conductor(SIGMA, 1e-5))


@pytest.mark.parametrize(
    ("given", "message"),
    [({"thickness": 0.0}, "thickness of a conductor"), ({"permeability": 1 - 1j}, "permeability of a conductor"),
     ({"roughness": -1e-6}, "must not be negative")],
)  # fmt: skip
def test_metal_that_cannot_be_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Conductor(SIGMA, **given)
