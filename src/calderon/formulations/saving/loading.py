"""Saved solutions are read back."""

import os
from typing import Any

import numpy as np

from calderon.formulations.acoustic.results.acoustic_solution import AcousticSolution
from calderon.formulations.acoustic.results.elastic_scattering_solution import ElasticScatteringSolution
from calderon.formulations.acoustic.results.volume_solution import VolumeScatteringSolution
from calderon.formulations.acoustic.scattering_solution import ScatteringSolution
from calderon.formulations.acoustic.sheets.sheet_solution import SheetSolution
from calderon.formulations.composite.fed_solution import CompositeAntennaSolution
from calderon.formulations.composite.solution import CompositeSolution
from calderon.formulations.elastic.bonded import BondedSolids
from calderon.formulations.elastic.results.reactions import support_patches
from calderon.formulations.elastic.results.solution import BondedSolution, ElasticInfo, ElasticSolution
from calderon.formulations.elastic.solid import ElasticSolid
from calderon.formulations.electromagnetic.antenna_solution import AntennaSolution
from calderon.formulations.electromagnetic.dielectric_solution import DielectricSolution
from calderon.formulations.electromagnetic.inhomogeneous_solution import InhomogeneousDielectricSolution
from calderon.formulations.electromagnetic.pec import PECSolution
from calderon.formulations.laplace.potential_solution import PotentialSolution
from calderon.formulations.laplace.volume_potential import VolumePotentialSolution
from calderon.formulations.periodic.cell_solution import CellSolution
from calderon.formulations.planar.echo import PlanarEcho
from calderon.formulations.planar.solution import PlanarSolution
from calderon.formulations.saving.solution_file import Restorer, restored
from calderon.formulations.statics.solution import StaticSolution
from calderon.formulations.wires.solution import WireSolution
from calderon.spaces import Function


def _bonded_solution(values: dict[str, Any]) -> BondedSolution:
    """With common faces that are found again."""
    found = BondedSolution()
    for name, given in values["parts"]:
        found[name] = _elastic_solution(given)
    BondedSolids({name: each.solid for name, each in found.items()})
    return found


def _elastic_solution(values: dict[str, Any]) -> ElasticSolution:
    """The solution of the solid that the values describe, posed again; its functions belong to the surface of that,
    whose normals point out of the material."""
    info, displacement, traction = (values[name] for name in ("info", "displacement", "traction"))
    solid = ElasticSolid(displacement.space.mesh, **values["solid"])
    if not isinstance(info, ElasticInfo):
        raise TypeError("no record of a solution")
    if info.corrections.shape not in ((0, 6), (len(support_patches(solid)), 6)):
        raise ValueError(f"{info.corrections.shape} corrections of the reactions of {solid!r}")
    spaces = solid.spaces.displacements, solid.spaces.tractions
    functions = []
    for space, one in zip(spaces, (displacement, traction), strict=True):
        if one.space.name != space.scalar.name or one.coefficients.dtype != np.float64:
            raise ValueError(f"a {one.label} in {one.space!r}")
        functions.append(Function(space, one.coefficients, one.label, one.unit))
    return ElasticSolution(solid, functions[0], functions[1], info)


RESTORED = (
    AcousticSolution, AntennaSolution, CellSolution, CompositeAntennaSolution, CompositeSolution,
    DielectricSolution, ElasticScatteringSolution, InhomogeneousDielectricSolution, PECSolution, PlanarEcho,
    PlanarSolution, PotentialSolution, ScatteringSolution, SheetSolution, StaticSolution, VolumePotentialSolution,
    VolumeScatteringSolution, WireSolution,
)  # fmt: skip
SOLUTIONS: dict[str, Restorer] = {each.__name__: Restorer(each.saved_classes, each._restored) for each in RESTORED} | {
    ElasticSolution.__name__: Restorer(ElasticSolution.saved_classes, _elastic_solution),
    BondedSolution.__name__: Restorer(BondedSolution.saved_classes, _bonded_solution),
}


def load(path: str | os.PathLike[str]) -> Any:
    """The solution that `solution.save(path)` has written: of sound, of conductors and penetrable bodies,
    of antennas, of metal between layers and in periodic cells, of Laplace's equation, of statics or of elastic solids.
    Fields and far fields are the same to the last bit.

    A file need not be trusted: it holds numbers and texts only, under checksums, and everything is checked before it is
    used. FileNotFoundError; ValueError for a file of another kind or version; DamagedFile, a ValueError, for one that
    is damaged; MemoryError for one that does not fit.
    """
    return restored(path, SOLUTIONS)
