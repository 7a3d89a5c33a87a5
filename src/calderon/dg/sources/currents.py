"""Driven currents as loads on the electric field, and the power that they feed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.element_blocks import ElementBlocks
from calderon.dg.operator.reference import ReferenceTetrahedron
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedral.location import locate
from calderon.mesh.tetrahedral.partition import Part
from calderon.waves import CurrentDipole, CurrentSource, Signal


@dataclass(frozen=True, eq=False)
class Load:
    """A current density s(t) j(x) in the elements (e,) of one rank.

    places (e, 3, n): flat numbers of these elements' values in a field. density (e, 3, n): covariant components of
    Z0 j. weights (e, 3, n): the sum of weights times E over all ranks is minus the integral of j . E per unit of s: the
    voltage of a feed in V.
    """

    name: str
    signal: Signal
    elements: NDArray[np.int64]
    places: NDArray[np.int64]
    density: NDArray[np.float64]
    weights: NDArray[np.float64]

    def at(self, time: float) -> float:
        """s(t). ValueError where it is not a finite number."""
        value = self.signal(time)
        if np.ndim(value) or np.asarray(value).dtype.kind not in "fiub" or not np.isfinite(value):
            raise ValueError(f"the signal of {self.name!r} gave {value} at t = {time:.6g}: a finite number is needed")
        return float(value)

    def voltage(self, electric: NDArray[np.floating]) -> float:
        """This rank's share, from the values of E at the places."""
        return float(np.vdot(self.weights, electric.reshape(self.weights.shape)))


def loads(
    currents: Sequence[CurrentSource | CurrentDipole],
    mesh: TetrahedralMesh,
    part: Part,
    element_blocks: ElementBlocks,
    impedance: float,
) -> tuple[Load, ...]:
    """This rank's part of currents in the whole mesh.

    Raises ValueError for a part that the mesh does not have or that is empty, a dipole outside or with too few
    elements, or one name for two.
    """
    # names, which ports have
    names = [each.name for each in currents]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise ValueError(f"sources: more than one current is called {repeated.pop()!r}: give each its own name=")
    result = []
    for current in currents:
        if isinstance(current, CurrentSource):
            elements, vectors = _even(current, mesh)
        else:
            elements, vectors = _around_point(current, mesh, element_blocks.reference)
        rows, which = np.intersect1d(part.elements, elements, assume_unique=True, return_indices=True)[1:]
        result.append(_load(current, rows, vectors[which], element_blocks, impedance))
    return tuple(result)


def _even(source: CurrentSource, mesh: TetrahedralMesh) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The elements (e,) of the part and j there (e, 1, 3): d L / V."""
    if source.part not in mesh.names:
        raise ValueError(f"sources: the mesh has no part {source.part!r}: choose {', '.join(map(repr, mesh.names))}")
    elements = np.flatnonzero(mesh.tags == mesh.names[source.part])
    if not len(elements):
        raise ValueError(f"sources: the part {source.part!r} has no tetrahedra: use a finer mesh or another part")
    extent = float(np.ptp(mesh.vertices[np.unique(mesh.tetrahedra[elements])] @ source.direction))
    density = extent / mesh.volumes[elements].sum() * source.direction
    return elements, np.broadcast_to(density, (len(elements), 1, 3))


def _around_point(
    dipole: CurrentDipole, mesh: TetrahedralMesh, reference: ReferenceTetrahedron
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The elements (e,) near the dipole and j at their nodes (e, n, 3): a smooth bump times a polynomial of even degree
    d, at most 4, chosen so that the integral of j with any p of that degree is m p(y).

    A delta function in one element excites waves that the mesh does not carry, which the centred flux never damps.
    """
    # elements that the bump touches, and its values at their nodes
    radius = _default_radius(dipole, mesh) if dipole.radius is None else dipole.radius
    elements = _near(dipole.position, 2 * radius, mesh)
    origin = mesh.vertices[mesh.tetrahedra[elements]]
    points = origin[:, :1] + reference.nodes @ (origin[:, 1:] - origin[:, :1])
    offsets = (points - dipole.position) / radius
    bump = np.maximum(1 - (offsets**2).sum(axis=2), 0) ** 2
    touched = bump.any(axis=1)
    elements, offsets, bump = elements[touched], offsets[touched], bump[touched]
    # the polynomial with the right moments
    degree = min(2 * ((reference.order + 1) // 2), 4)
    powers = [each for each in np.ndindex(*3 * [degree + 1]) if sum(each) <= degree]  # the first is 1
    monomials = np.stack([np.prod(offsets ** np.array(power), axis=2) for power in powers])
    volumes = 6 * mesh.volumes[elements]
    moments = np.einsum("aen,nm,bem,e->ab", monomials, reference.mass, bump * monomials, volumes, optimize=True)
    if np.linalg.matrix_rank(moments) < len(moments):
        raise ValueError(
            f"sources: {dipole.name!r} spreads over a radius of {radius:.4g} with {len(elements)} tetrahedra, too few "
            "for a smooth current: use a larger radius or a finer mesh"
        )
    factors = np.linalg.solve(moments, np.eye(len(moments))[0])
    return elements, np.einsum("b,ben->en", factors, bump * monomials)[:, :, None] * dipole.moment


def _default_radius(dipole: CurrentDipole, mesh: TetrahedralMesh) -> float:
    """Two mean edges of the element that holds the dipole. ValueError if there is none."""
    corners = mesh.vertices[mesh.tetrahedra[locate(mesh, dipole.position[None])[0][0]]]
    first, second = np.triu_indices(4, 1)
    return 2 * float(np.linalg.norm(corners[first] - corners[second], axis=1).mean())


def _near(point: NDArray[np.float64], distance: float, mesh: TetrahedralMesh) -> NDArray[np.int64]:
    """Tetrahedra that may come closer to a point than that."""
    reach = np.linalg.norm(mesh.vertices - point, axis=1)[mesh.tetrahedra]
    nearest, farthest = reach.min(axis=1), reach.max(axis=1)
    return np.flatnonzero(2 * nearest - farthest < distance)


def _load(
    current: CurrentSource | CurrentDipole,
    rows: NDArray[np.int64],
    vectors: NDArray[np.float64],
    element_blocks: ElementBlocks,
    impedance: float,
) -> Load:
    """The load of j (e, n or 1, 3) in elements (e,) of the blocks' mesh."""
    frames = element_blocks.frames[rows]
    covariant = np.einsum("eqk,eik->eiq", vectors, frames)
    covariant = np.ascontiguousarray(np.broadcast_to(covariant, (len(rows), 3, element_blocks.reference.size)))
    raised = (
        np.linalg.inv(frames @ np.swapaxes(frames, 1, 2)) * np.abs(element_blocks.determinants[rows])[:, None, None]
    )
    weights = -raised @ covariant @ element_blocks.reference.mass
    return Load(current.name, current.signal, rows, element_blocks.places_of(rows), impedance * covariant, weights)
