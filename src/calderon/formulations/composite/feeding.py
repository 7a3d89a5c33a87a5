"""Ports and loads of composite bodies: gaps of wires, and slots in metal in which a voltage, or an impedance, drives
the current across.

A slot with the signed edge lengths w (unknowns,) has the current I = w' x / eta, and its voltage U the integrals
-s U w with the functions; an impedance Z, whose voltage is -Z I, adds -(s Z / eta) w w' to the matrix. s = 1 where one
region has both faces, or the only one; s = 1/2 where they belong to two, each of which sees half of the trace. A slot
is exact where the media at both faces of the metal are one. Between unlike ones it would also carry M = -n x E,
opposite on both faces, of which leaving it out is no approximation: its power is a quarter of all or more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.composite.junctions import Junctions
from calderon.formulations.composite.skeleton import NONE
from calderon.formulations.composite.wires.wires_in_regions import WiresInRegions
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.formulations.ports.board_slots import Lumped
from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.formulations.ports.gaps import DeltaGap, gap_edges, require_across


@dataclass(frozen=True, eq=False)
class Feeding:
    """Slots of a body. media: of its regions. Raises ValueError for slots in no metal, between unlike media, of which
    no current crosses, and for ports that share edges."""

    junctions: Junctions
    media: tuple[Region, ...]
    surfaces: int
    """The number of unknowns of surfaces, before those of wires."""
    wiring: WiresInRegions | None = None

    def slots(self, gaps: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(unknowns, gaps) signed lengths w of the edges of slots, or currents through gaps of wires, and (gaps,) the s
        of each."""
        unknowns = self.surfaces + (0 if self.wiring is None else self.wiring.dimension)
        found, shares = np.zeros((unknowns, len(gaps))), np.ones(len(gaps))
        for number, gap in enumerate(gaps):
            if isinstance(gap, DeltaGap):
                found[: self.junctions.dimension, number], shares[number] = self._slot(gap)
            elif isinstance(gap, FiniteGap):
                found[self.junctions.place(gap), number] = 1.0
            elif self.wiring is not None:
                found[self.surfaces :, number] = self.wiring.weights(gap)
        return found, shares

    def load_matrix(self, loads: Sequence[Lumped], frequency: float, eta: float) -> sp.csr_array:
        """(unknowns, unknowns) sum of (s Z / eta) w w' of loads."""
        lengths, shares = self.slots([load.gap for load in loads if isinstance(load.gap, DeltaGap | FiniteGap)])
        w, impedances = sp.csc_array(lengths), np.array([load.impedance_at(frequency) for load in loads])
        z = sp.diags_array(shares * impedances / eta)
        return sp.csr_array(w @ z @ w.T)

    def _slot(self, gap: DeltaGap) -> tuple[NDArray[np.float64], float]:
        skeleton = self.junctions.skeleton
        mesh, sectors = skeleton.mesh, skeleton.sectors
        edges = gap_edges(gap, mesh)
        at = np.isin(sectors.edges, edges)
        if not skeleton.is_metal[sectors.places[at] // 3].all():
            raise ValueError(
                f"{gap} lies at edges at which an interface of two materials ends or continues: a gap is a slot in "
                "metal, with metal on both sides of its edges and no other surface"
            )
        if skeleton.is_guide[sectors.places[at] // 3].any():
            raise ValueError(f"{gap} lies at the edge of a waveguide port, whose modes are its source: move it away")
        require_across(gap, mesh, skeleton.is_metal)
        around = np.unique(self.junctions.regions[at])
        regions = [int(each) for each in around if each != NONE]
        media = {(self.media[each].permittivity, self.media[each].permeability) for each in regions}
        if len(media) > 1:
            names = ", ".join(skeleton.called(each) for each in regions)
            raise ValueError(
                f"{gap} lies between unlike media, the regions {names}: a slot there has a magnetic current too, and "
                "without it impedances are wrong by factors; take a FiniteGap, or feed a strip or probe in one region"
            )
        edges_of = [np.count_nonzero(np.isin(edges, sectors.edges[self.junctions.regions == each])) for each in around]
        if len(regions) > 1 and (len(around) > len(regions) or min(edges_of) < len(edges)):
            raise ValueError(f"{gap} has other regions at some of its edges than at others: make a gap of each part")
        total = np.zeros(self.junctions.dimension)
        for each in regions:
            traces = self.junctions.traces[each]
            own = np.unique(mesh.triangle_edges[skeleton.triangles_of(each)])
            local = gap if gap.edges is None else replace(gap, edges=np.searchsorted(own, edges))
            total += traces.electric.T @ local.weights(traces.space)
        if not total.any():
            raise ValueError(f"no current crosses {gap}: it lies where metal ends")
        return total, 1.0 / min(len(regions), 2)
