"""JSON schema of case files, by which editors complete keys and mark mistakes: `calderon schema`."""

from typing import Any

from pydantic import BaseModel, TypeAdapter

from calderon.case.models import Case, TransientCase
from calderon.case.periodic import PeriodicCase
from calderon.case.planar import PlanarCase
from calderon.case.reflectarray import ReflectarrayCase
from calderon.case.solid import SolidCase

KINDS: dict[str, type[BaseModel]] = {
    "Waves and potentials on surfaces": Case,
    "Fields in time": TransientCase,
    "Elastic solids": SolidCase,
    "Printed circuits and antennas": PlanarCase,
    "Periodic surfaces": PeriodicCase,
    "Reflectarrays": ReflectarrayCase,
}
"""The models of case files, by what they describe."""


def schema() -> dict[str, Any]:
    """Of all kinds of case files together, of which a file is one.

    It knows keys, types, limits and units, but not which keys go with which others: `calderon run` tells that.
    """
    case: Any = Case | TransientCase | SolidCase | PlanarCase | PeriodicCase | ReflectarrayCase
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Case file of calderon",
        **TypeAdapter(case).json_schema(),
    }
