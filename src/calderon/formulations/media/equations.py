"""The equations of bodies in a fluid, see `FluidTransmission`, as blocks of rows and columns.

Outside, summed over all surfaces, the trace of the representation is u / 2 - K u + |k| V q = u_inc, its normal
derivative D u + |k| (1/2 + K') q = du_inc/dn. A row tests a sum of both; what a body adds to it is its own.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

from calderon.greens import Helmholtz
from calderon.operators import (
    BoundaryOperator,
    adjoint_double_layer,
    blocks,
    double_layer,
    hypersingular,
    identity,
    single_layer,
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


class Body(ABC):
    """Bodies of one kind. surface: the space of u on them."""

    surface: Space

    @abstractmethod
    def rows(self, k: float) -> list[Row]: ...

    @property
    @abstractmethod
    def columns(self) -> list[Column]: ...

    @abstractmethod
    def own(self, k: float) -> list[list[Any]]:
        """What the rows have in addition to the terms outside, for |k| outside."""


@dataclass(frozen=True, eq=False)
class Fluid(Body):
    """A fluid and its bodies: wavenumber, density_ratio over that outside. Mueller's equations."""

    surface: Space
    wavenumber: complex
    density_ratio: complex

    @property
    def scale(self) -> complex:
        """s = 2 / (1 + r)."""
        return 2 / (1 + self.density_ratio)

    def rows(self, k: float) -> list[Row]:
        return [Row(self.surface, 1.0, 0.0), Row(self.surface, 0.0, self.scale / k)]

    @property
    def columns(self) -> list[Column]:
        return [Column(self.surface, "u"), Column(self.surface, "q")]

    def own(self, k: float) -> list[list[Any]]:
        space, inside, r, s = self.surface, Helmholtz(self.wavenumber), self.density_ratio, self.scale
        return [
            [identity(space) + double_layer(inside, space), -(k * r) * single_layer(inside, space)],
            [-(s / k) * hypersingular(inside, space), identity(space) - (s * r) * adjoint_double_layer(inside, space)],
        ]


@dataclass(frozen=True, eq=False)
class Rigid(Body):
    """Rigid bodies: the equation of Burton and Miller with the coupling eta."""

    surface: Space
    eta: complex

    def rows(self, k: float) -> list[Row]:
        return [Row(self.surface, 1.0, self.eta)]

    @property
    def columns(self) -> list[Column]:
        return [Column(self.surface, "u")]

    def own(self, k: float) -> list[list[Any]]:
        return [[0.5 * identity(self.surface)]]


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

    def own(self, k: float) -> list[list[Any]]:
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


def equations(outside: Helmholtz, bodies: list[Body]) -> BoundaryOperator:
    """The operator of all bodies, rows and columns of one after the other."""
    k, rows = abs(outside.wavenumber), []
    for body in bodies:
        own = iter(body.own(k))
        for row in body.rows(k):
            line: list[Any] = []
            for other in bodies:
                terms = next(own) if other is body else [None] * len(other.columns)
                for column, term in zip(other.columns, terms, strict=True):
                    line.append(_sum(_outside(outside, k, row, column), term))
            rows.append(line)
    return blocks(rows)


def _outside(green: Helmholtz, k: float, row: Row, column: Column) -> Any:
    """The term of an unknown in the representation outside; None for none."""
    if column.kind == "jump":
        return None
    first, second, one, two = (
        (double_layer, hypersingular, -row.trace, row.slope)
        if column.kind == "u"
        else (single_layer, adjoint_double_layer, k * row.trace, k * row.slope)
    )
    found = None
    for layer, factor in ((first, one), (second, two)):
        if factor != 0:
            found = _sum(found, factor * layer(green, column.space, row.space))
    return found


def _sum(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else one + other
