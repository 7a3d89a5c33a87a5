"""Small problems whose kernels most runs need, so that these are compiled beforehand."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from calderon.formulations import (
    DeltaGap,
    DielectricScattering,
    ElasticMaterial,
    ElasticSolid,
    Fixed,
    LaplaceDirichlet,
    PECAntenna,
    PECScattering,
    Pressure,
    SoundHardScattering,
)
from calderon.mesh import TriangleMesh, cuboid, plate, sphere
from calderon.validation import one_of
from calderon.waves import PlaneWave

FAR = np.array([[0.0, 0.0, 3.0]])


def _sound() -> None:
    problem = SoundHardScattering(sphere(radius=0.5, h=0.3), 1.0)
    wave = PlaneWave(np.array([1.0, 0, 0]))
    for method in ("dense", "hmatrix"):
        _evaluated(problem.solve(wave, method=method, rtol=1e-3))


def _statics() -> None:
    LaplaceDirichlet(sphere(radius=0.5, h=0.3)).solve(1.0).field(FAR)


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


def _evaluated(solution: Any) -> None:
    solution.field(FAR)
    solution.far_field(FAR)


WARM_UPS: dict[str, Callable[[], None]] = {
    "statics": _statics, "sound": _sound, "radar": _radar, "antenna": _antenna, "solid": _solid,
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
