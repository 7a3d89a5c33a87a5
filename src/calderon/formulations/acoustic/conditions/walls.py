"""Conditions by tag as parts of a surface, each triangle in one of them."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calderon.formulations.acoustic.conditions.boundary_layers import ViscothermalWall
from calderon.formulations.acoustic.conditions.wall_conditions import (
    Impedance,
    Rigid,
    SoundPressure,
    Velocity,
    WallCondition,
)
from calderon.formulations.acoustic.conditions.wall_values import Wall
from calderon.mesh import TriangleMesh
from calderon.validation import describe

Conditions = WallCondition | Sequence[WallCondition] | Mapping[Any, Any] | None


@dataclass(frozen=True, eq=False)
class ConditionedWall(Wall):
    """A part of a surface with its conditions: a velocity, with an impedance or boundary layers, either of these, or a
    pressure; none where it is rigid."""

    velocity: Velocity | None = None
    impedance: Impedance | None = None
    pressure: SoundPressure | None = None
    layers: ViscothermalWall | None = None


def walls_of(mesh: TriangleMesh, conditions: Conditions, sign: float) -> list[ConditionedWall]:
    """The parts of a surface with conditions that are not rigid. conditions: one or several for the whole surface, or
    {tag, its name or a tuple of them: one or several}; None, and tags that are left out: rigid. sign: as in `Wall`.

    TypeError for what is no condition, ValueError for unknown tags, for a tag in two entries and for conditions that
    exclude each other.
    """
    if not isinstance(conditions, Mapping):
        given = _listed(conditions, "the surface")
        return _present([_wall(mesh, np.arange(mesh.number_of_triangles), sign, "the surface", given)])
    found, owner = [], dict[int, Any]()
    for key, several in conditions.items():
        numbers = numbers_of(mesh, key, "conditions")
        for number in numbers:
            if number in owner:
                raise ValueError(
                    f"tag {number} has conditions twice, under {owner[number]!r} and {key!r}: give those of one part "
                    "in one list, {tag: [Velocity(...), Impedance(...)]}"
                )
            owner[number] = key
        triangles = np.flatnonzero(np.isin(mesh.tags, numbers))
        found.append(_wall(mesh, triangles, sign, f"tag {key!r}", _listed(several, f"tag {key!r}")))
    return _present(found)


def numbers_of(mesh: TriangleMesh, key: Any, what: str) -> list[int]:
    """The tags that a key of a table stands for; ValueError for others, which offers the nearest name. what: the table,
    in an error."""
    try:
        return list(map(int, mesh.tag_numbers(key)))
    except ValueError as error:
        near = difflib.get_close_matches(str(key), [str(each) for each in (*mesh.names, *np.unique(mesh.tags))], n=1)
        raise ValueError(f"{what}: {error}{f'; did you mean {near[0]!r}?' if near else ''}") from None


def _listed(given: Any, where: str) -> list[WallCondition]:
    """One condition or several, or None for none, as a list; TypeError for what is none."""
    listed = list(given) if isinstance(given, list | tuple) else [] if given is None else [given]
    for each in listed:
        if not isinstance(each, WallCondition):
            raise TypeError(
                f"{where} needs Velocity, Impedance, ViscothermalWall, SoundPressure or Rigid, or a list of them, got "
                f"{describe(each)}: "
                "a velocity in m/s is Velocity(v), an impedance in Pa s/m Impedance(z)"
            )
    return listed


def _wall(mesh: TriangleMesh, triangles: Any, sign: float, name: str, given: list[WallCondition]) -> ConditionedWall:
    """A part with its conditions; ValueError for two of a kind, and for those that exclude each other."""
    kinds: dict[type, list[Any]] = {kind: [] for kind in (Velocity, Impedance, SoundPressure, ViscothermalWall, Rigid)}
    for each in given:
        next(found for kind, found in kinds.items() if isinstance(each, kind)).append(each)
    for kind, found in kinds.items():
        if len(found) > 1:
            raise ValueError(f"{name} has {len(found)} conditions {kind.__name__}: give one, velocities add beforehand")
    alone = [kind.__name__ for kind in (SoundPressure, Rigid) if kinds[kind]]
    if alone and len(given) > 1:
        names = " and ".join(type(each).__name__ for each in given)
        raise ValueError(f"{name} has {names}: {alone[0]} stands alone, a velocity and an impedance may be together")
    if kinds[Impedance] and kinds[ViscothermalWall]:
        raise ValueError(
            f"{name} has an Impedance and a ViscothermalWall: the impedance of a wall has its losses in it, give one"
        )
    chosen = [found[0] if found else None for kind, found in kinds.items() if kind is not Rigid]
    return ConditionedWall(mesh, triangles, sign, name, *chosen)


def _present(walls: list[ConditionedWall]) -> list[ConditionedWall]:
    """The walls that are not rigid."""
    return [each for each in walls if each.velocity or each.impedance or each.pressure or each.layers]
