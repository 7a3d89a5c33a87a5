"""Time stepping on a device gives the fields of the processor."""

import numpy as np
import pytest

import calderon as cal

BOUNDS = {"double": 1e-12, "single": 2e-5}


def relative(first, second):
    return np.abs(first - second).max() / np.abs(second).max()


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_cavity(opencl, order, precision):
    mesh, mode = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), cal.exact.cubic_cavity((1, 1, 1))
    points = np.random.default_rng(order).random((20, 3))
    fields = []
    for backend in ("numba", "opencl"):
        simulation = cal.MaxwellDG(mesh, order, backend=backend, precision=precision)
        simulation.set_fields(mode.electric, mode.magnetic)
        simulation.run(0.2)
        fields.append(np.concatenate([simulation.electric(points), simulation.magnetic(points)]))
    assert relative(fields[1], fields[0]) < BOUNDS[precision]


def test_waves_losses_and_open_corners(opencl):
    """Waves, currents, elements with one, two and three open faces, loss and contrast; the amplitudes of a period."""
    mesh = cal.mesh.box([0, 0, 0], [0.3, 0.3, 0.3], cells=2)
    tags = (mesh.centroids[:, 2] > 0.15).astype(int)
    mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"air": 0, "tissue": 1})
    waves = [
        cal.TimeHarmonicPlaneWave([0, 0, 1], [1, 1j, 0], 3e8),
        cal.TimeHarmonicPlaneWave([1, 0, 0], [0, 1, 0], 6e8),
    ]
    currents = [
        cal.CurrentSource("tissue", [1, 0, 0], cal.RampedSine(3e8, 1e-3)),
        cal.CurrentDipole([0.14, 0.16, 0.12], [0, 0, 1e-4], cal.RampedSine(3e8)),
    ]
    tissue = {"tissue": cal.Material(permittivity=3.0, permeability=1.5, conductivity=0.05)}
    points = np.random.default_rng(0).random((20, 3)) * 0.3
    results = []
    for backend in ("numba", "opencl"):
        options = {"materials": tissue, "boundaries": {"wall": "absorbing"}, "backend": backend}
        options["sources"] = waves + currents
        results.append(cal.MaxwellDG(mesh, 2, **options).run_until_periodic(3e8, periods=2))
    numba, device = results
    assert relative(device.electric(points), numba.electric(points)) < 1e-11
    assert relative(device.magnetic(points), numba.magnetic(points)) < 1e-11
    assert device.absorbed_power() == pytest.approx(numba.absorbed_power(), rel=1e-10)
    for name, port in numba.ports.items():
        assert device.ports[name].voltage == pytest.approx(port.voltage, rel=1e-10)


def test_upwind_is_refused_on_devices(opencl):
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1)
    with pytest.raises(ValueError, match="devices take flux='centred'"):
        cal.MaxwellDG(mesh, 1, flux="upwind", backend="opencl")
