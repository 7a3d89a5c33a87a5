"""Solutions hand backend and precision on: their fields on a device are those of the processor."""

import numpy as np
import pytest

import calderon as cal

K = 1.0
MESH = cal.mesh.sphere(radius=1.0, h=0.7)
SOUND = cal.PlaneWave(direction=[0, 0, 1], wavenumber=K)
LIGHT = cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=K)
POINTS = np.array([[0.1, 0.3, 0.2], [0.0, 0.0, 1.05], [1.5, -1.0, 0.3], [3.0, 2.0, -5.0]])

SOLUTIONS = {
    "rigid": lambda: cal.SoundHardScattering(MESH, K).solve(SOUND),
    "fluid": lambda: cal.FluidTransmission(MESH, K, interior_wavenumber=1.3 * K, density_ratio=0.8).solve(SOUND),
    "capacitor": lambda: cal.LaplaceDirichlet(MESH).solve(1.0),
    "conductor": lambda: cal.PECScattering(MESH, K).solve(LIGHT),
    "plastic": lambda: cal.DielectricScattering(MESH, K, 2.0).solve(LIGHT),
}
FIELDS = ("field", "gradient", "electric", "magnetic", "far_field")


@pytest.mark.parametrize("name", SOLUTIONS)
def test_fields_agree_with_those_of_the_processor(opencl, name):
    solution, compared = SOLUTIONS[name](), 0
    for quantity in FIELDS:
        ask = getattr(solution, quantity, None)
        if ask is None:
            continue
        x = POINTS[1:] if quantity == "gradient" or name in ("capacitor", "rigid") else POINTS
        expected, values = ask(x), ask(x, backend="opencl", precision="single")
        assert 0 < np.abs(values - expected).max() < 1e-5 * np.abs(expected).max()
        with pytest.raises(ValueError, match="unknown backend 'gpu'"):
            ask(x, backend="gpu")
        compared += 1
    assert compared >= 2
