"""Sums of H-matrices and sparse matrices in HDF5 files: each matrix once, and a table of the summands."""

import os
from typing import Any

import numpy as np

from calderon.hmatrix.cluster_tree import ClusterTree
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.saving import (
    SUM,
    get_hmatrix,
    get_sparse,
    new_file,
    put_hmatrix,
    put_sparse,
    saved_file,
    with_shared_trees,
)
from calderon.hmatrix.siblings import Term

COLUMNS = "is_sparse", "number", "transposed", "conjugated"


def write_sum(matrix: Any, path: str | os.PathLike[str]) -> None:
    """Write a ComposedOperator with terms, whole or not at all; errors as for `write_hmatrix`."""
    compressed = {id(part): number for number, part in enumerate(matrix.parts)}
    with new_file(path, SUM) as file:
        file.attrs.update(label=matrix.label, seconds=matrix.seconds, rtol=matrix.rtol, parts=len(matrix.parts))
        file.attrs["shape"] = matrix.shape
        for number, part in enumerate(matrix.parts):
            put_hmatrix(file.create_group(f"parts/{number}"), part)
        rows = []
        for number, term in enumerate(matrix.terms):
            is_sparse = id(term.matrix) not in compressed
            if is_sparse:
                put_sparse(file.create_group(f"sparse/{number}"), term.matrix)
            place = number if is_sparse else compressed[id(term.matrix)]
            rows.append((is_sparse, place, term.transposed, term.conjugated))
        file.create_dataset("factors", data=np.array([complex(term.factor) for term in matrix.terms]))
        file.create_dataset("terms", data=np.array(rows, np.int64).reshape(-1, len(COLUMNS)))


def read_sum(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of a ComposedOperator but its product; errors as for `read_hmatrix`."""
    with saved_file(path, SUM) as file:
        attrs: Any = dict(file.attrs)
        trees: list[ClusterTree] = []
        parts = [
            HMatrix(**with_shared_trees(get_hmatrix(file[f"parts/{number}"]), trees))
            for number in range(int(attrs["parts"]))
        ]
        terms = []
        for factor, row in zip(file["factors"][()], file["terms"][()], strict=True):
            is_sparse, number, transposed, conjugated = (int(each) for each in row)
            rows, columns = (int(size) for size in attrs["shape"][:: -1 if transposed else 1])
            matrix = get_sparse(file[f"sparse/{number}"], (rows, columns)) if is_sparse else parts[number]
            value = complex(factor)
            terms.append(Term(value if value.imag else value.real, matrix, bool(transposed), bool(conjugated)))
        return {
            "parts": parts,
            "label": str(attrs["label"]),
            "seconds": float(attrs["seconds"]),
            "rtol": float(attrs["rtol"]),
            "terms": terms,
        }
