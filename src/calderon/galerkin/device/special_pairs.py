"""Touching and near pairs of triangles, found and integrated on a device, where their local matrices stay as a list.

What is integrated how is decided as on the processor. Moments are integrated by touching_pairs.c, and scatter.c makes
local matrices of them; pairs for which the device has no rule, which are few, are integrated on the processor, in parts
or by lines. What sources read of a form is in forms.py.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Execution, Kernels, count_work, require_device_memory
from calderon.backends.records import Record
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.device.forms import component_defines
from calderon.galerkin.device.local_matrices import SMALL_GROUP
from calderon.galerkin.device.nodes import Nodes
from calderon.galerkin.device.triangles import DeviceTriangles
from calderon.galerkin.limits import resolved_triangles
from calderon.galerkin.regular.distant import Zones
from calderon.galerkin.rows.special_pairs import SPAN, FoundPairs, SpecialPairs
from calderon.galerkin.selection import vertex_numbers
from calderon.greens import Radial
from calderon.greens.green import green_defines
from calderon.mesh.geometry import Extents
from calderon.pairs.device import TRIANGLE_OF_PAIRS, Candidates, DevicePairs, PairSide
from calderon.pairs.overlaps import refuse_overlaps
from calderon.pairs.rules import tables_in_pairs
from calderon.pairs.tables import RuleTable

INVERSES = np.zeros((3, 3, 3), np.int8)
"""The inverse of each permutation of three, by its first two numbers."""
for _each in itertools.permutations(range(3)):
    INVERSES[_each[:2]] = np.argsort(_each)
TRIANGLE = Record("TRIANGLE", corners=9, normal=3, jacobian=1)
"""The numbers of a triangle in touching_pairs.c."""
TOGETHER = 1 << 18
"""Pairs whose moments are on the device at a time."""


class DeviceSpecialPairs(SpecialPairs):
    """The touching and near pairs of a form between the functions of two sides, by half where it is symmetric.

    matrices: real and imaginary local matrices in layers (layers, size, trial triangles), of the first `specials`
    pairs. pairs: the lists of `DevicePairs.listed` in the order of triangles, which kernels for regular pairs read.
    """

    bilinear: BilinearForm
    matrices: tuple[Any, Any]
    pairs: tuple[Any, Any]

    def __init__(self, device: Device, *arguments: Any) -> None:
        """Find and integrate the pairs on a device; arguments: those of `Block`."""
        self.device = device
        super().__init__(*arguments)

    @staticmethod
    def on(
        device: Device, form: BilinearForm, execution: Execution, found: FoundPairs | None, factor: complex, dtype: Any
    ) -> "DeviceSpecialPairs":
        """The pairs of factor * form on a device, entries of which have this type; found: a search that is taken if it
        fits. NotImplementedError for a form that has no header for devices."""
        resolved_triangles(form.green, form.test, form.trial)
        block: Any = form.block
        kind = type(f"{block.__name__}OnDevice", (DeviceSpecialPairs, block), {"found": found})
        out = np.broadcast_to(np.zeros((), dtype), form.shape)
        given = form.green, form.integrand, form.test, form.trial, factor, None, None, form.quadrature
        made: DeviceSpecialPairs = kind(device, out, *given, execution.real, form.is_symmetric)
        made.bilinear = form
        return made

    @property
    def moment_sizes(self) -> tuple[int, int]:
        """Test and trial functions of the moments of touching and near pairs."""
        return self.test_space.element.size, self.trial_space.element.size

    @property
    def _moment_type(self) -> np.dtype[Any]:
        """Touching and near pairs are integrated in double precision, where the device has it."""
        return np.dtype(np.float64) if self.device.has_double else self.real

    def _compile(self, radial: Radial, factor: complex) -> None:
        """Set the coefficients, and build the programs for touching and near pairs: moments, and local matrices of
        these."""
        self.coefficients = self._coefficients(factor)
        self.device_form = self.device_form_of(self.integrand, self.test_space, self.trial_space)
        self.local_shape = self.test.places.shape[1], self.trial.places.shape[1]
        self.distant_rule = self._distant_rule()
        self.stored = np.empty(0, self.out.dtype).real.dtype
        form = *self.device_form.defines, *component_defines(self.form.special)
        green = green_defines(self.green)
        # a thread for each moment at least
        group = SMALL_GROUP * math.ceil(math.prod(self.moment_sizes) / SMALL_GROUP)
        moments = self.device, "galerkin/special/touching_pairs.c", self._moment_type, group, (*form, *green)
        self._integrating = Kernels.of(*moments)
        places = self.device, "galerkin/special/scatter.c", self.stored, SMALL_GROUP, (*form, green[1])
        self._placing = Kernels.of(*places, OUT_COMPLEX=self.is_complex, MOMENT_REAL=self._moment_type)

    def _form_data(self) -> Any:
        """Nothing: local matrices are made on the device."""
        return ()

    def _prepare(self) -> None:
        """Find the pairs and integrate them on the device; those in parts and close ones are integrated here."""
        self._send_data()
        self.there = pairs = DevicePairs(self._candidates(), self.wanted, self.half, self._vanishing)
        self.specials = pairs.specials
        # room for local matrices
        layers = max(1, -(-self.specials // max(1, len(self.trial.triangles))))
        room = (layers, *self.local_shape, max(1, len(self.trial.triangles)))
        size = int(np.prod(room)) * self.stored.itemsize * (1 + self.is_complex)
        self._require_memory(size, "touching and near pairs of triangles")
        empty = self.device.empty
        self.matrices = empty(room, self.stored), empty(room if self.is_complex else (1,), self.stored)
        # local matrices, some pairs at a time
        if pairs.ordered:
            elements = self.test_space.element, self.trial_space.element
            table = tables_in_pairs(pairs.codes, self.wanted.power, elements, self._rule_type)
            rules, points = self._on_device(table), len(self.form.special) * np.diff(table.starts)
            count_work(self.device, "moments", lambda: float(points @ pairs.counts))
            own = self._records(self.test_there)
            other = own if self.trial_there is self.test_there else self._records(self.trial_there)
        for first in range(0, pairs.ordered, TOGETHER):
            count = min(TOGETHER, pairs.ordered - first)
            self._place(pairs, first, *self._moments_of(pairs, first, count, rules, (own, other)))
        if len(pairs.others):
            self._place(pairs, pairs.ordered, *map(self.device.array, self._moments_here(pairs)))

    def _send_data(self) -> None:
        """Send what touching and near pairs read of both sides: data of triangles, coefficients, and where functions
        are when vertices are taken in another order."""
        before = () if self.found is None else self.found.there
        known = {id(each.surface): each for each in before if each.device is self.device}
        self.test_there, self.trial_there = (known.setdefault(id(surface), DeviceTriangles(self.device, surface))
                                             for surface in (self.test_surface, self.trial_surface))  # fmt: skip
        self.near_data = self._data(self.stored)
        elements = self.test_space.element, self.trial_space.element
        places = (element.permuted(INVERSES).astype(np.int32).reshape(9, -1) for element in elements)
        self.function_places = tuple(map(self.device.array, places))

    def _data(self, real: Any) -> tuple[Any, Any, Any]:
        """Data of the triangles of both sides, and coefficients, in a real type."""
        test, trial = (there.packed(*self.device_form.data(self, first), real, not first)
                       for there, first in ((self.test_there, True), (self.trial_there, False)))  # fmt: skip
        return test, trial, self.device.array(self.coefficients.astype(real))

    def _candidates(self) -> Candidates:
        """Triangles that may be near to each other, from an earlier search where it fits."""
        (mesh, first), (other, second) = sides = self.triangles_of_sides
        reach, one_space = self.quadrature.reach(self._coarse()), self.test_space is self.trial_space
        key = self.device.name, reach, one_space, one_space and self.half
        if self.found is None or not self.found.fits(key, sides):
            vertices = vertex_numbers(self.test_space, self.test.triangles, self.trial_space, self.trial.triangles)
            there = self.test_there, self.trial_there
            given = zip(self.extents, there[: 1 if there[0] is there[1] else 2], strict=False)
            extent = [(own, self._extents(own, each)) for own, each in given]
            columns: Any = zip((extent[0], extent[-1]), vertices, (first, second), strict=True)
            test, trial = (PairSide(*found, *others) for found, *others in columns)
            both = trial if there[0] is there[1] else test, trial
            candidates = Candidates(self.device, self._moment_type, *both, mesh is other, reach)
            # those of whole meshes: others are made anew for each form
            whole = [vars(each).get("unit_triangles") for each in (mesh, other)]
            kept = tuple(each for each, own in zip(there, whole, strict=True) if each.surface is own)
            self.found = FoundPairs(key, sides, candidates, kept)
        return self.found.pairs

    def _extents(self, found: Extents, there: DeviceTriangles) -> Any:
        """The records for searches of triangles with these extents."""
        sizes = {name: getattr(found, name)[:, None] for name in ("radius", "size", "stretch")}
        parts = {"corners": there.corners, "centre": found.centre, **sizes}
        return there.packed(TRIANGLE_OF_PAIRS, parts, self._moment_type)

    def _on_device(self, tables: RuleTable) -> tuple[Any, ...]:
        """Points and products of rules, parameters, and starts of the rules on the device, and the number of points of
        all rules."""
        kind = self._moment_type
        self._require_memory((tables.points.size + tables.products.size) * kind.itemsize, "the rules of touching pairs")
        numbers = tables.points, tables.products, self.parameters
        arrays = [self.device.array(np.ascontiguousarray(each, kind)) for each in numbers]
        return *arrays, self.device.array(tables.starts.astype(np.int32)), tables.points.shape[1]

    def _records(self, there: DeviceTriangles) -> Any:
        """The records of triangles that moments read."""
        parts = {"corners": there.corners, "normal": there.normals, "jacobian": there.jacobian}
        return there.packed(TRIANGLE, parts, self._moment_type)

    def _moments_of(
        self, pairs: DevicePairs, first: int, count: int, tables: tuple[Any, ...], records: Sequence[Any]
    ) -> tuple[Any, Any]:
        """(components, count, A * B) real and imaginary moments of the pairs from number `first` on, functions numbered
        in the order of their rules; tables: of `_on_device`; records: of the triangles of both sides."""
        kind, (points, products, parameters, starts, all_points) = self._moment_type, tables
        shape = (len(self.form.special), count, math.prod(self.moment_sizes))
        out = self.device.empty(shape, kind)
        out_i = self.device.empty(shape if self.green.is_complex else (1,), kind)
        self._integrating.launch(
            "moments", shape[0] * count * self._integrating.group, *records, *pairs.sent[:3], points, products,
            parameters, pairs.sent.rules, starts, all_points, first, count, out, out_i,
        )  # fmt: skip
        return out, out_i

    def _moments_here(self, pairs: DevicePairs) -> tuple[NDArray[Any], NDArray[Any]]:
        """(components, n, A * B) real and imaginary moments of the pairs that have no rule, in the order of `others`,
        with vertices in that of the mesh; MeshError where triangles overlap."""
        spaces, chosen = (self.test_space, self.trial_space), (self.test.triangles, self.trial.triangles)
        corners = self.test_surface.corners, self.trial_surface.corners
        refuse_overlaps(spaces, chosen, corners, pairs.touching, pairs.near, pairs.ratios.astype(np.float64))
        components, keys = self.form.special, _keys(pairs.others)
        order, done = np.argsort(keys), np.zeros(len(keys), bool)
        shape = 1 + self.green.is_complex, len(components), len(keys), *self.moment_sizes
        totals = np.zeros(shape, self._moment_type)
        for batch in self._batches(pairs.touching, pairs.near, pairs.ratios):
            if batch.parts is None and batch.close is None:  # whole pairs, which the device integrates
                continue
            for low in range(0, len(batch.rules), SPAN):
                some = batch.part(slice(low, low + SPAN))
                # a pair may have several parts
                place = order[np.searchsorted(keys, _keys(some.pairs.triangles), sorter=order)]
                # imaginary moments of real functions are zero and have no place
                for number, values in enumerate(self._all_moments(some)):
                    for total, each in zip(totals[:, number], values, strict=False):
                        np.add.at(total, place, each)
                done[place] = True
        assert done.all(), "a pair of triangles has two rules"
        flat = totals.reshape(*shape[:3], -1)
        return flat[0], flat[-1]

    def _place(self, pairs: DevicePairs, first: int, moments: Any, moments_i: Any) -> None:
        """Make the local matrices of the pairs from number `first` on, which have these moments."""
        number = moments.shape[1]
        self._placing.launch(
            "place", number, *pairs.sent[:3], *self.function_places, moments, moments_i, *self.near_data, first,
            number, len(self.trial.triangles), self.local_shape[0], *self.matrices,
        )  # fmt: skip

    def _array(self, values: NDArray[Any]) -> Any:
        """Values sent to the device in the working precision."""
        return self.device.array(np.ascontiguousarray(values, self.real))

    def _require_memory(self, number: int, what: str) -> None:
        """Raise MemoryError, which names `what`, if the device has no room for so many bytes."""
        advice = "try precision='single', a coarser mesh, or backend='numba'"
        require_device_memory(self.device, number, what, advice)

    def ready_for_regular(self, zones: Zones) -> None:
        """Build the program for regular pairs, list special ones in the order of triangles, and send nodes, functions
        and data of both sides, which are the first arguments of its kernels, in the order that tile.c describes."""
        self.zones, nodes, form, array = zones, Nodes.of(self, zones), self.device_form, self._array
        own = *form.defines, *component_defines(form.regular), *green_defines(self.green), *nodes.defines
        source = self.device, "galerkin/regular/tile.c", self.real, SMALL_GROUP, own
        self.regular_kernels = Kernels.of(*source, OUT_COMPLEX=self.is_complex, OUT_REAL=self.stored)
        tables = [array(table * nodes.rule.weights) for table in form.functions(nodes.rule)]
        sides = zip((self.test_there, self.trial_there), zones.reached, (False, True), strict=True)
        own, other = (
            there.packed(*nodes.of_triangles(there.surface, reach, there.weights), self.real, by_columns)
            for there, reach, by_columns in sides
        )
        scalars = array(np.array([self.form.tiny(self.radial, self.real), *self.parameters]))
        data = self.near_data if self.stored == self.real else self._data(self.real)
        given = own, tables[0], data[0], other, tables[1], data[1], scalars, data[2]
        self.nodes, self.sides = nodes, given
        self.pairs = self.there.listed()

    def integrate_strips(
        self, groups: int, given: tuple[Any, ...], out: Any, out_i: Any, work: Callable[[], float], upper: bool = False
    ) -> None:
        """Queue the local matrices of all pairs of strips, in so many groups of threads; given: the strips, how many,
        and triangles of rows and columns; work: evaluations; upper: of pairs alone whose trial triangle comes later."""
        self.regular_kernels.launch(
            "regular", groups * SMALL_GROUP, *self.sides, len(self.trial.triangles), self.local_shape[0], int(upper),
            *given, *self.pairs, *self.matrices, self.specials, out, out_i,
        )  # fmt: skip
        count_work(self.device, "regular", work)


def _keys(triangles: NDArray[np.int32]) -> NDArray[np.int64]:
    """(n,) numbers of pairs (n, 2) of triangles, which differ where these do."""
    return np.asarray(triangles @ np.array([1 << 32, 1]))
