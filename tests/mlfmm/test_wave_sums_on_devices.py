"""Sums of oscillating charges over points on a device against those of the processor and the formula."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Counters
from calderon.mlfmm import sums as module
from calderon.mlfmm.device import point_sums


def sphere(count, radius=1.0):
    n = np.arange(count) + 0.5
    z, phi = 1 - 2 * n / count, np.pi * (1 + 5**0.5) * n
    s = np.sqrt(1 - z * z)
    return radius * np.stack([s * np.cos(phi), s * np.sin(phi), z], axis=1)


def test_memory_is_requested_before_it_is_taken(opencl):
    """That of the points, then of plane waves, within 10 %."""
    with Counters(opencl) as counters:
        cal.helmholtz_sums(sphere(40_000), complex_numbers(40_000), 25.0, rtol=1e-3, backend="opencl")
    assert counters.requested == pytest.approx(counters.most, rel=0.1)


def complex_numbers(*shape):
    random = np.random.default_rng(2)
    return random.standard_normal(shape) + 1j * random.standard_normal(shape)


CASES = {
    "plane waves": (15.0, 1e-3, 1e-5, False, False),
    "in double precision": (12.0, 1e-5, 2e-12, True, False),
    "lossy, dipoles": (12.0 + 1j, 1e-4, 1e-5, False, True),
    "equivalent sources": (4.0, 1e-4, 1e-5, True, True),
}


@pytest.mark.parametrize("name", CASES)
def test_sums_are_those_of_the_processor(opencl, name, monkeypatch):
    """Distances on the processor are exact to 5e-14, and so are phases to 5e-14 k r."""
    k, rtol, bound, gradient, dipoles = CASES[name]
    monkeypatch.setattr(module, "RULES", module.RULES._replace(few=0, little=(0.0, 0.0), direct=0.0))
    count, columns = 4000, 2 if dipoles else 1
    points, charges = sphere(count), complex_numbers(count, columns)
    given = points, charges, k, complex_numbers(count, columns, 3) if dipoles else None
    targets = sphere(500, 1.1) if gradient else None
    here, there = (
        cal.helmholtz_sums(*given, targets=targets, gradient=gradient, rtol=rtol, backend=each)
        for each in ("numba", "opencl")
    )
    assert here.info.method == there.info.method == "mlfmm"
    assert there.info.backend == "opencl:0" and "backend opencl:0" in str(there.info)
    assert there.info[6:9] == here.info[6:9] and there.info.levels + there.info.low_levels > 1
    for expected, found in ((here.potential, there.potential), (here.gradient, there.gradient)):
        if expected is not None:
            assert found.shape == expected.shape and found.dtype == expected.dtype
            assert np.linalg.norm(found - expected) < bound * np.linalg.norm(expected)


@pytest.mark.parametrize("k", [3.0, 3.0 + 0.4j, 60.0])
def test_direct_sums_are_the_formula(opencl, k):
    points, charges, dipoles = sphere(300), complex_numbers(300), complex_numbers(300, 3)
    targets = np.concatenate([points[:2], sphere(70, 0.9)])
    found = cal.helmholtz_sums(points, charges, k, dipoles, targets=targets, gradient=True, backend="opencl")
    assert found.info.method == "direct" and found.info.backend == "opencl:0"
    d = targets[:, None] - points
    r = np.linalg.norm(d, axis=2)
    same = r == 0
    r[same] = 1.0
    g = np.where(same, 0, np.exp(1j * k * r) / (4 * np.pi * r))
    f, h = (1j * k - 1 / r) / r, (3 - 3j * k * r + (1j * k * r) ** 2) / r**4
    along = np.einsum("xyc,yc->xy", d, dipoles)
    potential = g @ charges - (f * g * along).sum(axis=1)
    slope = np.einsum("xy,xyc->xc", f * g * charges - h * g * along, d) - (f * g) @ dipoles
    assert np.linalg.norm(found.potential - potential) < 1e-13 * max(1, abs(k)) * np.linalg.norm(potential)
    assert np.linalg.norm(found.gradient - slope) < 1e-13 * max(1, abs(k)) * np.linalg.norm(slope)


def test_refusals(opencl, monkeypatch):
    points = sphere(10)
    with pytest.raises(ValueError, match="accept several backends"):
        cal.helmholtz_sums(points, np.ones(10), 1.0, backend="numba+opencl")
    with pytest.raises(ValueError, match="unknown backend"):
        cal.helmholtz_sums(points, np.ones(10), 1.0, backend="gpu")

    def require(device, needed, what, advice):
        assert needed > 0
        raise MemoryError(f"{what}: {advice}")

    monkeypatch.setattr(point_sums, "require_device_memory", require)
    with pytest.raises(MemoryError, match="a sum over points: split the targets into parts"):
        cal.helmholtz_sums(points, np.ones(10), 1.0, backend="opencl")
    empty = cal.helmholtz_sums(points, np.ones(10), 1.0, targets=np.empty((0, 3)), backend="opencl")
    assert empty.potential.shape == (0,)
