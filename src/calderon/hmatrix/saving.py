"""H-matrices in HDF5 files: whole or not at all, with a version and checksums, without code.

The file holds arrays alone: the cluster trees (under "rows" and, unless it is the same one, "columns"), the block tree
("blocks"), every slab of numbers with its table ("slabs/0" ...), and the sparse correction if there is one. Files of
sums (composed_operator.py) and of assemblies (SavedParts) have a group of this kind for each H-matrix.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from calderon.files import (
    FileKind,
    Identity,
    SavedGroup,
    file_path,
    identity_of,
    new_file,
    put,
    put_texts,
    require_identity,
    saved_file,
    sweep,
    warn_unsaved,
)
from calderon.files.formats import h5py
from calderon.hmatrix import saved_tables
from calderon.hmatrix.saved_tables import BLOCKS, CLUSTERS, SPARSE
from calderon.hmatrix.storage import Slab
from calderon.hmatrix.tree.block_tree import BlockTree
from calderon.hmatrix.tree.cluster_tree import ClusterTree
from calderon.processes import held, refuse_held

REMEDY = "remove it and assemble the matrix again"
HMATRIX = FileKind("calderon H-matrix", "H-matrix", REMEDY)
SUM = FileKind("calderon sum of H-matrices", "sum of H-matrices", REMEDY)
PARTS = FileKind("calderon assembly of H-matrices", "assembly of H-matrices", REMEDY)


@contextmanager
def new_matrix_file(path: str | os.PathLike[str], kind: FileKind) -> Iterator[h5py.File]:
    """A file of a kind that takes its place when the block ends well.

    ValueError for a name that does not end in .h5 or .hdf5, FileNotFoundError for a folder that does not exist.
    """
    check_ending(path)
    with new_file(path, kind) as file:
        yield file


def check_ending(path: str | os.PathLike[str]) -> None:
    """Raise ValueError for a file that does not end in .h5 or .hdf5, TypeError for what is no path."""
    if file_path(path, "an H-matrix", "matrix.h5").suffix not in (".h5", ".hdf5"):
        raise ValueError(f"an H-matrix is saved in HDF5: {str(path)!r} should end in .h5 or .hdf5")


@contextmanager
def saved_matrix_file(path: str | os.PathLike[str], kind: FileKind) -> Iterator[SavedGroup]:
    """A file of a kind, to be read.

    ValueError for a file of another kind or version, DamagedFile for a damaged one, FileNotFoundError for none.
    """
    with saved_file(file_path(path, "an H-matrix", "matrix.h5"), kind) as file:
        yield file


def put_hmatrix(group: h5py.Group, matrix: Any) -> None:
    """Write an H-matrix into a group."""
    tree = matrix.tree
    group.attrs.update(
        rtol=matrix.rtol, full=matrix.full, label=matrix.label, seconds=matrix.seconds, backend=matrix.backend,
        symmetric=tree.symmetric, dtype=matrix.dtype.str, slabs=len(matrix.slabs),
    )  # fmt: skip
    if matrix.error is not None:
        group.attrs["error"] = matrix.error
    for side, clusters in (("rows", tree.rows), ("columns", tree.columns)):
        if side == "rows" or clusters is not tree.rows:
            put_fields(group.create_group(side), clusters, CLUSTERS)
    put_fields(group.create_group("blocks"), tree, BLOCKS)
    slabs = group.create_group("slabs")
    for number, slab in enumerate(matrix.slabs):
        put_fields(slabs.create_group(str(number)), slab, Slab._fields)
    if matrix.correction is not None:
        put_fields(group.create_group("correction"), matrix.correction, SPARSE)


def get_hmatrix(group: SavedGroup) -> dict[str, Any]:
    """The arguments of an HMatrix from a group, which describe one: see saved_tables.py."""
    group.require_memory("the matrix")
    dtype = saved_tables.dtype_of(group)
    tree = saved_tables.block_tree_of(group)
    slabs = saved_tables.slabs_of(group, tree, dtype)
    return {
        "tree": tree,
        "slabs": slabs,
        "dtype": dtype,
        "rtol": group.number("rtol"),
        "correction": saved_tables.sparse_of(group["correction"], tree.shape) if "correction" in group else None,
        "full": group.whole("full"),
        "label": group.text("label"),
        "seconds": group.number("seconds"),
        "backend": group.text("backend"),
        "error": group.number("error") if group.has_attribute("error") else None,
    }


def with_shared_trees(arguments: dict[str, Any], known: list[ClusterTree]) -> dict[str, Any]:
    """The arguments of an HMatrix with known cluster trees instead of equal ones; new ones are known then.
    Matrices are added and factorised together by the identity of their trees."""
    tree: BlockTree = arguments["tree"]

    def shared(clusters: ClusterTree) -> ClusterTree:
        for each in known:
            if np.array_equal(each.order, clusters.order) and np.array_equal(each.start, clusters.start):
                return each
        known.append(clusters)
        return clusters

    rows = shared(tree.rows)
    return {**arguments, "tree": replace(tree, rows=rows, columns=shared(tree.columns))}


def put_fields(group: h5py.Group, source: Any, names: tuple[str, ...]) -> None:
    """Write some arrays of an object into a group; those of a sparse matrix are SPARSE."""
    for name in names:
        put(group, name, getattr(source, name))


OTHER = "wait for it, or name another matrix_file"


class SavedParts:
    """The H-matrices of an assembly, in the order in which they were requested, in a file that grows with every one
    that is ready, so that an interrupted assembly goes on.

    Each matrix is kept with the identity of what it belongs to, a few named texts. A file of another mesh, wavenumber
    or tolerance is refused with the names that differ; it is never used, and never overwritten. path: ends in .h5 or
    .hdf5, in a folder that exists; the file need not. ValueError for another ending, or for a file of another kind or
    version. InUse while another process computes the matrices of the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        check_ending(path)
        self._holding, self._claimed, self._has_room = ExitStack(), False, True
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"the folder {self.path.parent} does not exist; create it first")
        refuse_held(self.path.resolve(), OTHER)
        sweep(self.path)
        self.identities = self._identities()

    def _identities(self) -> list[Identity]:
        """The identities of the matrices in the file, in their order; none without a file."""
        if not self.path.exists():
            return []
        with saved_matrix_file(self.path, PARTS) as file:
            found = [identity_of(text, file) for text in file.texts("identities")]
            file["parts"].numbered(len(found))
            return found

    def claim(self) -> None:
        """Hold the file, until `close`, before a matrix is computed for it; InUse as above."""
        if not self._claimed:
            self._holding.enter_context(held(self.path.resolve(), OTHER))
            self.identities, self._claimed = self._identities(), True

    def close(self) -> None:
        """Let others compute matrices for the file."""
        self._holding.close()

    def holds(self, number: int, identity: Identity) -> bool:
        """Whether the HMatrix with this number is there. ValueError if it belongs to something else."""
        if number >= len(self.identities):
            return False
        require_identity(self.path, "the matrix", self.identities[number], identity)
        return True

    def read(self, number: int) -> dict[str, Any]:
        """The arguments of the HMatrix with this number, which the file holds."""
        with saved_matrix_file(self.path, PARTS) as file:
            return get_hmatrix(file[f"parts/{number}"])

    def keep(self, parts: list[Any], identity: Identity) -> None:
        """Write all matrices so far, the last of which is new; the file is replaced as a whole. Where the disk is full
        a RuntimeWarning is given, and nothing more is written."""
        if not self._has_room:
            return
        identities = [*self.identities[: len(parts) - 1], identity]
        try:
            with new_matrix_file(self.path, PARTS) as file:
                put_texts(file, "identities", [json.dumps(each) for each in identities])
                for number, part in enumerate(parts):
                    put_hmatrix(file.create_group(f"parts/{number}"), part)
        except OSError as error:
            warn_unsaved(error, "the H-matrix")
            self._has_room = False
        else:
            self.identities = identities
