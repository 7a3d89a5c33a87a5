"""The semi-discrete Maxwell system on one process: arrays, tables and the two ways to advance them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import thread_count
from calderon.dg.boundary import FACTORS, rotations
from calderon.dg.curl import centred_tables, half_step_kernel
from calderon.dg.domain import Domain
from calderon.dg.gather import sorted_faces
from calderon.dg.runge_kutta import STAGES
from calderon.dg.silver_mueller import SilverMueller
from calderon.dg.stability import MARGIN, RUNGE_KUTTA_RADIUS, growth, largest_eigenvalue
from calderon.dg.upwind import stage_kernel, upwind_tables
from calderon.mesh.tetrahedra import FACES

CHUNKS_PER_THREAD = 4
"""Parts of the mesh for each thread, so that none waits long for the slowest."""


class System(ABC):
    """E and Z0 H (flat arrays), and what both fluxes need to advance them in time."""

    lead: float
    """Steps by which H is later than E in the calls of `after` by `advance`, but for the last."""

    def __init__(self, domain: Domain) -> None:
        self.domain, arrangement = domain, domain.arrangement
        self.arrangement, self.medium, self.incident, self.open = (
            arrangement,
            domain.medium,
            domain.incident,
            domain.open,
        )
        real, reference = arrangement.real, arrangement.reference
        self.electric, self.magnetic = arrangement.zeros().ravel(), arrangement.zeros().ravel()
        factors = np.array([FACTORS[str(each)] for each in domain.conditions]).reshape(-1, 2)
        self.factors = [np.ascontiguousarray(factors[:, n], real) for n in range(2)]
        self.rows = np.full(len(domain.conditions), -1, np.int32)
        others = np.zeros(0, np.int64) if domain.halo is None else domain.halo.numbers
        self.rows[others] = self.open.number + np.arange(len(others))
        shape = max(1, self.open.number + len(others)), 2, reference.face_size
        self.ghosts = [np.zeros(shape, real) for _ in range(2)]
        self.nodes = reference.face_nodes.astype(np.int64).ravel()
        self.faces = sorted_faces(arrangement.codes, reference.size, reference.face_size)
        self.metric = arrangement.metric().ravel()
        self.inner_blocks = (0, arrangement.inner_blocks)
        self.outer_blocks = (arrangement.inner_blocks, arrangement.blocks)
        self.chunks = CHUNKS_PER_THREAD * thread_count()

    def lanes_of(self, *columns: NDArray[np.float64]) -> NDArray[np.floating]:
        """(elements,) columns side by side, for the kernels."""
        return self.arrangement.in_lanes(np.stack(columns, axis=1)).ravel()

    def inner(self, first: NDArray[Any], second: NDArray[Any], weight: NDArray[np.floating]) -> float:
        """Integral of weight E . F for flat fields; weight (blocks, lanes)."""
        shape, mass = self.arrangement.shape, self.arrangement.reference.mass.astype(self.arrangement.real)
        one, two = first.reshape(shape), second.reshape(shape)
        raised = np.einsum("bkil,bknl->binl", self._inverse_metric, two)
        own = np.einsum("binl,nm,biml,bl->", one, mass, raised, weight, optimize=True)
        return float(self.domain.communicator.total(np.float64(own)))

    @cached_property
    def _inverse_metric(self) -> NDArray[np.floating]:
        """(blocks, 3, 3, lanes): |J| times the inverse of the metric."""
        frames = self.arrangement.frames
        gram = np.einsum("nik,njk->nij", frames, frames)
        volume = np.abs(self.arrangement.determinants)
        return self.arrangement.in_lanes(np.linalg.inv(gram) * volume[:, None, None])

    def energy(self) -> tuple[float, float]:
        """Integrals of epsilon_r E^2 / 2 and mu_r (Z0 H)^2 / 2."""
        in_lanes = self.arrangement.in_lanes
        weights = in_lanes(self.medium.permittivity), in_lanes(self.medium.permeability)
        fields = self.electric, self.magnetic
        values = [self.inner(field, field, weight) / 2 for field, weight in zip(fields, weights, strict=True)]
        return values[0], values[1]

    @abstractmethod
    def limit(self) -> float:
        """The largest stable step of c t, in m."""

    @abstractmethod
    def advance(self, time: float, step: float, count: int, after: Callable[[int], None], first: int = 0) -> None:
        """`count` steps from c t = time, then both fields are at the same time; after(n) is called behind each, with E
        at time + n step. first: steps done already, with the fields as in such a call."""

    def fetch(self) -> None:  # noqa: B027 - nothing to do on the processor
        """Bring E and H up to date while `advance` runs, where they live elsewhere."""

    def received(self, which: int) -> None:
        """Wait for the traces of E (0) or H (1) from other ranks."""
        if self.domain.halo is not None:
            self.ghosts[which][self.open.number :] = self.domain.halo.finish(which)


class CentredLeapFrog(System):
    """Centred flux, and E and H by turns: second order in time, without any loss of the discrete energy.

    The conductive term is averaged over the step, so that it does not limit it. Source: L. Fezoui, S. Lanteri, S.
    Lohrengel, S. Piperno, ESAIM: M2AN 39 (2005), 1149.
    """

    lead = 0.5

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.volume, self.lift = centred_tables(self.arrangement.reference, self.arrangement.real)
        self._kernel = half_step_kernel(self.arrangement.reference.order)

    def _update(
        self, field: int, keep_gain: NDArray[np.floating], absorbing: SilverMueller | None, time: float
    ) -> None:
        """One step of E (0) or H (1); time: the middle of the step."""
        target, source = (self.electric, self.magnetic)[:: 1 - 2 * field]
        if absorbing is None:
            self._run(target, source, 1 - field, keep_gain)
            return
        before = self.open.traces(target)
        self._run(target, source, 1 - field, keep_gain)
        absorbing.finish(target, before, self._entering(field, time))

    def _entering(self, field: int, time: float) -> NDArray[np.floating] | float:
        """The incident part of what lies beyond the open faces in a step of E or H."""
        if self.incident is None:
            return 0.0
        return np.real(np.tensordot(self.incident.phases(time), self.entering[field], 1))

    @cached_property
    def entering(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        """(waves, f, 2, m) amplitudes of H_inc - Y n x E_inc and of E_inc + Z n x H_inc at the open faces."""
        waves = self.incident.waves if self.incident is not None else []
        shape = (len(waves), self.open.number, *self.ghosts[0].shape[1:])
        result = []
        for field in range(2):
            turn = self._factors_of(field)[:, None, None] * self.open.turn
            pairs = [(wave.electric, wave.magnetic)[:: 1 - 2 * field] for wave in waves]
            result.append(np.array([other - turn @ own for own, other in pairs], complex).reshape(shape))
        return result[0], result[1]

    def _factors_of(self, field: int) -> NDArray[np.float64]:
        """(f,) Y for E, -Z for H."""
        admittance = self.medium.admittance[self.open.elements]
        return admittance if field == 0 else -1 / admittance

    def _absorbing(self, field: int, gains: NDArray[np.float64]) -> SilverMueller | None:
        return SilverMueller(self.open, self._factors_of(field), gains) if self.open.number else None

    def _run(self, target, source, field: int, keep_gain: NDArray[np.floating]) -> None:  # type: ignore[no-untyped-def]
        halo = self.domain.halo
        if halo is not None:
            halo.begin(field, source)
        for blocks in (self.inner_blocks, self.outer_blocks):
            if blocks == self.outer_blocks:
                self.received(field)
            self._kernel(
                target, source, self.rows, self.factors[field], self.ghosts[field], *self.faces, self.nodes,
                self.metric, keep_gain, self.volume, self.lift, blocks, self.chunks,
            )  # fmt: skip

    def _coefficients(self, step: float, field: int) -> tuple[NDArray[np.floating], SilverMueller | None]:
        """What an E (0) or H (1) step of that length takes besides the fields and what is incident."""
        medium, ones = self.medium, np.ones(len(self.arrangement.order))
        if field == 1:
            gains = -step / medium.permeability
            return self.lanes_of(ones, gains), self._absorbing(1, gains)
        loss = step * medium.loss / (2 * medium.permittivity)
        gains = step / (medium.permittivity * (1 + loss))
        return self.lanes_of((1 - loss) / (1 + loss), gains), self._absorbing(0, gains)

    def limit(self) -> float:
        """2 / w, w the largest frequency of the lossless closed system, by Lanczos in the energy's inner product."""
        kept = self.electric, self.magnetic
        medium, zeros = self.medium, np.zeros(len(self.arrangement.order))
        magnetic, electric = (
            self.lanes_of(zeros, -1 / medium.permeability),
            self.lanes_of(zeros, 1 / medium.permittivity),
        )
        weight = self.arrangement.in_lanes(medium.permittivity)
        self.magnetic = np.zeros_like(kept[1])
        for ghost in self.ghosts:
            ghost[:] = 0

        def apply(vector: NDArray[Any]) -> NDArray[Any]:
            self.electric = vector
            self._run(self.magnetic, self.electric, 0, magnetic)
            image = np.zeros_like(vector)
            self._run(image, self.magnetic, 1, electric)
            return -image

        def inner(one: NDArray[Any], two: NDArray[Any]) -> float:
            return self.inner(one, two, weight)

        try:
            largest = largest_eigenvalue(apply, inner, self.domain.random_field())
        finally:
            self.electric, self.magnetic = kept
        return 2 / (np.sqrt(largest) * MARGIN)

    def discrete_energy(self, step: float) -> float:
        """What leap-frog with that step of c t conserves without losses and sources: integrals of epsilon_r E^2 / 2 and
        of mu_r H(t - step / 2) . H(t + step / 2) / 2."""
        kept = self.magnetic
        try:
            self.magnetic = kept.copy()
            self._update(1, *self._coefficients(step / 2, 1), 0.0)
            later = self.magnetic
        finally:
            self.magnetic = kept
        weight = self.arrangement.in_lanes(self.medium.permeability)
        earlier = 2 * kept - later
        return self.energy()[0] + self.inner(earlier, later, weight) / 2

    def advance(self, time: float, step: float, count: int, after: Callable[[int], None], first: int = 0) -> None:
        electric, magnetic = self._coefficients(step, 0), self._coefficients(step, 1)
        half = self._coefficients(step / 2, 1)
        if first == 0:
            self._update(1, *half, time + step / 4)
        for n in range(first + 1, count + 1):
            self._update(0, *electric, time + (n - 0.5) * step)
            last = n == count
            self._update(1, *(half if last else magnetic), time + (n - 0.25 if last else n) * step)
            after(n)


class UpwindRungeKutta(System):
    """Upwind flux and a low-storage Runge-Kutta method of fourth order.

    The conductive term is solved exactly in half steps before and after (second order in the step; it does not limit
    it).
    """

    lead = 0.0

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        if self.incident is not None:
            self.rows[self.open.numbers] = np.arange(self.open.number)
        self.volume, self.lift = upwind_tables(self.arrangement.reference, self.arrangement.real)
        self._kernel = stage_kernel(self.arrangement.reference.order)
        self._riemann = self._riemann_tables()
        self._spare = [np.zeros_like(self.electric) for _ in range(2)]
        self._residuals = [np.zeros_like(self.electric) for _ in range(2)]

    def _riemann_tables(self) -> NDArray[np.floating]:
        """(blocks, 4, 5, lanes), see upwind.upwinded."""
        mesh, own = self.arrangement.mesh, self.medium.admittance
        across = np.where(mesh.neighbours >= 0, own[np.maximum(mesh.neighbours, 0)], own[:, None])
        if self.domain.halo is not None:
            across[self.domain.halo.sides] = self.domain.halo.across(own)
        corners = mesh.vertices[mesh.tetrahedra[:, FACES]]
        tangents = corners[:, :, 1:] - corners[:, :, :1]
        normals = corners.mean(axis=2) - mesh.centroids[:, None]  # only their side matters
        turn = rotations(tangents, normals) / (across + own[:, None])[..., None, None]
        share = across / (across + own[:, None])
        rows = [share, across * own[:, None], turn[..., 0, 0], turn[..., 0, 1], turn[..., 1, 0]]
        return self.arrangement.in_lanes(np.stack(rows, axis=2)).ravel()

    def _stage(self, a: float, b: float, gains: NDArray[np.floating]) -> None:
        real = self.arrangement.real.type
        new, halo = self._spare, self.domain.halo
        if halo is not None:
            halo.begin(0, self.electric)
            halo.begin(1, self.magnetic)
        for blocks in (self.inner_blocks, self.outer_blocks):
            if blocks == self.outer_blocks:
                self.received(0)
                self.received(1)
            self._kernel(
                *new, self.electric, self.magnetic, *self._residuals, real(a), real(b), self.rows, *self.factors,
                *self.ghosts, *self.faces, self.nodes, self.metric, gains, self._riemann, self.volume,
                self.lift, blocks, self.chunks,
            )  # fmt: skip
        self._spare = [self.electric, self.magnetic]
        self.electric, self.magnetic = new

    def _gains(self, step: float) -> NDArray[np.floating]:
        return self.lanes_of(step / self.medium.permittivity, -step / self.medium.permeability)

    def limit(self) -> float:
        """By the power method: radius of the stability region in the left half-plane over the spectral radius."""
        kept = self.electric.copy(), self.magnetic.copy()
        self.electric[:], self.magnetic[:] = self.domain.random_field(), self.domain.random_field()
        gains = self._gains(1.0)

        def apply() -> float:
            self._stage(0.0, 0.0, gains)
            square = sum(float(np.dot(each, each)) for each in self._residuals)
            norm = float(np.sqrt(self.domain.communicator.total(np.float64(square))))
            for field, image in zip((self.electric, self.magnetic), self._residuals, strict=True):
                np.divide(image, norm, out=field)
            return norm

        for ghost in self.ghosts:
            ghost[:] = 0
        radius = growth(apply)
        self.electric[:], self.magnetic[:] = kept
        return RUNGE_KUTTA_RADIUS / (radius * MARGIN)

    def advance(self, time: float, step: float, count: int, after: Callable[[int], None], first: int = 0) -> None:
        gains = self._gains(step)
        medium = self.medium
        decay = None
        if medium.loss.any():
            decay = self.arrangement.in_lanes(np.exp(-step / 2 * medium.loss / medium.permittivity))[:, None, None]
        for n in range(first + 1, count + 1):
            if decay is not None:
                self._decay(decay)
            for a, b, c in STAGES:
                if self.incident is not None:
                    for ghost, values in zip(self.ghosts, self.incident(time + (n - 1 + c) * step), strict=True):
                        ghost[: self.open.number] = values
                self._stage(a, b, gains)
            if decay is not None:
                self._decay(decay)
            after(n)

    def _decay(self, factors: NDArray[np.floating]) -> None:
        field = self.electric.reshape(self.arrangement.shape)
        np.multiply(field, factors, out=field)
