"""Requests that a run on surfaces cannot fulfil, reported before it begins."""

import numpy as np

from calderon.case import Case, CaseFile
from calderon.hmatrix.saved_parts import SavedParts
from calderon.mesh import TriangleMesh
from calderon.report.formatting import extent
from calderon.report.surface.plane import shows_nothing


def require_outputs(file: CaseFile[Case], mesh: TriangleMesh) -> None:
    """CaseError for planes on which there is no field, distances within the body, and invalid matrix files."""
    case = file.case
    asked = case.output.slice
    if asked is not None:
        shown = asked.plane + ("" if asked.size is None else ", {:g} m x {:g} m".format(*asked.size))
        with file.blamed("output", "slice", shown):
            if shows_nothing(case, mesh):
                side = "inside" if case.physics.side == "interior" else "outside of"
                raise ValueError(
                    f"no point lies {side} the body, {extent(mesh.vertices)}, and there is no field elsewhere: give "
                    "another size or centre"
                )
    far = case.output.far_field
    if far is not None and far.distance is not None:
        reach = float(np.linalg.norm(mesh.vertices, axis=1).max())
        if far.distance <= reach:
            text = f"the body reaches to {reach:.4g} m from the origin: choose a larger distance, or omit it for "
            raise file.mistake("output", "far_field.distance", text + "the far field", f"{far.distance:g} m")
    if case.solver.matrix_file is not None:
        with file.blamed("solver", "matrix_file"):
            SavedParts(file.folder / case.solver.matrix_file)
