"""Conditions that a wall may have: a velocity, an impedance, a sound pressure, or nothing (rigid)."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.acoustic.conditions.impedances import (
    PerforatedPanel,
    PorousLayer,
    RelativeImpedance,
    TabulatedImpedance,
    WallLaw,
    absorbing_ratio,
    passive,
)
from calderon.formulations.acoustic.conditions.velocity_files import VelocityTable, velocities_from_file
from calderon.formulations.acoustic.conditions.wall_values import checked_values
from calderon.formulations.acoustic.fluid import Fluid
from calderon.mesh import TriangleMesh
from calderon.spaces.space import Tags
from calderon.validation import finite_numbers, positive_length, positive_numbers, real_number, truth, unmasked


class WallCondition:
    """A condition of a part of a surface. nu is the unit normal into the fluid, on both sides of a surface."""


@dataclass(frozen=True)
class Rigid(WallCondition):
    """A wall that does not move, dp/dnu = 0: where nothing is given."""


@dataclass(frozen=True, eq=False)
class Velocity(WallCondition):
    """A wall that moves with the velocity v in m/s along nu, into the fluid (peak values, complex with a phase).

    value: a number; one for each vertex or triangle of the mesh; f(x) or f(x, nu) of points and normals (n, 3), with
    values (n,); or a vector (3,), vectors (vertices or triangles, 3), or a function with values (n, 3), whose part
    along nu counts. Together with an impedance on one part, dp/dnu = i omega rho (v - p / Z).
    """

    value: Any

    def __post_init__(self) -> None:
        if not isinstance(self.value, VelocityTable):
            object.__setattr__(self, "value", checked_values(self.value, "a velocity"))

    def at(self, omega: float) -> Any:
        """v in m/s at the angular frequency omega in 1/s: a number, an array or a function."""
        return self.value.at(omega / (2 * np.pi)) if isinstance(self.value, VelocityTable) else self.value

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        mesh: TriangleMesh,
        tags: Tags = None,
        *,
        name: str = "velocity",
        scale: float = 1.0,
        unit: float = 1.0,
        time_factor: str = "exp(-i omega t)",
        tolerance: float | None = None,
    ) -> "Velocity":
        """Velocities that another program has computed, brought to the mesh by position: each vertex, or each triangle
        by its centroid, has the value of the nearest point of the file; `.value.largest_distance` is in m, and logged.

        path: a table (.csv, .txt, .tsv) with a line of headings: x, y, z, and v or v_re and v_im, along the normal into
        the fluid, or vx, vy, vz with the same endings; a unit in brackets, "x [mm]", "v_re [mm/s]"; with a column
        frequency (Hz) the velocity follows the frequency of the problem, linear between those of the file. Or a grid
        (.vtu, and others that `mesh.read` reads) with data of this name at points or in cells, complex by name_re and
        name_im. tags: of the part that moves, 0 elsewhere; None: all. scale, unit: metres and m/s per unit of the file,
        besides those of headings. time_factor: of the file; "exp(+i omega t)" is that of most structural codes.
        tolerance: accepted distance in m, half of the mean edge length by default.

        ValueError for points beyond the tolerance, NaN, and files without such velocities; FileNotFoundError;
        MemoryError.

            housing = cal.Velocity.from_file("engine.csv", mesh, "housing", time_factor="exp(+i omega t)")
        """
        return cls(
            velocities_from_file(
                path,
                mesh,
                tags,
                name=name,
                scale=scale,
                unit=unit,
                time_factor=time_factor,
                tolerance=tolerance,
            )
        )

    @classmethod
    def rigid(
        cls, translation: ArrayLike = (0, 0, 0), rotation: ArrayLike = (0, 0, 0), centre: ArrayLike = (0, 0, 0)
    ) -> "Velocity":
        """A wall that moves as a whole: translation + rotation x (x - centre), in m/s, rad/s and m; the first two may
        be complex."""
        moving, turning = (_vector(each, name) for each, name in ((translation, "translation"), (rotation, "rotation")))
        if not np.any(turning):
            return cls(moving)
        return cls(RigidVelocity(moving, turning, np.real(_vector(centre, "centre"))))


@dataclass(frozen=True, eq=False)
class RigidVelocity:
    """The velocity translation + rotation x (x - centre) of a rigid body, all (3,)."""

    translation: NDArray[np.complex128]
    rotation: NDArray[np.complex128]
    centre: NDArray[np.float64]

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.complex128]:
        """(n, 3) at points (n, 3)."""
        return np.asarray(self.translation + np.cross(self.rotation, x - self.centre))


@dataclass(frozen=True, eq=False)
class Impedance(WallCondition):
    """A locally reacting wall, dp/dnu = -i omega rho p / Z, Z = p over the velocity into the wall.

    value: Z in Pa s/m, a number, one for each vertex or triangle of the mesh, or f(x) or f(x, nu); Re Z >= 0, infinite
    where it is rigid. (`ImpedanceScattering` takes Z / (rho c), without unit.) gain: whether a negative real part, of a
    wall that gives energy, is accepted.
    """

    value: Any
    gain: bool = False

    def __post_init__(self) -> None:
        truth(self.gain, "gain")
        if not isinstance(self.value, WallLaw):
            object.__setattr__(self, "value", checked_values(self.value, "an impedance", infinite=True))
            if not callable(self.value):
                if np.ndim(self.value) == 2 or np.shape(self.value) == (3,):
                    raise ValueError("an impedance is a number at each point, not a vector")
                if (np.abs(self.value) < 1 / np.finfo(float).max).any():
                    raise ValueError("impedance 0 is a wall that yields without any pressure: use SoundPressure(0)")
                passive(self.value, self.gain)

    def at(self, omega: complex, fluid: Fluid) -> Any:
        """Z in Pa s/m at the angular frequency omega in 1/s next to a fluid: a number, an array or a function."""
        if not isinstance(self.value, WallLaw):
            return self.value
        found = self.value.impedance(omega, fluid)
        if np.imag(omega) == 0:  # growing and decaying waves do not show whether a wall is passive
            passive(found, self.gain)
        return found

    @classmethod
    def relative(cls, ratio: complex) -> "Impedance":
        """Z = ratio * rho c."""
        return cls(RelativeImpedance(checked_number(ratio, "a relative impedance")))

    @classmethod
    def from_absorption(cls, alpha: float) -> "Impedance":
        """The real Z of a wall that absorbs the part alpha, 0 to 1, of the energy that comes along its normal."""
        part = real_number(alpha, "alpha")
        if not 0 <= part <= 1:
            raise ValueError(f"the absorption is between 0 and 1, got {alpha!r}")
        return cls(RelativeImpedance(absorbing_ratio(part)))

    @classmethod
    def porous(cls, flow_resistivity: float, thickness: float) -> "Impedance":
        """A porous layer on a rigid back, of that flow resistivity in Pa s/m^2 and thickness in m; see
        `PorousLayer`."""
        given = (flow_resistivity, "flow_resistivity"), (thickness, "thickness")
        return cls(PorousLayer(*(positive_length(*each) for each in given)))

    @classmethod
    def perforated(
        cls, hole: float, thickness: float, porosity: float, cavity: float | None, viscosity: float = 1.81e-5
    ) -> "Impedance":
        """A panel with holes of that diameter in front of a cavity of that depth, thickness of the panel, all in m;
        porosity: area of the holes over that of the panel. cavity=None: the panel alone, for an `AcousticSheet`.
        viscosity: of the fluid in Pa s, of air at 20 degrees. See `PerforatedPanel`."""
        given = {"hole": hole, "thickness": thickness, "porosity": porosity, "viscosity": viscosity}
        sizes = {name: positive_length(value, name) for name, value in given.items()}
        if sizes["porosity"] >= 1:
            raise ValueError(f"porosity is the area of the holes over that of the panel, below 1, got {porosity!r}")
        return cls(PerforatedPanel(**sizes, cavity=None if cavity is None else positive_length(cavity, "cavity")))

    @classmethod
    def table(cls, frequencies: ArrayLike, values: ArrayLike) -> "Impedance":
        """Measured Z in Pa s/m (n,) at ascending frequencies (n,) in Hz; linear between them."""
        hertz = positive_numbers(frequencies, "frequencies", "a table of impedances needs positive frequencies in Hz")
        if (np.diff(hertz) <= 0).any():
            raise ValueError("the frequencies of a table of impedances ascend")
        numbers = finite_numbers(values, len(hertz), "values", "an impedance in Pa s/m for each frequency")
        return cls(TabulatedImpedance(hertz, numbers.astype(np.complex128)))


@dataclass(frozen=True, eq=False)
class SoundPressure(WallCondition):
    """A pressure p in Pa (peak value): a number, one for each vertex of the mesh, or f(x). 0: a surface of water."""

    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", checked_values(self.value, "a sound pressure"))
        if not callable(self.value) and (np.ndim(self.value) == 2 or np.shape(self.value) == (3,)):
            raise ValueError("a sound pressure is a number at each point, not a vector")


def checked_number(given: Any, name: str) -> complex:
    """One number with a non-negative real part, which may be infinite."""
    found = checked_values(given, name, infinite=True)
    if callable(found) or np.ndim(found):
        raise TypeError(f"{name} is one number, got {given!r}")
    passive(found, False)
    return complex(found)


def _vector(given: ArrayLike, name: str) -> NDArray[np.complex128]:
    """Three finite numbers, real or complex."""
    array = unmasked(given, name)
    if array.dtype.kind not in "fiuc" or array.shape != (3,):
        raise ValueError(f"{name} is a vector of three numbers, got {given!r}")
    return finite_numbers(array, 3, name, "three numbers").astype(np.complex128)
