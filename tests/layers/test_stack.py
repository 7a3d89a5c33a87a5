"""Stacks of layers: what they state, their constants at a frequency, and what they refuse."""

import numpy as np
import pytest

import calderon as cal

BOARD = cal.Stack([cal.Layer(1.5e-3, eps_r=2.2), cal.Layer(0.5e-3, eps_r=4, conductivity=0.1)], below="pec")


def test_a_drawing_shows_layers_from_above():
    lines = str(BOARD).splitlines()
    assert lines[0] == "half-space, eps_r 1"
    assert [line.split("z = ")[1] for line in lines[1::2]] == ["2 mm", "1.5 mm", "0 mm"]
    assert lines[2::2] == ["0.5 mm, eps_r 4, 0.1 S/m", "1.5 mm, eps_r 2.2", "perfect electric conductor"]


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
    copper = cal.Conductor(5.8e7).impedance(1e9)
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
        (lambda: cal.SurfaceImpedance(-1), "must not have a negative real part, which is gain"),
        (lambda: cal.Conductor(0), "conductivity of a conductor in S/m must be a positive number"),
        (lambda: BOARD.at(0), "frequency must be a positive number, got 0"),
        (lambda: BOARD.at(np.nan), "frequency must be a positive number"),
    ],
)
def test_mistakes_are_named(make, text):
    with pytest.raises(ValueError, match=text):
        make()
