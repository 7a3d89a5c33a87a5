"""Fields of electric and magnetic surface currents in one homogeneous medium, and solutions that radiate by them."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import LabelledArrays, Quantity
from calderon.data.samples import SampledField
from calderon.exact import SPEED_OF_LIGHT
from calderon.formulations.checks import wave_attributes
from calderon.formulations.saving.solution_file import SavedSolution
from calderon.formulations.scenes import pattern_rows
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Helmholtz
from calderon.operators import electric_field, magnetic_field
from calderon.potentials import electric_field_potential, magnetic_field_potential
from calderon.potentials.current import CurrentField
from calderon.quadrature import Quadrature
from calderon.quadrature.sphere import far_field_square
from calderon.spaces import VectorFunction
from calderon.spaces.vector_space import DEGREE
from calderon.validation import nonzero_wavenumber, of_any_shape, one_or_more_points, wave_impedance
from calderon.view import Scene


@dataclass(frozen=True, eq=False)
class RadiatingCurrents:
    """E = sum eta T J - sum K M,  H = sum K J + sum T M / eta, with the electric field T = ik int G (1 + grad div
    / k^2) and the magnetic one K = curl int G.

    wavenumber k (1/m) and impedance eta of the medium. electric: the currents J in A/m, magnetic: M in V/m, each on its
    own surface. On a closed surface J = n x H and M = -n x E of a field without sources on the side to which n points
    give that field there, and zero on the other side (Stratton and Chu). share: of all directions in which there is a
    medium, 1/2 above a ground, in which the currents have their images. backend and precision of fields: as for
    `Potential.evaluate`.
    """

    wavenumber: complex
    impedance: complex
    electric_currents: tuple[VectorFunction, ...]
    magnetic_currents: tuple[VectorFunction, ...] = ()
    quadrature: Quadrature = field(default_factory=lambda: Quadrature(regular=DEGREE))
    share: float = 1.0

    @property
    def shown(self) -> tuple[VectorFunction, ...]:
        """The electric currents as pictures and files have them."""
        return self.electric_currents

    @of_any_shape
    def electric(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """E (n, 3) in V/m at points (n, 3); on the surfaces the mean of both sides, with a warning."""
        return self._sum(self._electric_parts, lambda part: part.evaluate(points, backend, precision))

    @of_any_shape
    def magnetic(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """H (n, 3) in A/m at points (n, 3); as `electric`."""
        return self._sum(self._magnetic_parts, lambda part: part.evaluate(points, backend, precision))

    def far_field(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, backend: str = "numba", precision: str = "double"
    ) -> NDArray[Any]:
        """F (..., 3) in V: E ~ F exp(ikr) / r about the origin of coordinates.

        theta, phi: angles in radians, broadcast; or, without phi, vectors (n, 3). See `exact.unit_directions`.

        Of J: F(d) = ik eta / (4 pi) (1 - d d^T) int J(y) exp(-ik d.y) dS(y). Real wavenumber only.
        """
        return self._sum(
            self._electric_parts, lambda part: part.far_field(theta, phi, backend=backend, precision=precision)
        )

    def far_field_square(self) -> float:
        """int |F|^2 over all directions, above a ground half of them, in V^2; divided by 2 eta the time-averaged power
        that is radiated, in W."""
        meshes = {id(j.space.mesh): j.space.mesh for j in (*self.electric_currents, *self.magnetic_currents)}
        vertices = np.concatenate([mesh.vertices[mesh.used_vertices] for mesh in meshes.values()])
        return self.share * far_field_square(self.far_field, vertices, self.wavenumber)

    def delivered_power(self) -> float:
        """-1/2 Re sum int (conj(J) . E + conj(M) . H), E and H the fields of the currents themselves, in W: the
        time-averaged power that they give to the medium.

        T and K of all pairs of surfaces are computed and discarded, which takes as long as their assembly.
        """
        total, eta = 0.0, complex(self.impedance)
        for j, m in self._pairs():
            tested = np.zeros((2, j.space.dimension), np.complex128)  # E and H
            for source_j, source_m in self._pairs():
                both = np.stack([source_j.coefficients, source_m.coefficients], axis=1)
                form = Helmholtz(self.wavenumber), source_j.space
                t, u = (electric_field(*form, j.space).assemble("matrix-free") @ both).T
                k, l = (magnetic_field(*form, j.space.perpendicular()).assemble("matrix-free") @ both).T
                tested += [eta * t - l, k + u / eta]
            total += np.vdot(j.coefficients, tested[0]) + np.vdot(m.coefficients, tested[1])
        return float(-0.5 * np.real(total))

    def _pairs(self) -> list[tuple[VectorFunction, VectorFunction]]:
        """J and M of each surface, M = 0 where there is none."""
        none = tuple(VectorFunction(j.space, np.zeros(j.space.dimension)) for j in self.electric_currents)
        return list(zip(self.electric_currents, self.magnetic_currents or none, strict=True))

    @cached_property
    def _electric_parts(self) -> list[tuple[complex, CurrentField]]:
        return self._fields(electric_field_potential, complex(self.impedance), magnetic_field_potential, -1.0)

    @cached_property
    def _magnetic_parts(self) -> list[tuple[complex, CurrentField]]:
        return self._fields(magnetic_field_potential, 1.0, electric_field_potential, 1 / complex(self.impedance))

    def _fields(
        self, of_j: Callable[..., CurrentField], j_factor: complex, of_m: Callable[..., CurrentField], m_factor: complex
    ) -> list[tuple[complex, CurrentField]]:
        """Fields with their factors, of the electric currents J and of the magnetic ones M."""
        green, rule = Helmholtz(self.wavenumber), self.quadrature
        fields = [(j_factor, of_j(green, j, quadrature=rule)) for j in self.electric_currents]
        return fields + [(m_factor, of_m(green, m, quadrature=rule)) for m in self.magnetic_currents]

    @staticmethod
    def _sum(parts: list[tuple[complex, CurrentField]], of: Callable[[CurrentField], NDArray[Any]]) -> NDArray[Any]:
        return np.sum([factor * of(part) for factor, part in parts], axis=0)


class RadiatedField(SampledField, SavedSolution):
    """A solution whose field, or whose scattered field, is that of its currents.

    info: the record of the solver. currents: the surface currents that radiate into the medium around. backend and
    precision of fields: as for `Potential.evaluate`.
    """

    info: SolutionInfo
    currents: RadiatingCurrents

    @of_any_shape
    def electric(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """The total E (n, 3) in V/m at points (n, 3); on the surface the mean of both sides, with a warning."""
        return self._total("electric", points, backend, precision)

    @of_any_shape
    def field(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """The total electric field E (n, 3) in V/m at points (n, 3): `electric`."""
        return self.electric(points, backend, precision)

    @of_any_shape
    def magnetic(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """The total H (n, 3) in A/m, or "E0/eta", at points (n, 3); as `electric`."""
        return self._total("magnetic", points, backend, precision)

    def _total(self, name: str, points: ArrayLike, backend: str, precision: str) -> NDArray[Any]:
        """The field "electric" or "magnetic" of the currents, and of the incident wave, if there is one."""
        x, wave = one_or_more_points(points), getattr(self, "incident", None)
        own = getattr(self.currents, name)(x, backend, precision)
        return own if wave is None else getattr(wave, name)(x) + own

    def far_field(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, backend: str = "numba", precision: str = "double"
    ) -> NDArray[Any]:
        """F (..., 3) in V: E ~ F exp(ikr) / r about the origin of coordinates, without the incident wave.

        theta, phi: angles in radians, broadcast; or, without phi, vectors (n, 3). See `exact.unit_directions`.
        """
        return self.currents.far_field(theta, phi, backend=backend, precision=precision)

    @property
    def frequency(self) -> float:
        """In Hz, of a wave of this wavenumber in vacuum."""
        return float(np.real(self.currents.wavenumber)) * SPEED_OF_LIGHT / (2 * np.pi)

    def far_field_data(self, theta: ArrayLike, phi: ArrayLike | None = None) -> Any:
        """The far field as an `xarray.Dataset`; see `far_field_arrays`."""
        return self.far_field_arrays(theta, phi).to_xarray()

    @abstractmethod
    def far_field_arrays(self, theta: ArrayLike, phi: ArrayLike | None = None) -> LabelledArrays: ...

    @property
    def _pattern_rows(self) -> int:
        """Rows of directions of the pattern in a scene."""
        return pattern_rows(self.currents.electric_currents, self.currents.wavenumber)

    @abstractmethod
    def _scene(self, rows: int) -> Scene:
        """The surface currents, and the pattern in so many rows of directions."""

    def scene(self) -> Scene:
        """The surface currents, and the pattern in all directions."""
        return self._scene(self._pattern_rows)

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        meshes = {id(j.space.mesh): j.space.mesh for j in self.currents.electric_currents}
        inside = [mesh.contains(points) for mesh in meshes.values() if mesh.is_closed]
        return ~np.any(inside, axis=0) if inside else np.ones(len(points), dtype=bool)

    def _fields_at(self, points: NDArray[np.float64]) -> list[Quantity]:
        return [
            Quantity("electric", self.electric(points), "V/m", "E", vector=True),
            Quantity("magnetic", self.magnetic(points), magnetic_unit(self.currents.impedance), "H", vector=True),
        ]

    def _require_consistent(self) -> None:
        nonzero_wavenumber(self.currents.wavenumber)
        wave_impedance(self.currents.impedance)
        if not self.currents.electric_currents:
            raise ValueError("no surface currents")

    @property
    def _attributes(self) -> dict[str, Any]:
        found = wave_attributes(self.currents.wavenumber, self.frequency)
        eta = complex(self.currents.impedance)
        return found if eta == 1 else {**found, "impedance_ohm": eta.real if eta.imag == 0 else str(eta)}

    @property
    def power_unit(self) -> str:
        """The unit of powers: W, or with eta = 1 "E0^2 m^2/eta", E0 of the size of E in V/m."""
        return "E0^2 m^2/eta" if self.currents.impedance == 1 else "W"


def magnetic_unit(impedance: complex) -> str:
    """The unit of H and of electric currents: A/m, or with eta = 1 that of E over the impedance."""
    return "E0/eta" if impedance == 1 else "A/m"
