"""Rows of the table of a card: what is set up there, at which size, and how it multiplies.

Each row is built from a number of unknowns, which is not timed, then set up on a backend, which is; sizes are those of
the published tables.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

import calderon as cal
from benchmarks.common.spheres import octahedral_sphere
from benchmarks.problems import lens, solids

ELEMENTS = 10
"""Triangle edges of a wavelength."""


class Section(NamedTuple):
    """One row of the record: its name, the seconds that it may take on a card, and what gives its figures."""

    name: str
    seconds: float
    run: Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Row:
    """One row of the table.

    unknowns: at the size of the published table. few: the largest at which host seconds are measured. seconds: that it
    may take on a card, from building to the last product. build: what is set up, from a number of unknowns. set_up: the
    result on a backend. single: whether most of it is computed in single precision. power: the highest power of the
    number of unknowns that the work of kernels grows with. cut: whether kernels are cut short (shortened.py) where host
    seconds are measured at that size, as those of processors take too long.
    """

    name: str
    unknowns: int
    few: int
    seconds: float
    build: Callable[[int], Any]
    set_up: Callable[[Any, str], Any]
    single: bool = False
    power: int = 1
    cut: bool = False


def bracket(unknowns: int) -> Any:
    """The clamped bracket with a mesh of about so many unknowns, as a problem."""
    mesh = solids.bracket(solids.EDGES[-1] * (85_026 / unknowns) ** 0.5)
    return cal.ElasticSolid(mesh, cal.ElasticMaterial(200e3, 0.3), {"wall": cal.elastic.Fixed()},
                            {"load": cal.Traction([0.0, 0.0, -20.0])}, units="mm-N-MPa")  # fmt: skip


def wavenumber(triangles: int) -> float:
    """Wavenumber of waves that are ELEMENTS edges of such a sphere long."""
    edge = float(np.sqrt(4 * np.pi / triangles * 4 / np.sqrt(3)))
    return 2 * np.pi / (ELEMENTS * edge)


def laplace(unknowns: int) -> Any:
    """The single layer on the octahedral sphere, P1."""
    return cal.single_layer(cal.Laplace(), cal.P1(octahedral_sphere(2 * (unknowns - 2))))


def sound(unknowns: int) -> Any:
    """Burton and Miller's operator on the octahedral sphere, P1."""
    mesh = octahedral_sphere(2 * (unknowns - 2))
    green, space = cal.Helmholtz(wavenumber(mesh.number_of_triangles)), cal.P1(mesh)
    layers = cal.double_layer(green, space), cal.hypersingular(green, space)
    return 0.5 * cal.identity(space) - layers[0] + (1j / green.wavenumber) * layers[1]


def conductor(unknowns: int) -> Any:
    """A combined field on the octahedral sphere, RWG."""
    mesh = octahedral_sphere(unknowns * 2 // 3)
    green, space = cal.Helmholtz(wavenumber(mesh.number_of_triangles)), cal.RWG(mesh)
    return cal.electric_field(green, space) - cal.magnetic_field(green, space)


def crosses(unknowns: int) -> Any:
    """The electric field of a lens of Jerusalem crosses."""
    made = lens.lens_of(round((unknowns / 83) ** 0.5))
    return cal.layered_electric_field(lens.BOARD, lens.FREQUENCY, cal.RWG(made.mesh))


def double_layer(unknowns: int) -> Any:
    """1/2 - K of Helmholtz's equation on the octahedral sphere, P0."""
    space = cal.P0(octahedral_sphere(unknowns))
    return 0.5 * cal.identity(space) - cal.double_layer(cal.Helmholtz(2.0), space)


class Cloud(NamedTuple):
    """Points (n, 3) in a cube, with charges of random signs."""

    points: np.ndarray
    charges: np.ndarray

    @property
    def unknowns(self) -> int:
        """Points."""
        return len(self.points)


def cloud(unknowns: int) -> Cloud:
    """So many points at random."""
    random = np.random.default_rng(0)
    return Cloud(random.random((unknowns, 3)), random.standard_normal(unknowns))


def point_sums(given: Cloud, backend: str) -> Any:
    """Potentials of charges at their own points, by an octree that is made anew."""
    return cal.laplace_sums(given.points, given.charges, rtol=1e-4, backend=backend)


def assembled(method: str, **options: Any) -> Callable[[Any, str], Any]:
    """The set-up of an operator by a method with these options."""
    return lambda operator, backend: operator.assemble(method, backend=backend, **options)


def solved(problem: Any, backend: str) -> Any:
    """The solution of a solid, from the mesh to displacements."""
    return problem.solve(method="fmm", backend=backend)


def dense(operator: Any, backend: str) -> Any:
    """The dense matrix, which stays on a device."""
    return operator.assemble("dense", backend=backend, keep_on_device=backend != "numba")


ROWS = (
    Row("bracket", 85_026, 3_000, 40, bracket, solved, cut=True),
    Row("fast multipole", 262_146, 16_386, 30, laplace, assembled("fmm", rtol=1e-4), single=True),
    Row("hmatrix", 262_146, 4_098, 30, laplace, assembled("hmatrix", rtol=1e-4, precision="single"), single=True),
    Row("plane waves Burton-Miller", 65_538, 4_098, 30, sound, assembled("mlfmm", rtol=1e-3), single=True),
    Row("plane waves combined field", 49_152, 3_072, 20, conductor, assembled("mlfmm", rtol=1e-3), single=True),
    Row("lens", 90_387, 21_248, 60, crosses, assembled("fft", spacing=lens.PITCH / 12, near=lens.PITCH / 2), cut=True),
    Row("dense", 32_768, 4_096, 10, double_layer, dense, power=2),
    Row("point sums", 10_000_000, 131_072, 20, cloud, point_sums, single=True),
)
"""The rows in the order of worth."""

FOUR_MILLION = replace(ROWS[2], name="four-million hmatrix", unknowns=4_194_306, seconds=280.0)
"""An H-matrix that fits the memory of one card in single precision."""


def chosen(name: str, only: str) -> bool:
    """Whether the name of a row contains all these words."""
    return all(word in name for word in only.split())
