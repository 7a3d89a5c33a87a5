"""Meshes without some of their parts."""

import numpy as np

from calderon.mesh.tetrahedra import FACES, TetrahedralMesh


def without_part(mesh: TetrahedralMesh, part: str, faces: str = "metal") -> TetrahedralMesh:
    """The mesh without the tetrahedra of a part: metal, which fields do not enter.

    faces: name of the faces where the part met others; it may be one of the mesh already. Those at which the mesh ended
    go with the part. Raises ValueError for a part that the mesh does not have or that is all of it.
    """
    if part not in mesh.names:
        raise ValueError(f"the mesh has no part {part!r}: choose {', '.join(map(repr, mesh.names))}")
    kept = mesh.tags != mesh.names[part]
    if not kept.any():
        raise ValueError(f"the part {part!r} is the whole mesh: nothing is left without it")
    across = mesh.neighbours[kept]
    rows, sides = np.nonzero((across >= 0) & ~kept[np.maximum(across, 0)])
    opened = mesh.tetrahedra[kept][rows][np.arange(len(rows))[:, None], FACES[sides]]
    there = np.unique(-1 - across[across < 0])
    tag = mesh.face_names.get(faces, max([-1, *mesh.face_names.values(), *mesh.face_tags.tolist()]) + 1)
    vertices, place = np.unique(mesh.tetrahedra[kept], return_inverse=True)
    to_kept = np.full(mesh.number_of_vertices, -1)
    to_kept[vertices] = np.arange(len(vertices))
    return TetrahedralMesh(
        mesh.vertices[vertices],
        place.reshape(-1, 4),
        mesh.tags[kept],
        {name: number for name, number in mesh.names.items() if name != part},
        to_kept[np.concatenate([mesh.faces[there], opened])],
        np.concatenate([mesh.face_tags[there], np.full(len(opened), tag)]),
        {**mesh.face_names, faces: tag},
    )
