"""Tolerances of conditions, balances and meshes of elastic solids: what counts as flat, held, equal or balanced."""

from typing import NamedTuple


class Tolerances(NamedTuple):
    """Relative tolerances, and what they are compared with.

    Geometry: coordinates in files of single precision have relative errors of 6e-8, which the ratio of size and edge
    enlarges in directions; 1e-6 is above that, and far below any angle that is meant.

    flat: the difference of unit normals of a plane. conflict: that of two prescribed displacements of a node, over the
    largest one. free: the part of a rigid motion that supports may hold of one that counts as free.

    Algebra: directions that are given in double precision are known to 1e-16; the roots of sums of their squares, from
    which these are found, to 1e-8.

    independent: the singular value from which on directions of supports are different. held: the eigenvalue from which
    on a direction of a joined node is held by supports.

    Loads: integrals of tractions over curved faces have the errors of their triangles, 1e-3 and less where these are
    small enough to say anything.

    unbalanced: the resultant of loads along a free motion, over the sum of their magnitudes, that is refused.
    reactions: the force that reactions leave, over that of the loads, that is warned of: then bending of the mesh, not
    of the body, is seen. jump: the difference of the steady temperatures of two parts on a common face, over their
    range, that is warned of. defect: the error of rotations above which the mesh is no boundary of a body; meshes of
    bodies, however coarse, have less than a fifth of it.
    """

    flat: float = 1e-6
    conflict: float = 1e-6
    free: float = 1e-6
    independent: float = 1e-8
    held: float = 1e-8
    unbalanced: float = 1e-3
    reactions: float = 0.1
    jump: float = 0.01
    defect: float = 0.05


TOLERANCES = Tolerances()
