"""Leap-frog in which small elements take several steps while the others take one.

With C E the curl that drives H and C* H the one that drives E, leap-frog is
    H(t + dt/2) = H(t - dt/2) + F(E(t)),    E(t + dt) = E(t) + dt C* H(t + dt/2),
with F(E) = -dt C E. Here F = F_0 resolves the small elements in time: F_k(E) is what the mean in time of E around t, as
far as it is even, gives to H in steps dt_k = dt / 2^k, with all elements at rest whose steps are longer. For elements
whose H has the step dt_k it is -dt_k C E, for those with shorter ones
    F_k(E) = F_k+1(E) + F_k+1(E + (1 + s_k) / 2 dt_k+1 C* F_k+1(E)),
where the step of E is done in the elements that have the step dt_k+1 or a shorter one. So E obeys leap-frog of
E'' = -A E with another A, symmetric in the energy's inner product: a discrete energy is conserved, the error is of
second order, and the scheme is stable as long as the eigenvalues of dt^2 A lie between 0 and 4. s_k = 0 would let
waves of the small elements touch these bounds; s_k = 0.05 (k + 1) keeps them away. Conduction, absorbing faces and
incident waves have the longest step, with its permittivity epsilon' of conduction.py in the shorter ones; the slope
of a driven current is constant in these.

Sources: J. Diaz and M. Grote, SIAM J. Sci. Comput. 31 (2009), 1985 and Comput. Methods Appl. Mech. Engrg. 291 (2015),
240; M. Grote, S. Michel, S. Sauter, Math. Comp. 90 (2021), 2603.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.dg.domain import Domain
from calderon.dg.operator.conduction import step_permittivity
from calderon.dg.sources.currents import Load
from calderon.dg.stepping.leap_frog import CentredLeapFrog, Coefficients
from calderon.dg.stepping.stability import SEARCH, largest_stable
from calderon.dg.stepping.system import Steps, silent


@dataclass(frozen=True)
class Level:
    """Steps of one length. magnetic: keep and gain of H where it is begun anew and where it is added to; electric:
    those of E. drives: of each current that touches elements with this step, places and what a slope of one per step
    adds."""

    magnetic: tuple[NDArray[np.floating], NDArray[np.floating]]
    electric: NDArray[np.floating]
    drives: tuple[tuple[Load, NDArray[np.int64], NDArray[np.floating]], ...]


class LocalLeapFrog(CentredLeapFrog):
    """Leap-frog with the centred flux and several lengths of steps, those of the domain's classes; see the top of this
    file.

    Level k has the step dt / 2^k. The first _electric_blocks[k] blocks hold the elements whose E has the step of level
    k or a shorter one, the first _magnetic_blocks[k] those whose H has; elements are sorted accordingly. `saving`,
    after `limit`: work of one step for all over that of these steps.
    """

    trials = (1 + SEARCH.bisections) * SEARCH.lanczos

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.classes, element_blocks = domain.classes, domain.element_blocks
        # blocks are sorted by the sum of the levels of E and H, which differ by one at most
        levels, first = range(self.classes.deepest + 1), element_blocks.first_blocks
        self._electric_blocks = [first(2 * k) for k in levels]
        self._magnetic_blocks = [element_blocks.blocks, *(first(2 * k - 1) for k in levels[1:]), 0]
        self._block = int(np.prod(element_blocks.shape[1:]))
        # working memory of `_gain` at each level: gains of H, and E before its steps
        self._gained = [np.zeros(n * self._block, element_blocks.real) for n in self._magnetic_blocks[1:-1]]
        self._kept = [np.zeros(n * self._block, element_blocks.real) for n in self._electric_blocks[1:]]
        # of the present step: slopes of driven currents, coefficients of each level, its length
        self._slopes: dict[Load, float] = {}
        self._levels: list[Level] = []
        self._length = 0.0

    def limit(self, report: Callable[[], None] = silent) -> float:
        """The largest step whose eigenvalues lie between 0 and 4 / SEARCH.margin^2, by bisection on Lanczos. `saving`
        then is the factor of work saved against one step for all."""
        least = super().limit(report)

        def stable(step: float) -> bool:
            low, high = self._spectrum(step, report)
            return low > -1e-3 and high < 4 / SEARCH.margin**2  # above -1e-3 they are rounding errors

        found = largest_stable(stable, least, least * self.classes.ratio)
        self.saving = found / (least * self.classes.work)
        return found

    def _spectrum(self, step: float, report: Callable[[], None]) -> tuple[float, float]:
        """Least and largest eigenvalue of dt^2 A."""
        # steps without sources; E is replaced by the vectors of the search
        levels, zeros = self._levels_of(step), np.zeros(self.element_blocks.mesh.number_of_tetrahedra)
        permittivity = step_permittivity(self.medium, step)
        curl, rest = self.lanes_of(zeros, -step / permittivity), self.electric
        self._slopes = {}

        def apply(vector: NDArray[Any]) -> NDArray[Any]:
            """dt^2 A times a field E, by a step of H from zero and the curl of it."""
            report()
            self.electric = vector
            self._gain(levels, 0, self.magnetic, 0)
            image = np.zeros_like(vector)
            self._run(image, self.magnetic, 1, curl)
            return image

        try:
            return self._spectrum_of(apply, permittivity)
        finally:
            self.electric = rest

    def _levels_of(self, step: float) -> list[Level]:
        """Coefficients of each level for that longest step, from the longest one on."""
        medium, ones = self.medium, np.ones(self.element_blocks.mesh.number_of_tetrahedra)
        own = self.classes.own[self.domain.part.elements]
        lanes = 2 * self.element_blocks.lanes  # keep and gain
        result = []
        for k in range(self.classes.deepest + 1):
            length, end = step / 2**k, self._magnetic_blocks[k] * lanes
            new, more = (self.lanes_of(keep * ones, -length / medium.permeability)[:end].copy() for keep in (0.0, 1.0))
            gains = (1 + 0.05 * k) / 2 * length / step_permittivity(medium, step)
            electric = self.lanes_of(ones, gains)[: self._electric_blocks[k] * lanes if k else 0].copy()
            drives = []
            for load in self.loads if k else ():
                touched = own[load.elements] >= k
                if touched.any():
                    drives.append((load, load.places[touched], self.drive(load, gains)[touched] / self.real(2**k)))
            result.append(Level((new, more), electric, tuple(drives)))
        return result

    def _gain(self, levels: list[Level], k: int, target: NDArray[np.floating], keep: int) -> None:
        """F_k of E as the new target, or added to it if `keep` is 1; E is left as it was."""
        # elements whose H has the step of this level: -dt_k C E
        begin, end = self._magnetic_blocks[k + 1], self._magnetic_blocks[k]
        medium = levels[k].magnetic[keep]
        if k == 0:
            self._run(target, self.electric, 0, medium, begin)
        else:
            self._blocks(target, self.electric, 0, medium, (begin, end))
        if begin == 0:
            return
        # the others: F_k+1(E)
        kept, later = self._kept[k], levels[k + 1]
        electric = self.electric[: len(kept)]
        kept[:] = electric
        first = self._gained[k][: begin * self._block] if keep else target
        self._gain(levels, k + 1, first, 0)
        if keep:
            target[: len(first)] += first
        # a step of E in the small elements, with the current's slope, then F_k+1 of that, and E as it was
        self._blocks(self.electric, first, 1, later.electric, (0, self._electric_blocks[k + 1]))
        for load, places, drive in later.drives:
            self.electric[places] += self.real(self._slopes.get(load, 0.0)) * drive
        self._gain(levels, k + 1, target, 1)
        electric[:] = kept

    def _curl(self, field: int, step: Coefficients, time: float) -> None:
        """The effect of the other field in a step on E (0) or H (1), which takes the shorter steps of small elements
        within it; time: c t in m at the middle of the step."""
        if field == 0:
            super()._curl(field, step, time)
            return
        # slopes of the currents over the longest step
        share, speed = step.length / self._length, self.medium.speed
        earlier, later = max(time - self._length / 2, min(time, 0.0)), time + self._length / 2
        for load in self.loads:
            rate = (load.at(later / speed) - load.at(earlier / speed)) / (later - earlier)
            self._slopes[load] = rate * self._length
        # F_0, or a part of it in the half steps at the begin and the end
        if share == 1:
            self._gain(self._levels, 0, self.magnetic, 1)
        else:
            gained = np.zeros_like(self.magnetic)
            self._gain(self._levels, 0, gained, 0)
            self.magnetic += self.real(share) * gained

    def discrete_energy(self, step: float) -> float:
        """The quantity conserved without losses and sources, the energy of the rates of change: integral of epsilon_r
        times |(E(t + dt) - E(t)) / dt|^2 + (A E(t + dt)) . E(t), halved, from E and H at one time."""
        # E at two times, and its rate of change between them
        kept = self.electric.copy(), self.magnetic.copy()
        self._begin(step)
        weight = self.element_blocks.in_lanes(self.medium.permittivity)
        zeros = np.zeros(self.element_blocks.mesh.number_of_tetrahedra)
        curl = self.lanes_of(zeros, 1 / self.medium.permittivity)
        rate, acceleration = np.zeros_like(self.electric), np.zeros_like(self.electric)
        try:
            self._update(1, self._coefficients(step / 2, 1), 0.0)
            self._run(rate, self.magnetic, 1, curl)
            self._gain(self._levels, 0, self.magnetic, 0)
            self._run(acceleration, self.magnetic, 1, curl)
            later = kept[0] + self.real(step) * rate
        finally:
            self.electric[:], self.magnetic[:] = kept
        return (self.inner(rate, rate, weight) - self.inner(acceleration, later, weight) / step) / 2

    def _begin(self, step: float) -> None:
        self._length, self._levels, self._slopes = step, self._levels_of(step), {}

    def advance(self, steps: Steps) -> None:
        self._begin(steps.step)
        super().advance(steps)
