"""The semi-discrete Maxwell system on one process: arrays and tables that every time stepping method needs."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.team import Team
from calderon.dg.domain import Domain
from calderon.dg.operator.boundary import GHOSTS
from calderon.dg.operator.gather import sorted_faces
from calderon.dg.sources.currents import Load
from calderon.mesh import MeshError


def silent(*_: Any) -> None:
    """Do nothing: the default callback."""


@dataclass(frozen=True)
class Steps:
    """The steps of a run: c t when the first one begins, their length and number.

    after(n) is called after each, with E at time + n step. first: steps done already, with the fields as in such a
    call. begun() is called once before the first of the other steps, with the fields as after the step before it: H is
    already ahead.
    """

    time: float
    step: float
    count: int
    after: Callable[[int], None] = silent
    first: int = 0
    begun: Callable[[], None] = silent

    @property
    def numbers(self) -> range:
        """Numbers of the remaining steps, from 1."""
        return range(self.first + 1, self.count + 1)


class System(ABC):
    """E and Z0 H (flat arrays), and what both fluxes need to advance them in time."""

    h_offset: float
    """Steps by which H is later than E in the calls of `Steps.after`; in the last call it is not later."""
    saving: float = 1.0
    """Factor of work saved against one step for all elements; `limit` computes it."""
    trials: int
    """Largest number of products with the operator in `limit`."""
    interrupted: bool = False
    """Whether the fields are intermediate ones of an unfinished run."""

    def __init__(self, domain: Domain) -> None:
        self.domain, self.medium, self.open, self.loads = domain, domain.medium, domain.open, domain.loads
        self.element_blocks = element_blocks = domain.element_blocks
        real, reference = element_blocks.real, element_blocks.reference
        self.real = real.type
        # fields, and what is known at faces with conditions: factors, rows of ghosts, ghosts
        self.electric, self.magnetic = element_blocks.zeros().ravel(), element_blocks.zeros().ravel()
        factors = np.array([GHOSTS[str(each)] for each in domain.conditions]).reshape(-1, 2)
        self.factors = [np.ascontiguousarray(factors[:, n], real) for n in range(2)]
        self.rows = np.full(len(domain.conditions), -1, np.int32)
        others = np.zeros(0, np.int64) if domain.halo is None else domain.halo.numbers
        self.rows[others] = self.open.number + np.arange(len(others))
        shape = max(1, self.open.number + len(others)), 2, reference.face_size
        self.ghosts = [np.zeros(shape, real) for _ in range(2)]
        # tables that kernels read
        self.nodes = reference.face_nodes.astype(np.int64).ravel()
        self.codes = element_blocks.codes
        self.faces = sorted_faces(self.codes, reference.size, reference.face_size)
        self.metric = element_blocks.metric().ravel()
        self.inner_blocks = (0, element_blocks.inner_blocks)
        self.outer_blocks = (element_blocks.inner_blocks, element_blocks.blocks)
        self._team = Team()

    def on_blocks(self, kernel: Callable[..., None], blocks: tuple[int, int], *arguments: Any) -> None:
        """Call a kernel for all blocks of elements from blocks[0] to before blocks[1], by all threads: one part each,
        so that its data stay in the caches of one core from step to step.

        A part has at least 40 nodes of a lane (blocks times nodes of an element): starting it takes as long as a block
        of P2.
        """
        possible = (blocks[1] - blocks[0]) * self.element_blocks.reference.size // 40
        parts = max(1, min(self._team.number, possible))
        self._team.run(kernel, blocks, parts, *arguments)

    def lanes_of(self, *columns: NDArray[np.float64]) -> NDArray[np.floating]:
        """(elements,) columns side by side, for the kernels."""
        return self.element_blocks.in_lanes(np.stack(columns, axis=1)).ravel()

    def drive(self, load: Load, gains: NDArray[np.float64]) -> NDArray[np.floating]:
        """(e, 3, n) contribution of a load to E in a step for s = 1; gains (elements,) of the curl."""
        return np.asarray(-gains[load.elements][:, None, None] * load.density, self.element_blocks.real)

    def inner(self, first: NDArray[Any], second: NDArray[Any], weight: NDArray[np.floating]) -> float:
        """Integral of weight E . F for flat fields; weight (blocks, lanes)."""
        return self.inners(first, second, weight)[1]

    def inners(self, first: NDArray[Any], second: NDArray[Any], weight: NDArray[np.floating]) -> tuple[float, float]:
        """Integrals of weight E . E and weight E . F for flat fields."""
        shape, mass = self.element_blocks.shape, self.element_blocks.reference.mass.astype(self.element_blocks.real)
        one, two = first.reshape(shape), second.reshape(shape)
        sums = np.zeros(2)
        for begin in range(0, shape[0], 64):  # blocks at a time, so that intermediate arrays fit a cache
            part = slice(begin, begin + 64)
            raised = np.einsum("bkil,bknl->binl", self._inverse_metric[part] * weight[part, None, None], one[part])
            weighed = mass @ raised
            sums += np.vdot(weighed, one[part]), np.vdot(weighed, two[part])
        own = self.domain.communicator.total(sums)
        return float(own[0]), float(own[1])

    @cached_property
    def _inverse_metric(self) -> NDArray[np.floating]:
        """(blocks, 3, 3, lanes): |J| times the inverse of the metric."""
        frames = self.element_blocks.frames
        gram = np.einsum("nik,njk->nij", frames, frames)
        volume = np.abs(self.element_blocks.determinants)
        try:
            inverse = np.linalg.inv(gram)
        except np.linalg.LinAlgError:
            flattest = int(self.element_blocks.mesh.quality.argmin())
            raise MeshError(
                f"tetrahedron {flattest} is too flat (quality {self.element_blocks.mesh.quality[flattest]:.1e}) for "
                "fields in time: remove it, or mesh that place again"
            ) from None
        return self.element_blocks.in_lanes(inverse * volume[:, None, None])

    def energy(self) -> tuple[float, float]:
        """Integrals of epsilon_r E^2 / 2 and mu_r (Z0 H)^2 / 2."""
        in_lanes = self.element_blocks.in_lanes
        weights = in_lanes(self.medium.permittivity), in_lanes(self.medium.permeability)
        fields = self.electric, self.magnetic
        values = [self.inner(field, field, weight) / 2 for field, weight in zip(fields, weights, strict=True)]
        return values[0], values[1]

    @abstractmethod
    def limit(self, report: Callable[[], None] = silent) -> float:
        """The largest stable step of c t, in m; report: is called at each of the trials."""

    @abstractmethod
    def advance(self, steps: Steps) -> None:
        """Do the steps; then both fields are at the same time."""

    @property
    @abstractmethod
    def entering(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        """(waves, f, 2, m) amplitudes of what enters through the open faces in steps of E and of H."""

    def incident(self, field: int, time: float) -> NDArray[np.floating]:
        """(f, 2, m) the incident part of the ghost traces at the open faces in a step of E (0) or H (1)."""
        return np.real(np.tensordot(self.domain.incident.phases(time), self.entering[field], 1))

    def voltage(self, load: Load) -> float:
        """This rank's share of the voltage at a feed, also while `advance` runs."""
        return load.voltage(self.electric[load.places])

    def fetch(self) -> None:  # noqa: B027 - nothing to do on the processor
        """Bring E and H up to date while `advance` runs, where they are stored elsewhere."""

    def views(self) -> tuple[Any, Any]:
        """E and H to be indexed by flat numbers, also while `advance` runs."""
        return self.electric, self.magnetic

    def finite(self) -> bool:
        """Whether the sums of E and of H on this rank are finite, also while `advance` runs."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.electric.sum()) and np.isfinite(self.magnetic.sum()))

    def received(self, which: int) -> None:
        """Wait for the traces of E (0) or H (1) from other ranks."""
        if self.domain.halo is not None:
            self.ghosts[which][self.open.number :] = self.domain.halo.finish(which)
