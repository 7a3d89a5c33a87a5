"""The equation of single traces: one matrix for all regions.

In a region with constant a and outward normal n, with q = a du/dn and the potential s of the sources in it,

    u/2 = V q / a - K u + s,        q/2 = K' q + a D u + a ds/dn       (on walls; on sheets u = V q / a - K u + s).

Tested, and summed over the regions, the halves cancel at interfaces, where u is one function and q has opposite signs.
On electrodes they stay: -u in rows of q, and in the row of an electrode q, so that this row gives its charge,

    sum over regions of C' [[a D, K'], [-K, V / a]] C,        C the incidence matrices of `unknowns`.

With the sign of the rows of q changed it is symmetric. X. Claeys, R. Hiptmair, C. Jerez-Hanckes, S. Pintarelli, Novel
multi-trace boundary integral equations for transmission problems (2015), section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.linear_system import LinearSystem, Scaling, ThinTerm
from calderon.formulations.statics.region import Region
from calderon.formulations.statics.unknowns import Layers, Unknowns
from calderon.greens import Laplace, ModifiedHelmholtz
from calderon.operators import BoundaryOperator, blocks, double_layer, hypersingular, single_layer, transformed
from calderon.operators.sparse_factors import Unknowns as Coefficients
from calderon.spaces import Space

DIAGONALS = 0.1, 0.24
"""Diagonal entries of D over the root of the areas around a node, and of V over area^(3/2), of triangles of usual
shape: they scale unknowns and rows, and only need to have the right order."""
SPHERE = float(np.sqrt(4 * np.pi))
"""Capacitance of a sphere over a and the root of its area."""


def green_of(region: Region) -> Laplace | ModifiedHelmholtz:
    """The Green's function of a material."""
    return ModifiedHelmholtz(region.decay) if region.decay else Laplace()


def block_operator(potentials: Space | None, fluxes: Space, green: Laplace | ModifiedHelmholtz) -> BoundaryOperator:
    """[[D, K'], [-K, V]] between two spaces."""
    layer = single_layer(green, fluxes)
    if potentials is None:
        return layer
    double = double_layer(green, potentials, fluxes)
    return blocks([[hypersingular(green, potentials), double.T], [-double, layer]])


def unit_diagonal(potentials: Space | None, fluxes: Space) -> NDArray[np.float64]:
    """(potentials + fluxes,) estimated diagonals of D and of V between the functions of these spaces."""
    found: list[NDArray[np.float64]] = []
    for space, factor, power in ((potentials, DIAGONALS[0], 0.5), (fluxes, DIAGONALS[1], 1.5)):
        if space is not None:
            size = space.element.size
            own = np.repeat(space.mesh.areas[space.triangles, None] ** power, size, axis=1)
            own *= factor / (size**2 if space is fluxes else 1)
            found.append(np.asarray(np.bincount(space.dofs.ravel(), own.ravel(), space.dimension), np.float64))
    return np.concatenate(found)


def _alike(matrices: Sequence[sp.csr_array]) -> list[tuple[sp.csr_array, dict[int, float]]]:
    """The different ones of some matrices, without those of zeros, and the numbers of all that are equal to each up to
    their signs, which are given with them."""
    found: list[tuple[sp.csr_array, dict[int, float]]] = []
    for number, each in enumerate(matrices):
        signs = ((one, s, (each - s * one).nnz) for one, _ in found for s in (1.0, -1.0))
        same = next(((one, s) for one, s, apart in signs if not apart), None)
        if same is not None:
            next(numbers for one, numbers in found if one is same[0])[number] = same[1]
        elif each.nnz:
            found.append((each, {number: 1.0}))
    return found


@dataclass(frozen=True, eq=False)
class Weights(Scaling):
    """A x = b as (S A S) x' = S b, x = S x', with a diagonal S (n,), which is in the operator already."""

    diagonal: NDArray[np.float64]

    def tested(self, rhs: NDArray[Any]) -> NDArray[Any]:
        return self.diagonal[:, None] * rhs

    def found(self, solution: NDArray[Any]) -> NDArray[Any]:
        return self.diagonal[:, None] * solution


@dataclass(frozen=True, eq=False)
class StaticEquation:
    """The matrix of a skeleton. unknowns: what is solved for."""

    unknowns: Unknowns

    @property
    def is_fixed(self) -> bool:
        """Whether the potential is 0 far away, or falls to it among ions: then no constant is left."""
        skeleton = self.unknowns.skeleton
        return skeleton.outside is not None or any(each.decay for each in skeleton.regions.values())

    @cached_property
    def scales(self) -> NDArray[np.float64]:
        """(n,) 1 / sqrt |diagonal|, estimated."""
        diagonal = np.zeros(self.unknowns.dimension)
        for traces in self.unknowns.traces:
            constant, own = traces.surface.region.constant, unit_diagonal(traces.potentials, traces.fluxes)
            own[: len(traces.nodes)] *= constant
            own[len(traces.nodes) :] /= constant
            diagonal += abs(traces.from_unknowns).T @ own
        count = len(self.lifts)
        diagonal[:count] = 2 * self.lifts
        return np.asarray(1 / np.sqrt(diagonal))

    @cached_property
    def lifts(self) -> NDArray[np.float64]:
        """(electrodes,) a capacitance c of the order of that of each electrode: the matrix has c U more in its row, as
        if it were charged through c by a source, whose potential is the right-hand side over c. So no matrix depends on
        what is given, and none is singular."""
        skeleton = self.unknowns.skeleton
        areas, constants = np.zeros(len(skeleton.electrodes)), np.zeros(len(skeleton.electrodes))
        for number, region in enumerate(skeleton.regions.values()):
            for side in (0, 1):
                own = (skeleton.sides[:, side] == number) & (skeleton.electrode_of >= 0)
                np.add.at(areas, skeleton.electrode_of[own], skeleton.mesh.areas[own])
                np.add.at(constants, skeleton.electrode_of[own], skeleton.mesh.areas[own] * region.constant)
        return SPHERE * constants / np.sqrt(areas)

    def system(self) -> LinearSystem:
        """The linear system in scaled unknowns."""
        scale = sp.diags_array(self.scales).tocsr()
        parts = [part for layers in self.unknowns.layers for part in self._terms(layers, scale)]
        operator = sum(parts[1:], parts[0])
        if len(self.lifts):
            operator = operator + blocks([[scale @ self.local @ scale]])
        equation = "sum over regions of C' [[a D, K'], [-K, V / a]] C x = b"
        lift = None if self.is_fixed and not len(self.lifts) else self._lift
        space = Coefficients(self.unknowns.dimension)
        return LinearSystem(equation, operator, (space,), lift, Weights(self.scales))  # type: ignore[arg-type]

    def _terms(self, layers: Layers, scale: sp.csr_array) -> list[Any]:
        """The terms a D, K', -K and V / a of each region, between scaled unknowns; those of regions with equal
        functions, as on both sides of one surface, together."""
        green, members = green_of(layers.region(self.unknowns)), layers.members
        constants = [self.unknowns.skeleton.surfaces[each.number].region.constant for each in members]
        single = single_layer(green, layers.fluxes)
        found: list[Any] = []
        for q, alike in _alike([each.fluxes for each in members]):
            q = (q @ scale).tocsr()
            found.append(transformed(single, left=q, right=q) * sum(1 / constants[number] for number in alike))
        if layers.potentials is None:
            return found
        for u, alike in _alike([each.potentials for each in members]):
            q = (sum(sign * members[number].fluxes for number, sign in alike.items()) @ scale).tocsr()
            u = (u @ scale).tocsr()
            a = sum(constants[number] for number in alike)
            found.append(a * transformed(hypersingular(green, layers.potentials), left=u, right=u))
            if q.nnz:
                double = transformed(double_layer(green, layers.potentials, layers.fluxes), left=q, right=u)
                found += [double.T, -double]
        return found

    @property
    def local(self) -> sp.csr_array:
        """(n, n) what electrodes add without layers."""
        return (self.halves + self.constants).tocsr()

    @cached_property
    def constants(self) -> sp.csr_array:
        """(n, n) the double layers of the constant potentials of closed metal: -<p, K 1> in rows of fluxes, and in that
        of the electrode what K' gives of them."""
        unknowns, total = self.unknowns, sp.csr_array((self.unknowns.dimension, self.unknowns.dimension))
        for traces, bodies in zip(unknowns.traces, unknowns.metal_bodies, strict=True):
            size = traces.fluxes.element.size
            fluxes = traces.from_unknowns[len(traces.nodes) :]
            for body in bodies:
                tested = fluxes.T @ np.repeat(body.double * traces.surface.mesh.areas / size, size)
                places = np.flatnonzero(tested)
                own = np.full(len(places), body.electrode)
                matrix = sp.coo_array((tested[places], (places, own)), total.shape).tocsr()
                total = total + (matrix.T - matrix)
        return total.tocsr()

    @cached_property
    def halves(self) -> sp.csr_array:
        """(n, n) what stays of u/2 and q/2 on electrodes, of sheets twice as much."""
        skeleton, (numbers, _, total) = self.unknowns.skeleton, self.unknowns.flux_numbers
        size = 1 if self.unknowns.space == "P1" else 3
        metal = skeleton.electrode_of >= 0
        sheet = skeleton.sides[:, 0] == skeleton.sides[:, 1]
        flux, electrode, weight = [], [], []
        for side in (0, 1):
            own = np.flatnonzero(metal & (numbers[:, side] >= 0))
            flux.append((numbers[own, side, None] + np.arange(size)).ravel())
            electrode.append(np.repeat(skeleton.electrode_of[own], size))
            weight.append(np.repeat(skeleton.mesh.areas[own] * np.where(sheet[own], 1.0, 0.5) / size, size))
        f, e, w = (np.concatenate(each) for each in (flux, electrode, weight))
        rows, columns = np.concatenate([f, e]), np.concatenate([e, f])
        return sp.coo_array((np.concatenate([-w, w]), (rows, columns)), (total, total)).tocsr()

    def _lift(self) -> ThinTerm:
        """The capacitances of electrodes; without any and where potentials are only differences, the mean over the
        walls beyond which there is nothing."""
        count, n = len(self.lifts), self.unknowns.dimension
        if count:
            columns = np.zeros((n, count))
            columns[np.arange(count), np.arange(count)] = self.scales[:count] * np.sqrt(self.lifts)
            return ThinTerm(f"a capacitance of each of {count} electrode(s)", columns, columns)
        means = self.outer_means
        constant = float(np.mean([each.constant for each in self.unknowns.skeleton.regions.values()]))
        factor = np.sqrt(constant * SPHERE * np.sqrt(self.unknowns.skeleton.mesh.area))
        column = (factor * self.scales * means)[:, None]
        return ThinTerm("the mean over outer walls", column, column)

    @cached_property
    def outer_means(self) -> NDArray[np.float64]:
        """(n,) which combination of the unknowns is the mean of u over walls with nothing behind; without any over
        all."""
        unknowns, mesh = self.unknowns, self.unknowns.skeleton.mesh
        outer = np.count_nonzero(unknowns.skeleton.sides >= 0, axis=1) == 1
        space, areas = unknowns.potentials, np.where(outer if outer.any() else ~outer, mesh.areas, 0.0)
        local = np.array({3: [1.0, 1, 1], 6: [0.0, 0, 0, 1, 1, 1]}[space.element.size]) / 3
        loads = np.bincount(space.dofs.ravel(), (areas[space.triangles, None] * local).ravel(), space.dimension)
        return np.bincount(unknowns.node_numbers, loads, unknowns.dimension) / areas.sum()
