"""Saved matrices are the same matrices; files appear whole or not at all; others are refused."""

import h5py
import numpy as np
import pytest
from point_kernels import point_matrix, sphere_points

from calderon.hmatrix import Admissibility, HMatrix, block_tree, cluster_tree, hmatrix

X, Y = sphere_points(500), sphere_points(300, seed=1)


def build(symmetric=True, dtype=np.float64):
    rows = cluster_tree(X)
    columns = rows if symmetric else cluster_tree(Y)
    tree = block_tree(rows, columns, Admissibility(), symmetric)
    k = 5.0 if np.dtype(dtype).kind == "c" else 0.0
    given = point_matrix(rows, columns, X, X if symmetric else Y, k, 0.05, dtype=dtype, symmetric=symmetric)
    return hmatrix(given, tree, 1e-4, label="points")


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_a_loaded_matrix_is_the_saved_one(tmp_path, symmetric, dtype):
    A = build(symmetric, dtype)
    A.save(tmp_path / "A.h5")
    B = HMatrix.load(tmp_path / "A.h5")
    assert str(B) == str(A) and B.nbytes == A.nbytes and B.dtype == A.dtype
    assert np.array_equal(B.to_array(), A.to_array())
    x = np.random.default_rng(0).standard_normal((A.shape[1], 2)).astype(dtype)
    assert np.array_equal(A @ x, B @ x)
    assert str(B.statistics) == str(A.statistics)
    assert (B.tree.columns is B.tree.rows) == symmetric


def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch):
    A, path = build(), tmp_path / "A.h5"
    A.save(path)
    before = path.read_bytes()

    def fail(*arguments, **options):
        raise OSError("disk full")

    monkeypatch.setattr(h5py.Group, "create_dataset", fail)
    with pytest.raises(OSError, match="disk full"):
        A.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["A.h5"]


def test_wrong_files_are_refused(tmp_path):
    A = build()
    path = tmp_path / "A.h5"
    with pytest.raises(ValueError, match=r"\.h5"):
        A.save(tmp_path / "A.npz")
    with pytest.raises(FileNotFoundError, match="folder"):
        A.save(tmp_path / "none" / "A.h5")
    with pytest.raises(FileNotFoundError, match="no file"):
        HMatrix.load(path)
    path.write_text("not HDF5")
    with pytest.raises(ValueError, match="no HDF5 file"):
        HMatrix.load(path)
    with h5py.File(path, "w") as file:
        file.attrs["kind"] = "something else"
    with pytest.raises(ValueError, match="holds no H-matrix"):
        HMatrix.load(path)
    A.save(path)
    with h5py.File(path, "a") as file:
        file.attrs["version"] = 99
    with pytest.raises(ValueError, match="version 99.*version 1"):
        HMatrix.load(path)
    A.save(path)
    with h5py.File(path, "a") as file:
        del file["slabs/0"]
    with pytest.raises(ValueError, match="damaged"):
        HMatrix.load(path)
