"""Media that depend on the frequency: limits, causality, and where they are used and refused."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact.vacuum import VACUUM_PERMITTIVITY, permittivity_of

MODELS = [
    cal.Debye(5.2, [70.0, 3.0], [8e-12, 1e-12]),
    cal.Lorentz(2.0, [1.0, 0.5], [5e10, 2e11], [1e10, 5e10]),
    cal.ColeCole(4.0, 50.0, 8e-12, 0.0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda each: type(each).__name__)
def test_models_satisfy_kramers_and_kronig(model):
    """Re eps - eps_inf = (2 / pi) pv int w' Im eps / (w'^2 - w^2) dw', at a frequency w below all relaxations."""
    f = np.geomspace(1e6, 1e16, 4001)
    loss, at = np.array([model(each).imag for each in f]), 1e3
    weights = f * loss / (f**2 - at**2)
    found = 2 / np.pi * np.trapezoid(weights * f, np.log(f))
    assert (loss > 0).all()
    assert found == pytest.approx(model(at).real - model.infinite, rel=2e-3)
    assert model(1e20) == pytest.approx(model.infinite, rel=1e-4)


def test_drude_is_a_conductor_at_low_frequency():
    """sigma = 2 pi eps0 fp^2 / collisions."""
    metal, f = cal.Drude(1.0, plasma=2e15, collisions=1e13), 1e9
    sigma = 2 * np.pi * VACUUM_PERMITTIVITY * 4e30 / 1e13
    assert metal(f).imag == pytest.approx(sigma / (2 * np.pi * f * VACUUM_PERMITTIVITY), rel=1e-6)
    assert metal(4e14).real < 0


def test_materials_add_all_losses():
    board = cal.Material(4.0, loss_tangent=0.02, conductivity=0.001)
    f = 1e9
    ohmic = 0.001 / (2 * np.pi * f * VACUUM_PERMITTIVITY)
    assert permittivity_of(board, f) == pytest.approx(4.0 + 1j * (0.08 + ohmic))
    table = cal.PermittivityTable([1e8, 1e10], [5.0 + 0.1j, 3.0 + 0.3j])
    assert permittivity_of(cal.Material(table), 1e9) == pytest.approx(4.0 + 0.2j)
    with pytest.raises(ValueError, match="outside of the table"):
        table(2e10)
    with pytest.raises(ValueError, match="gain"):
        permittivity_of(cal.Material(lambda f: 2.0 - 0.1j), f)


def test_bodies_and_series_take_materials_at_their_frequency():
    f, water = 1e8, cal.material("water")
    body = cal.DielectricScattering(cal.mesh.sphere(0.02, 0.02), frequency=f, permittivity=water)
    expected = 5.2 + 73.16 / (1 - 2j * np.pi * f * 8.27e-12)
    assert body.regions[1].permittivity == pytest.approx(expected)
    exact, again = (
        cal.exact.layered_sphere([0.02], {"water": each}, f) for each in (water, cal.Material(water.permittivity))
    )
    assert exact.rcs(0.0, 0.0) == again.rcs(0.0, 0.0) > 0


def test_names_have_sources_and_near_ones_are_offered():
    assert cal.material("copper").conductivity == 5.8e7 and "Copper" in cal.material("copper").source
    assert isinstance(cal.material("water").permittivity, cal.Debye)
    with pytest.raises(ValueError, match="did you mean 'FR4'"):
        cal.material("FR-4")


def test_fields_in_time_refuse_dispersion():
    box = cal.mesh.box([0, 0, 0], [1, 1, 1], 1)
    for given in (cal.Material(MODELS[0]), cal.Material(2.0, loss_tangent=0.1)):
        with pytest.raises(
            ValueError, match="time-domain fields have no dispersion, use the constants at the frequency"
        ):
            cal.MaxwellDG(box, 1, materials=dict.fromkeys(box.names, given))
