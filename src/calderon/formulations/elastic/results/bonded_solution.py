"""The solution of several solids that are bonded."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.data import Quantity
from calderon.data.samples import SampledField
from calderon.formulations.elastic.results.solution import ElasticSolution
from calderon.formulations.saving.solution_file import SavedSolution

Array = NDArray[np.float64]


class BondedSolution(dict[Any, ElasticSolution], SampledField, SavedSolution):
    """{name of the part: `ElasticSolution`}.

    `at_points`, `on_line`, `on_plane`, `on_grid` and `on_sphere` give displacement and von Mises stress in all parts,
    NaN elsewhere, also on surfaces and common faces. `save(path)` writes all parts into one file for `cal.load`.
    """

    saved_classes: ClassVar[Sequence[type]] = ElasticSolution.saved_classes

    def _has_field(self, points: Array) -> NDArray[np.bool_]:
        return np.any([each._has_field(points) for each in self.values()], axis=0)

    def _fields_at(self, points: Array) -> list[Quantity]:
        """The fields of the part in which each point is."""
        found: list[Quantity] = []
        for part in self.values():
            here = part._has_field(points)
            own = part._fields_at(points[here])
            if not found:
                found = [replace(each, values=np.zeros((len(points), *each.values.shape[1:]))) for each in own]
            for whole, each in zip(found, own, strict=True):
                whole.values[here] = each.values
        return found

    def _record(self) -> dict[str, Any]:
        return {"parts": [(name, each._record()) for name, each in self.items()]}
