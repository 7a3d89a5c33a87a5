"""Regions of space between closed surfaces, one within another or side by side, and the media that fill them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from calderon.exact.sphere_layers import refractive_index
from calderon.exact.vacuum import permittivity_of
from calderon.formulations.preconditioners import local_field
from calderon.greens import Helmholtz
from calderon.mesh import Material, TriangleMesh
from calderon.operators import BoundaryOperator
from calderon.spaces import EdgeSpace
from calderon.validation import finite_number, one_or_more_points, refuse_gain, unmasked

Constant = complex | Material | Callable[[float], complex]
"""Constant of a medium: a number, a material in vacuum, or a function of the frequency in Hz."""


@dataclass(frozen=True, eq=False)
class Region:
    """A homogeneous part of space.

    surfaces: numbers of the surfaces that bound it, each with +1 where its normal points into the region (the region
    lies outside of it) and -1 where the region lies inside. permittivity, permeability: relative to the surroundings.
    An infinite permittivity is a perfect conductor, in which there is no field.
    wavenumber (1/m, Im >= 0) and impedance (relative) enter the fields of surface currents J, M,

        E = impedance T J - K M,    H = K J + T M / impedance.

    density: in kg/m^3, None if it is not known.
    conjugated: in a medium with gain, whose own wave exp(ikr) grows, a bounded region is represented with exp(-ikr) as
    well as with exp(ikr); wavenumber is then conj(k), impedance that for the wavenumber -k = -conj(wavenumber), and T,
    K are the complex conjugates of the operators for `wavenumber`.
    """

    surfaces: tuple[tuple[int, int], ...]
    permittivity: complex
    permeability: complex
    wavenumber: complex
    impedance: complex
    conjugated: bool
    density: float | None = None

    @property
    def is_conductor(self) -> bool:
        return bool(np.isinf(self.permittivity))

    @property
    def green(self) -> Helmholtz:
        return Helmholtz(self.wavenumber)

    def operator(self, operator: BoundaryOperator) -> BoundaryOperator:
        """T or K of this region from that for `wavenumber`."""
        return operator.H.T if self.conjugated else operator

    def local_field(self, space: EdgeSpace) -> sp.csr_array:
        """A sparse matrix near T of this region, see `preconditioners.local_field`."""
        field = local_field(space, complex(self.wavenumber))
        return field.conj() if self.conjugated else field


def region(
    surfaces: Sequence[tuple[int, int]], wavenumber: float, permittivity: complex, permeability: complex
) -> Region:
    """The region of that permittivity and permeability, relative to surroundings of that wavenumber; ValueError for a
    negative refractive index."""
    if np.isinf(permittivity):
        return Region(tuple(surfaces), np.inf, permeability, wavenumber, 0.0, False)
    e, m = np.sqrt(complex(permittivity)), np.sqrt(complex(permeability))
    if (index := refractive_index(permittivity, permeability)).real < 0:
        raise ValueError(
            f"a negative refractive index ({index:.4g}, of permittivity {permittivity:.4g} and permeability "
            f"{permeability:.4g}) is not computed: their angles in the complex plane may add up to pi at most"
        )
    k, z = wavenumber * e * m, m / e
    gain = k.imag < 0
    return Region(
        tuple(surfaces), permittivity, permeability, complex(k.conjugate() if gain else k), -z if gain else z, gain
    )


def regions_between(
    parents: NDArray[np.int64], wavenumber: float, permittivity: Sequence[complex], permeability: Sequence[complex]
) -> tuple[Region, ...]:
    """Region 0 around all surfaces, then for each surface i the region i + 1 directly inside of it."""
    found = []
    for number in range(-1, len(parents)):
        surfaces = [(int(child), 1) for child in np.flatnonzero(parents == number)]
        if number >= 0 and surfaces and np.isinf(permittivity[number]):
            raise ValueError(
                f"mesh {surfaces[0][0]} lies inside mesh {number}, a perfect conductor (infinite permittivity), where "
                "no field comes: leave it out"
            )
        constants = (1.0, 1.0) if number < 0 else (permittivity[number], permeability[number])
        own = [] if number < 0 else [(number, -1)]
        found.append(region(own + surfaces, wavenumber, *constants))
    return tuple(found)


def innermost(meshes: Sequence[TriangleMesh], points: ArrayLike) -> NDArray[np.int64]:
    """(n,) the number of the region of each point (n, 3), as in `regions_between`."""
    x = one_or_more_points(points)
    found = np.zeros(len(x), dtype=np.int64)
    for number in sorted(range(len(meshes)), key=lambda i: -abs(meshes[i].volume)):  # those within others last
        found[meshes[number].contains(x)] = number + 1
    return found


def constants_at(frequency: float | None, permittivity: Any, permeability: Any) -> tuple[Any, Any]:
    """Permittivity and permeability of bodies in vacuum at a frequency in Hz, as numbers: functions are called, and a
    `Material` has that of `permittivity_of` and its permeability. ValueError for a Material next to permeabilities.
    """
    assert frequency is not None  # of vacuum it is known
    many = isinstance(permittivity, list | tuple)
    media = list(permittivity) if many else [permittivity]
    if any(isinstance(each, Material) for each in media):
        if np.ndim(permeability) or callable(permeability) or permeability != 1:
            raise ValueError(f"a Material has a permeability of its own: leave out permeability={permeability!r}")
        permeability = [each.permeability if isinstance(each, Material) else 1.0 for each in media]
    elif isinstance(permeability, list | tuple):
        permeability = [each(frequency) if callable(each) else each for each in permeability]
    elif callable(permeability):
        permeability = permeability(frequency)
    found = [_permittivity(each, frequency) for each in media]
    return found if many else found[0], permeability


def _permittivity(medium: Any, frequency: float) -> Any:
    if isinstance(medium, Material):
        return permittivity_of(medium, frequency)
    return medium(frequency) if callable(medium) else medium


def material_constants(values: Any, number: int, name: str, gain: bool) -> tuple[complex, ...]:
    """One relative constant for each mesh; ValueError for wrong lengths, zero, or gain that was not requested."""
    many = unmasked(values, name).ndim > 0
    given = list(values) if many else [values] * (1 if number == 1 else 0)
    if len(given) != number:
        raise ValueError(
            f"{number} mesh{'es' if number > 1 else ''} and {len(given) if many else 'one number as'} {name}: give "
            f"{'a list with ' if number > 1 else ''}one relative {name} for each mesh, of the material directly inside"
        )
    return tuple(_constant(value, name, gain) for value in given)


def _constant(value: Any, name: str, gain: bool) -> complex:
    if name == "permittivity" and np.ndim(value) == 0 and value == np.inf:
        return np.inf
    constant = finite_number(value, name)
    if constant == 0:
        raise ValueError(f"the relative {name} must not be zero")
    if not gain:
        refuse_gain(constant, name, "; for an amplifying medium set gain=True")
    return constant
