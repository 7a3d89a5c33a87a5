"""Wires in all regions of composite bodies, those of each region by a `Wiring` of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from calderon.formulations.composite.junctions import RegionTraces
from calderon.formulations.composite.skeleton import NONE, Skeleton, located
from calderon.formulations.composite.wires.wired_currents import WiredCurrents, WireSources
from calderon.formulations.composite.wires.wiring import Wiring
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents
from calderon.formulations.ports.board_slots import Lumped
from calderon.formulations.ports.gaps import WireGap
from calderon.formulations.wires.wire import Wire

Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WiresInRegions:
    """parts: the wires of regions, in the order of their unknowns; numbers: of these regions; around: the number of the
    region around all others."""

    parts: tuple[Wiring, ...]
    numbers: tuple[int, ...]
    around: int

    @staticmethod
    def of(
        wires: Sequence[Wire],
        skeleton: Skeleton,
        traces: Sequence[RegionTraces],
        losses: Sequence[Complex],
        media: Sequence[Region],
        eta: float,
        frequency: float,
    ) -> "WiresInRegions":
        """The groups of wires in regions with these currents, impedances of metal on triangles, and media; eta: the
        impedance in ohm of the region around. ValueError for a wire that is in metal, or in several regions."""
        owners = [_region_of(number, wire, skeleton) for number, wire in enumerate(wires)]
        numbers = sorted(set(owners))
        parts = []
        for each in numbers:
            chosen = tuple(n for n, owner in enumerate(owners) if owner == each)
            metal = skeleton.is_metal & ~skeleton.is_guide
            perfect = metal[skeleton.triangles_of(each)] & (losses[each] == 0)
            own = tuple(wires[n] for n in chosen)
            parts.append(Wiring(own, skeleton, each, traces[each], perfect, media[each], eta, frequency, chosen))
        return WiresInRegions(tuple(parts), tuple(numbers), skeleton.unbounded)

    @property
    def dimension(self) -> int:
        """Number of unknowns."""
        return sum(each.dimension for each in self.parts)

    def weights(self, gap: WireGap) -> Floats:
        """(N,) the current of each function through a gap, of the wire that is nearest to it."""
        distances = np.array([each.network.distance(np.asarray(gap.at)) for each in self.parts])
        nearest = int(distances.argmin())
        if (
            np.count_nonzero(distances <= distances[nearest] + 1e-9 * float(np.ptp(self.parts[nearest].network.ends)))
            > 1
        ):
            raise ValueError(f"wires of two regions end at the {gap}: place it within one of their segments")
        found = [np.zeros(each.dimension) for each in self.parts]
        found[nearest] = self.parts[nearest].network.weights(gap, self.parts[nearest].k)
        return np.concatenate(found)

    def _split(self, x: NDArray[Any]) -> list[NDArray[Any]]:
        return np.split(x, np.cumsum([each.dimension for each in self.parts])[:-1])

    def matrix(self, loads: Sequence[Lumped], frequency: float) -> Complex:
        """(surface + N, N) the columns of the wires: above, of the rows of the surfaces, below, their own."""
        above, below = np.hstack([each.above for each in self.parts]), block_diag(*(each.among for each in self.parts))
        below = below - block_diag(*(each.losses.toarray() / each.eta for each in self.parts))
        for load in loads:
            w = self.weights(load.gap)  # type: ignore[arg-type]
            below = below - load.impedance_at(frequency) / self.parts[0].eta * np.outer(w, w)
        return np.vstack([above, below])

    def tested(self, field: Callable[[Floats], Complex]) -> Complex:
        """(N,) -<f, E> of a field at points, which the region around has."""
        return np.concatenate([each.tested(field) if number == self.around else np.zeros(each.dimension)
                               for number, each in zip(self.numbers, self.parts, strict=True)])  # fmt: skip

    def echoes(self, r: Floats, vectors: Floats) -> Complex:
        """(N, m) -<f, E> of plane waves in the region around, as `Wiring.echoes`."""
        return np.concatenate([each.echoes(r, vectors) if number == self.around else np.zeros((each.dimension, len(r)))
                               for number, each in zip(self.numbers, self.parts, strict=True)])  # fmt: skip

    def radiating(self, currents: RadiatingCurrents, x: Complex) -> RadiatingCurrents:
        """The currents of surfaces of the region around, with those of wires in it; x: unknowns (N,) over eta, in A."""
        if self.around not in self.numbers:
            return currents
        place = self.numbers.index(self.around)
        sources = self.parts[place].sources(self._split(x)[place])
        given = currents.electric_currents, currents.magnetic_currents
        return WiredCurrents(currents.wavenumber, currents.impedance, *given, wires=sources)

    def inside(
        self, x: Complex, surfaces: Complex
    ) -> tuple[tuple[int, ...], tuple[WireSources, ...], tuple[float, ...]]:
        """Numbers of bounded regions with wires, their currents, and the power in W that is given to the medium with
        them, for unknowns x (N,) of wires and `surfaces` (n,) over eta."""
        every = zip(self.numbers, self.parts, self._split(x), strict=True)
        chosen = [each for each in every if each[0] != self.around]
        numbers = tuple(number for number, *_ in chosen)
        powers = tuple(each.delivered(own, surfaces) for _, each, own in chosen)
        return numbers, tuple(each.sources(own) for _, each, own in chosen), powers

    def lost(self, x: Complex) -> float:
        """Time-averaged power in W that the metal of wires takes."""
        return float(sum(each.lost(own) for each, own in zip(self.parts, self._split(x), strict=True)))


def _region_of(number: int, wire: Wire, skeleton: Skeleton) -> int:
    """The number of the region of a wire; ValueError for one in metal, or in two."""
    middles = (wire.ends[1:] + wire.ends[:-1]) / 2
    found = located(skeleton.walls, middles)
    if (found == NONE).any():
        place = middles[found.argmin()].tolist()
        raise ValueError(f"wire {number} lies in solid metal, near {place}: wires lie in regions")
    if len(np.unique(found)) > 1:
        names = ", ".join(skeleton.called(each) for each in np.unique(found))
        raise ValueError(
            f"wire {number} goes through a surface, from one region to another, {names}: end it on a vertex of metal "
            "there, and make a wire of each part"
        )
    return int(found[0])
