"""Small problems whose kernels most runs need, so that these are compiled beforehand, or during a first run.

`python -m calderon.warm_up sound` compiles what a first run needs in the opposite order: fields, preconditioner,
operators from the last to the first. Both take kernels from each other's work (`backends.kernel_cache`).
"""

import gc
import logging
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import thread_count
from calderon.backends.kernel_cache import COMPILING, LOG
from calderon.formulations import (
    AcousticProblem,
    DeltaGap,
    DielectricScattering,
    ElasticMaterial,
    ElasticSolid,
    Fixed,
    Fluid,
    Impedance,
    LaplaceDirichlet,
    PECAntenna,
    PECScattering,
    Pressure,
    SoundHardScattering,
    Velocity,
)
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh, cuboid, plate, sphere
from calderon.mlfmm import helmholtz_sums
from calderon.operators.methods import first_that, resolved
from calderon.parallel import world
from calderon.potentials import double_layer_potential, electric_field_potential, single_layer_potential
from calderon.spaces import Function, VectorFunction
from calderon.validation import one_of
from calderon.waves import PlaneWave


def _points(height: float = 0.52) -> NDArray[np.float64]:
    """Two points, far from the bodies here, and near, at that height."""
    return np.array([[0.0, 0.0, 3.0], [0.0, 0.0, height]])


def _sound() -> None:
    problem = SoundHardScattering(sphere(radius=0.5, h=0.3), 1.0)
    wave = PlaneWave(np.array([1.0, 0, 0]))
    for method in ("dense", "hmatrix"):
        _evaluated(problem.solve(wave, method=method, rtol=1e-3))


def _vibration() -> None:
    """A vibrating sphere, and a room whose walls absorb."""
    air, moving = Fluid.air(), Velocity(1e-3)
    for method in ("dense", "hmatrix"):
        body = AcousticProblem(sphere(radius=0.5, h=0.3), 1.0, fluid=air, conditions=moving)
        solution = body.solve(method=method, rtol=1e-3)
        _evaluated(solution)
        solution.velocity(_points())
        assert solution.power_error < 1
    room = cuboid([0.5, 0.5, 0.5], 0.25)
    walls = [moving, Impedance.relative(1.0)]
    for space in ("P1", "P2"):
        quiet = AcousticProblem(room, 1.0, fluid=air, side="interior", conditions=walls, space=space)
        quiet.solve().field(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.23]]))


def _statics() -> None:
    LaplaceDirichlet(sphere(radius=0.5, h=0.3)).solve(1.0).field(_points())


def _radar() -> None:
    wave: Any = PlaneWave(np.array([0.0, 0, 1]), polarization=[1.0, 0, 0])
    _evaluated(PECScattering(sphere(radius=0.5, h=0.3), 1.0).solve(wave))
    _evaluated(DielectricScattering(sphere(radius=0.5, h=0.3), 1.0, 2.0).solve(wave))


def _antenna() -> None:
    strip = plate(lengths=[0.02, 0.5], h=0.1)
    middle = np.flatnonzero(strip.edge_triangle_counts == 2)
    _evaluated(PECAntenna(strip, 6.0, DeltaGap(edges=middle[:1])).solve())


def _solid() -> None:
    body = cuboid([1.0, 1.0, 1.0], 0.5)
    tags = np.rint(body.normals @ [1, 2, 3]).astype(int) + 4
    body = TriangleMesh(body.vertices, body.triangles, tags)
    solid = ElasticSolid(body, ElasticMaterial(2e11, 0.3), {1: Fixed()}, {7: Pressure(1e6)})
    found = solid.solve()
    assert found.von_mises.size and len(found.stress(np.full((1, 3), 0.1)))


def _waves() -> None:
    """Sums at points, in single precision with short and with long waves and in double precision, and fast products."""
    body = sphere(radius=0.5, h=0.1)
    points = np.random.default_rng(0).standard_normal((16_000, 3))  # too many for direct sums
    points /= 2 * np.linalg.norm(points, axis=1)[:, None]
    for k, rtol in ((1.0, 1e-3), (20.0, 1e-3), (20.0, 1e-6)):
        helmholtz_sums(points, np.ones(len(points)), k, rtol=rtol)
    SoundHardScattering(body, 15.0).solve(PlaneWave(np.array([1.0, 0, 0])), method="mlfmm", rtol=1e-2)
    wave: Any = PlaneWave(np.array([0.0, 0, 1]), polarization=[1.0, 0, 0])
    PECScattering(body, 15.0).solve(wave, method="mlfmm", rtol=1e-2)


def _evaluated(solution: Any) -> None:
    solution.field(_points())
    solution.far_field(_points())


WARM_UPS: dict[str, Callable[[], None]] = {
    "statics": _statics, "sound": _sound, "radar": _radar, "antenna": _antenna, "solid": _solid,
    "vibration": _vibration, "waves": _waves,
}  # fmt: skip
"""By name, from the shortest."""


def warm_up(names: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Solve the small problems of these names; each name with the seconds it took."""
    for name in names:
        run = WARM_UPS[one_of(name, WARM_UPS, "physics")]
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of coarse meshes
            run()
        yield name, time.perf_counter() - began


def _static_fields(problem: Any) -> None:
    density = Function(problem.function_space, np.ones(problem.unknowns))
    single_layer_potential(problem.system.operator.green, density).evaluate(_points(0.03))


def _sound_fields(problem: Any) -> None:
    density = Function(problem.function_space, np.ones(problem.unknowns, complex))
    layer = double_layer_potential(problem.green, density)
    layer.evaluate(_points(0.03))
    layer.far_field(_points())
    inverse = problem._osrc("double")
    inverse @ density.coefficients


def _vibration_fields(problem: Any) -> None:
    pressure = Function(problem.function_space, np.ones(problem.function_space.dimension, complex))
    for layer in problem.equation.layers(pressure, problem.equation.moving, None, None):
        layer.evaluate(_points(0.03))
        layer.far_field(_points())
    inverse = problem._osrc("double")
    inverse @ np.ones(problem.unknowns, complex)


def _radar_fields(problem: Any) -> None:
    current = VectorFunction(problem.function_space, np.ones(problem.unknowns, complex))
    layer = electric_field_potential(Helmholtz(problem.wavenumber), current)
    layer.evaluate(_points(0.03))
    layer.far_field(_points())


def _thin() -> TriangleMesh:
    """A body whose faces are close to each other: all kernels of close pairs are needed."""
    return cuboid([0.5, 0.5, 0.02], 0.25)


BEHIND: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
    "static": (lambda: LaplaceDirichlet(_thin()), _static_fields),
    "acoustic": (lambda: SoundHardScattering(_thin(), 1.0), _sound_fields),
    "electromagnetic": (lambda: PECScattering(_thin(), 1.0), _radar_fields),
    "vibration": (
        lambda: AcousticProblem(_thin(), 1.0, fluid=Fluid.air(), conditions=Velocity(1.0)),
        _vibration_fields,
    ),
}
"""By the family of a problem: a small one, and what follows its solution."""


def compile_from_behind(family: str, method: str) -> None:
    """Compile what a run of that family needs, from the last kernels to the first. method: of its matrix."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of coarse and thin meshes
        make, after = BEHIND[family]
        problem = make()
        after(problem)
        chosen = resolved(method, lambda: (first_that("stores_entries").name, "")).method
        if not chosen.by_entries:
            return
        atoms = [term.atom for term in reversed(problem.system.operator.terms())]
        atoms = [each for each in atoms if each.is_leaf and not each.is_local]  # integral operators
        for operator in sorted(atoms, key=lambda each: each.is_symmetric):  # symmetric ones come first in a matrix
            operator.assemble(chosen.name)


class _OnCompilation(logging.Handler):
    """Starts a process when the first kernel of this one has to be compiled, which the logger tells."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(logging.INFO)
        self._command = command
        self.process: subprocess.Popen[bytes] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.process is None and record.getMessage() == COMPILING:
            quiet = subprocess.DEVNULL
            self.process = subprocess.Popen(self._command, stdin=quiet, stdout=quiet, stderr=quiet)


@contextmanager
def compiling_in_parallel(family: str, method: str) -> Iterator[None]:
    """While the block runs, a second process compiles kernels that it will need, as soon as one is missing on the
    disk; it ends with the block. Nothing is started for other families, on one processor and of several ranks."""
    if family not in BEHIND or thread_count() < 2 or world().size > 1:
        yield
        return
    handler = _OnCompilation([sys.executable, "-P", "-m", __name__, family, method])
    LOG.addHandler(handler)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        if handler.process is not None:
            handler.process.kill()
            handler.process.wait()


if __name__ == "__main__":
    gc.disable()  # in a process that only compiles: 0.2 GB more, a second less
    compile_from_behind(*sys.argv[1:])
