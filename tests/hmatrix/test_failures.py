"""Interrupts, memory, progress: an assembly ends cleanly or says what is wrong."""

import numpy as np
import pytest
from point_kernels import dense, point_matrix, sphere_points

from calderon.backends import memory
from calderon.hmatrix import Admissibility, block_tree, cluster_tree, compression, hmatrix, storage
from calderon.hmatrix.compression import expected_bytes

X = sphere_points(1200)


def parts(symmetric=True):
    clusters = cluster_tree(X)
    tree = block_tree(clusters, clusters, Admissibility(), symmetric)
    return point_matrix(clusters, clusters, X, X, 0.0, 0.05, symmetric=symmetric), tree


def test_progress_counts_to_the_end():
    steps = []
    hmatrix(*parts(), 1e-4, advance=lambda done, total: steps.append((done, total)))
    assert [done for done, _ in steps] == list(range(1, len(steps) + 1))
    assert {total for _, total in steps} == {len(steps)}


def test_an_interrupt_ends_the_assembly_and_the_next_one_works():
    rows, tree = parts()

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hmatrix(rows, tree, 1e-4, advance=interrupt)
    exact = dense(X, X, 0.0, 0.05)
    assert np.linalg.norm(hmatrix(rows, tree, 1e-4).to_array() - exact) < 1e-4 * np.linalg.norm(exact)


def test_too_little_memory_is_refused_before(monkeypatch):
    rows, tree = parts()
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    with pytest.raises(MemoryError, match="H-matrix of 1200 x 1200.*1.0 MB are free.*larger rtol"):
        hmatrix(rows, tree, 1e-4)


def test_memory_that_runs_out_underway_is_said(monkeypatch):
    rows, tree = parts()
    monkeypatch.setattr(compression, "require_memory", lambda *arguments: None)
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    with pytest.raises(MemoryError, match="next part of the H-matrix"):
        hmatrix(rows, tree, 1e-4)


@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-6])
def test_the_announced_memory_is_a_bound(rtol):
    rows, tree = parts()
    numbers = hmatrix(rows, tree, rtol).statistics.total.nbytes
    assert numbers < expected_bytes(tree, rtol, np.dtype(float)) < 3 * numbers


def test_large_blocks_get_the_work_they_need(monkeypatch):
    """Work for one cross at first."""
    rows, tree = parts()
    monkeypatch.setattr(storage, "WORK", 8 * 64)
    exact = dense(X, X, 0.0, 0.05)
    assert np.linalg.norm(hmatrix(rows, tree, 1e-6).to_array() - exact) < 1e-6 * np.linalg.norm(exact)


def test_small_slabs_hold_the_same_matrix(monkeypatch):
    rows, tree = parts(False)
    whole = hmatrix(rows, tree, 1e-5)
    monkeypatch.setattr(storage, "SLAB", 100_000)
    pieces = hmatrix(rows, tree, 1e-5)
    assert len(pieces.slabs) > len(whole.slabs) + 3
    assert np.array_equal(pieces.to_array(), whole.to_array())
