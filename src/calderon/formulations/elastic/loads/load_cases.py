"""Several sets of loads of one solid, solved with one matrix."""

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


def named_cases(cases: Any) -> dict[Any, LoadCase]:
    """Cases by name, {name: LoadCase} or {name: loads by tag}; TypeError for others, ValueError for none."""
    if not isinstance(cases, Mapping):
        raise TypeError(f'load cases are given by name, {{"wind": {{tag: Force(...)}}, ...}}, got {describe(cases)}')
    if not cases:
        raise ValueError("there are no load cases: give at least one, or take solve()")
    return {
        name: case
        if isinstance(case, LoadCase)
        else LoadCase(case)
        if isinstance(case, Mapping)
        else _refuse(name, case)
        for name, case in cases.items()
    }


def _refuse(name: Any, case: Any) -> LoadCase:
    raise TypeError(f"the load case {name!r} is a LoadCase or loads by tag, {{tag: Force(...)}}, got {describe(case)}")
