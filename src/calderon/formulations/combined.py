"""Equations that are combined from two, so that they have one solution at every frequency."""

from abc import abstractmethod
from dataclasses import dataclass, field

from calderon.formulations.checks import finite_complex
from calderon.formulations.scattering import ScatteringProblem


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
    @abstractmethod
    def _usual_coupling(self) -> complex: ...
