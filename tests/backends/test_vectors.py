"""Vectors inside kernels."""

import numpy as np
import pytest

from calderon.backends.numba import kernel
from calderon.backends.vectors import lanes, load, prefetch, prefetch_to_read, store


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_vectors_are_moved_and_asking_for_more_than_there_is_does_no_harm(real: type) -> None:
    @kernel
    def doubled(source, target):  # type: ignore[no-untyped-def]
        step = lanes(source)
        for v in range(0, source.size, step):
            prefetch_to_read(source, v + 1000 * step)
            prefetch(target, v + 1000 * step)
            store(target, v, load(source, v) * 2)
        return step

    source = np.arange(64).astype(real)
    target = np.zeros_like(source)
    assert doubled(source, target) == 64 // source.itemsize
    assert np.array_equal(target, 2 * source)


def test_kernels_align_their_stack() -> None:
    @kernel
    def first(source):  # type: ignore[no-untyped-def]
        store(source, 0, load(source, lanes(source)))

    first(np.zeros(16))
    (code,) = first.inspect_llvm().values()
    assert "alignstack=64" in code or "alignstack(64)" in code
