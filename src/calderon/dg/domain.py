"""The domain of a rank: its part of the mesh, and the interfaces to everything outside."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.boundary import FacesOf, conditions_by_face
from calderon.dg.operator.element_blocks import ElementBlocks, build_blocks
from calderon.dg.operator.halo import Halo
from calderon.dg.operator.medium import Medium, medium_of
from calderon.dg.operator.reference import ReferenceTetrahedron
from calderon.dg.operator.step_classes import StepClasses, one_class, step_classes
from calderon.dg.sources.currents import Load, loads
from calderon.dg.sources.incident import IncidentWaves
from calderon.mesh import Material, MeshWarning, TetrahedralMesh
from calderon.mesh.tetrahedral.location import locate
from calderon.mesh.tetrahedral.partition import CUT, Part, part_of, partition
from calderon.parallel import Communicator
from calderon.validation import callers_level
from calderon.waves import CurrentDipole, CurrentSource, TransientPlaneWave

SOURCES = TransientPlaneWave, CurrentSource, CurrentDipole


@dataclass(frozen=True, eq=False)
class Domain:
    """A part of a mesh in blocks, with its media, the condition of every face of the part, the absorbing faces, what
    enters through these, the driven currents, and where it meets other ranks (None for one process alone). whole: the
    number of tetrahedra of all ranks, size: the least radius of spheres inscribed in them; classes: their steps."""

    part: Part
    element_blocks: ElementBlocks
    medium: Medium
    conditions: NDArray[np.str_]
    open: FacesOf
    incident: IncidentWaves
    loads: tuple[Load, ...]
    halo: Halo | None
    communicator: Communicator
    whole: int
    size: float
    classes: StepClasses

    def random_field(self) -> NDArray[np.floating]:
        """A flat field that does not depend on the number of ranks, zero in the elements that fill the last block."""
        size = self.element_blocks.reference.size
        everywhere = np.random.default_rng(1).standard_normal((self.whole, 3, size))
        return self.element_blocks.in_lanes(everywhere[self.part.elements]).ravel()

    def collected(self, field: NDArray[np.floating]) -> NDArray[np.floating]:
        """(tetrahedra, 3, n) a flat field of all ranks, in the mesh's order."""
        return self.everywhere(self.element_blocks.by_element(field.reshape(self.element_blocks.shape)))

    def everywhere(self, own: NDArray[Any]) -> NDArray[Any]:
        """(tetrahedra, ...) of all ranks, in the mesh's order, from (elements, ...) of this one."""
        if self.communicator.size == 1:
            return own
        result = np.empty((self.whole, *own.shape[1:]), own.dtype)
        for elements, values in self.communicator.gather((self.part.elements, own)):
            result[elements] = values
        return result

    def restricted(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """The inverse of `collected`."""
        return self.element_blocks.in_lanes(values[self.part.elements]).ravel()

    def values_at(
        self, mesh: TetrahedralMesh, vectors: NDArray[np.inexact], points: NDArray[np.float64]
    ) -> NDArray[np.inexact]:
        """(q, 3) a field at points (q, 3) of the whole mesh, on all ranks, from the vectors (elements, n, 3) at the
        nodes of this rank's part. All ranks call it; each adds the points in its elements."""
        elements, local = locate(mesh, points)
        values = self.element_blocks.reference.interpolation(local)
        own, here = self.own_elements(elements)
        found = np.einsum("qn,qni->qi", values, vectors[own]) * here[:, None]
        return np.asarray(self.communicator.total(found))

    def own_elements(self, elements: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Numbers in this rank's part for tetrahedra of the whole mesh (0 if not in it), and whether they are in it."""
        place = np.minimum(np.searchsorted(self.part.elements, elements), len(self.part.elements) - 1)
        here = self.part.elements[place] == elements
        return np.where(here, place, 0), here


def domain(
    mesh: TetrahedralMesh,
    reference: ReferenceTetrahedron,
    real: np.dtype[np.floating],
    materials: Mapping[str, Material] | None,
    boundaries: Mapping[str, str],
    sources: Sequence[Any],
    communicator: Communicator,
    local: bool = False,
) -> Domain:
    """This rank's part. Errors as for `medium_of`, `conditions_by_face` and `partition`; ValueError for waves without
    absorbing faces to enter through, or without materials, which imply SI units; for currents as `loads`."""
    # conditions, sources and media of the whole mesh, with their errors and warnings
    everywhere = conditions_by_face(mesh, boundaries)
    waves = [each for each in sources if isinstance(each, TransientPlaneWave)]
    currents = [each for each in sources if isinstance(each, CurrentSource | CurrentDipole)]
    if waves and not (everywhere == "absorbing").any():
        raise ValueError("sources: plane waves enter through absorbing faces: name one in boundaries")
    if waves and materials is None:
        raise ValueError("sources: plane waves are in SI units: give also materials, {} for free space alone")
    whole = medium_of(mesh, materials)  # its errors are those of the whole mesh
    absorbing = _absorbing(mesh, everywhere)
    _warn_of_media(mesh, whole, absorbing & bool(waves))
    # the lengths of steps of all elements
    classes = one_class(mesh.number_of_tetrahedra)
    if local:  # by the time that light takes to cross the inscribed radius, the longest at absorbing faces
        delay = mesh.inradii * np.sqrt(whole.permittivity * whole.permeability)
        classes = step_classes(mesh, delay, absorbing)
    # the part of the mesh of this rank, with an interface to the others
    alone = communicator.size == 1
    if alone:
        part = Part(mesh, np.arange(mesh.number_of_tetrahedra), (), np.array([len(mesh.faces)]))
    else:
        part = part_of(mesh, _parts(mesh, communicator.size, classes), communicator.rank)
    conditions = everywhere if alone else conditions_by_face(part.mesh, {**boundaries, CUT: CUT})
    medium = whole if alone else medium_of(part.mesh, materials)
    # elements in blocks, by the lengths of their steps, and what acts on them
    element_blocks = build_blocks(part.mesh, reference, real, classes.keys[part.elements])
    faces = FacesOf.of(element_blocks, conditions, "absorbing")
    incident = IncidentWaves(waves, faces, medium)
    driven = loads(currents, mesh, part, element_blocks, medium.impedance)
    halo = None if alone else Halo(part, element_blocks, conditions, communicator)
    known = mesh.number_of_tetrahedra, float(mesh.inradii.min()), classes
    return Domain(part, element_blocks, medium, conditions, faces, incident, driven, halo, communicator, *known)


def _absorbing(mesh: TetrahedralMesh, conditions: NDArray[np.str_]) -> NDArray[np.bool_]:
    """(tetrahedra,) those with an absorbing face."""
    across = mesh.neighbours
    return np.asarray(((across < 0) & (conditions[np.maximum(-1 - across, 0)] == "absorbing")).any(axis=1))


def _warn_of_media(mesh: TetrahedralMesh, medium: Medium, lit: NDArray[np.bool_]) -> None:
    """Warn with a MeshWarning where waves are faster than light, which no medium without dispersion is, and where plane
    waves, which are those of free space, enter something else. lit (tetrahedra,): where they enter."""
    product = medium.permittivity * medium.permeability
    fast, entered = product < 1 - 1e-12, lit & medium.matter
    too_fast = (
        "in {} permittivity times permeability is {:.3g}, below 1: waves are faster there than light, and the steps "
        "shorter; check the constants, which are relative to vacuum"
    )
    not_air = (
        "{} have absorbing faces, through which plane waves enter as in free space: put air between these and them"
    )
    for found, text in ((fast, too_fast), (entered, not_air)):
        if found.any():
            names = sorted(name for name, tag in mesh.names.items() if tag in mesh.tags[found])
            where = f"{found.sum()} tetrahedra of {', '.join(map(repr, names))}"
            warnings.warn(text.format(where, product[found].min()), MeshWarning, stacklevel=callers_level())


def _parts(mesh: TetrahedralMesh, count: int, classes: StepClasses) -> NDArray[np.int64]:
    """The rank of each tetrahedron; elements that participate in short steps stay with their neighbours, so that ranks
    wait for each other only once in each of the longest steps."""
    if not classes.deepest:
        return partition(mesh, count)
    short = classes.near > 0
    adjacent = (short[np.maximum(mesh.neighbours, 0)] & (mesh.neighbours >= 0)).any(axis=1)
    return partition(mesh, count, short | adjacent, 2**classes.own + 2**classes.near)


def listed(sources: Any) -> tuple[Any, ...]:
    """Sources as a tuple, also a single one. ValueError for another type."""
    if isinstance(sources, SOURCES):
        return (sources,)
    if sources is None or isinstance(sources, str) or not isinstance(sources, Iterable):
        raise ValueError(f"sources={sources!r}: a list of TransientPlaneWave, CurrentSource or CurrentDipole is needed")
    given = tuple(sources)
    for each in given:
        if not isinstance(each, SOURCES):
            raise ValueError(f"sources: {each!r}: choose TransientPlaneWave, CurrentSource or CurrentDipole")
    return given
