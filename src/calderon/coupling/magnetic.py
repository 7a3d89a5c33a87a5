"""Iron that saturates, and permanent magnets: materials of `InhomogeneousPotential`, and Newton's iteration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator

from calderon.coupling.coefficients import Coefficient, at_points, require_positive
from calderon.exact.vacuum import VACUUM_PERMEABILITY
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh import TetrahedralMesh
from calderon.solvers import ConvergenceError, SolverInfo
from calderon.validation import real_array

LARGEST = 1e7
"""No material has a larger relative permeability: pure iron has some 1e5 to 1e6."""


@dataclass(frozen=True, eq=False)
class MagnetizationCurve:
    """The curve B(H) of soft iron without hysteresis, from points of a table.

    The magnetization M = B / mu0 - H is a monotone cubic between the points (Fritsch and Carlson 1980) and constant
    beyond the last one, where the iron is saturated; B is along H.

    strength: H (n,) in A/m, 0 and growing values. flux_density: B (n,) in T at these. ValueError for tables that do
    not begin with 0, or whose B grows by less than mu0 H, or by more than 1e7 mu0 H, as in other units.
    """

    strength: NDArray[np.float64]
    flux_density: NDArray[np.float64]

    def __init__(self, strength: ArrayLike, flux_density: ArrayLike) -> None:
        h, b = real_array(strength, "strength", "numbers in A/m"), real_array(flux_density, "flux_density", "numbers")
        if h.ndim != 1 or h.shape != b.shape or len(h) < 2:
            raise ValueError(
                f"a curve has as many values of strength as of flux_density, at least 2, got shapes {h.shape} and "
                f"{b.shape}"
            )
        if h[0] or b[0] or (np.diff(h) <= 0).any():
            raise ValueError(
                "a curve of soft iron begins with strength 0 A/m and flux_density 0 T, and strength grows: put the "
                "points in order; remanence= is for magnets"
            )
        slopes = np.diff(b) / np.diff(h) / VACUUM_PERMEABILITY
        if (slopes < 1 - 1e-3).any() or (slopes > LARGEST).any():
            worst = int(np.argmax(np.where(slopes < 1 - 1e-3, np.inf, slopes)))
            raise ValueError(
                f"from H = {h[worst]:g} to {h[worst + 1]:g} A/m B grows from {b[worst]:g} to {b[worst + 1]:g} T, "
                f"{slopes[worst]:.3g} mu0: between 1 and {LARGEST:g} mu0 is possible, with H in A/m and B in T"
            )
        object.__setattr__(self, "strength", h)
        object.__setattr__(self, "flux_density", b)

    @cached_property
    def _magnetization(self) -> Any:
        values = np.maximum.accumulate(self.flux_density / VACUUM_PERMEABILITY - self.strength)
        return PchipInterpolator(self.strength, values)

    @property
    def initial_permeability(self) -> float:
        """The relative permeability dB/dH / mu0 at H = 0."""
        return 1.0 + float(self._magnetization(0.0, 1))

    def flux_density_at(self, strength: ArrayLike) -> NDArray[np.float64]:
        """B (..., 3) in T where H is strength (..., 3) in A/m."""
        h = real_array(strength, "strength", "vectors in A/m")
        return np.asarray(VACUUM_PERMEABILITY * self._relative(np.linalg.norm(h, axis=-1))[0][..., None] * h)

    def _relative(self, size: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """B / (mu0 H) and dB/dH / mu0 where the size of H is `size` (...)."""
        inside = np.minimum(size, self.strength[-1])
        tangent = 1 + np.where(size > inside, 0.0, self._magnetization(inside, 1))
        small = size < 1e-9 * self.strength[-1]
        chord = 1 + self._magnetization(inside) / np.where(small, 1.0, size)
        return np.where(small, tangent, chord), tangent


STEPS, SHORTEST = 40, 1 / 64
"""Newton's steps at most, and the smallest part of one that is tried."""
Material = Coefficient | MagnetizationCurve | Mapping[int | str, complex | MagnetizationCurve]
"""A permeability: as other coefficients, with curves instead of numbers."""


class MagneticState(NamedTuple):
    """A material at the points of quadrature, linear around a field H: B / mu0 = slope H + offset.

    slope: (nt, q) or tensors (nt, q, 3, 3). offset: (nt, q, 3) in A/m.
    """

    slope: NDArray[np.float64]
    offset: NDArray[np.float64]

    def flux_density(self, h: NDArray[np.float64]) -> NDArray[np.float64]:
        """B / mu0 (nt, q, 3) of fields H."""
        own = self.slope[..., None] * h if self.slope.ndim == 2 else np.einsum("nqij,nqj->nqi", self.slope, h)
        return np.asarray(own + self.offset)


@dataclass(frozen=True, eq=False)
class MagneticMaterial:
    """The permeability, or the permittivity, at points (nt, q, 3) in the tetrahedra of a volume, and the remanence.

    given: the material as `InhomogeneousPotential` accepts it. name: the word for it in messages. ValueError for a
    material that is not real or not positive, for curves of a permittivity, and for what `at_points` refuses.
    """

    given: Any
    remanence: Any
    volume: TetrahedralMesh
    points: NDArray[np.float64]
    name: str

    def __post_init__(self) -> None:
        if self.curves and self.name != "permeability":
            raise ValueError(f"{self.name} has numbers: curves belong to permeability=")
        _ = self.initial

    @cached_property
    def curves(self) -> list[tuple[MagnetizationCurve, NDArray[np.bool_]]]:
        """Curves, and which tetrahedra (nt,) have them."""
        if isinstance(self.given, MagnetizationCurve):
            return [(self.given, np.ones(len(self.points), bool))]
        if not isinstance(self.given, Mapping):
            return []
        number = self.volume.names.get
        return [(each, self.volume.tags == (number(key, key) if isinstance(key, str) else key))
                for key, each in self.given.items() if isinstance(each, MagnetizationCurve)]  # fmt: skip

    @cached_property
    def initial(self) -> MagneticState:
        """The material in weak fields."""

        def constant(each: Any) -> Any:
            return each.initial_permeability if isinstance(each, MagnetizationCurve) else each

        numbers = {key: constant(each) for key, each in self.given.items()} if isinstance(self.given, Mapping) else None
        found = at_points(
            constant(self.given) if numbers is None else numbers, self.volume, self.points, self.name, tensors=True
        )
        if np.iscomplexobj(found):
            raise ValueError(f"{self.name} of a static field is real")
        require_positive(found, self.points, self.name)
        return MagneticState(found, self._magnets())

    def _magnets(self) -> NDArray[np.float64]:
        """B_r / mu0 (nt, q, 3)."""
        found = np.zeros(self.points.shape)
        if self.remanence is None:
            return found
        for axis in range(3):
            found[..., axis] = np.real(at_points(self._component(axis), self.volume, self.points, "remanence"))
        return found / VACUUM_PERMEABILITY

    def _component(self, axis: int) -> Any:
        """A component of the remanence as a coefficient."""
        given = self.remanence
        if isinstance(given, Mapping):
            return {key: _vector(each)[axis] for key, each in given.items()}
        if callable(given):
            return lambda x: _vectors(given(x), len(x))[:, axis]
        return _vector(given)[axis]

    def flux_density(self, h: NDArray[np.float64]) -> NDArray[np.float64]:
        """B / mu0 (nt, q, 3) of fields H at the points."""
        found = self.initial.flux_density(h)
        for curve, own in self.curves:
            chord = curve._relative(np.linalg.norm(h[own], axis=-1))[0]
            found[own] = chord[..., None] * h[own] + self.initial.offset[own]
        return found

    def around(self, h: NDArray[np.float64]) -> MagneticState:
        """The material linearised at fields H (nt, q, 3): with h = |H|, unit vectors e of H and the curve B(h), the
        slope dB/dH / mu0 = B/(mu0 h) (I - e e') + B'(h)/mu0 e e'."""
        initial = self.initial.slope
        slope = initial if initial.ndim == 4 else initial[..., None, None] * np.eye(3)
        slope = slope.copy()
        for curve, own in self.curves:
            size = np.linalg.norm(h[own], axis=-1)
            chord, tangent = curve._relative(size)
            unit = h[own] / np.where(size == 0, 1.0, size)[..., None]
            along = unit[..., :, None] * unit[..., None, :]
            slope[own] = chord[..., None, None] * np.eye(3) + (tangent - chord)[..., None, None] * along
        linear = MagneticState(slope, np.zeros(h.shape))
        return linear._replace(offset=self.flux_density(h) - linear.flux_density(h))

    def beyond(self, h: NDArray[np.float64]) -> float:
        """The largest |H| over the last one of its curve, where that ends before the iron is saturated; else 0."""
        found = 0.0
        for curve, own in self.curves:
            if own.any() and curve._relative(curve.strength[-1:])[1][0] > 3:
                found = max(found, float(np.linalg.norm(h[own], axis=-1).max() / curve.strength[-1]))
        return found


class NewtonStep(NamedTuple):
    """The solution with a linear material. inside: u in the volume. slope: lambda. unknowns: of the linear system."""

    inside: NDArray[np.float64]
    slope: NDArray[np.float64]
    unknowns: NDArray[np.float64]
    info: SolutionInfo


def newton(
    material: MagneticMaterial,
    solve: Callable[[MagneticState], NewtonStep],
    field: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    imbalance: Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[float, float]],
    rtol: float,
) -> NewtonStep:
    """The solution with curves. A step is shortened by halves until it lessens the imbalance: curves bend so much that
    whole steps may overshoot in both directions.

    solve(state): with a linear material. field(u): H (nt, q, 3). imbalance(u, lambda): the norm of what should be 0,
    and of what rtol is relative to. ConvergenceError after STEPS steps.
    """
    found = solve(material.initial)
    u, slope, share, total, history = found.inside, found.slope, 1.0, found.info, list[float]()
    for count in range(1, STEPS + 1):
        left, whole = imbalance(u, slope)
        history.append(left / whole if whole else 0.0)
        if share == 1 and history[-1] <= rtol:
            text = f"Newton's iteration of {count} steps, {total.method}"
            return found._replace(info=replace(total, method=text))
        found = solve(material.around(field(u)))
        total, share = _together(total, found.info), 2.0
        while share > SHORTEST:
            share /= 2
            tried = u + share * (found.inside - u), slope + share * (found.slope - slope)
            if imbalance(*tried)[0] <= (1 - share / 4) * left:
                break
        u, slope = tried
    past, products, seconds = np.array(history), total.iterations, total.seconds
    info = SolverInfo("Newton's iteration", count, past, (past,), False, rtol, 0.0, products, seconds)
    reason = f"did not converge in {count} steps: B / mu0 is out of balance by {history[-1]:.1e}"
    raise ConvergenceError(info, found.unknowns, reason, "use a finer volume, or a curve with more points")


def _together(first: SolutionInfo, last: SolutionInfo) -> SolutionInfo:
    """The record of the last step, with the iterations and seconds of all."""
    return replace(
        last,
        iterations=first.iterations + last.iterations,
        assembly_seconds=first.assembly_seconds + last.assembly_seconds,
        factorisation_seconds=first.factorisation_seconds + last.factorisation_seconds,
        solve_seconds=first.solve_seconds + last.solve_seconds,
    )


def _vector(value: Any) -> NDArray[np.float64]:
    found = real_array(value, "remanence", "vectors in T")
    if found.shape != (3,):
        raise ValueError(f"remanence is a vector (3,) in T for each material, got shape {found.shape}")
    return found


def _vectors(value: Any, count: int) -> NDArray[np.float64]:
    found = np.asarray(value)
    if found.shape != (count, 3):
        raise ValueError(f"remanence of {count} points has vectors (n, 3) in T, got shape {found.shape}")
    return found
