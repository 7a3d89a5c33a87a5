"""Sums over point sources on a device: the regular part of potentials and far fields (field.c).

Sources go in and values come out, points in chunks. Triangles near a point are replaced on the processor in double
precision (surface_field.py): there, distances below NEAR sizes of the source's triangle count as that, on both
sides of the replacement. This is a continuous function that stays moderate, so that nothing cancels in single precision
and no source is kept on one side and dropped on the other.
"""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution, Source, real_name, require_device_memory
from calderon.greens import RadialGreen
from calderon.greens.green import green_defines
from calderon.mesh.errors import AccuracyWarning
from calderon.potentials.sources.point_sources import SCALARS, Emission
from calderon.validation import callers_level


class Launches(NamedTuple):
    """How sums are divided among the threads of a device, and when they lose digits."""

    group: int = 128
    """Threads of a group, and sources of a tile."""
    threads: int = 1 << 17
    """Threads that fill a large device: for fewer targets the sources are shared out in segments."""
    segments: int = 65_535
    """Segments at most, the most groups along the second axis on CUDA."""
    chunk: int = 1 << 18
    """Targets at a time."""
    share: int = 4
    """Sources, and targets with their values, take at most this part of the memory of the device each."""
    coarse: float = 1e-5
    """Error of a phase above which there is a warning."""
    large_angles: float = 100.0
    """Rounding units of the angle that sines and cosines in double are off, far beyond 1e6 (greens/elementary.py)."""


LAUNCHES = Launches()


def device_sums(
    execution: Execution,
    emission: Emission,
    green: RadialGreen | None,
    targets: NDArray[np.float64],
    sources: NDArray[np.float64],
    floors: NDArray[np.float64],
    scalars: NDArray[np.float64],
) -> NDArray[np.complex128]:
    """(n, values) sums at targets (n, 3) over all sources (groups, Q, C), in coordinates in which
    these have about unit size. floors (groups,): squared distances below count as that. scalars: SCALARS of
    point_sources.py. green: None for far fields. execution: with a device.

    Takes about half of the memory that the device gives at most; for more sources or targets, one part after the other.
    """
    device, real = execution.required_device("sums on a device need one"), execution.real
    total = np.zeros((len(targets), emission.values), complex)
    size = float(np.abs(sources[..., emission.charges :]).max(initial=0.0))
    if size == 0.0 or len(targets) == 0:
        return total
    program, room = device.build(_source(emission, real, green)), device.memory() // LAUNCHES.share
    used = sources.shape[-1]
    columns = -(-(used + 1) // 4) * 4
    is_charge = np.arange(used) >= emission.charges
    block = max(1, room // (real.itemsize * columns * LAUNCHES.group)) * LAUNCHES.group  # sources at a time
    # sources in parts that fit, in segments whose sums are added here in double precision
    flat, floor = sources.reshape(-1, used), np.repeat(floors, sources.shape[1])
    constants = device.array(np.asarray(scalars, real))
    for first in range(0, len(flat), block):
        part = slice(first, first + block)
        count = len(flat[part])
        segments, share = _segments(count, len(targets))
        each = real.itemsize * (3 + 2 * emission.values * segments)
        chunk = max(1, min(LAUNCHES.chunk, room // each))
        needed = real.itemsize * segments * share * columns + min(chunk, len(targets)) * each
        require_device_memory(device, needed, f"potentials of {count} points", "take fewer points at a time")
        packed = np.zeros((segments * share, columns), real)
        packed[:, used] = 1.0  # padding: no charge at distance 1
        packed[:count, :used] = np.where(is_charge, flat[part] / size, flat[part])
        packed[:count, used] = floor[part]
        on_device = device.array(packed)
        # targets in chunks for each part of the sources
        for start in range(0, len(targets), chunk):
            x = np.ascontiguousarray(targets[start : start + chunk].T, real)
            out = device.empty((segments, emission.values, 2, x.shape[1]), real)
            threads, group = (x.shape[1], segments), (LAUNCHES.group, 1)
            given = (device.array(x), on_device, constants, out, x.shape[1], share)
            device.launch(program, "field", threads, group, *given)
            sums = device.to_host(out).sum(axis=0, dtype=np.float64)
            del given, out  # before those of the next chunk are made
            total[start : start + chunk] += size * (sums[:, 0] + 1j * sums[:, 1]).T
    return total


def far_sums(
    execution: Execution,
    emission: Emission,
    unit: NDArray[np.float64],
    sources: NDArray[np.float64],
    k: float,
    origin: NDArray[np.float64],
    scale: float,
) -> NDArray[np.complex128]:
    """(n, values) sums over sources (groups, Q, C) in unit directions (n, 3), divided by 4 pi. Phases are those about
    the origin, which a factor in double precision moves."""
    inside = sources.copy()
    inside[..., :3] = (sources[..., :3] - origin) * scale
    sums = device_sums(execution, emission, None, unit * (-k / scale), inside, np.ones(len(sources)), np.zeros(1))
    phase = np.exp(-1j * k * (unit @ origin)) * (scale ** (emission.power - 1) / (4 * math.pi))
    return phase[:, None] * sums


def _source(emission: Emission, real: np.dtype[Any], green: RadialGreen | None) -> Source:
    """The variant of field.c."""
    defines = (*green_defines(green), *SCALARS.defines) if green is not None else ()
    own = (
        ("EMISSION", f'"potentials/sources/{emission.header}"'),
        ("KIND", emission.kind),
        ("GROUP_SIZE", LAUNCHES.group),
    )
    return Source("potentials/field.c", real_name(real), (*own, *defines))


def _segments(sources: int, targets: int) -> tuple[int, int]:
    """How many segments of how many sources each, whole tiles, fill a device."""
    tiles = -(-sources // LAUNCHES.group)
    each = -(-tiles // min(tiles, LAUNCHES.segments, max(1, LAUNCHES.threads // targets)))
    return -(-tiles // each), each * LAUNCHES.group


def warn_if_coarse(real: np.dtype[Any], k: float, reach: float) -> None:
    """AccuracyWarning where the phase k r is not resolved for distances r up to `reach`."""
    single = real == np.float32
    error = abs(k) * reach * float(np.finfo(real).eps) * (0.5 if single else LAUNCHES.large_angles)
    if error > LAUNCHES.coarse and math.isfinite(error):
        warnings.warn(
            f"k r reaches {abs(k) * reach:.3g}, and {'single' if single else 'double'} precision keeps its phase to "
            f"{error:.0e}: " + ('use precision="double"' if single else "take far_field(directions) there"),
            AccuracyWarning,
            stacklevel=callers_level(),
        )
