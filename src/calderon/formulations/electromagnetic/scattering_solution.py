"""The solution of an electromagnetic scattering problem: near and far fields, radar cross-sections."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import LabelledArrays, Quantity
from calderon.data.far_fields import Directions, decibels
from calderon.formulations.checks import reference_amplitude
from calderon.formulations.electromagnetic.extinction import CrossSections
from calderon.formulations.electromagnetic.radiating_currents import RadiatedField, RadiatingCurrents
from calderon.formulations.scenes import currents_scene, directional_scene
from calderon.formulations.solution_info import SolutionInfo
from calderon.validation import of_any_shape
from calderon.view import Described, Scene, Viewable
from calderon.waves import (
    ElectricDipole,
    ElectromagneticPlaneWave,
    ElectromagneticSuperposition,
    ElectromagneticWave,
    MagneticDipole,
)


@dataclass(frozen=True, eq=False)
class ElectromagneticSolution(CrossSections, RadiatedField, Viewable, Described):
    """The field E_inc + E_s of an incident wave and a body.

    incident: the wave. info: the record of the solver. currents: the surface currents that radiate the scattered field
    into the medium around the body. backend and precision of fields: as for `Potential.evaluate`.
    """

    saved_classes: ClassVar[Sequence[type]] = (
        RadiatingCurrents,
        ElectromagneticPlaneWave,
        ElectricDipole,
        MagneticDipole,
        ElectromagneticSuperposition,
    )

    incident: ElectromagneticWave
    info: SolutionInfo
    currents: RadiatingCurrents

    @property
    def wavenumber(self) -> complex:
        """k of the medium around, in 1/m."""
        return self.currents.wavenumber

    @of_any_shape
    def scattered_electric(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """E_s (n, 3) in V/m at points (n, 3) outside. Points on the surface get the mean of both sides and a
        warning."""
        return self.currents.electric(points, backend, precision)

    @of_any_shape
    def scattered_magnetic(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """H_s (n, 3) in A/m, or with eta = 1 "E0/eta", at points (n, 3); as `scattered_electric`."""
        return self.currents.magnetic(points, backend, precision)

    def far_field_arrays(self, theta: ArrayLike, phi: ArrayLike | None = None) -> LabelledArrays:
        """The far field by theta and phi in radians (1-D arrays, all pairs), or by vectors (n, 3), as
        `data.LabelledArrays`: amplitudes in V and phases in rad along theta-hat and phi-hat, `rcs` in m^2 of both and
        `rcs_theta`, `rcs_phi` of each, `rcs_level` in dB re 1 m^2."""
        toward = Directions.of(theta, phi)
        found = toward.components(toward.evaluated(self.far_field))
        parts = [4 * np.pi * np.abs(each.values / self.incident_amplitude) ** 2 for each in found[:2]]
        level = "radar cross-section"
        found += [
            Quantity("rcs", parts[0] + parts[1], "m^2", level),
            Quantity("rcs_theta", parts[0], "m^2", f"{level} along theta"),
            Quantity("rcs_phi", parts[1], "m^2", f"{level} along phi"),
            Quantity("rcs_level", decibels(parts[0] + parts[1]), "dB re 1 m^2", level),
        ]
        return toward.labelled(found, self._attributes)

    @property
    def incident_amplitude(self) -> float:
        """|E_inc| at the origin of coordinates, in V/m: the amplitude of a plane wave, above a ground without its
        reflection."""
        wave = self.incident
        if self.currents.share < 1 and isinstance(wave, ElectromagneticSuperposition):
            wave = ElectromagneticSuperposition(wave.terms[: len(wave.terms) // 2])  # the others are reflections
        return reference_amplitude(wave.electric(np.zeros((1, 3))), "field", "cross-section")

    def scattering_cross_section(self) -> float:
        """Scattered power over incident intensity, int |F|^2 / |E_inc|^2 over all directions, in m^2."""
        return self.currents.far_field_square() / self.incident_amplitude**2

    def _scene(self, rows: int) -> Scene:
        """The surface currents, and the bistatic cross-section in all directions."""
        shown = currents_scene(self.currents.electric_currents, "Surface currents", f"field of {self.incident}")
        return replace(shown, parts=(directional_scene(self.rcs, rows, "bistatic cross-section", "dB re 1 m²"),))

    @property
    def brief(self) -> str:
        """The solution as a record: what was solved, and how well."""
        return f"{self.incident}; {self.info.brief}"

    def __str__(self) -> str:
        return f"field of {self.incident}\n{self.info}"
