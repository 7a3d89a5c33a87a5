"""H-matrices in HDF5 files: whole or not at all, with a version, without code.

The file holds arrays alone: the cluster trees (under "rows" and, unless it is the same one, "columns"), the block tree
("blocks"), every slab of numbers with its table ("slabs/0" ...), and the sparse correction if there is one.
"""

import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp

from calderon.hmatrix.block_tree import BlockTree
from calderon.hmatrix.cluster_tree import ClusterTree
from calderon.hmatrix.storage import Slab
from calderon.mesh.whole_file import whole_file

KIND = "calderon H-matrix"
VERSION = 1
"""Of the layout of the file; a file of another version is refused."""
CLUSTERS = "order", "start", "stop", "boxes", "children", "level"
BLOCKS = "row", "column", "kind", "first_child", "child_count"


def write_hmatrix(matrix: Any, path: str | os.PathLike[str]) -> None:
    """Write an H-matrix to a file ending in .h5 or .hdf5; what stood there is replaced when all is written.

    ValueError for another ending, FileNotFoundError for a folder that does not exist.
    """
    if Path(path).suffix not in (".h5", ".hdf5"):
        raise ValueError(f"an H-matrix is saved in HDF5: {str(path)!r} should end in .h5 or .hdf5")
    tree = matrix.tree
    with whole_file(path) as scratch, h5py.File(scratch, "w") as file:
        file.attrs.update(
            kind=KIND, version=VERSION, rtol=matrix.rtol, full=matrix.full, label=matrix.label, seconds=matrix.seconds,
            backend=matrix.backend, symmetric=tree.symmetric, dtype=matrix.dtype.str, slabs=len(matrix.slabs),
        )  # fmt: skip
        for side, clusters in (("rows", tree.rows), ("columns", tree.columns)):
            if side == "rows" or clusters is not tree.rows:
                _write(file.create_group(side), clusters, CLUSTERS)
        _write(file.create_group("blocks"), tree, BLOCKS)
        for number, slab in enumerate(matrix.slabs):
            _write(file.create_group(f"slabs/{number}"), slab, Slab._fields)
        if matrix.correction is not None:
            _write(file.create_group("correction"), matrix.correction, ("indptr", "indices", "data"))


def read_hmatrix(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of an HMatrix from a file.

    ValueError for a file of another kind or version, or one that is damaged, FileNotFoundError for none.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ValueError(f"{str(path)!r} is no HDF5 file, or a damaged one: {error}") from error
    with file:
        if file.attrs.get("kind") != KIND:
            raise ValueError(f"{str(path)!r} holds no H-matrix: it was not written by save()")
        version = int(file.attrs["version"])
        if version != VERSION:
            raise ValueError(
                f"{str(path)!r} is an H-matrix file of version {version}, and this release reads version {VERSION}: "
                "assemble the matrix again, or load it with the release that wrote it"
            )
        try:
            return _read(file)
        except (KeyError, OSError) as error:
            raise ValueError(f"{str(path)!r} is damaged, assemble the matrix again: {error}") from error


def _read(file: h5py.File) -> dict[str, Any]:
    attrs: Any = dict(file.attrs)
    rows = ClusterTree(*_arrays(file["rows"], CLUSTERS))
    columns = ClusterTree(*_arrays(file["columns"], CLUSTERS)) if "columns" in file else rows
    blocks = dict(zip(BLOCKS, _arrays(file["blocks"], BLOCKS), strict=True))
    tree = BlockTree(rows, columns, **blocks, symmetric=bool(attrs["symmetric"]))
    slabs = [Slab(*_arrays(file[f"slabs/{number}"], Slab._fields)) for number in range(int(attrs["slabs"]))]
    correction = None
    if "correction" in file:
        indptr, indices, data = _arrays(file["correction"], ("indptr", "indices", "data"))
        correction = sp.csr_array((data, indices, indptr), shape=tree.shape)
    return {
        "tree": tree,
        "slabs": slabs,
        "dtype": np.dtype(attrs["dtype"]),
        "rtol": float(attrs["rtol"]),
        "correction": correction,
        "full": int(attrs["full"]),
        "label": str(attrs["label"]),
        "seconds": float(attrs["seconds"]),
        "backend": str(attrs["backend"]),
    }


def _write(group: h5py.Group, source: Any, names: tuple[str, ...]) -> None:
    for name in names:
        group.create_dataset(name, data=getattr(source, name))


def _arrays(group: h5py.Group, names: tuple[str, ...]) -> list[Any]:
    return [group[name][()] for name in names]
