"""Sets of loads for the same supports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calderon.formulations.elastic.loads.body_loads import BodyLoad
from calderon.validation import describe, list_of


@dataclass(frozen=True, eq=False)
class LoadCase:
    """One set of loads: loads by tag and body, as `ElasticSolid` takes them, instead of those of the solid."""

    loads: Mapping[Any, Any] | None = None
    body: Sequence[BodyLoad] = ()

    def __post_init__(self) -> None:
        if self.loads is not None and not isinstance(self.loads, Mapping):
            raise TypeError(f"loads are given by tag, {{tag: Force(...)}}, got {describe(self.loads)}")
        body = list_of(self.body, BodyLoad, "body is a list of loads of the volume, such as Gravity")
        object.__setattr__(self, "body", body)

    @staticmethod
    def of(data: Any) -> "LoadCase":
        """A load case, or that of loads by tag; TypeError for others."""
        if isinstance(data, LoadCase):
            return data
        if not isinstance(data, Mapping):
            raise TypeError(f"a load case is a LoadCase or loads by tag, {{tag: Force(...)}}, got {describe(data)}")
        return LoadCase(data)
