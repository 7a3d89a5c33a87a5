"""H-matrices in HDF5 files: whole or not at all, with a version, without code.

The file holds arrays alone: the cluster trees (under "rows" and, unless it is the same one, "columns"), the block tree
("blocks"), every slab of numbers with its table ("slabs/0" ...), and the sparse correction if there is one. Files of
sums (composed_operator.py) and of assemblies (SavedParts) have a group of this kind for each H-matrix.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp

from calderon.backends import require_memory
from calderon.hmatrix.block_tree import BlockTree
from calderon.hmatrix.cluster_tree import ClusterTree
from calderon.hmatrix.storage import Slab
from calderon.mesh.files.whole_file import file_path, whole_file

KIND, SUM, PARTS = "calderon H-matrix", "calderon sum of H-matrices", "calderon assembly of H-matrices"
KINDS = KIND, SUM, PARTS
Identity = dict[str, str]
VERSION = 1
"""Of the layout of the file; a file of another version is refused."""
CLUSTERS = "order", "start", "stop", "boxes", "children", "level"
SPARSE = "indptr", "indices", "data"
BLOCKS = "row", "column", "kind", "first_child", "child_count"


@contextmanager
def new_file(path: str | os.PathLike[str], kind: str) -> Iterator[h5py.File]:
    """A file of a kind that takes its place when the block ends well.

    ValueError for a name that does not end in .h5 or .hdf5, FileNotFoundError for a folder that does not exist.
    """
    check_ending(path)
    with whole_file(path) as scratch, h5py.File(scratch, "w") as file:
        file.attrs.update(kind=kind, version=VERSION)
        yield file


def check_ending(path: str | os.PathLike[str]) -> None:
    """ValueError for a file that does not end in .h5 or .hdf5, TypeError for what is no path."""
    if file_path(path, "an H-matrix", "matrix.h5").suffix not in (".h5", ".hdf5"):
        raise ValueError(f"an H-matrix is saved in HDF5: {str(path)!r} should end in .h5 or .hdf5")


@contextmanager
def saved_file(path: str | os.PathLike[str], kind: str) -> Iterator[h5py.File]:
    """A file of a kind, to be read.

    ValueError for a file of another kind or version, or one that is damaged, FileNotFoundError for none.
    """
    if not file_path(path, "an H-matrix", "matrix.h5").is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ValueError(f"{str(path)!r} is no HDF5 file, or a damaged one: {error}") from error
    with file:
        there = file.attrs.get("kind")
        if there != kind:
            what = f"it is a {there}" if there in KINDS else "it was not written by save()"
            raise ValueError(f"{str(path)!r} holds no {kind.removeprefix('calderon ')}: {what}")
        version = int(file.attrs["version"])
        if version != VERSION:
            raise ValueError(
                f"{str(path)!r} is an H-matrix file of version {version}, and this release reads version {VERSION}: "
                "assemble the matrix again, or load it with the release that wrote it"
            )
        try:
            yield file
        except (KeyError, OSError) as error:
            raise ValueError(f"{str(path)!r} is damaged, assemble the matrix again: {error}") from error


def put_hmatrix(group: h5py.Group, matrix: Any) -> None:
    """Write an H-matrix into a group."""
    tree = matrix.tree
    group.attrs.update(
        rtol=matrix.rtol, full=matrix.full, label=matrix.label, seconds=matrix.seconds, backend=matrix.backend,
        symmetric=tree.symmetric, dtype=matrix.dtype.str, slabs=len(matrix.slabs),
    )  # fmt: skip
    for side, clusters in (("rows", tree.rows), ("columns", tree.columns)):
        if side == "rows" or clusters is not tree.rows:
            _write(group.create_group(side), clusters, CLUSTERS)
    _write(group.create_group("blocks"), tree, BLOCKS)
    for number, slab in enumerate(matrix.slabs):
        _write(group.create_group(f"slabs/{number}"), slab, Slab._fields)
    if matrix.correction is not None:
        put_sparse(group.create_group("correction"), matrix.correction)


def get_hmatrix(group: h5py.Group) -> dict[str, Any]:
    """The arguments of an HMatrix from a group."""
    attrs: Any = dict(group.attrs)
    rows = ClusterTree(*_arrays(group["rows"], CLUSTERS))
    columns = ClusterTree(*_arrays(group["columns"], CLUSTERS)) if "columns" in group else rows
    blocks = dict(zip(BLOCKS, _arrays(group["blocks"], BLOCKS), strict=True))
    tree = BlockTree(rows, columns, **blocks, symmetric=bool(attrs["symmetric"]))
    slabs = [Slab(*_arrays(group[f"slabs/{number}"], Slab._fields)) for number in range(int(attrs["slabs"]))]
    return {
        "tree": tree,
        "slabs": slabs,
        "dtype": np.dtype(attrs["dtype"]),
        "rtol": float(attrs["rtol"]),
        "correction": get_sparse(group["correction"], tree.shape) if "correction" in group else None,
        "full": int(attrs["full"]),
        "label": str(attrs["label"]),
        "seconds": float(attrs["seconds"]),
        "backend": str(attrs["backend"]),
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


def put_sparse(group: h5py.Group, matrix: sp.csr_array) -> None:
    """Write a sparse matrix into a group."""
    _write(group, matrix, SPARSE)


def get_sparse(group: h5py.Group, shape: tuple[int, int]) -> sp.csr_array:
    """A sparse matrix from a group."""
    indptr, indices, data = _arrays(group, SPARSE)
    return sp.csr_array((data, indices, indptr), shape=shape)


def _write(group: h5py.Group, source: Any, names: tuple[str, ...]) -> None:
    for name in names:
        group.create_dataset(name, data=getattr(source, name))


def _arrays(group: h5py.Group, names: tuple[str, ...]) -> list[Any]:
    return [group[name][()] for name in names]


class SavedParts:
    """The H-matrices of an assembly, in the order in which they were requested, in a file that grows with every one
    that is ready, so that an interrupted assembly goes on.

    Each matrix is kept with the identity of what it belongs to, a few named texts. A file of another mesh, wavenumber
    or tolerance is refused with the names that differ; it is never used, and never overwritten. path: ends in .h5 or
    .hdf5, in a folder that exists; the file need not. ValueError for another ending, or for a file of another kind or
    version.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        check_ending(path)
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"the folder {self.path.parent} does not exist; create it first")
        self.identities: list[Identity] = []
        if self.path.exists():
            with saved_file(self.path, PARTS) as file:
                self.identities = [json.loads(text) for text in file["identities"].asstr()[()]]

    def holds(self, number: int, identity: Identity) -> bool:
        """Whether the HMatrix with this number is there. ValueError if it belongs to something else."""
        if number >= len(self.identities):
            return False
        there = self.identities[number]
        if there != identity:
            names = [name for name in identity if there.get(name) != identity[name]]
            differences = "; ".join(f"{name} {there.get(name)} instead of {identity[name]}" for name in names)
            raise ValueError(
                f"{str(self.path)!r} holds the matrix of another problem: {differences}. "
                "Name another file, or remove this one"
            )
        return True

    def read(self, number: int) -> dict[str, Any]:
        """The arguments of the HMatrix with this number, which the file holds."""
        require_memory(self.path.stat().st_size, f"the matrix in {str(self.path)!r}", "close what takes memory")
        with saved_file(self.path, PARTS) as file:
            return get_hmatrix(file[f"parts/{number}"])

    def keep(self, parts: list[Any], identity: Identity) -> None:
        """Write all matrices so far, the last of which is new; the file is replaced as a whole."""
        self.identities = [*self.identities[: len(parts) - 1], identity]
        with new_file(self.path, PARTS) as file:
            file.create_dataset("identities", data=[json.dumps(each) for each in self.identities])
            for number, part in enumerate(parts):
                put_hmatrix(file.create_group(f"parts/{number}"), part)
