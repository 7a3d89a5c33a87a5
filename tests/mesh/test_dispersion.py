"""Media that depend on the frequency: limits, causality, and where they are used and refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import calderon as cal
from calderon.exact.vacuum import VACUUM_PERMITTIVITY, permittivity_of
from calderon.mesh.tetrahedral.known_materials import _table

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


def test_tissues_have_the_published_constants():
    """Relative permittivity and conductivity in S/m at 900 and 1800 MHz, C. Gabriel, AL/OE-TR-1996-0037 (1996)."""
    published = {
        "skin": (41.41, 0.867, 38.87, 1.18),
        "cortical bone": (12.45, 0.143, 11.78, 0.275),
        "grey matter": (52.73, 0.942, 50.08, 1.39),
        "white matter": (38.89, 0.591, 37.01, 0.915),
        "cerebrospinal fluid": (68.64, 2.41, 67.20, 2.92),
    }
    for name, (eps, sigma, eps_above, sigma_above) in published.items():
        tissue = cal.material(name)
        for f, expected in ((900e6, (eps, sigma)), (1800e6, (eps_above, sigma_above))):
            constant = tissue.at(f)
            assert (constant.permittivity, constant.conductivity) == pytest.approx(expected, rel=4e-3)  # as printed
            assert permittivity_of(constant, f) == pytest.approx(permittivity_of(tissue, f), rel=1e-12)


def test_tissues_are_those_of_the_table():
    file = Path(__file__).parents[3] / "shared" / "data" / "tissues_gabriel.json"
    if not file.exists():
        pytest.skip("the reference values are not next to the project (shared/data/tissues_gabriel.json)")
    table = json.loads(file.read_text(encoding="utf-8"))
    names = {**table["aliases"], **{"cortical bone": "bone (cortical)", "wet skin": "skin (wet)"}}
    names["inflated lung"] = "lung (inflated)"
    tissues = [name for name, each in _table().items() if "Gabriel" in each["source"]]
    assert len(tissues) == 15
    for name in tissues:
        for f, key in ((900e6, "900 MHz"), (1800e6, "1800 MHz")):
            constant = cal.material(name).at(f)
            expected = table["tissues"][names.get(name, name)]["check"][key]
            assert (constant.permittivity, constant.conductivity) == pytest.approx(expected, rel=1e-4)


def test_constants_at_a_frequency_keep_loss_and_refuse_gain():
    board = cal.Material(4.0, conductivity=0.01, loss_tangent=0.02, density=2.0, permeability=3.0).at(1e9)
    assert board.conductivity == pytest.approx(0.01 + 2 * np.pi * 1e9 * 8.8541878128e-12 * 0.08)
    assert (board.permittivity, board.permeability, board.loss_tangent, board.density) == (4.0, 3.0, 0.0, 2.0)
    with pytest.raises(ValueError, match="gain"):
        cal.Material(lambda f: 2 - 1j).at(1e9)
    with pytest.raises(ValueError, match="permittivity=-"):
        cal.Material(cal.Drude(1.0, 1e15, 1e12)).at(1e14)


def test_fields_in_time_refuse_dispersion():
    box = cal.mesh.box([0, 0, 0], [1, 1, 1], 1)
    for given in (cal.Material(MODELS[0]), cal.Material(2.0, loss_tangent=0.1)):
        with pytest.raises(ValueError, match=r"have no dispersion, use the constants at the .* material.at"):
            cal.MaxwellDG(box, 1, materials=dict.fromkeys(box.names, given))
