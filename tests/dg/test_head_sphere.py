"""Absorption of a plane wave in a head of four layers, against the series."""

import pytest

import calderon as cal

RADII = (0.080, 0.083, 0.090, 0.095)
TISSUES = {
    "grey matter": cal.Material(permittivity=52.725, conductivity=0.9423),
    "csf": cal.Material(permittivity=68.638, conductivity=2.4126),
    "bone": cal.Material(permittivity=12.454, conductivity=0.1433),
    "skin": cal.Material(permittivity=41.405, conductivity=0.8666),
}
SHARES = (0.4374, 0.1746, 0.0521, 0.3359)
FREQUENCY, TOTAL = 900e6, 4.939e-5


def test_power_absorbed_by_each_layer_within_four_percent():
    """The power of 1 V/m at 900 MHz; the layer of 3 mm is one tetrahedron thick, six times as wide."""
    pytest.importorskip("gmsh")
    exact = cal.exact.layered_sphere(RADII, TISSUES, FREQUENCY).absorbed_power_by_layer()
    assert exact.sum() == pytest.approx(TOTAL, rel=1e-3)
    assert exact / exact.sum() == pytest.approx(SHARES, abs=1e-4)
    mesh = cal.mesh.layered_ball(RADII, list(TISSUES), 0.25, [0.018, 0.018, 0.018, 0.018, 0.06])
    wave = cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], FREQUENCY)
    options = {"materials": TISSUES, "boundaries": {"outer": "absorbing"}, "precision": "single"}
    result = cal.MaxwellDG(mesh, 2, sources=[wave], **options).run_until_periodic(FREQUENCY, periods=5)
    absorbed = result.absorbed_power()
    assert absorbed.pop("air") == 0.0
    for power, share in zip(absorbed.values(), SHARES, strict=True):
        assert power == pytest.approx(share * TOTAL, rel=0.04)
    assert sum(absorbed.values()) == pytest.approx(TOTAL, rel=0.02)
