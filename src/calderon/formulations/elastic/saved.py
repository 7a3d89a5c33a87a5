"""Solutions of elastic solids are read back."""

import numpy as np

from calderon.formulations.elastic.solid import ElasticSolid
from calderon.formulations.elastic.solution import ElasticInfo, ElasticSolution
from calderon.formulations.saving.solution_file import Record
from calderon.spaces import Function


def elastic_solution(record: Record) -> ElasticSolution:
    """The solution of the solid that the record describes, posed again; its functions belong to the surface of that,
    whose normals point out of the material."""
    given, info = record.values["solid"], record.values["info"]
    displacement, traction = (record.functions[name] for name in ("displacement", "traction"))
    solid = ElasticSolid(displacement.space.mesh, **given)
    if not isinstance(info, ElasticInfo):
        raise TypeError("no record of a solution")
    spaces = solid.spaces.displacements, solid.spaces.tractions
    functions = []
    for space, one in zip(spaces, (displacement, traction), strict=True):
        if one.space.name != space.scalar.name or one.coefficients.dtype != np.float64:
            raise ValueError(f"a {one.label} in {one.space!r}")
        functions.append(Function(space, one.coefficients, one.label, one.unit))
    return ElasticSolution(solid, functions[0], functions[1], info)
