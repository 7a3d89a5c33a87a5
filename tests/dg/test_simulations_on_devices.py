"""Time stepping on a device gives the fields of the processor."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Counters
from calderon.dg.run import run
from calderon.dg.run.ranks import DeviceError, RankDevice

BOUNDS = {"double": 1e-12, "single": 2e-5}


def relative(first, second):
    return np.abs(first - second).max() / np.abs(second).max()


@pytest.mark.parametrize(
    ("order", "flux", "precision"),
    [
        (3, "centred", "double"),
        (3, "upwind", "single"),
        (4, "upwind", "single"),
        (5, "centred", "double"),
    ],
)
def test_cavity(opencl, order, flux, precision):
    mesh, mode = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), cal.exact.cubic_cavity((1, 1, 1))
    points = np.random.default_rng(order).random((20, 3))
    fields = []
    for backend in ("numba", "opencl"):
        simulation = cal.MaxwellDG(mesh, order, flux, backend=backend, precision=precision)
        simulation.set_fields(mode.electric, mode.magnetic)
        simulation.run(0.2)
        fields.append(np.concatenate([simulation.electric(points), simulation.magnetic(points)]))
    assert relative(fields[1], fields[0]) < BOUNDS[precision]


@pytest.mark.parametrize(("flux", "precision"), [("centred", "double"), ("upwind", "single")])
def test_memory_is_requested_before_it_is_taken(opencl, flux, precision):
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=6)
    with Counters(opencl) as counters:
        simulation = cal.MaxwellDG(mesh, 3, flux, backend=opencl.name, precision=precision)
        simulation.run(simulation.time_step)
    assert counters.requested == pytest.approx(counters.most, rel=0.1)


def test_waves_losses_and_open_corners(opencl):
    """Waves, currents, elements with one, two and three open faces, loss and contrast; the amplitudes of a period."""
    mesh = cal.mesh.box([0, 0, 0], [0.3, 0.3, 0.3], cells=2)
    tags = (mesh.centroids[:, 2] > 0.15).astype(int)
    mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"air": 0, "tissue": 1})
    waves = [
        cal.TransientPlaneWave([0, 0, 1], [1, 1j, 0], 3e8),
        cal.TransientPlaneWave([1, 0, 0], [0, 1, 0], 6e8),
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
        results.append(cal.MaxwellDG(mesh, 2, "upwind", **options).run_until_periodic(3e8, periods=2))
    numba, device = results
    assert relative(device.electric(points), numba.electric(points)) < 1e-11
    assert relative(device.magnetic(points), numba.magnetic(points)) < 1e-11
    assert device.absorbed_power() == pytest.approx(numba.absorbed_power(), rel=1e-10)
    for name, port in numba.ports.items():
        assert device.ports[name].voltage == pytest.approx(port.voltage, rel=1e-10)


def test_conductors(opencl):
    """A good one and a poor one side by side, with faces that weigh both sides."""
    mesh = cal.mesh.box([0, 0, 0], [0.3, 0.3, 0.3], cells=2)
    tags = (mesh.centroids[:, 2] > 0.15) * (1 + (mesh.centroids[:, 0] > 0.15))
    mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"air": 0, "soil": 1, "metal": 2})
    materials = {"soil": cal.Material(9.0, conductivity=0.05), "metal": cal.Material(1.0, 50.0, 1e6)}
    points = np.random.default_rng(0).random((20, 3)) * 0.3
    fields = []
    for backend in ("numba", "opencl"):
        simulation = cal.MaxwellDG(mesh, 2, "centred", materials=materials, backend=backend)
        simulation.set_fields(lambda x, t: np.cos(9 * x[:, [1, 2, 0]]), lambda x, t: np.sin(8 * x) / 377)
        with pytest.warns(cal.MeshWarning, match="skin depth"):
            simulation.run(20 * simulation.time_step)
        fields.append((simulation.electric(points), simulation.magnetic(points)))
    assert relative(fields[1][0], fields[0][0]) < 1e-11
    assert relative(fields[1][1], fields[0][1]) < 1e-11


def test_mirrors_and_absorption_without_waves(opencl):
    """All three conditions side by side, and a run that goes on where another ended."""
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2)
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    names = {"wall": 1, "mirror": 2, "open": 3}
    tags = np.where(middle[:, 2] > 0.99, 3, np.where(middle[:, 0] > 0.99, 2, 1)) * (mesh.face_tags > 0)
    mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, faces=mesh.faces, face_tags=tags, face_names=names)
    mode = cal.exact.cubic_cavity((1, 1, 1))
    points = np.random.default_rng(3).random((20, 3))
    fields = []
    for backend in ("numba", "opencl"):
        conditions = {"wall": "pec", "mirror": "pmc", "open": "absorbing"}
        simulation = cal.MaxwellDG(mesh, 2, "upwind", boundaries=conditions, backend=backend)
        simulation.set_fields(mode.electric, mode.magnetic)
        started = simulation.energy()
        simulation.run(0.2)
        simulation.run(0.5)
        assert simulation.energy() < 0.95 * started
        fields.append(np.concatenate([simulation.electric(points), simulation.magnetic(points)]))
    assert relative(fields[1], fields[0]) < BOUNDS["double"]


def test_what_devices_cannot_hold_is_refused(opencl, monkeypatch):
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1)
    with pytest.raises(ValueError, match="order=6 on opencl:0: choose 1 to 5"):
        cal.MaxwellDG(mesh, 6, "upwind", backend="opencl")
    monkeypatch.setattr(type(opencl), "memory", lambda self: 5_000)
    with pytest.raises(MemoryError, match="P2 on 6 tetrahedra needs .* opencl:0 .* has 5.0 kB free: use a lower"):
        cal.MaxwellDG(mesh, 2, backend="opencl")


def test_only_a_few_numbers_come_to_the_host_to_see_whether_fields_are_finite(opencl, monkeypatch):
    simulation = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=6), 2, backend="opencl")
    system, fetched, to_host = simulation._system, [], RankDevice.to_host
    monkeypatch.setattr(run, "STEPS_OF_A_CHECK", 1)
    monkeypatch.setattr(RankDevice, "to_host", lambda device, array: fetched.append(array) or to_host(device, array))
    simulation.run(3 * simulation.time_step)
    assert [array.shape for array in fetched] == [(256,)] * 6 + [system.electric.shape] * 2
    for place in (0, 38_000, system.electric.size - 1):  # one group or thread after the other
        spoilt = system.electric.copy()
        spoilt[place] = np.inf
        system._fields = [opencl.array(spoilt)]
        assert not system.finite()
        spoilt[place] = -1e300
        opencl.put(spoilt, system._fields[0])
        assert system.finite()


@pytest.mark.parametrize("flux", ["centred", "upwind"])
def test_of_probes_only_the_values_there_come_to_the_host(opencl, flux, monkeypatch):
    mode, points, probes = cal.exact.cubic_cavity((1, 1, 1)), np.random.default_rng(0).random((3, 3)), []
    fetched, to_host = [], RankDevice.to_host
    monkeypatch.setattr(RankDevice, "to_host", lambda device, array: fetched.append(array) or to_host(device, array))
    for backend in ("numba", "opencl"):
        simulation = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=3), 2, flux, backend=backend)
        simulation.set_fields(mode.electric, mode.magnetic)
        probes.append([simulation.add_probe(points, stride=2), simulation.add_probe(points[:1])])
        simulation.run(5 * simulation.time_step)
    for name in ("times", "electric", "magnetic"):
        for on_processor, on_device in zip(*probes, strict=True):
            assert relative(getattr(on_device, name), getattr(on_processor, name)) < BOUNDS["double"]
    sizes = [array.shape for array in fetched]
    assert sizes.count(simulation._system.electric.shape) == 2  # at the end
    assert sizes.count((3 * 10,)) == 2 * 5 + (flux == "centred")  # and H half a step before the first record
    assert sizes.count((3 * 3 * 10,)) == 2 + 5  # H also a step before each record, for the mean


def test_a_device_that_fails_is_named(opencl, monkeypatch):
    simulation = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), 1, backend="opencl")
    monkeypatch.setattr(type(opencl), "launch", lambda *_: 1 / 0)
    with pytest.raises(DeviceError, match=r"opencl:0 \(.*\) failed: division by zero; start again, from the"):
        simulation.run(0.1)
    monkeypatch.undo()
    simulation.run(0.1)
