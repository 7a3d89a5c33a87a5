"""Tables of G_xx and K: accuracy against Sommerfeld integrals and reference values."""

import json

import numpy as np
import pytest
from test_sommerfeld import REFERENCES, stack_of

import calderon as cal
from calderon.layers.sommerfeld import horizontal_greens
from calderon.layers.tables import table_of

BOARD = cal.Stack([cal.Layer(1.575e-3, 2.2)], below="pec")
TWO = cal.Stack([cal.Layer(1e-3, 12.6), cal.Layer(0.5e-3, 2.2 + 0.02j)], below="pec")
GROUND = cal.Stack(below=cal.Layer(eps_r=13, conductivity=0.005))


def envelope(values, rho):
    """The largest of the values from 0.8 to 1.25 times the distance."""
    near = np.abs(np.log(rho[:, None] / rho)) < np.log(1.25)
    return np.where(near, np.abs(values), 0).max(axis=1)


@pytest.mark.parametrize(
    "stack, frequency, z, source, reach",
    [(BOARD, 12e9, 1.575e-3, 1.575e-3, 0.1), (TWO, 30e9, 1e-3, 1.5e-3, 0.02), (GROUND, 14e6, 0, 0, 20)],
)
def test_tables_give_the_integrals(stack, frequency, z, source, reach):
    sections = stack.at(frequency)
    table = table_of(sections, z, source, reach)
    rho = np.sort(reach * np.append(np.geomspace(1e-6, 1, 40), np.random.default_rng(1).uniform(0.01, 1, 60)))
    whole = horizontal_greens(sections, rho, z, source)
    for expected, found in zip(whole, table(rho), strict=True):
        assert np.abs(expected - found).max() < 1e-7 * np.abs(expected).max()
        assert (np.abs(expected - found) / envelope(expected, rho)).max() < 1e-6
    direct = table.direct
    wave = np.exp(1j * direct.k_xx * rho) / (4 * np.pi * rho)
    for c, expected, found in zip(direct, whole, table.rest(rho), strict=False):
        assert np.abs(expected - c * wave - found).max() < 1e-6 * np.abs(found).max()


def test_reference_values():
    """Reference values between horizontal currents at heights of interfaces."""
    if not REFERENCES.exists():
        pytest.skip("the reference values are not next to the project (shared/data/layered_green.json)")
    cases, tables = json.loads(REFERENCES.read_text())["values"], {}
    count = 0
    for case in cases:
        sections, heights = stack_of(case).at(case["frequency_hz"]), (case["z_m"], case["source_z_m"])
        inside = all(sections.is_interface(each) for each in heights)
        if case["component"] not in ("G_xx", "K") or not inside or case["rho_m"] > 10 / sections.k0:
            continue
        key = case["name"], heights
        tables[key] = tables.get(key) or table_of(sections, *heights, 10 / sections.k0)
        value = tables[key](case["rho_m"])[["G_xx", "K"].index(case["component"])]
        assert abs(value / complex(*case["value"]) - 1) < 1e-6, case
        count += 1
    assert count > 15


def test_distances_beyond_a_table_are_refused():
    table = table_of(BOARD.at(12e9), 1.575e-3, 1.575e-3, 0.01)
    with pytest.raises(ValueError, match="distances from 0 to 0.01 m are in this table"):
        table(0.02)
    with pytest.raises(ValueError, match="rho must be positive"):
        table(0.0)
