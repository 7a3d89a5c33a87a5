"""Stacks of layers: what they state, their constants at a frequency, and what they refuse."""

import numpy as np
import pytest

import calderon as cal
from calderon.layers.radiation import surface_waves

BOARD = cal.Stack([cal.Layer(1.5e-3, eps_r=2.2), cal.Layer(0.5e-3, eps_r=4, conductivity=0.1)], below="pec")


def test_a_drawing_shows_layers_from_above():
    lines = str(BOARD).splitlines()
    assert lines[0] == "half-space, eps_r 1"
    assert [line.split("z = ")[1] for line in lines[1::2]] == ["2 mm", "1.5 mm", "0 mm"]
    assert lines[2::2] == ["0.5 mm, eps_r 4, 0.1 S/m", "1.5 mm, eps_r 2.2", "perfect electric conductor"]
    board = str(cal.Stack([cal.Layer(3.175e-3, eps_r=2.33)], below="pec"))
    assert board == str(cal.Stack(cal.Layer(3.175e-3, eps_r=2.33), below="pec"))
    assert board.endswith("surface waves: TM0 at all frequencies, TE1 from 20.47 GHz, TM1 from 40.94 GHz")


def test_cutoffs_are_where_poles_of_the_line_leave_the_half_space():
    """A slab of thickness d over a conductor: TM n c / (2 d root(eps - 1)), TE (n - 1/2) of that; a free slab of 2 d
    has those of both walls in its middle. Of several layers just above the cutoff there is one pole more than below."""
    step = 299792458.0 / (2e-3 * np.sqrt(3))
    expected = [("TM0", 0.0), ("TE1", step / 2), ("TM1", step), ("TE2", 1.5 * step)]
    for found, wanted in zip(cal.Stack([cal.Layer(1e-3, 4)], below="pec").surface_waves(4), expected, strict=True):
        assert found[0] == wanted[0] and found[1] == pytest.approx(wanted[1], rel=1e-9)
    free = cal.Stack([cal.Layer(2e-3, 4)]).surface_waves(4)
    assert [name for name, _ in free] == ["TM0", "TE0", "TM1", "TE1"]
    assert [f for _, f in free] == pytest.approx([0, 0, step / 2, step / 2], rel=1e-9)
    several = cal.Stack([cal.Layer(1e-3, 3), cal.Layer(0.4e-3, 8)], below="pec")
    for kind, first in (("TE1", "TE"), ("TM1", "TM")):
        f = dict(several.surface_waves(4))[kind]
        waves = [surface_waves(several.at(x * f), several.top) for x in (0.97, 1.1)]
        count = [sum(wave.kind == first for wave in each) for each in waves]
        assert count[1] == count[0] + 1
    assert cal.Stack([cal.Layer(1e-3, 4)], below="pec", above="pec").surface_waves() == []


def test_heights_begin_at_the_first_finite_layer():
    ground = cal.Stack(below=cal.Layer(eps_r=13, conductivity=0.005))
    assert BOARD.top == 2e-3 and list(BOARD.interfaces) == [0, 1.5e-3, 2e-3]
    assert ground.top == 0 and list(ground.interfaces) == [0]
    sections = BOARD.at(1e9)
    assert [sections.layer_of(z) for z in (0, 1e-3, 1.5e-3, 1.0)] == [0, 0, 1, 2]
    assert [sections.layer_of(z, "below") for z in (1.5e-3, 2e-3)] == [0, 1]
    assert [ground.at(1e6).layer_of(z) for z in (-1e3, 0, 5.0)] == [0, 1, 1]
    with pytest.raises(ValueError, match=r"z = -0.001 m is outside of the stack, which reaches from 0 to inf m"):
        sections.layer_of(-1e-3)


def test_losses_are_positive_imaginary_parts():
    layer = cal.Layer(1e-3, eps_r=3, tan_delta=0.02, conductivity=0.5)
    loss = 0.5 / (2 * np.pi * 2e9 * 8.8541878128e-12)
    assert layer.permittivity(2e9) == pytest.approx(3 + 0.06j + 1j * loss, rel=1e-9)
    copper = cal.planar.Conductor(5.8e7).impedance(1e9)
    assert copper == pytest.approx((1 - 1j) * np.sqrt(np.pi * 1e9 * 4e-7 * np.pi / 5.8e7), rel=1e-8)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: cal.Layer(0.0), "the thickness of a layer in m must be a positive number, got 0.0"),
        (lambda: cal.Layer(np.nan), "the thickness of a layer in m must be a positive number, got nan"),
        (lambda: cal.Layer(1e-3, eps_r=2 - 0.1j), "eps_r of a layer .* which is gain"),
        (lambda: cal.Layer(1e-3, tan_delta=-0.1), "tan_delta of a layer must not be negative, which is gain"),
        (lambda: cal.Layer(1e-3, eps_r=2 + 0.1j, tan_delta=0.1), "goes with a real eps_r"),
        (lambda: cal.Stack([cal.Layer(eps_r=2)]), "layer 0 has no thickness"),
        (lambda: cal.Stack([], below=cal.Layer(1e-3)), "a layer of thickness 0.001 m belongs to layers"),
        (lambda: cal.Stack([], below="metal"), "below= must be a Layer without thickness, .* got 'metal'"),
        (lambda: cal.Stack([], below="pec", above="pec"), "a stack between two walls needs a layer"),
        (lambda: cal.planar.SurfaceImpedance(-1), "must not have a negative real part, which is gain"),
        (lambda: cal.planar.Conductor(0), "conductivity of a conductor in S/m must be a positive number"),
        (lambda: BOARD.at(0), "frequency must be a positive number, got 0"),
        (lambda: BOARD.at(np.nan), "frequency must be a positive number"),
    ],
)
def test_mistakes_are_named(make, text):
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize("eps, thickness", [(1.05, 3e-4), (2.2, 1e-3)])
def test_surface_waves_next_to_the_wavenumber_of_vacuum(eps, thickness):
    """The dispersion relation of TM0, at 4e-8 and 7e-5 of k0 from k0."""
    sections = cal.Stack([cal.Layer(thickness, eps)], below="pec").at(1e9)
    (wave,) = surface_waves(sections, thickness)
    away, inside = (wave.k**2 - sections.k0**2) ** 0.5, (eps * sections.k0**2 - wave.k**2) ** 0.5
    assert abs(eps * away / (inside * np.tan(inside * thickness)) - 1) < 1e-7
    assert wave.k.real / sections.k0 - 1 == pytest.approx(
        ((eps - 1) / eps * sections.k0 * thickness) ** 2 / 2, rel=1e-3
    )
