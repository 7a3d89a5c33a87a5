"""How many steps a run has: up to a time, or so that they divide periods evenly; and nodes per wavelength."""

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.dg.domain import Domain
from calderon.mesh import MeshWarning
from calderon.validation import callers_level, positive_length, real_number
from calderon.waves import RampedSine, TransientPlaneWave


class Resolution(NamedTuple):
    """Numbers that a run must resolve, at least.

    samples: of a period that enter a discrete Fourier transform. steps: stable steps in a period; with fewer, the
    elements are longer than the waves. nodes: in a wavelength: no polynomial with fewer resolves it. skin: depth in a
    conductor, in lengths of its elements. most_steps: of a run, at most; more indicate a wrong unit.
    """

    samples: int = 24
    steps: int = 6
    nodes: float = 2.0
    skin: float = 0.5
    most_steps: int = 10**8


NEEDED = Resolution()


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
        """Raise ValueError for more than NEEDED.most_steps."""
        if periods * self.steps > NEEDED.most_steps:
            raise ValueError(
                f"frequency={self.frequency!r}, periods={periods}: that takes {periods * self.steps:.2g} steps of "
                f"{self.step:.3g} s, more than {NEEDED.most_steps:.0e}: use fewer periods or a coarser mesh; is the "
                "frequency in Hz, and the mesh in metres?"
            )
        return periods * self.steps

    @property
    def step(self) -> float:
        """The length of a step in s."""
        return 1 / (self.frequency * self.steps)


def sampling(frequency: float, longest: float) -> Sampling:
    """With steps as long as possible, at most `longest` s. ValueError for a frequency that is not positive."""
    frequency = positive_length(frequency, "frequency")
    if frequency * longest * NEEDED.steps > 1:
        raise ValueError(
            f"frequency={frequency!r}: a period lasts {1 / frequency:.3g} and the longest stable step {longest:.3g}: "
            "the mesh is far too coarse for such waves, or not in metres; use a finer mesh, or scale= when it is read"
        )
    stride = max(1, math.floor(1 / (frequency * longest * NEEDED.samples)))
    return Sampling(frequency, math.ceil(1 / (frequency * longest * stride)), stride)


def require_period(sources: Iterable[Any], frequency: float) -> None:
    """Raise ValueError for a source that does not repeat after a period."""
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
    and for more steps than NEEDED.most_steps."""
    if (until := real_number(until, "until")) < now:
        raise ValueError(f"until={until!r}: a time not before the present one, {now!r}, is needed")
    span = until - now
    count = span / longest * (1 - 1e-12)  # perhaps infinite
    if count > NEEDED.most_steps:
        raise ValueError(
            f"until={until!r}: that takes {count:.2g} steps of {longest:.3g}, more than {NEEDED.most_steps:.0e}: is "
            "the time in seconds (with materials), and the mesh in metres? Choose a shorter time or a coarser mesh"
        )
    return span, math.ceil(count)


def warn_resolution(domain: Domain, frequency: float) -> None:
    """MeshWarning, by the first rank, where elements of any rank are too long for the waves in them."""
    medium = domain.medium
    lengths = medium.speed / (frequency * np.sqrt(medium.permittivity * medium.permeability))
    nodes = domain.element_blocks.reference.order * lengths / domain.part.mesh.longest_edges
    hertz, metres = (" Hz", " m") if medium.speed != 1 else ("", "")

    def text(count: int, least: float, edge: float, length: float) -> str:
        return (
            f"{count} tetrahedra have fewer than {NEEDED.nodes:g} nodes in a wavelength at {frequency:.4g}{hertz}, the "
            f"worst {least:.2g} (edge {edge:.3g}{metres}, wavelength {length:.3g}{metres}): amplitudes are inaccurate "
            "there; use a finer mesh or a higher order; or is the mesh not in metres?"
        )

    _warn_of_worst(domain, nodes, NEEDED.nodes, lengths, text)


def warn_skin_depth(domain: Domain, frequency: float) -> None:
    """MeshWarning, by the first rank, where elements of any rank are too long for the decay of waves in conductors."""
    medium = domain.medium
    if medium.speed == 1:  # without units and materials
        return
    k = 2 * np.pi * frequency / medium.speed
    index = np.sqrt(medium.permeability * (medium.permittivity + 1j * medium.loss / k))
    depths = np.divide(1 / k, index.imag, out=np.full(len(index), np.inf), where=medium.loss > 0)

    def text(count: int, least: float, edge: float, depth: float) -> str:
        return (
            f"{count} tetrahedra of conductors are longer than twice the skin depth at {frequency:.4g} Hz, the worst "
            f"{1 / least:.3g} times it (edge {edge:.3g} m, skin depth {depth:.3g} m): losses there are inaccurate; use "
            "a finer mesh, or leave the conductor out (mesh.without_part) and name its boundary 'pec'"
        )

    _warn_of_worst(domain, depths / domain.part.mesh.longest_edges, NEEDED.skin, depths, text)


def _warn_of_worst(
    domain: Domain,
    values: NDArray[np.float64],
    least: float,
    lengths: NDArray[np.float64],
    text: Callable[[int, float, float, float], str],
) -> None:
    """MeshWarning, by the first rank, where values (elements,) of any rank are below the least one. text: of the
    warning, for the number of such elements, and value, longest edge and length (elements,) of the worst one."""
    worst = int(np.argmin(values))
    edge = float(domain.part.mesh.longest_edges[worst])
    found = domain.communicator.gather((float(values[worst]), int((values < least).sum()), edge, float(lengths[worst])))
    value, _, edge, length = min(found)
    if value < least and domain.communicator.rank == 0:
        count = sum(each[1] for each in found)
        warnings.warn(text(count, value, edge, length), MeshWarning, stacklevel=callers_level())
