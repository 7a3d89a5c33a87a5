"""Leap-frog with the centred flux."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.dg.domain import Domain
from calderon.dg.operator.conduction import shares, step_permittivity
from calderon.dg.operator.curl import centred_tables, half_step_kernel
from calderon.dg.operator.gather import sorted_faces
from calderon.dg.operator.silver_mueller import SilverMueller
from calderon.dg.stepping.stability import SEARCH, spectrum_ends
from calderon.dg.stepping.system import Steps, System, silent


@dataclass(frozen=True)
class Coefficients:
    """Data of a step of one field in addition to the fields and incident waves: its length; medium (blocks, 2, lanes),
    keep and gain; the open faces; and of each load the contribution of its current, (e, 3, n)."""

    length: float
    medium: NDArray[np.floating]
    absorbing: SilverMueller | None
    drives: tuple[NDArray[np.floating], ...] = ()


class CentredLeapFrog(System):
    """Centred flux, and E and H alternately: second order in time, without any loss of the discrete energy.

    The conductive term is solved exactly over a step of a constant curl, E <- exp(-a) E + (1 - exp(-a)) / a dt curl H /
    epsilon with a = sigma dt / epsilon. It does not limit the step: this is the scheme that averages the term,
    stable in the lossless limit, with the larger permittivity of conduction.py, which lowers all frequencies. Unlike
    the average, whose factor (1 - a / 2) / (1 + a / 2) tends to -1, it leaves no field in a good conductor. Source:
    L. Fezoui, S. Lanteri, S. Lohrengel, S. Piperno, ESAIM: M2AN 39 (2005), 1149.
    """

    h_offset, trials = 0.5, SEARCH.lanczos

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.volume, self.lift = centred_tables(self.element_blocks.reference, self.element_blocks.real)
        self._kernel = half_step_kernel(self.element_blocks.reference.order)
        self._share = shares(self.medium, self.element_blocks.mesh, domain.halo)
        self._weigh(self._share)

    def _weigh(self, share: NDArray[np.float64]) -> None:
        """Weigh both sides of the faces whose share (elements, 4) is not 1/2: those within the part get numbers after
        those of all faces with conditions, see `gather`."""
        # faces at other ranks have a number already
        halo = self.domain.halo
        if halo is not None:
            for field, sign in enumerate((1, -1)):
                self.factors[field][halo.numbers] = sign * (1 - 2 * share[halo.sides])
        # faces within the part are given one, with the code of the face across as their condition
        elements, sides = np.nonzero((share != 0.5) & (self.element_blocks.mesh.neighbours >= 0))
        if not len(elements):
            return
        own = 1 - 2 * share[elements, sides]
        self.factors = [
            np.append(each, sign * own.astype(self.real)) for each, sign in zip(self.factors, (1, -1), strict=True)
        ]
        place, lanes = self.element_blocks.place[elements], self.element_blocks.lanes
        at = place // lanes, sides, place % lanes
        self.codes = self.codes.copy()
        across, self.codes[at] = self.codes[at], -1 - len(self.rows) - np.arange(len(elements))
        self.rows = np.append(self.rows, -2 - across)
        self.faces = sorted_faces(
            self.codes, self.element_blocks.reference.size, self.element_blocks.reference.face_size
        )

    def _update(self, field: int, step: "Coefficients", time: float) -> None:
        """One step of E (0) or H (1); time: the middle of the step."""
        target = (self.electric, self.magnetic)[field]
        before = self.open.traces(target) if step.absorbing is not None else None
        self._curl(field, step, time)
        for load, drive in zip(self.loads, step.drives, strict=False):
            target[load.places] += self.real(load.at(time / self.medium.speed)) * drive
        if step.absorbing is not None and before is not None:
            step.absorbing.finish(target, before, self.incident(field, time))

    def _curl(self, field: int, step: "Coefficients", time: float) -> None:
        """The effect of the other field on E (0) or H (1) in a step, with ghost traces of zero at the open faces."""
        target, source = (self.electric, self.magnetic)[:: 1 - 2 * field]
        self._run(target, source, 1 - field, step.medium)

    @cached_property
    def entering(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        """(waves, f, 2, m) amplitudes of H_inc - Y n x E_inc and of E_inc + Z n x H_inc at the open faces."""
        electric, magnetic = self.domain.incident.amplitudes
        y, z = (self._factors_of(field)[:, None, None] * self.open.turn for field in range(2))
        return magnetic - y @ electric, electric - z @ magnetic

    def _factors_of(self, field: int) -> NDArray[np.float64]:
        """(f,) Y for E, -Z for H."""
        admittance = self.medium.admittance[self.open.elements]
        return admittance if field == 0 else -1 / admittance

    def _absorbing(self, field: int, gains: NDArray[np.float64]) -> SilverMueller | None:
        return SilverMueller(self.open, self._factors_of(field), gains) if self.open.number else None

    def _run(self, target: Any, source: Any, field: int, keep_gain: NDArray[np.floating], begin: int = 0) -> None:
        """Drive a field by the curl of E (0) or H (1), in all blocks from `begin` on."""
        halo = self.domain.halo
        if halo is not None:
            halo.begin(field, source)
        inner, end = max(begin, self.inner_blocks[1]), self.element_blocks.blocks
        self._blocks(target, source, field, keep_gain, (begin, inner))
        self.received(field)
        self._blocks(target, source, field, keep_gain, (inner, end))

    def _blocks(
        self, target: Any, source: Any, field: int, keep_gain: NDArray[np.floating], blocks: tuple[int, int]
    ) -> None:
        """Drive a field by the curl of E (0) or H (1), in the blocks from blocks[0] to blocks[1] only."""
        self.on_blocks(
            self._kernel, blocks, target, source, self.rows, self.factors[field], self.ghosts[field], *self.faces,
            self.nodes, self.metric, keep_gain, self.volume, self.lift,
        )  # fmt: skip

    def _coefficients(self, step: float, field: int) -> "Coefficients":
        """Coefficients of an E (0) or H (1) step of that length."""
        medium, ones = self.medium, np.ones(self.element_blocks.mesh.number_of_tetrahedra)
        if field == 1:
            gains = -step / medium.permeability
            return Coefficients(step, self.lanes_of(ones, gains), self._absorbing(1, gains))
        rate = step * medium.loss / medium.permittivity
        gains = step / medium.permittivity * np.where(rate > 0, -np.expm1(-rate) / np.where(rate > 0, rate, 1.0), 1.0)
        drives = tuple(self.drive(load, gains) for load in self.loads)
        return Coefficients(step, self.lanes_of(np.exp(-rate), gains), self._absorbing(0, gains), drives)

    def limit(self, report: Callable[[], None] = silent) -> float:
        """2 / w, w the largest frequency of the closed system without loss, by Lanczos in the energy's inner product.

        Lengths are in units of the smallest element: w^4 of nanometres exceeds the range of single precision. At
        weighed faces, which raise w, conductors have at least the permittivity of a step that is certainly stable: 0.1
        inscribed radii over the square of the order, where the limit is 0.67 for degree 1 and 0.25 for 3. Above four
        times the permittivity of their medium others limit the step.
        """
        # permittivities of conductors in the search
        medium, zeros, unit = self.medium, np.zeros(self.element_blocks.mesh.number_of_tetrahedra), self.domain.size
        slow = step_permittivity(medium, 0.1 / self.element_blocks.reference.order**2 * unit)
        weighed = (self._share != 0.5).any(axis=1)
        permittivity = np.where(weighed, np.minimum(slow, 4 * medium.permittivity), medium.permittivity)
        # the operator on E: the curl of its curl
        magnetic = self.lanes_of(zeros, -unit / medium.permeability)
        electric = self.lanes_of(zeros, -unit / permittivity)

        def apply(vector: NDArray[Any]) -> NDArray[Any]:
            report()
            self._run(self.magnetic, vector, 0, magnetic)
            image = np.zeros_like(vector)
            self._run(image, self.magnetic, 1, electric)
            return image

        return float(2 * unit / (np.sqrt(self._spectrum_of(apply, permittivity)[1]) * SEARCH.margin))

    def _spectrum_of(
        self, apply: Callable[[NDArray[Any]], NDArray[Any]], permittivity: NDArray[np.float64]
    ) -> tuple[float, float]:
        """Least and largest eigenvalue of an operator on E without sources that uses H as its scratch; the fields are
        at rest before and after."""
        weight = self.element_blocks.in_lanes(permittivity)
        for ghost in self.ghosts:
            ghost[:] = 0
        try:
            return spectrum_ends(apply, lambda one, two: self.inners(one, two, weight), self.domain.random_field())
        finally:
            self.magnetic[:] = 0

    def discrete_energy(self, step: float) -> float:
        """The quantity that leap-frog with that step of c t conserves without losses and sources: integrals of
        epsilon_r E^2 / 2 and of mu_r H(t - step / 2) . H(t + step / 2) / 2."""
        kept = self.magnetic
        try:
            self.magnetic = kept.copy()
            self._update(1, self._coefficients(step / 2, 1), 0.0)
            later = self.magnetic
        finally:
            self.magnetic = kept
        weight = self.element_blocks.in_lanes(self.medium.permeability)
        earlier = 2 * kept - later
        return self.energy()[0] + self.inner(earlier, later, weight) / 2

    def advance(self, steps: Steps) -> None:
        self._leap(steps, self._all_coefficients(steps.step), self._update)

    def _all_coefficients(self, step: float) -> "tuple[Coefficients, ...]":
        """Coefficients of a step of E, of one of H, and of half a step of H."""
        return self._coefficients(step, 0), self._coefficients(step, 1), self._coefficients(step / 2, 1)

    def _leap(self, steps: Steps, coefficients: tuple[Any, ...], update: Callable[[int, Any, float], None]) -> None:
        """The steps; update(field, coefficients, time) advances E (0) or H (1), time: the middle of its step."""
        electric, magnetic, half = coefficients
        if steps.first == 0:
            update(1, half, steps.time + steps.step / 4)
        steps.begun()
        for n in steps.numbers:
            update(0, electric, steps.time + (n - 0.5) * steps.step)
            last = n == steps.count
            update(1, half if last else magnetic, steps.time + (n - 0.25 if last else n) * steps.step)
            steps.after(n)
