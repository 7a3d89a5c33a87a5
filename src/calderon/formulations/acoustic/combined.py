"""Equations that are combined from two, so that they have one solution at every frequency."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from calderon.formulations.acoustic.scattering import ScatteringProblem
from calderon.formulations.options import SolveOptions
from calderon.onsurface import SurfaceOperator, SurfaceProduct, osrc_dtn
from calderon.onsurface.surface_operator import TestedSurfaceOperator
from calderon.validation import finite_complex

ROOT_ERROR = 0.25  # of the root in the preconditioner: a smaller one saves no steps


def usual_coupling(wavenumber: complex) -> complex:
    """The coupling of the equation of Burton and Miller, i / Re k in m."""
    return complex(1j / np.real(wavenumber))


def hard_on_a_plane(dtn: SurfaceOperator, eta: complex) -> SurfaceOperator:
    """The operator of the equation of Burton and Miller on a sound-hard plane, by its Dirichlet-to-Neumann map."""
    return (dtn * -eta + 1) * 0.5


@dataclass(frozen=True, eq=False)
class CombinedProblem(ScatteringProblem):
    """A scattering problem with a coupling parameter eta between the integral equation of the field and the one of its
    normal derivative. coupling: eta, None for the usual one.
    """

    coupling: complex | None = field(default=None, kw_only=True)

    def _check_fields(self) -> None:
        super()._check_fields()
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
    def _on_a_plane(self, dtn: SurfaceOperator) -> SurfaceOperator | SurfaceProduct:
        """The operator of the equation where the surface is a plane, by its Dirichlet-to-Neumann map."""

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        if not options.preconditioned_by("osrc"):
            return options
        return replace(options, preconditioner=self._osrc("single" if options.precision == "single" else "double"))

    def _osrc(self, precision: str) -> TestedSurfaceOperator:
        """precision: of sparse factors, which are computed once."""
        if precision not in self._inverses:
            dtn = osrc_dtn(self.function_space, self.wavenumber, error=ROOT_ERROR, precision=precision)
            self._inverses[precision] = self._on_a_plane(dtn).inverse().tested
        return self._inverses[precision]

    @cached_property
    def _inverses(self) -> dict[str, TestedSurfaceOperator]:
        return {}
