"""Radar targets: the NASA almond against its computed reference curves, the ogive under refinement."""

from pathlib import Path

import numpy as np
import pytest

import calderon as cal

REFERENCES = Path(__file__).parents[4] / "shared" / "data" / "rcs"
SPEED_OF_LIGHT = 299792458.0
POLARIZATIONS = ("VV", "HH")


def mean_difference(levels, reference):
    """Mean of |max(a, T) - max(b, T)| in dB with T = max(b) - 80 dB."""
    floor = reference.max() - 80
    return np.abs(np.maximum(levels, floor) - np.maximum(reference, floor)).mean()


def monostatic_levels(mesh, frequency, phi, **options):
    """{"VV", "HH": dB re 1 m^2} at theta = 90 degrees; one factorisation for both."""
    problem = cal.PECScattering(mesh, 2 * np.pi * frequency / SPEED_OF_LIGHT, **options)
    return {
        pair: 10 * np.log10(problem.monostatic_rcs(np.pi / 2, phi, pair, precision="single")) for pair in POLARIZATIONS
    }


@pytest.mark.parametrize(("formulation", "elements", "bound"), [
    pytest.param("efie", 14, 0.25, marks=pytest.mark.variant), ("cfie", 10, 0.45),
])  # fmt: skip
def test_almond_against_its_reference(formulation, elements, bound):
    """3.5 GHz, 361 angles; the reference is computed on edges of 0.6 mm. Asked are 0.45 dB at 14 elements per
    wavelength and 0.25 dB at 20."""
    if not REFERENCES.is_dir():
        pytest.skip("the reference curves are not next to the project (shared/data/rcs)")
    frequency = 3.5e9
    tables = [np.loadtxt(REFERENCES / f"almond_3.5GHz_computed_{p}.txt") for p in "VH"]
    assert len(tables[0]) == 361 and (tables[0][:, 1] == 90).all()
    mesh = cal.mesh.almond(h=SPEED_OF_LIGHT / frequency / elements)
    levels = monostatic_levels(mesh, frequency, np.radians(tables[0][:, 2]), formulation=formulation)
    differences = {p: mean_difference(levels[p], table[:, 3]) for p, table in zip(POLARIZATIONS, tables, strict=True)}
    assert max(differences.values()) < bound, differences


@pytest.mark.parametrize("formulation", ["efie", "cfie"])
def test_ogive_at_10_and_14_elements_per_wavelength(formulation):
    """At 2 GHz, one and a half wavelengths long; 9 GHz takes minutes."""
    frequency, phi = 2e9, np.linspace(0, np.pi, 61)
    coarse, fine = (
        monostatic_levels(cal.mesh.ogive(h=SPEED_OF_LIGHT / frequency / n), frequency, phi, formulation=formulation)
        for n in (10, 14)
    )
    differences = {p: mean_difference(coarse[p], fine[p]) for p in POLARIZATIONS}
    assert max(differences.values()) < 0.5, differences
    for levels in fine.values():  # the body has the same ends, the mesh has not
        assert mean_difference(levels, levels[::-1]) < 0.3
