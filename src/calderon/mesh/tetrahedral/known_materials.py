"""Materials by their names, from a table in which each has its source."""

import difflib
import json
from functools import cache
from importlib import resources
from typing import Any

from calderon.mesh.tetrahedral.dispersion import ColeCole, Debye
from calderon.mesh.tetrahedral.material import Material
from calderon.validation import text


def material(name: str) -> Material:
    """The material of that name, with its `source`: boards ("FR4", "Rogers 4003", "Rogers 5880"), "alumina", "glass",
    "PTFE", "polyethylene", "water" (Debye), "sea water", "fresh water", "wet ground", "medium dry ground",
    "very dry ground", "copper", "silver", "gold", "aluminium", "vacuum"; tissues (Cole-Cole, 10 Hz to 100 GHz, skin
    from 1 MHz on, without a density): "skin", "wet skin", "fat", "muscle", "cortical bone", "cancellous bone",
    "grey matter", "white matter", "cerebrospinal fluid", "blood", "heart", "liver", "kidney", "inflated lung",
    "vitreous humour". ValueError for another one, with the nearest.

        board = cal.material("FR4")  # permittivity 4.4, loss tangent 0.02
        brain = dataclasses.replace(cal.material("grey matter").at(900e6), density=1045.0)  # for absorption rates
    """
    known = _table()
    if text(name, "name") not in known:
        lower = {each.lower(): each for each in known}
        near = difflib.get_close_matches(name.lower(), lower, n=1)
        hint = f"did you mean {lower[near[0]]!r}? " if near else ""
        raise ValueError(f"unknown material {name!r}: {hint}choose from {', '.join(known)}")
    given = dict(known[name])
    if isinstance(given["permittivity"], dict):
        model = ColeCole if "exponents" in given["permittivity"] else Debye
        given["permittivity"] = model(**given["permittivity"])
    return Material(**given)


@cache
def _table() -> dict[str, Any]:
    file = resources.files("calderon.mesh") / "data" / "materials.json"
    return dict(json.loads(file.read_text(encoding="utf-8")))
