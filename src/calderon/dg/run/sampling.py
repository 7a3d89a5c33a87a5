"""How many steps a run has: up to a time, or so that they divide periods evenly; and nodes per wavelength."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calderon.dg.domain import Domain
from calderon.mesh import MeshWarning
from calderon.validation import callers_level, positive_length, real_number
from calderon.waves import RampedSine, TransientPlaneWave

SAMPLES = 24
"""Least number of samples of a period that enter a discrete Fourier transform."""

LARGEST_COUNT = 10**8
"""Largest number of steps of a run; more indicates a wrong unit."""
LEAST_STEPS = 6
"""Least number of stable steps in a period; with fewer, the elements are longer than the waves."""
LEAST_SKIN = 0.5
"""Least skin depth of a conductor, in lengths of its elements."""
LEAST_NODES = 2.0
"""Least number of nodes in a wavelength: no polynomial with fewer nodes resolves it."""


@dataclass(frozen=True)
class Sampling:
    """Samples of a period of a frequency in Hz: `samples` that enter the transform, `stride` steps from one to the
    next."""

    frequency: float
    samples: int
    stride: int

    @property
    def steps(self) -> int:
        """Number of steps of a period."""
        return self.samples * self.stride

    def steps_in(self, periods: int) -> int:
        """ValueError for more than LARGEST_COUNT."""
        if periods * self.steps > LARGEST_COUNT:
            raise ValueError(
                f"frequency={self.frequency!r}, periods={periods}: that takes {periods * self.steps:.2g} steps of "
                f"{self.step:.3g} s, more than {LARGEST_COUNT:.0e}: use fewer periods or a coarser mesh; is the "
                "frequency in Hz, and the mesh in metres?"
            )
        return periods * self.steps

    @property
    def step(self) -> float:
        """In s."""
        return 1 / (self.frequency * self.steps)


def sampling(frequency: float, longest: float) -> Sampling:
    """With steps as long as possible, at most `longest` s. ValueError for a frequency that is not positive."""
    frequency = positive_length(frequency, "frequency")
    if frequency * longest * LEAST_STEPS > 1:
        raise ValueError(
            f"frequency={frequency!r}: a period lasts {1 / frequency:.3g} and the longest stable step {longest:.3g}: "
            "the mesh is far too coarse for such waves, or not in metres; use a finer mesh, or scale= when it is read"
        )
    stride = max(1, math.floor(1 / (frequency * longest * SAMPLES)))
    return Sampling(frequency, math.ceil(1 / (frequency * longest * stride)), stride)


def require_period(sources: Iterable[Any], frequency: float) -> None:
    """ValueError for a source that does not repeat after a period."""
    for each in sources:
        signal = each if isinstance(each, TransientPlaneWave) else each.signal
        if isinstance(signal, (TransientPlaneWave, RampedSine)):
            times = signal.frequency / frequency
            if round(times) < 1 or abs(times - round(times)) > 1e-9 * times:
                raise ValueError(
                    f"frequency={frequency!r}: a source oscillates with {signal.frequency!r} Hz: choose that; for "
                    "several frequencies use a pulse and add_transform"
                )


def steps_until(until: float, now: float, longest: float) -> tuple[float, int]:
    """The span from now until then, and the number of steps that it takes. ValueError for an invalid or past time,
    and for more steps than LARGEST_COUNT."""
    if (until := real_number(until, "until")) < now:
        raise ValueError(f"until={until!r}: a time not before the present one, {now!r}, is needed")
    span = until - now
    count = span / longest * (1 - 1e-12)  # perhaps infinite
    if count > LARGEST_COUNT:
        raise ValueError(
            f"until={until!r}: that takes {count:.2g} steps of {longest:.3g}, more than {LARGEST_COUNT:.0e}: is the "
            "time in seconds (with materials), and the mesh in metres? Choose a shorter time or a coarser mesh"
        )
    return span, math.ceil(count)


def warn_resolution(domain: Domain, frequency: float) -> None:
    """MeshWarning, by the first rank, where elements of any rank are too long for the waves in them."""
    medium, mesh, order = domain.medium, domain.part.mesh, domain.element_blocks.reference.order
    lengths = medium.speed / (frequency * np.sqrt(medium.permittivity * medium.permeability))
    nodes = order * lengths / mesh.longest_edges
    worst = int(np.argmin(nodes))
    own = float(nodes[worst]), int((nodes < LEAST_NODES).sum()), mesh.longest_edges[worst], lengths[worst]
    found = domain.communicator.gather(own)
    least, _, edge, length = min(found)
    if least < LEAST_NODES and domain.communicator.rank == 0:
        hertz, metres = (" Hz", " m") if medium.speed != 1 else ("", "")
        warnings.warn(
            f"{sum(each[1] for each in found)} tetrahedra have fewer than {LEAST_NODES:g} nodes in a wavelength at "
            f"{frequency:.4g}{hertz}, the worst {least:.2g} (edge {edge:.3g}{metres}, wavelength {length:.3g}{metres})"
            ": amplitudes are inaccurate there; use a finer mesh or a higher order; or is the mesh not in metres?",
            MeshWarning,
            stacklevel=callers_level(),
        )


def warn_skin_depth(domain: Domain, frequency: float) -> None:
    """MeshWarning, by the first rank, where elements of any rank are too long for the decay of waves in conductors."""
    medium, lengths = domain.medium, domain.part.mesh.longest_edges
    conductors = np.flatnonzero(medium.loss)
    if medium.speed == 1:  # without units and materials
        return
    k = 2 * np.pi * frequency / medium.speed
    index = np.sqrt(medium.permeability * (medium.permittivity + 1j * medium.loss / k))[conductors]
    part = np.append(1 / (k * index.imag) / lengths[conductors], np.inf)  # of skin depths in an element
    worst = int(np.argmin(part))
    own = float(part[worst]), int((part < LEAST_SKIN).sum()), float(np.append(lengths[conductors], 0.0)[worst])
    found = domain.communicator.gather(own)
    least, _, edge = min(found)
    if least < LEAST_SKIN and domain.communicator.rank == 0:
        warnings.warn(
            f"{sum(each[1] for each in found)} tetrahedra of conductors are longer than twice the skin depth at "
            f"{frequency:.4g} Hz, the worst {1 / least:.3g} times it (edge {edge:.3g} m, skin depth {least * edge:.3g} "
            "m): losses there are inaccurate; use a finer mesh, or leave the conductor out (mesh.without_part) and "
            "name its boundary 'pec'",
            MeshWarning,
            stacklevel=callers_level(),
        )
