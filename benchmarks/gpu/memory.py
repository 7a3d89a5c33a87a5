"""Memory of a device: what was requested before it was taken, over the most that its arrays took."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import calderon as cal
from benchmarks.common.spheres import octahedral_sphere
from benchmarks.gpu import rows
from benchmarks.problems import lens
from calderon.backends import Counters, Device


class Case(NamedTuple):
    """A computation of a device: it is built from about so many unknowns, then run(built, backend) is called."""

    name: str
    unknowns: int
    build: Callable[[int], Any]
    run: Callable[[Any, str], Any]


def product(operator: Any, backend: str, **options: Any) -> None:
    """A set-up with one product."""
    operator.assemble(backend=backend, **options) @ np.ones(operator.shape[1])


def solid(unknowns: int) -> Any:
    """The double layer of elasticity on the octahedral sphere, P1."""
    space = cal.P1(octahedral_sphere(2 * (unknowns // 3 - 2)), components=3)
    return cal.double_layer(cal.Elastostatic(1.0, 0.3), space)


def body(unknowns: int) -> Any:
    """A dielectric sphere with so many currents of both kinds."""
    mesh = octahedral_sphere(unknowns // 3)
    return cal.DielectricScattering(mesh, rows.wavenumber(mesh.number_of_triangles), 2.0)


def scattered(problem: Any, backend: str, method: str) -> None:
    """The solution for one wave."""
    wave = cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=problem.wavenumber)
    problem.solve(wave, method=method, backend=backend, rtol=1e-3)


def current(unknowns: int) -> Any:
    """The potential of a current on the octahedral sphere."""
    space = cal.RWG(octahedral_sphere(unknowns * 2 // 3))
    return cal.electric_field_potential(1.0, cal.VectorFunction(space, np.ones(space.dimension)))


def evaluated(potential: Any, backend: str) -> None:
    """Values at 50,000 points on a sphere of radius 2."""
    directions = np.random.default_rng(0).standard_normal((50_000, 3))
    potential.evaluate(2 * directions / np.linalg.norm(directions, axis=1, keepdims=True), backend=backend)


def wave_sums(given: rows.Cloud, backend: str) -> None:
    """Potentials of oscillating charges, ten wavelengths across."""
    cal.helmholtz_sums(given.points, given.charges, 20 * np.pi, rtol=1e-3, backend=backend)


def box(unknowns: int, order: int) -> cal.TetrahedralMesh:
    """A unit cube with about so many numbers of both fields."""
    nodes = {1: 4, 2: 10, 3: 20}[order]
    return cal.mesh.box([0, 0, 0], [1, 1, 1], cells=max(2, round((unknowns / (36 * nodes)) ** (1 / 3))))


def stepped(mesh: cal.TetrahedralMesh, backend: str, order: int, flux: str) -> None:
    """Some steps in time."""
    simulation = cal.MaxwellDG(mesh, order, flux, backend=backend)
    simulation.run(3 * simulation.time_step)


FFT: dict[str, Any] = {"method": "fft", "spacing": lens.PITCH / 12, "near": lens.PITCH / 2}
CASES = (
    Case("dense", 2_048, rows.double_layer, partial(product, method="dense", keep_on_device=True)),
    Case("dense, on the host", 2_048, rows.double_layer, partial(product, method="dense")),
    Case("matrix-free", 2_048, rows.double_layer, partial(product, method="matrix-free")),
    Case("matrix-free, symmetric", 2_050, rows.laplace, partial(product, method="matrix-free")),
    Case("hmatrix", 4_098, rows.laplace, partial(product, method="hmatrix", rtol=1e-4)),
    Case("fmm Laplace", 16_386, rows.laplace, partial(product, method="fmm", rtol=1e-4)),
    Case("fmm solid", 6_150, solid, partial(product, method="fmm", rtol=1e-3)),
    Case("bracket", 3_000, rows.bracket, rows.solved),
    Case("mlfmm sound", 4_098, rows.sound, partial(product, method="mlfmm", rtol=1e-3)),
    Case("mlfmm currents", 3_072, rows.conductor, partial(product, method="mlfmm", rtol=1e-3)),
    Case("dielectric body, dense", 1_536, body, partial(scattered, method="dense")),
    Case("dielectric body, mlfmm", 3_072, body, partial(scattered, method="mlfmm")),
    Case("fft", 1_328, rows.crosses, partial(product, **FFT)),
    Case("potential", 3_072, current, evaluated),
    Case("Laplace sums", 131_072, rows.cloud, rows.point_sums),
    Case("Helmholtz sums", 131_072, rows.cloud, wave_sums),
    Case("time stepping centred", 100_000, partial(box, order=2), partial(stepped, order=2, flux="centred")),
    Case("time stepping upwind", 100_000, partial(box, order=3), partial(stepped, order=3, flux="upwind")),
)


def measured(case: Case, unknowns: int, device: Device) -> dict[str, Any]:
    """Bytes requested and taken on one device by what a case runs there."""
    built = case.build(unknowns)
    with Counters(device) as counted:
        case.run(built, device.name)
    count = getattr(built, "shape", (0, unknowns))[-1]
    return {"method": case.name, "unknowns": count, "requested": counted.requested, "taken": counted.most}
