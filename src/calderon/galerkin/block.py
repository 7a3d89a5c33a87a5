"""Any block of rows and columns of a Galerkin matrix, computed without the rest.

A dense matrix is the block of all rows and all columns. The work is distributed in tiles of test triangles; tiles that
share output rows never run side by side (backends.run_tasks), so everything is added in place.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import thread_count
from calderon.galerkin.device.forms import DeviceForm, scalar_device_form
from calderon.galerkin.forms.form import Form
from calderon.galerkin.forms.scalar import curl_data, curl_form, scalar_form
from calderon.galerkin.limits import checked_range
from calderon.galerkin.regular.centroid_distances import NEAR, no_spreads, spreads
from calderon.galerkin.regular.distant import distant_rule, distant_tables
from calderon.galerkin.regular.element_tables import TestSide, TrialSide, in_threes, test_side, trial_side
from calderon.galerkin.regular.tile import TileKind, tile_kernel, tile_scratch
from calderon.galerkin.selection import (
    Rows,
    carried,
    common_frame,
    filled_rows,
    numbered_rows,
    select,
    sharing,
)
from calderon.galerkin.special_part import SpecialPart
from calderon.greens import Radial
from calderon.integrands import Integrand
from calderon.mesh.geometry import Extents, FlatTriangles, extents
from calderon.mesh.locality import are_in_order
from calderon.pairs.grouping import grouped
from calderon.pairs.zones import DEGREE, USUAL, DistantKernel, DistantRule, reaches
from calderon.quadrature import TriangleRule, triangle_rule

TILE = 512
"""Test triangles in a tile at most, for real kernels in double precision: tasks that write to the same rows wait for
each other."""
TILES = 16
"""Tiles for each thread at least, if the mesh is large enough: neighbours, some eight of a tile, are not done side by
side."""
SPANS = 8
"""Ranges for each thread at least, of test triangles whose touching and near pairs are one task: few pairs fill vectors
badly."""


class Stage(NamedTuple):
    """Tasks of a block that may run side by side, as `backends.run_tasks` takes them."""

    run: Callable[[int], None]
    tasks: int
    neighbours: list[NDArray[np.int64]] | None
    weights: list[float]


class Block(SpecialPart):
    """One call of `assembly.add_block`: data that its tiles share. DeviceBlock (device/block.py) does it on a
    device."""

    test_side: TestSide
    trial_side: TrialSide
    tile_form: Form | None = None
    """The form by which tiles make entries, unless these are products of local functions."""
    distant_rule: DistantRule | None = None
    """The rule of distant pairs, None where pairs have one rule at any distance."""

    def __init__(
        self, out: NDArray[Any], green: Any, integrand: Any, test: Any, trial: Any, factor: complex, rows: Any,
        columns: Any, quadrature: Any, real: Any, half: bool = False,
    ) -> None:  # fmt: skip
        """Prepare out += factor * matrix[rows][:, columns]; arguments as of `assembly.add_block`, real: the type in
        which regular pairs are computed."""
        self.out, self.integrand, self.quadrature, self.half = out, integrand, quadrature, half
        self.test_space, self.trial_space = test, trial
        self.test = select(test, rows)
        self.trial = self.test if test is trial and rows is columns else select(trial, columns)
        scale, origin = common_frame(test.mesh, trial.mesh)
        one, other = self.triangles_of_sides
        self.test_surface = _surface(*one, scale, origin)
        self.trial_surface = self.test_surface if other is one else _surface(*other, scale, origin)
        self.scale, self.green, self.real, self.is_complex = scale, green, real, out.dtype.kind == "c"
        self.parameters = np.array([value / scale for value in green.parameters])
        own = _extents(test, self.test_surface)
        self.extents = own, own if self.trial_surface is self.test_surface else _extents(trial, self.trial_surface)
        spread = abs(complex(green.wavenumber)) / scale * sum(float(each.radius.max()) for each in self.extents)
        radial = self.radial = green.radial(spread)
        rule = triangle_rule(quadrature.regular)
        self.threes = self.form.is_plain and in_threes(rule, *self.moment_functions(rule))
        self.moments = self._moment_kernels(self.form.special)
        self._check_range(self._coefficients(complex(factor)))
        self._compile(radial, complex(factor))
        self.data = self._form_data()
        self._prepare()

    def _check_range(self, coefficients: NDArray[np.float64]) -> None:
        """Raise ValueError where the entries between the largest triangles, at the distance of the size of the surface,
        leave the range of the working precision: then all do. Coefficients are given to kernels as they are."""
        alpha = math.hypot(*coefficients[:2])
        areas = [float(side.jacobian.max(initial=0.0)) for side in (self.test_surface, self.trial_surface)]
        entry = alpha * areas[0] * areas[1]
        if entry > 0:
            what = f"the {self.integrand.name} on a surface of size {1 / self.scale:.1g}"
            checked_range(self.real, entry, float(np.abs(coefficients).max()), what)

    def _coefficients(self, factor: complex) -> NDArray[np.float64]:
        """(4,) Re and Im of what multiplies the integrals, and of what multiplies those with values of curls."""
        k2 = complex(self.green.wavenumber) ** 2 / self.scale**2
        alpha = factor * self.scaling
        mass = -alpha * k2 if self.form.curls else alpha
        return np.array([alpha.real, alpha.imag, mass.real, mass.imag])

    @property
    def scaling(self) -> float:
        """The factor of integrals in the coordinates of the block, of functions without the factor 1 / (4 pi)."""
        power: int = self.form.scale_power(self.radial)
        return float(self.scale) ** power / (4 * math.pi)

    def _scalars(self, lacking: float = 1.0, both: bool = True) -> NDArray[Any]:
        """The numbers that compiled loops over points read (`SCALARS`), the coefficients (both, or the first) times
        what their values lack."""
        coefficients = self.coefficients * np.repeat([lacking, lacking if both else 1.0], 2)
        values = [self.form.tiny(self.radial, self.real), *coefficients, *self.parameters]
        return np.array(values).astype(self.real)

    def _compile(self, radial: Radial, factor: complex) -> None:
        """Coefficients and compiled kernels."""
        green, form = self.green, self.form
        self.coefficients = self._coefficients(factor)
        points = self.threes, self._through_centroids(), triangle_rule(self.quadrature.regular).number_of_points
        self.distant_rule = self._distant_rule()
        self.linear = self.test_space.element.degree > 0 and form.mass
        self.single_slot = self.trial_space.element.degree == 0
        kinds: tuple[Any, ...] = (self.linear, self.single_slot, form.curls)
        trials = 3 if form.curls else self.trial.places.shape[1]
        if not form.direct:
            self.linear, kinds, trials = True, (True, False, False), form.width
            self.tile_form = form
        kinds = (*kinds, green.is_complex, self.is_complex, *points, trials, self.tile_form, self.distant_rule)
        self.tile_kind = TileKind(radial, form.regular, *kinds)
        self.tile = tile_kernel(self.tile_kind)
        lacking = radial.lacking(form.regular[0].radial, 8 * self.real.itemsize) if form.is_plain else 1.0
        self.tile_scalars = self._scalars(lacking, form.direct)

    @classmethod
    def device_form_of(cls, integrand: Integrand, test: Any, trial: Any) -> DeviceForm:
        """The part of the form that devices are given; NotImplementedError for a form that has no header in C."""
        if cls.form is not Block.form:
            raise NotImplementedError(
                f"the {integrand.name} has no form for devices: choose backend='numba', or give its block a header in "
                "C (Block.device_form_of)"
            )
        return scalar_device_form(integrand, test, trial)

    @functools.cached_property
    def form(self) -> Form:
        """The form, which makes local matrices of moments; loops over special pairs read it a thousand times."""
        if self.integrand.curls:
            return curl_form(3, self.green.wavenumber != 0)
        return scalar_form(self.integrand.component, self.test_space.element.size, self.trial_space.element.size)

    def moment_functions(self, rule: TriangleRule) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(F, P) functions of the moments of both sides at the points of a rule."""
        if self.form.curls and not self.form.mass:
            return (np.ones((1, rule.number_of_points)),) * 2
        return self.test_space.element.values(rule.points), self.trial_space.element.values(rule.points)

    def _form_data(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Numbers that the form reads of the triangles of both sides; of curls nothing is kept (`form_data`)."""
        return np.zeros((len(self.test.triangles), 0)), np.zeros((len(self.trial.triangles), 0))

    def form_data(self, test: bool, which: NDArray[Any]) -> NDArray[np.float64]:
        """(n, k) numbers that the form reads of some triangles of the test or of the trial side."""
        if not self.integrand.curls:
            return self.data[0 if test else 1][which]
        side = self.test_surface if test else self.trial_surface
        return curl_data(side.take(which))

    def _sides(self) -> None:
        """Tables of both sides for the regular part."""
        rule, real = triangle_rule(self.quadrature.regular), self.real
        degree, together = self.quadrature.regular, self.tile_form is not None
        test, trial = self.moment_functions(rule)
        last = degree, self.threes, self.integrand.curls, not self._through_centroids()
        self.test_side = test_side(self.test_surface, test, self.data[0], *last, together, real)
        self.trial_side = trial_side(self.trial_surface, trial, self.data[1], self.trial.places, *last, real)
        surfaces = self.test_surface, self.trial_surface
        self.spreads = spreads(*surfaces, rule, self.square, real) if self._reads_spreads() else no_spreads(real)
        given = self.distant_rule, self.moment_functions, self.quadrature.regular
        self.distant = distant_tables(*given, self.reached(), together, real)

    @property
    def square(self) -> float:
        """Re k^2 in the coordinates of the block."""
        return (complex(self.green.wavenumber) ** 2).real / self.scale**2

    def _distant_rule(self) -> DistantRule | None:
        """The rule of distant pairs: none where another rule than the usual one is given for all pairs."""
        if self.quadrature.regular != USUAL or not self._through_centroids():
            return None
        return distant_rule(self.form, self.radial, self.moment_functions)

    def reached(self) -> list[NDArray[np.float64]]:
        """Squares of the distances from which on pairs with the triangles of both sides are distant."""
        functions = max(len(each) for each in self.moment_functions(triangle_rule(DEGREE)))
        degree = {1: 0, 3: 1}.get(functions, 2)
        normal = self.form.regular[0].normal != "none"
        kernel: DistantKernel = "curls" if self.form.curls else "normal" if normal else "value"
        kind = self.distant_rule, kernel, degree
        given = complex(self.green.wavenumber) / self.scale, self.quadrature
        test = reaches(*kind, self.test_surface, *given)
        return [test, test if self.trial_surface is self.test_surface else reaches(*kind, self.trial_surface, *given)]

    def _through_centroids(self) -> bool:
        """Whether squared distances of points come from the centroids of their triangles (centroid_distances.py)."""
        return self.threes and self.quadrature.reach(self._coarse()) >= NEAR

    def _reads_spreads(self) -> bool:
        """Whether tiles read corners less centroids."""
        return self._through_centroids()

    def _prepare(self) -> None:
        """Find special pairs, tabulate both sides and divide the work."""
        self._skip()
        self._sides()
        self.tiles, self.spans = self._ranges(TILES), self._ranges(SPANS)
        self.neighbours = self._neighbours(self.tiles)

    def _skip(self) -> None:
        """Find touching and near pairs, and those that the regular part leaves out, increasing for each test triangle.
        The lists of pairs end here: the tables of both sides take their room."""
        self.batches, special = self._special_pairs()
        test, trial = special.T
        order = grouped(trial, len(self.trial.triangles))[1]
        self.skip_start, by_test = grouped(test[order], len(self.test.triangles))
        self.skip_position = trial[order[by_test]]

    def _ranges(self, number: int) -> NDArray[np.int64]:
        """Bounds of consecutive test triangles, at least so many ranges for each thread if the mesh is large enough."""
        count = len(self.test.triangles)
        size = max(8, min(self._size(TILE), math.ceil(count / (number * thread_count()))))
        return np.append(np.arange(0, count, size), count)

    def _size(self, triangles: int) -> int:
        """The number of triangles that take the memory of that many for real kernels in double precision."""
        return triangles * 8 // (self.real.itemsize * (2 if self.green.is_complex else 1))

    def shorten(self, size: int) -> None:
        """Tiles of at most that many triangles, for rows apart: no two of them share any."""
        size = min(size, int(np.diff(self.tiles).max(initial=1)))
        self.tiles = np.append(np.arange(0, self.tiles[-1], size), self.tiles[-1])
        self.neighbours = None

    def _neighbours(self, bounds: NDArray[np.int64]) -> list[NDArray[np.int64]] | None:
        """For each range of test triangles the others (and itself) that write to some row of it, None if all write to
        rows of their own."""
        if not self.test_space.is_continuous:
            return None
        return sharing(carried(bounds, self.test.places, len(self.out)))

    def stages(self) -> list[Stage]:
        """All tasks; those of one stage are done before those of the next."""
        spans = len(self.spans) - 1, self._neighbours(self.spans), np.diff(self.spans).tolist()
        return [
            Stage(self.add_distant, len(self.tiles) - 1, self.neighbours, self._pairs_of_tiles().tolist()),
            Stage(self.add_span, *spans),
        ]

    def _pairs_of_tiles(self) -> NDArray[np.float64]:
        """(tiles,) how many pairs of triangles each computes."""
        heights, middles = np.diff(self.tiles), (self.tiles[:-1] + self.tiles[1:]) / 2
        width = len(self.trial.triangles)
        return heights * (width - middles if self.half else np.full(len(heights), float(width)))

    def run(self, number: int) -> None:
        """All pairs of one tile."""
        self.add_distant(number)
        self.add_special(number)

    def add_distant(self, number: int) -> None:
        """The pairs of one tile that are neither touching nor near, in the precision of the regular part."""
        if self._single() == (self.real == np.float32):
            self.add_regular(number)
        else:  # mixed precision: the regular part by itself, in single
            columns = int(self.trial.places.max(initial=-1)) + 1
            height = min(int(np.diff(self.tiles).max()) * self.test.places.shape[1], len(self.out))
            kind = np.result_type(self.real, np.complex64) if self.is_complex else self.real
            rows, ids = self.rows_apart(number, np.zeros((height, columns), kind))
            self.add_regular(number, rows)
            for row, target in zip(rows.out, ids, strict=False):
                self.out[target, :columns] += row

    def rows(self, lo: int, hi: int) -> Rows:
        """The rows of the matrix that test triangles lo up to, without, hi add to."""
        return Rows(self.out, *self._rows(lo, hi), self.test.places)

    def rows_apart(self, number: int, buffer: NDArray[Any]) -> tuple[Rows, NDArray[np.int64]]:
        """The rows of a tile in a buffer (at least so many, columns), and which rows of the matrix they are."""
        lo, hi = int(self.tiles[number]), int(self.tiles[number + 1])
        tile_rows, ids = self._rows(lo, hi)
        places = np.full(self.test.places.shape, -1)
        places[lo:hi] = np.where(tile_rows < len(ids), tile_rows, -1)
        return Rows(buffer, tile_rows, np.arange(len(ids)), places), ids

    def add_regular(self, number: int, rows: Rows | None = None) -> None:
        """The pairs of one tile that are neither touching nor near."""
        points, functions = len(self.trial_side.measure), self.trial.places.shape[1]
        kinds = self.integrand.curls, self.linear or not self.integrand.curls, self.is_complex
        lo, hi = (int(each) for each in self.tiles[number : number + 2])
        out, tile_rows, row_ids, _ = rows or self.rows(lo, hi)
        if self.tile_form is None:
            tile_rows = filled_rows(tile_rows, len(row_ids))
        scratch = tile_scratch(
            len(row_ids), functions, *kinds, points, self.tile_form, tile_rows.shape[1], self.trial_side.columns,
            self.real,
        )  # fmt: skip
        for group in range(len(self.test_side.weights)):
            self.tile(
                self.test_side, self.trial_side, self.spreads, self.distant, group, self.skip_start,
                self.skip_position, self.tile_scalars, lo, hi, self.half, tile_rows, row_ids, scratch, out,
            )  # fmt: skip

    def _rows(self, lo: int, hi: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows (hi - lo, L) of the local functions of a tile, numbered within it, and (n,) where in the output
        these are."""
        return numbered_rows(self.test.places[lo:hi])

    def add_special(self, number: int, rows: Rows | None = None) -> None:
        """The touching and near pairs of one tile."""
        self._add_special_between(self.tiles[number : number + 2], rows)

    def add_span(self, number: int) -> None:
        """The touching and near pairs of one of `spans`."""
        self._add_special_between(self.spans[number : number + 2])


def _extents(space: Any, surface: FlatTriangles) -> Extents:
    """The extents of the selected triangles of a space."""
    whole = surface is vars(space.mesh).get("unit_triangles")
    return space.mesh.unit_extents if whole else extents(surface.corners)


def _surface(mesh: Any, chosen: NDArray[np.int64], scale: float, origin: NDArray[np.float64]) -> FlatTriangles:
    """The chosen triangles of a mesh in coordinates (x - origin) * scale. ValueError for curved ones."""
    frame = mesh.unit_frame if mesh.is_flat and are_in_order(chosen, mesh) else (0.0, origin)
    if scale == frame[0] and np.array_equal(origin, frame[1]):
        return mesh.unit_triangles
    return mesh.flat_triangles(chosen, "an integral operator", scale, origin)
