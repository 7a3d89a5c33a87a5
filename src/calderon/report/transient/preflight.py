"""Requests that a run in time cannot fulfil, reported before it begins."""

import numpy as np

from calderon.case import CaseFile
from calderon.case.transient import TransientCase
from calderon.dg import MaxwellDG
from calderon.mesh.tetrahedral.location import Search
from calderon.report.formatting import extent
from calderon.report.transient.cuts import cut_points


def require_outputs(file: CaseFile[TransientCase], posed: MaxwellDG) -> None:
    """CaseError for points or planes outside the mesh, cubes heavier than the tissue, voxels that do not fit in memory,
    and far fields without absorbing faces around everything."""
    output, mesh = file.case.output, posed.mesh
    search = Search(mesh)
    if output.probes and (search.find(np.array(output.probes))[0] < 0).any():
        place = int(np.flatnonzero(search.find(np.array(output.probes))[0] < 0)[0])
        raise file.mistake("output", "probes", f"number {place + 1} lies outside the mesh, {extent(mesh.vertices)}")
    for cut in output.slice:
        if not (search.find(cut_points(mesh, cut).reshape(-1, 3))[0] >= 0).any():
            shown = f"{cut.plane} around {', '.join(f'{each:g} m' for each in cut.centre or ())}"
            raise file.mistake("output", "slice", f"meets no tetrahedron of the mesh, {extent(mesh.vertices)}", shown)
    if output.sar is not None:
        try:
            posed.require_tissue(output.sar.mass, output.sar.voxel)
        except (ValueError, MemoryError) as error:
            raise file.mistake(
                "output", "sar", str(error), f"{output.sar.mass:g} kg, {output.sar.voxel:g} m"
            ) from error
    if output.far_field is not None:
        try:
            posed.require_surface()
        except ValueError as error:
            raise file.mistake("output", "far_field", str(error), output.far_field.plane) from error
