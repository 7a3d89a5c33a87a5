"""Scattering of sound: an incident wave comes in, the total field on the surface is found."""

import os
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.exact.angular import unit_directions
from calderon.formulations.acoustic.scattering_solution import ScatteringSolution
from calderon.formulations.checks import (
    closed_surface,
    elements_per_wavelength,
    incident_wave,
    resolution,
    sources_on_side,
    surface_mesh,
    warn_coarse,
    warn_thin,
    wavenumber_and_frequency,
)
from calderon.formulations.mirrors import Mirrored, Mirrors
from calderon.formulations.monostatic import monostatic_sweep
from calderon.formulations.options import SolveChoices, named_options
from calderon.formulations.problem import Problem
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.sweep import Sweep, sweep_of
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh
from calderon.onsurface import SurfaceOperator, osrc_dtn
from calderon.potentials import Potential
from calderon.spaces import Loads
from calderon.validation import finite_complex, truth
from calderon.waves import PlaneWave, Wave


@dataclass(frozen=True, eq=False)
class ScatteringProblem(Mirrored, Problem[ScatteringSolution]):
    """Scattering of time-harmonic sound, exp(-i omega t), by a closed surface in a homogeneous fluid.

    mesh: in metres. wavenumber: k = omega / c in 1/m, Re k > 0, Im k > 0 for a medium with loss; or frequency= in Hz
    with speed_of_sound= in m/s. space: of the unknown on the surface, one of `spaces`.
    mirrors: planes of coordinates in which the sound is "even" (as at a rigid plane) or "odd" (as at one that gives
    way), {"z": "even"}; the mesh is then the part on one side of them, its boundary in them, waves are as even or odd,
    and solutions are those of the whole, `mesh.mirrored("z")`. Or `HalfSpace("z", rigid=False)`, the surface of the sea
    or a floor: waves have their reflections, and figures refer to the incident wave alone. Not for fluid bodies.
    Subclasses define their equation by `_build_system`, `_rhs` and `_far_load`, and their field by `_potentials`.
    """

    mesh: TriangleMesh
    wavenumber: complex = None  # type: ignore[assignment]
    space: Literal["P1", "P2", "P0", "DP1"] = field(default="P1", kw_only=True)
    frequency: float | None = field(default=None, kw_only=True)
    speed_of_sound: float | None = field(default=None, kw_only=True)
    mirrors: Mirrors = field(default=None, kw_only=True)

    title: ClassVar[str]
    unknown: ClassVar[str | None] = "jumps"  # a key of checks.SHEET_ERROR; None: regular at edges

    def __post_init__(self) -> None:
        name = type(self).__name__
        surface_mesh(self.mesh)
        if self.surface.is_baffle:
            raise ValueError(f"{name} has no Baffle: a piece of a wall is AcousticProblem(..., mirrors=Baffle())")
        self._check_surface()
        k, frequency = wavenumber_and_frequency(self.wavenumber, self.frequency, self.speed_of_sound)
        object.__setattr__(self, "wavenumber", k)
        object.__setattr__(self, "frequency", frequency)
        if self.unknown:
            warn_thin(self.surface.whole, self.unknown)
        self._check_fields()
        warn_coarse(*min(self._resolved, key=lambda each: elements_per_wavelength(*each)))
        _ = self.system  # an equation that cannot be built is refused here, not when it is solved

    def _check_surface(self) -> None:
        """ValueError for a surface that is not one of this problem."""
        closed_surface(self.surface.whole, type(self).__name__)

    def _check_fields(self) -> None:
        """Check the other fields; subclasses that have some do."""

    @property
    def _resolved(self) -> list[tuple[TriangleMesh, complex]]:
        """Parts of the surface, each with the largest wavenumber on its sides, which it must resolve."""
        return [(self.mesh, self.wavenumber)]

    @property
    def green(self) -> Helmholtz:
        """The Green's function of the surrounding fluid."""
        return Helmholtz(self.wavenumber)

    @property
    def elements_per_wavelength(self) -> float:
        """The shortest wavelength 2 pi / |k| over the mean edge length."""
        return min(elements_per_wavelength(*each) for each in self._resolved)

    def at(self, wavenumber: complex) -> Self:
        """This problem at another wavenumber; a coupling that was not given is chosen anew."""
        return replace(self, wavenumber=wavenumber, frequency=None)

    @named_options
    def sweep(self, frequencies: Iterable[float], wave: Wave, **options: Unpack[SolveChoices]) -> Sweep:
        """The problem at frequencies in Hz, fluids without dispersion: a sequence of solutions with data by frequency.
        Needs speed_of_sound= of the problem. wave: it gets the wavenumbers. Options as in `solve`."""
        if self.speed_of_sound is None:
            raise ValueError(f"a sweep of frequencies needs {type(self).__name__}(..., speed_of_sound=) in m/s")
        return sweep_of(self, frequencies, wave, self.speed_of_sound, **options)

    @named_options
    def monostatic_target_strength(
        self,
        theta: ArrayLike,
        phi: ArrayLike | None = None,
        *,
        info: bool = False,
        sweep_file: str | os.PathLike[str] | None = None,
        **options: Unpack[SolveChoices],
    ) -> Any:
        """Target strength (...) in dB re 1 m, seen by a sonar in the given directions from the body.

        theta, phi: toward the sonar, angles in radians, broadcast; or, without phi, vectors (n, 3). See
        `exact.unit_directions`. The wave travels along -direction and its echo is taken along +direction. One
        factorisation of a dense matrix serves all; with a compressed one, or solver="gmres", the right-hand sides are
        compressed to few, which are solved together (`solvers.block_gmres`). Method, its accuracy, backend and
        precision default to those of the available matrix, if any; solver to "lu" for a dense matrix. Further options
        as in `solve`.

        Raises ConvergenceError where the residual of one direction stays above rtol. info: return also the SolutionInfo
        of the direction with the largest residual, None without directions; then such solutions are accepted, with
        an AccuracyWarning above 10 rtol. sweep_file: an HDF5 file that the solutions are saved to, and from which a
        sweep that ended early goes on with the same numbers; ValueError for one of another problem, or with LU.
        """
        toward = unit_directions(theta, phi)
        d = toward.reshape(-1, 3)
        chosen = replace(self._sweep_options(options), accept=truth(info, "info"))
        if np.imag(self.wavenumber) != 0:
            raise ValueError(
                "a target strength needs a medium without loss (a real wavenumber): look at .scattered(points)"
            )
        amplitudes, worst = monostatic_sweep(
            self.system, len(d), lambda part: self._echoes(d[part]), chosen, (d,), sweep_file
        )
        with np.errstate(divide="ignore"):
            strength = 20 * np.log10(np.abs(amplitudes)).reshape(toward.shape[:-1])
        return (strength, worst) if info else strength

    def _echoes(self, directions: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Right-hand sides b and receivers l (n, m), F = l . x backward. A far field tests the densities with the plane
        wave from the observer, which is the incident wave here, so that the integrals of the right-hand sides give it;
        in a half space they have those of the reflected wave, too."""
        if self.mirrors and not self.surface.half_space:
            raise ValueError("a sonar sends waves that are not even or odd in mirrors: solve on mesh.mirrored(plane)")
        waves, functions = [PlaneWave(-d, self.wavenumber) for d in directions], self.functions
        loads = [self._wave_loads(wave) for wave in waves]
        far = self._received(loads)
        if self.surface.half_space:
            loads = [self._wave_loads(self.surface.with_images(wave)) for wave in waves]
        sides = np.stack([self._rhs(*pair) for pair in loads], axis=1)
        return sides[functions.functions] if self.mirrors else sides, far / (4 * np.pi)

    def _received(self, loads: list[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[Any]:
        """(n, m) receivers of the unknowns, from the integrals of plane waves with the functions of the whole."""
        return self.functions.summed(np.stack([self._far_load(*pair) for pair in loads], axis=1))

    @cached_property
    def _loads(self) -> Loads:
        return self.function_space.loads()

    def _wave_loads(self, wave: Wave) -> tuple[NDArray[Any], NDArray[Any]]:
        """Integrals (dimension,) of a wave and of its normal derivative against the test functions."""
        loads = self._loads
        return loads @ wave(loads.points), loads @ wave.normal_derivative(loads.points, loads.normals)

    def _checked(self, data: Any) -> Any:
        wave = incident_wave(data, self.wavenumber, type(self).__name__)
        sources_on_side(wave, self.surface.whole)
        return self.surface.with_images(wave)

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        tested = self._rhs(*self._wave_loads(data))
        if not self.mirrors:  # fluid bodies have two unknowns, and no mirrors
            return np.asarray(tested)
        self.surface.require_symmetry(self.functions, tested, self.mirrors)
        return np.asarray(tested[self.functions.functions])

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> ScatteringSolution:
        surface, layers = self._potentials(self.functions.extended(coefficients))
        return ScatteringSolution(
            data, self.wavenumber, info, surface, layers, frequency=self.frequency, half_space=self.surface.half_space
        )

    @abstractmethod
    def _rhs(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        """The right-hand side with the functions of the whole, from the integrals of u_inc and du_inc/dn against
        them."""

    @abstractmethod
    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        """The vector l with 4 pi F(d) = l . x, from those integrals of the plane wave exp(-ik d . y)."""

    @abstractmethod
    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        """The unknown as a Function (the field on the whole surface), and the potentials whose sum is the scattered
        field, from the coefficients of the whole."""

    @property
    def _details(self) -> tuple[str, ...]:
        return (resolution(self.mesh, self.wavenumber, self.elements_per_wavelength),)


ROOT_ERROR = 0.25  # of the root in the preconditioner: a smaller one saves no steps


def usual_coupling(wavenumber: complex) -> complex:
    """The coupling of the equation of Burton and Miller, i / Re k in m."""
    return complex(1j / np.real(wavenumber))


def hard_on_a_plane(dtn: SurfaceOperator, eta: complex) -> SurfaceOperator:
    """The operator of the equation of Burton and Miller on a sound-hard plane, by its Dirichlet-to-Neumann map."""
    return (dtn * -eta + 1) * 0.5


def yielding_on_a_plane(
    dtn: SurfaceOperator, eta: complex, wavenumber: complex, admittance: complex
) -> SurfaceOperator:
    """The operator of the equation of Burton and Miller on a plane with du/dn = -ik b u, b the admittance.

    A springy surface (Im b < 0) carries waves of its own, which only the true operator knows well enough: here it
    absorbs as much as it yields, which is right far below and far above them.
    """
    b = complex(admittance.real + max(-admittance.imag, 0.0), max(admittance.imag, 0.0))
    hard = hard_on_a_plane(dtn, eta)
    if abs(b) < 1e-12:  # the other one would divide roundings
        return hard
    # a product: as one function it would have zeros that coincide where the surface absorbs all, b = 1
    return hard @ (dtn.inverse() * (1j * wavenumber * b) + 1)


@dataclass(frozen=True, eq=False)
class CombinedProblem(ScatteringProblem):
    """A scattering problem with a coupling parameter eta between the integral equation of the field and the one of its
    normal derivative. coupling: eta, None for the usual one.
    """

    coupling: complex | None = field(default=None, kw_only=True)

    def _check_fields(self) -> None:
        if self.coupling is not None:
            finite_complex(self.coupling, "coupling")

    @property
    def eta(self) -> complex:
        """The coupling parameter in use."""
        return complex(self._usual_coupling if self.coupling is None else self.coupling)

    @property
    def _usual_coupling(self) -> complex:
        return usual_coupling(self.wavenumber)

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """ "osrc" where the equation on a plane has an inverse, which depends on space and coupling; "mass"."""
        return ("osrc", "mass") if self.function_space.is_continuous and self._is_definite else ("mass",)

    @property
    def _is_definite(self) -> bool:
        """Whether the coupling adds the two parts of the equation on a plane with the same sign."""
        return (-1j * self.eta * self.wavenumber).real > 0

    @abstractmethod
    def _on_a_plane(self, dtn: SurfaceOperator) -> SurfaceOperator:
        """The operator of the equation where the surface is a plane, by its Dirichlet-to-Neumann map."""

    def _osrc(self, precision: str) -> LinearOperator:
        dtn = osrc_dtn(self.function_space, self.wavenumber, error=ROOT_ERROR, precision=precision)
        return self.functions.inverse(self._on_a_plane(dtn).inverse().tested)
