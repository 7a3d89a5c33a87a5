"""The upwind flux with a low-storage Runge-Kutta method of fourth order with five stages.

Stage i: r = A_i r + dt f(t + C_i dt, q), then q = q + B_i r. Source: M. Carpenter and C. Kennedy, NASA TM
109112 (1994).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.dg.domain import Domain
from calderon.dg.operator.boundary import rotations
from calderon.dg.operator.conduction import acrossed, conducting_admittance, halves, step_permittivity
from calderon.dg.operator.upwind import stage_kernel, upwind_tables
from calderon.dg.stepping.stability import SEARCH, growth
from calderon.dg.stepping.system import Steps, System, silent
from calderon.mesh.tetrahedra import FACES

STAGES = (
    (0.0, 1432997174477 / 9575080441755, 0.0),
    (-567301805773 / 1357537059087, 5161836677717 / 13612068292357, 1432997174477 / 9575080441755),
    (-2404267990393 / 2016746695238, 1720146321549 / 2090206949498, 2526269341429 / 6820363962896),
    (-3550918686646 / 2091501179385, 3134564353537 / 4481467310338, 2006345519317 / 3224310063776),
    (-1275806237668 / 842570457699, 2277821191437 / 14882151754819, 2802321613138 / 2924317926251),
)
"""A_i, B_i and C_i of each stage."""
RADIUS = 3.16
"""Every z in the left half-plane with |z| below it lies in the stability region."""


class UpwindRungeKutta(System):
    """Upwind flux and a low-storage Runge-Kutta method of fourth order.

    The conductive term acts in half steps before and after (second order in the step; it does not limit it); see
    conduction.py.
    """

    h_offset, trials = 0.0, SEARCH.power

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        if domain.incident.waves:
            self.rows[self.open.numbers] = np.arange(self.open.number)
        self.volume, self.lift = upwind_tables(self.element_blocks.reference, self.element_blocks.real)
        self._kernel = stage_kernel(self.element_blocks.reference.order)
        self._riemann = self._riemann_tables()
        self._spare = [np.zeros_like(self.electric) for _ in range(2)]
        self._residuals = [np.zeros_like(self.electric) for _ in range(2)]

    @property
    def entering(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        return self.domain.incident.amplitudes

    def _riemann_tables(self) -> NDArray[np.floating]:
        """(blocks, 4, 5, lanes) the five numbers of the Riemann problem at each face, as in `upwinded` of upwind.py."""
        mesh, inside = self.element_blocks.mesh, self.element_blocks.mesh.neighbours >= 0
        if self.domain.halo is not None:
            inside[self.domain.halo.sides] = True
        admittances = self.medium.admittance, conducting_admittance(self.medium, mesh)
        y, g = (each[:, None] for each in admittances)
        y_across, g_across = (acrossed(each, mesh, self.domain.halo) for each in admittances)
        # boundaries absorb waves of the medium, whatever its conductivity
        g, g_across = np.where(inside, g, y), np.where(inside, g_across, y_across)
        corners = mesh.vertices[mesh.tetrahedra[:, FACES]]
        tangents = corners[:, :, 1:] - corners[:, :, :1]
        normals = corners.mean(axis=2) - mesh.centroids[:, None]  # only their side matters
        turn = rotations(tangents, normals) / (g + g_across)[..., None, None]
        weight = y * y_across / (y + y_across) * (g + g_across)
        rows = [g_across / (g + g_across), weight, turn[..., 0, 0], turn[..., 0, 1], turn[..., 1, 0]]
        return self.element_blocks.in_lanes(np.stack(rows, axis=2)).ravel()

    def _stage(self, a: float, b: float, gains: NDArray[np.floating]) -> None:
        """One stage of both fields q, with residuals r: r = a r + gains * curl, then q = q + b r.

        gains (blocks, 2, lanes): dt / epsilon of curl H and -dt / mu of curl E. The new fields are in other arrays than
        the old ones, which serve as room for the next stage.
        """
        # traces leave for other ranks; inner blocks do not need theirs
        new, halo = self._spare, self.domain.halo
        if halo is not None:
            halo.begin(0, self.electric)
            halo.begin(1, self.magnetic)
        for blocks in (self.inner_blocks, self.outer_blocks):
            if blocks == self.outer_blocks:
                self.received(0)
                self.received(1)
            self.on_blocks(
                self._kernel, blocks, *new, self.electric, self.magnetic, *self._residuals, self.real(a), self.real(b),
                self.rows, *self.factors, *self.ghosts, *self.faces, self.nodes, self.metric, gains, self._riemann,
                self.volume, self.lift,
            )  # fmt: skip
        # new fields take the place of the old ones
        self._spare = [self.electric, self.magnetic]
        self.electric, self.magnetic = new

    def _gains(self, step: float) -> NDArray[np.floating]:
        return self.lanes_of(step / step_permittivity(self.medium, step), -step / self.medium.permeability)

    def limit(self, report: Callable[[], None] = silent) -> float:
        """By the power method: radius of the stability region in the left half-plane over the spectral radius,
        lengths in units of the smallest element."""
        # random fields; the true ones come back afterwards
        kept = self.electric.copy(), self.magnetic.copy()
        self.electric[:], self.magnetic[:] = self.domain.random_field(), self.domain.random_field()
        unit = self.domain.size
        gains = self.lanes_of(unit / self.medium.permittivity, -unit / self.medium.permeability)

        def apply() -> float:
            """A step of the power method: replace the field q = (E, H) by L q / |L q|, L the operator of the curls, and
            return |L q|, over all ranks; |q| = 1 after the first step."""
            report()
            self._stage(0.0, 0.0, gains)  # with a = b = 0 the residuals are L q, and q stays
            square = sum(float(np.dot(each, each)) for each in self._residuals)
            norm = float(np.sqrt(self.domain.communicator.total(np.float64(square))))
            for field, image in zip((self.electric, self.magnetic), self._residuals, strict=True):
                np.divide(image, norm, out=field)
            return norm

        for ghost in self.ghosts:
            ghost[:] = 0
        radius = growth(apply)
        self.electric[:], self.magnetic[:] = kept
        return RADIUS * unit / (radius * SEARCH.margin)

    def advance(self, steps: Steps) -> None:
        """Do the steps; loads add to the residual of E and to E in each stage."""
        gains, drives, decay = self._gains(steps.step), self._drives(steps.step), self._decay(steps.step)

        def stage(a: float, b: float, values: list[float]) -> None:
            self._stage(a, b, gains)
            for load, drive, value in zip(self.loads, drives, values, strict=True):
                change = self.real(value) * drive
                self._residuals[0][load.places] += change
                self.electric[load.places] += self.real(b) * change

        self._march(steps, stage, decay)

    def _march(self, steps: Steps, stage: Callable[[float, float, list[float]], None], decay: Any) -> None:
        """The steps; stage(A_i, B_i, values) is one stage of both fields, with the values of the loads."""
        steps.begun()
        for n in steps.numbers:
            self._decayed(decay and decay[0])
            for a, b, c in STAGES:
                now = steps.time + (n - 1 + c) * steps.step
                self._enter(now)
                stage(a, b, [load.at(now / self.medium.speed) for load in self.loads])
            self._decayed(decay and decay[1])
            steps.after(n)

    def _enter(self, time: float) -> None:
        """Store the incident traces at the open faces at this time in s."""
        for field, ghost in enumerate(self.ghosts if self.domain.incident.waves else ()):
            ghost[: self.open.number] = self.incident(field, time)

    def _drives(self, step: float) -> list[NDArray[np.floating]]:
        """(e, 3, n) contribution of each load to E in a step for s = 1."""
        return [self.drive(load, step / step_permittivity(self.medium, step)) for load in self.loads]

    def _decay(self, step: float) -> tuple[NDArray[np.floating], ...] | None:
        """(blocks, lanes) factors of E by the conductive term before and after a step, None without loss."""
        if not self.medium.loss.any():
            return None
        return tuple(self.element_blocks.in_lanes(each) for each in halves(step, self.medium))

    def _decayed(self, factors: Any) -> None:
        """E after half a step of the conductive term."""
        if factors is not None:
            field = self.electric.reshape(self.element_blocks.shape)
            np.multiply(field, factors[:, None, None], out=field)
