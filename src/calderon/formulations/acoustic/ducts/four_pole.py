"""Four-poles of silencers: mean pressure and volume velocity at two ports, time factor exp(-i omega t).

Waves that are plane at the ports are all that a four-pole knows of a duct: parts follow each other as matrices do.
M. L. Munjal, Acoustics of Ducts and Mufflers (2014), chapter 3, with exp(+i omega t).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.acoustic.fluid import Fluid
from calderon.validation import (
    describe,
    finite_complex,
    finite_numbers,
    instance,
    positive_length,
    positive_numbers,
    unmasked,
)


@dataclass(frozen=True, eq=False)
class FourPole:
    """A part of a duct between two ports at one frequency,

        [p_1]   [A  B] [p_2]
        [U_1] = [C  D] [U_2],

    p the mean pressures in Pa, U the volume velocities in m^3/s, U_1 into the part at port 1, U_2 out of it at port 2.
    A and D have no unit, B is in Pa s/m^3 and C in m^3/(Pa s); A D - B C = 1 by reciprocity.

    matrix: (2, 2). frequency: in Hz. areas: of the ports in m^2. fluid: in the duct. `first @ second` is one part after
    the other: port 2 of the first is port 1 of the second.
    """

    matrix: NDArray[np.complex128]
    frequency: float
    areas: tuple[float, float]
    fluid: Fluid

    def __post_init__(self) -> None:
        given = unmasked(self.matrix, "matrix")
        if given.shape != (2, 2):
            raise ValueError(f"a four-pole has a matrix of 2 x 2 numbers, got {describe(self.matrix)}")
        matrix = finite_numbers(given.ravel(), 4, "matrix", "a four-pole has a matrix of 2 x 2 numbers").reshape(2, 2)
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "frequency", positive_length(self.frequency, "frequency"))
        areas = positive_numbers(self.areas, "areas", "a four-pole has the areas of two ports in m^2")
        if len(areas) != 2:
            raise ValueError(f"a four-pole has the areas of two ports in m^2, got {self.areas!r}")
        object.__setattr__(self, "areas", (float(areas[0]), float(areas[1])))
        instance(self.fluid, Fluid, "a four-pole needs the fluid in the duct, as Fluid.air()")

    @classmethod
    def pipe(cls, length: float, area: float, frequency: float, fluid: Fluid) -> "FourPole":
        """A straight pipe of that length in m and cross-section in m^2, with plane waves alone and rigid walls."""
        instance(fluid, Fluid, "a four-pole needs the fluid in the duct, as Fluid.air()")
        size, section = positive_length(length, "length"), positive_length(area, "area")
        omega = 2 * np.pi * positive_length(frequency, "frequency")
        angle = omega / fluid.speed_of_sound * (1 + 1j * fluid.loss) * size
        cosine, sine, z = np.cos(angle), -1j * np.sin(angle), fluid.impedance / section
        return cls(np.array([[cosine, z * sine], [sine / z, cosine]]), frequency, (section, section), fluid)

    def __matmul__(self, other: "FourPole") -> "FourPole":
        if not isinstance(other, FourPole):
            return NotImplemented
        if not np.isclose(self.frequency, other.frequency, rtol=1e-9, atol=0):
            raise ValueError(
                f"four-poles of {self.frequency:g} and {other.frequency:g} Hz do not follow each other: take one "
                "frequency"
            )
        if self.fluid != other.fluid:
            raise ValueError(f"four-poles of {self.fluid} and {other.fluid} do not follow each other: take one fluid")
        return FourPole(self.matrix @ other.matrix, self.frequency, (self.areas[0], other.areas[1]), self.fluid)

    @property
    def determinant(self) -> complex:
        """A D - B C, 1 but for the error of the computation."""
        return complex(np.linalg.det(self.matrix))

    @property
    def of_particle_velocity(self) -> NDArray[np.complex128]:
        """(2, 2) the matrix between mean pressures and mean velocities U / S in m/s; its determinant is S_2 / S_1."""
        one, two = self.areas
        return np.asarray(self.matrix * [[1, two], [1 / one, two / one]])

    @property
    def transmission_loss(self) -> float:
        """10 log10 of the power of the wave that comes to port 1 over that of the wave that leaves port 2, into a pipe
        without end, in dB; pipes have the sections of the ports."""
        first, second = (area / self.fluid.impedance for area in self.areas)  # admittances of plane waves
        incident = np.array([1, 1 / first]) @ self.matrix @ np.array([1, second]) / 2
        return float(20 * np.log10(abs(incident)) + 10 * np.log10(first / second))

    def insertion_loss(self, replaced: "FourPole", source: complex = np.inf, load: complex | None = None) -> float:
        """20 log10 of the sound behind the pipe (or other part) that this one stands for, over that behind this one,
        in dB.

        replaced: that pipe, as `FourPole.pipe(length, area, frequency, fluid)`. source: its inner impedance in
        Pa s/m^3, infinite for a given velocity, 0 for a given pressure. load: the impedance p_2 / U_2 in Pa s/m^3, by
        default that of a pipe without end, rho c / S_2.
        """
        if not isinstance(replaced, FourPole):
            raise TypeError(
                f"an insertion loss is over another FourPole, as FourPole.pipe(...), got {describe(replaced)}"
            )
        if not np.isclose(self.frequency, replaced.frequency, rtol=1e-9, atol=0):
            raise ValueError(f"four-poles of {self.frequency:g} and {replaced.frequency:g} Hz: take one frequency")
        end = self.fluid.impedance / self.areas[1] if load is None else finite_complex(load, "load")
        moved = isinstance(source, float) and source == np.inf  # a given velocity
        inner = np.inf if moved else finite_complex(source, "source")

        def needed(part: FourPole) -> Any:
            pressure, flow = part.matrix @ np.array([end, 1.0])  # at port 1, where 1 m^3/s leaves port 2
            return abs(flow) if inner == np.inf else abs(pressure + inner * flow)

        return float(20 * np.log10(needed(self) / needed(replaced)))

    def __str__(self) -> str:
        (a, b), (c, d) = self.matrix
        return (
            f"four-pole at {self.frequency:.6g} Hz, ports of {self.areas[0]:.4g} and {self.areas[1]:.4g} m^2\n"
            f"A {a:.4g}, B {b:.4g} Pa s/m^3, C {c:.4g} m^3/(Pa s), D {d:.4g}\n"
            f"transmission loss {self.transmission_loss:.2f} dB, determinant {self.determinant:.6g}"
        )
