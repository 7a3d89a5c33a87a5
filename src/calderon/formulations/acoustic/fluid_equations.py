"""The equations of bodies in a fluid, see `FluidTransmission`, as blocks of rows and columns.

In a fluid with surfaces of sign s, 1 where it lies inside and -1 where it lies outside, and with du/dn = |k| d q there
(d = 1 outside, the ratio of densities inside), the field is u = u_inc + sum s (|k| d V q - K u). On each surface
u / 2 - sum s (|k| d V q - K u) is then the trace of u_inc, and |k| d q / 2 - sum s (|k| d K' q + D u) its normal
derivative. A row tests a sum of both, of the fluids on both sides; what a body adds to it is its own.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

from scipy.sparse.linalg import LinearOperator

from calderon.formulations.acoustic.scattering import ROOT_ERROR, hard_on_a_plane
from calderon.formulations.linear_system import mass_preconditioner
from calderon.formulations.mirrors import MirroredSurface
from calderon.greens import Helmholtz
from calderon.onsurface import SurfaceOperator, osrc_dtn
from calderon.operators import (
    BoundaryOperator,
    adjoint_double_layer,
    blocks,
    double_layer,
    hypersingular,
    identity,
    single_layer,
    transformed,
)
from calderon.spaces import Space


class Row(NamedTuple):
    """The space of test functions, and the factors of the trace and of the normal derivative outside."""

    space: Space
    trace: complex
    slope: complex


class Column(NamedTuple):
    """The space of an unknown: "u", "q" = (du/dn) / |k|, or "jump", by which u outside exceeds that inside."""

    space: Space
    kind: str


SURROUNDINGS = -1
"""The number of the fluid around all bodies; that in a body has the number of the body."""


class Body(ABC):
    """Bodies of one kind. surface: the space of u on them; parent: the number of the fluid directly around them."""

    surface: Space
    parent: int = SURROUNDINGS

    @abstractmethod
    def rows(self, k: float) -> list[Row]: ...

    @property
    @abstractmethod
    def columns(self) -> list[Column]: ...

    @abstractmethod
    def own(self, k: float, test: Space) -> list[list[Any]]:
        """Terms of the rows in addition to those outside, for |k| outside. test: of the functions on the surface those
        that the equation is tested with, all without mirrors."""


@dataclass(frozen=True, eq=False)
class FluidBody(Body):
    """A fluid and its bodies: wavenumber, density_ratio over that directly outside. Mueller's equations."""

    surface: Space
    wavenumber: complex
    density_ratio: complex
    parent: int = SURROUNDINGS

    @property
    def scale(self) -> complex:
        """s = 2 / (1 + r)."""
        return 2 / (1 + self.density_ratio)

    def rows(self, k: float) -> list[Row]:
        return [Row(self.surface, 1.0, 0.0), Row(self.surface, 0.0, self.scale / k)]

    @property
    def columns(self) -> list[Column]:
        return [Column(self.surface, "u"), Column(self.surface, "q")]

    def own(self, k: float, test: Space) -> list[list[Any]]:
        return [[identity(self.surface, test), None], [None, identity(self.surface, test)]]


@dataclass(frozen=True, eq=False)
class RigidBody(Body):
    """Rigid bodies: the equation of Burton and Miller with the coupling eta."""

    surface: Space
    eta: complex
    parent: int = SURROUNDINGS

    def rows(self, k: float) -> list[Row]:
        return [Row(self.surface, 1.0, self.eta)]

    @property
    def columns(self) -> list[Column]:
        return [Column(self.surface, "u")]

    def own(self, k: float, test: Space) -> list[list[Any]]:
        return [[0.5 * identity(self.surface, test)]]


@dataclass(frozen=True, eq=False)
class Vessel(Body):
    """Bodies of one fluid with rigid parts of their walls: functions on the whole surface, on the rigid part, 0 on its
    boundary, and on the rest. Symmetric equations of the first kind: normal derivatives tested with u, those inside
    with the jump, traces with q."""

    surface: Space
    wall: Space
    opening: Space
    wavenumber: complex
    density_ratio: complex

    def rows(self, k: float) -> list[Row]:
        return [Row(self.surface, 0.0, 1 / k), Row(self.wall, 0.0, 0.0), Row(self.opening, 1.0, 0.0)]

    @property
    def columns(self) -> list[Column]:
        return [Column(self.surface, "u"), Column(self.wall, "jump"), Column(self.opening, "q")]

    def own(self, k: float, test: Space) -> list[list[Any]]:
        u, jump, q, inside = self.surface, self.wall, self.opening, Helmholtz(self.wavenumber)
        part = 1 / (self.density_ratio * k)
        return [
            [
                part * hypersingular(inside, u),
                -part * hypersingular(inside, jump, u),
                adjoint_double_layer(inside, q, u),
            ],
            [
                -part * hypersingular(inside, u, jump),
                part * hypersingular(inside, jump),
                -1 * adjoint_double_layer(inside, q, jump),
            ],
            [
                -1 * double_layer(inside, u, q),
                double_layer(inside, jump, q),
                (k * self.density_ratio) * single_layer(inside, q),
            ],
        ]


def equations(outside: Helmholtz, bodies: list[Body], surface: MirroredSurface) -> BoundaryOperator:
    """The operator of all bodies, rows and columns of one after the other. surface: that of all, with its images in
    mirrors, in which spaces of bodies are those of the whole."""
    functions = {id(space): surface.functions(space) for space in _spaces(bodies)}
    k, sides, rows = abs(outside.wavenumber), [sides_of(number, each) for number, each in enumerate(bodies)], []
    for body, own_sides in zip(bodies, sides, strict=True):
        own = iter(body.own(k, functions[id(body.surface)].part))
        for row in body.rows(k):
            row = row._replace(space=functions[id(row.space)].part)
            line: list[Any] = []
            for other, other_sides in zip(bodies, sides, strict=True):
                terms = next(own) if other is body else [None] * len(other.columns)
                for column, term in zip(other.columns, terms, strict=True):
                    for fluid in own_sides.keys() & other_sides.keys():
                        green = outside if fluid == SURROUNDINGS else Helmholtz(bodies[fluid].wavenumber)  # type: ignore[attr-defined]
                        term = _sum(_layers(green, k, row, column, *other_sides[fluid]), term)
                    images = functions[id(column.space)].images
                    line.append(term if term is None else transformed(term, right=images))
            rows.append(line)
    return blocks(rows)


def _spaces(bodies: list[Body]) -> list[Space]:
    """The spaces of all unknowns."""
    return [column.space for body in bodies for column in body.columns]


def sides_of(number: int, body: Body) -> dict[int, tuple[float, complex]]:
    """The fluids next to a body whose representation is that above: s and d of each."""
    found: dict[int, tuple[float, complex]] = {body.parent: (-1.0, 1.0)}
    return found | {number: (1.0, body.density_ratio)} if isinstance(body, FluidBody) else found


def _layers(green: Helmholtz, k: float, row: Row, column: Column, sign: float, ratio: complex) -> Any:
    """The term of an unknown in the representation in one fluid; None for none."""
    if column.kind == "jump":
        return None
    q = -sign * k * ratio
    first, second, one, two = (
        (double_layer, hypersingular, sign * row.trace, -sign * row.slope)
        if column.kind == "u"
        else (single_layer, adjoint_double_layer, q * row.trace, q * row.slope)
    )
    found = None
    for layer, factor in ((first, one), (second, two)):
        if factor != 0:
            found = _sum(found, factor * layer(green, column.space, row.space))
    return found


def _sum(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else one + other


def inverses(body: Body, wavenumber: complex, precision: str) -> list[LinearOperator]:
    """The inverses of the blocks of a body, one for each unknown or one for all of them.

    On a plane V = -1/2 of the Neumann-to-Dirichlet map and D = -1/2 of its inverse.
    """

    def dtn(space: Space, k: complex) -> SurfaceOperator:
        return osrc_dtn(space, k, error=ROOT_ERROR, precision=precision)

    if isinstance(body, RigidBody):
        around = 1j / body.eta if body.parent != SURROUNDINGS else wavenumber
        return [hard_on_a_plane(dtn(body.surface, around), body.eta).inverse().tested]
    if isinstance(body, Vessel):
        k, r = abs(wavenumber), body.density_ratio
        return [
            (dtn(body.surface, wavenumber) * (-(1 + 1 / r) / (2 * k))).inverse().tested,
            (dtn(body.wall, body.wavenumber) * (-1 / (2 * k * r))).inverse().tested,
            (dtn(body.opening, wavenumber) * (-2 / (k * (1 + r)))).tested,
        ]
    return [mass_preconditioner(tuple(column.space for column in body.columns))]
