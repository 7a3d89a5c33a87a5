"""Touching and near pairs of triangles, integrated on a device, where their local matrices stay as a list."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Execution, count_work
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.device.block import DeviceBlock, in_order
from calderon.galerkin.device.local_matrices import SMALL_GROUP
from calderon.galerkin.limits import resolved_triangles
from calderon.galerkin.regular.distant import Zones
from calderon.galerkin.rows.special_pairs import FoundPairs, SpecialPairs
from calderon.galerkin.selection import vertex_numbers
from calderon.pairs.device import Candidates, DevicePairs, PairSide, SentPairs
from calderon.pairs.overlaps import refuse_overlaps
from calderon.pairs.rules import tables_in_pairs

TOGETHER = 1 << 18
"""Pairs whose moments are on the device at a time."""


class DeviceSpecialPairs(DeviceBlock, SpecialPairs):
    """The touching and near pairs of a form between all its functions, by half where it is symmetric.

    local, local_i: real and imaginary local matrices in layers (layers, size, trial triangles), of the first `specials`
    pairs. pairs: the lists of `listed_by` in the order of triangles, which blocks read.
    """

    bilinear: BilinearForm
    pairs: tuple[Any, Any]
    regular_file, listed = "galerkin/device/pairs_in_blocks.c", True

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

    def _form_data(self) -> Any:
        """Nothing: local matrices are made on the device."""
        return ()

    def _prepare(self) -> None:
        """Find the pairs and integrate them on the device; those in parts are put together here, and close ones
        integrated."""
        self._send_data()
        self.there = pairs = DevicePairs(self._candidates(), self.wanted, self.half, self._vanishing)
        self.specials = pairs.specials
        # room for local matrices
        layers = max(1, -(-self.specials // max(1, len(self.trial.triangles))))
        room = (layers, *self.local_shape, max(1, len(self.trial.triangles)))
        size = int(np.prod(room)) * self.stored.itemsize * (1 + self.is_complex)
        self._require_memory(size, "touching and near pairs of triangles")
        self.local = self.device.empty(room, self.stored)
        self.local_i = self.device.empty(room if self.is_complex else (1,), self.stored)
        # local matrices, some pairs at a time
        if pairs.ordered:
            elements = self.test_space.element, self.trial_space.element
            table = tables_in_pairs(pairs.codes, self.wanted.power, elements, self._rule_type)
            rules, points = self._on_device(table), len(self.device_form.special) * np.diff(table.starts)
            count_work(self.device, "moments", lambda: float(points @ pairs.counts))
        for first in range(0, pairs.ordered, TOGETHER):
            count = min(TOGETHER, pairs.ordered - first)
            moments = self._moments_of(pairs.sent, first, count, rules, self.test_surface, self.trial_surface)
            self._place(pairs.sent, first, *moments, first)
        if len(pairs.others):
            real, imaginary = map(self.device.array, self._moments_here(pairs))
            self._place(self._sent(in_order(pairs.others)), 0, real, imaginary, pairs.ordered)
        self._tables.clear()
        self._sent_records.clear()

    def _candidates(self) -> Candidates:
        """Triangles that may be near to each other, from an earlier search where it fits."""
        (mesh, first), (other, second) = sides = self._triangles_of_sides()
        reach, one_space = self.quadrature.reach(self._coarse()), self.test_space is self.trial_space
        key = self.device.name, reach, one_space, one_space and self.half
        if self.found is None or not self.found.fits(key, sides):
            vertices = vertex_numbers(self.test_space, self.test.triangles, self.trial_space, self.trial.triangles)
            surfaces = self.test_surface, self.trial_surface
            columns = zip(surfaces, vertices, (first, second), self._ranks(), strict=True)
            test, trial = (PairSide(surface.corners, *others) for surface, *others in columns)
            both = trial if surfaces[0] is surfaces[1] else test, trial
            self.found = FoundPairs(key, sides, Candidates(self.device, self._moment_type, *both, mesh is other, reach))
        return self.found.pairs

    def _moments_here(self, pairs: DevicePairs) -> list[NDArray[Any]]:
        """Real and imaginary moments of the pairs that have no rule, in the order of `others`; MeshError where
        triangles overlap."""
        spaces, chosen = (self.test_space, self.trial_space), (self.test.triangles, self.trial.triangles)
        corners = self.test_surface.corners, self.trial_surface.corners
        refuse_overlaps(spaces, chosen, corners, pairs.touching, pairs.near, pairs.ratios.astype(np.float64))
        batches = self._batches(pairs.touching, pairs.near, pairs.ratios)
        parts = [batch for batch in batches if batch.parts is not None and batch.rules.size]
        found, moments = self._with_close(self._united(parts), [each for each in batches if each.close is not None])
        order = np.lexsort(pairs.others.T[::-1])
        assert np.array_equal(found.triangles, pairs.others[order]), "a touching pair has two rules"
        place = np.argsort(order)
        return [np.ascontiguousarray(each[:, place]) for each in moments]

    def _place(self, pairs: SentPairs, first: int, moments: Any, moments_i: Any, lo: int) -> None:
        """Make local matrices of the pairs from number `first` on, with these moments, number `lo` of all and so on."""
        self.device.launch(
            self.placing, "place", (moments.shape[1],), (SMALL_GROUP,), *pairs[:3], *self.function_places, moments,
            moments_i, *self.near_data, first, moments.shape[1], lo, len(self.trial.triangles), self.local_shape[0], 0,
            self.local, self.local_i,
        )  # fmt: skip

    def listed_by(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> tuple[Any, Any]:
        """The pairs by test triangle, the skips of listed.h and the number of each, -1 - number where its triangles are
        exchanged; rows, columns: which triangle of the selection each of a side is."""
        return self.there.listed(rows, columns)

    @staticmethod
    def ready_for_blocks(parts: Sequence["DeviceSpecialPairs"]) -> None:
        """Prepare forms whose zones are common for `integrate`."""
        zones = Zones.common(parts)
        for each in parts:
            each._send_regular(zones)
            each.pairs = each.listed_by(*(np.arange(len(side.triangles)) for side in (each.test, each.trial)))

    def integrate(self, groups: int, given: tuple[Any, ...], out: Any, out_i: Any) -> None:  # type: ignore[override]
        """Queue the local matrices of all pairs of strips, in so many groups of threads; given: the strips, how many,
        and triangles of rows and columns."""
        self.device.launch(
            self.regular, "pairs_in_blocks", (groups * SMALL_GROUP,), (SMALL_GROUP,), *self.sides,
            len(self.trial.triangles), self.local_shape[0], *given, *self.pairs, self.local, self.local_i,
            self.specials, out, out_i,
        )  # fmt: skip
