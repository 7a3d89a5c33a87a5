"""Sweeps over materials at a fixed geometry: the layers of regions are assembled once.

The layers of a region with the constant a are those of the constant 1 between two diagonal matrices,

    [[a D, K'], [-K, V / a]] = diag(a, 1) [[D, K'], [-K, V]] diag(1, 1 / a),

whatever holds it: entries, or products of a fast method.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.linear_system import LiftedMatrix, LinearSystem
from calderon.formulations.options import SolveOptions
from calderon.formulations.statics.equation import StaticEquation, block_operator, green_of, unit_diagonal
from calderon.formulations.statics.posed import Posed
from calderon.formulations.statics.region import Region
from calderon.formulations.statics.skeleton import OUTSIDE
from calderon.formulations.statics.unknowns import Unknowns
from calderon.operators import transformed
from calderon.validation import describe, one_of, real_number

STEPS = 100_000
"""Largest number of steps of a sweep."""


class SumOfRegions(LinearOperator):
    """sum over regions of L' B R + H, with matrices or products B, and sparse L, R and H.

    parts: each B, which regions may share, with (L, R) of its regions.
    """

    def __init__(self, parts: Sequence[tuple[Any, Sequence[tuple[sp.csr_array, sp.csr_array]]]], local: sp.csr_array):
        super().__init__(dtype=parts[0][0].dtype, shape=local.shape)
        self.parts, self.local = parts, local

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        columns = x.reshape(len(x), -1)
        total = self.local @ columns
        for inner, sides in self.parts:  # of all regions at once
            found = inner @ np.concatenate([right @ columns for _, right in sides], axis=1)
            for (left, _), each in zip(sides, np.split(found, len(sides), axis=1), strict=True):
                total = total + left.T @ each
        return np.asarray(total.reshape(x.shape))

    _matmat = _matvec

    def to_array(self) -> NDArray[Any]:
        """The entries, a new array."""
        total = self.local.toarray().astype(self.dtype)
        for inner, sides in self.parts:
            entries = inner.to_array()
            for left, right in sides:
                total += (right.T.tocsr() @ (left.T.tocsr() @ entries).T).T
        return total

    toarray = to_array

    def __str__(self) -> str:
        return "; ".join(["layers of regions, kept", *(str(inner) for inner, _ in self.parts)])


@dataclass(eq=False)
class SweptSystem(LinearSystem):
    """The system of one step of a sweep. posed: its data. kept: the layers of regions by options, which all steps
    have in common."""

    posed: Posed | None = None
    kept: dict[Any, list[Any]] = field(default_factory=dict)

    def _assembled(self, options: SolveOptions) -> Any:
        assert self.posed is not None
        equation = StaticEquation(self.posed.functions)
        key = options.matrix_key
        scales = [1 / np.sqrt(unit_diagonal(each.potentials, each.fluxes)) for each in equation.unknowns.layers]
        if key not in self.kept:
            self.kept.clear()
            made = []
            for layers, scale in zip(equation.unknowns.layers, scales, strict=True):
                diagonal = sp.diags_array(scale).tocsr()
                whole = block_operator(layers.potentials, layers.fluxes, green_of(layers.region(equation.unknowns)))
                operator = transformed(whole, left=diagonal, right=diagonal)
                made.append(operator.assemble(options.method, **options.execution, progress=options.progress))
            self.kept[key] = made
        outer, parts = sp.diags_array(equation.scales).tocsr(), []
        for layers, scale, inner in zip(equation.unknowns.layers, scales, self.kept[key], strict=True):
            unscaled, sides = sp.diags_array(1 / scale), []
            for number, u, q in layers.members:
                a = equation.unknowns.skeleton.surfaces[number].region.constant
                left, right = sp.vstack([a * u, q]), sp.vstack([u, q / a])
                sides.append(((unscaled @ left @ outer).tocsr(), (unscaled @ right @ outer).tocsr()))
            parts.append((inner, sides))
        local = outer @ equation.local @ outer if len(equation.lifts) else sp.csr_array(outer.shape)
        matrix = SumOfRegions(parts, local.tocsr())
        return matrix if self.thin is None else LiftedMatrix(matrix, self.thin())


def with_materials(posed: Posed, constants: Mapping[str, float]) -> Posed:
    """Regions with other constants, by name; what depends on the geometry alone is taken over."""
    given = dict(posed.regions) | ({} if posed.outside is None else {OUTSIDE: posed.outside})
    for name, value in constants.items():
        given[name] = replace(given[name], **{posed.kind.name: value})  # type: ignore[arg-type]
    outside = given.pop(OUTSIDE, None)
    found = replace(posed, regions=given, outside=outside)
    old, names = posed.skeleton, [*given, *([OUTSIDE] if outside is not None else [])]
    regions = dict(zip(names, (each.in_kind(posed.kind) for each in [*given.values(), *_listed(outside)]), strict=True))
    skeleton = replace(old, regions=regions)
    surfaces = tuple(replace(each, region=regions[name]) for name, each in zip(names, old.surfaces, strict=True))
    skeleton.__dict__.update(surfaces=surfaces, electrode_of=old.electrode_of, sides=old.sides)
    unknowns, before = Unknowns(skeleton, posed.space), posed.functions
    traces = tuple(replace(each, surface=own) for each, own in zip(before.traces, surfaces, strict=True))
    same = ("potentials", "node_electrodes", "node_numbers", "flux_numbers", "metal_bodies", "layers")
    unknowns.__dict__.update(traces=traces, **{name: getattr(before, name) for name in same})
    found.__dict__.update(skeleton=skeleton, functions=unknowns, kind=posed.kind)
    return found


def _listed(region: Region | None) -> list[Region]:
    return [] if region is None else [region]


def steps_of(given: Mapping[str, Any]) -> list[dict[str, dict[str, float]]]:
    """Tables {name: number} of each step, from tables whose values are numbers or sequences of one length; TypeError
    and ValueError for others."""
    counts: dict[str, int] = {}
    read: dict[str, dict[str, Any]] = {}
    for what, table in given.items():
        if table is not None and not isinstance(table, Mapping):
            raise TypeError(f"{what} are given by name, such as {{'a': [1.0, 2.0]}}, got {describe(table)}")
        read[what] = {}
        for name, values in (table or {}).items():
            called = f"{what} of {name!r}"
            if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes) and np.ndim(values):
                read[what][name] = [float(real_number(each, called)) for each in values]
                counts[called] = len(read[what][name])
            else:
                read[what][name] = float(real_number(values, called))
    if len(set(counts.values())) != 1 or not 0 < max(counts.values()) <= STEPS:
        raise ValueError(
            f"a sweep has one or several lists of one length, up to {STEPS}, got lengths {counts or 'of none'}: give "
            "materials={'oil': [2.0, 2.2]}, or voltages and charges by electrode"
        )
    count = max(counts.values())
    return [
        {
            what: {name: value[k] if isinstance(value, list) else value for name, value in table.items()}
            for what, table in read.items()
        }
        for k in range(count)
    ]


def require_swept(materials: Any, names: Sequence[str], options: SolveOptions) -> None:
    """ValueError for names of other regions, constants that are not positive, and options of one matrix."""
    for name, value in materials.items():
        one_of(name, names, "region")
        if not value > 0:
            raise ValueError(f"materials of {name!r} are positive, got {value}")
    for what, chosen in (("matrix_file", options.matrix_file), ("keep_on_device", options.keep_on_device)):
        if chosen:
            raise ValueError(f"{what} is for one matrix, and each step of a sweep over materials has its own: leave it")
    if options.solver != "lu" and getattr(options.preconditioner, "name", None) not in (None, "factorised"):
        raise ValueError('a sweep over materials is preconditioned by "factorised" or None: leave the other one out')
