"""The linear system as the iterations see it: A @ x, M @ x and checked right-hand sides.

The iterations work in double precision whatever A holds. A product is formed in the precision of A: a matrix in single
precision is never converted, the vector is. A real A meets a complex vector as two real columns, so that NumPy does not
make a complex copy of a dense matrix in each product.

All linear algebra of the iterations goes through NumPy. The wheels of NumPy and SciPy each bring an OpenBLAS with
threads of its own, and each pool keeps the cores busy for a short time after a call: switching between the two in every
step cost 60 ms a step on two cores, for a product and a triangular solve that take 0.2 ms.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calderon.backends import one_thread
from calderon.validation import unmasked

Apply = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """A x = b with columns b_1 .. b_m, an initial guess and an approximate inverse M of A.

    product, precondition: (n, m) -> (n, m), for any number of columns.
    rhs, start: (n, m) of the working type, float64 or complex128; start is None for zero.
    shape: of the right-hand side as given, (n,) or (n, m).
    digits: the rounding unit of the type that A computes in.
    """

    product: Apply
    precondition: Apply | None
    rhs: np.ndarray
    start: np.ndarray | None
    shape: tuple[int, ...]
    digits: float


def linear_system(matrix: Any, rhs: Any, start: Any, preconditioner: Any, method: str) -> LinearSystem:
    """Check matrix, right-hand side, initial guess and preconditioner, and choose the working type."""
    size = _size(matrix, "the matrix", method)
    columns, shape = checked_columns(rhs, size, "the right-hand side")
    dtypes = [_dtype(matrix), columns.dtype, np.dtype(np.float64)]
    if preconditioner is not None:
        given = _size(preconditioner, "the preconditioner", method)
        if given != size:
            raise ValueError(f"the preconditioner is {given} x {given}, the matrix {size} x {size}")
        dtypes.append(_dtype(preconditioner))
    if start is not None:
        start, start_shape = checked_columns(start, size, "the initial guess x0")
        if start_shape != shape:
            raise ValueError(f"the initial guess x0 has shape {start_shape}, the right-hand side {shape}")
        dtypes.append(start.dtype)
    # double precision, complex if anything is
    dtype = np.result_type(*dtypes)
    dtype = np.dtype(np.complex128 if dtype.kind == "c" else np.float64)
    return LinearSystem(
        product=applied(matrix, dtype, "the matrix"),
        precondition=None if preconditioner is None else applied(preconditioner, dtype, "the preconditioner"),
        rhs=np.asfortranarray(columns, dtype=dtype),
        start=None if start is None else np.array(start, dtype=dtype, order="F"),
        shape=shape,
        digits=float(np.finfo(np.result_type(_dtype(matrix), np.float32)).eps),
    )


def applied(matrix: Any, dtype: np.dtype, name: str) -> Apply:
    """The map X -> matrix @ X on (n, m) arrays of type `dtype`, computed in the precision of the matrix."""
    own = np.result_type(_dtype(matrix), np.float32)

    def product(vectors: np.ndarray) -> np.ndarray:
        return _product(matrix, vectors.astype(own, copy=False), name)

    if own.kind != "c" and dtype.kind == "c":
        return lambda vectors: by_parts(product, vectors).astype(dtype, copy=False)
    return lambda vectors: product(vectors).astype(dtype, copy=False)


def dot(x: np.ndarray, y: np.ndarray) -> Any:
    """x^* y by one thread: others would go on to look for work for 20 ms, next to those of the product that follows."""
    with one_thread:
        return np.vdot(x, y)


def require_finite(size: float) -> None:
    """ValueError where the norm of a product with the operator and the preconditioner is not finite."""
    if not math.isfinite(size):
        raise ValueError(
            "the operator or the preconditioner gave NaN or infinity: "
            "check the mesh for degenerate elements, and the range of the numbers in single precision"
        )


def by_parts(solve: Apply, columns: np.ndarray) -> np.ndarray:
    """A real linear map of complex columns (n, m): that of their real and imaginary parts, as 2 m real columns."""
    half = columns.shape[1]
    parts = solve(np.concatenate([columns.real, columns.imag], axis=1))
    if parts.dtype.kind == "c":  # the map is not real after all
        return parts[:, :half] + 1j * parts[:, half:]
    result = np.empty(columns.shape, np.result_type(parts.dtype, np.complex64), order="F")
    result.real, result.imag = parts[:, :half], parts[:, half:]
    return result


def norm(vector: np.ndarray) -> float:
    """Euclidean norm; scaled where the squares overflow or vanish."""
    squares = float(dot(vector, vector).real)
    if 1e-280 < squares < np.inf:
        return squares**0.5
    largest = float(np.abs(vector).max(initial=0.0))
    if largest == 0 or not largest < np.inf:
        return largest
    return largest * float(np.linalg.norm(vector / largest))


def _product(matrix: Any, vectors: np.ndarray, name: str) -> np.ndarray:
    single = vectors.shape[1] == 1
    result = matrix @ (np.ascontiguousarray(vectors[:, 0]) if single else vectors)
    try:
        result = np.asarray(result)
        result = result.reshape(-1, 1) if single else result
        wrong = result.shape != vectors.shape or result.dtype.kind not in "fc"
    except (TypeError, ValueError):
        wrong = True
    if wrong:
        raise TypeError(
            f"{name} @ x gave {type(result).__name__} of shape {getattr(result, 'shape', '?')} for an array of shape "
            f"{vectors.shape}: a solver needs an array (call .assemble() of an operator that is not assembled)"
        )
    return result


def _dtype(matrix: Any) -> np.dtype:
    dtype = getattr(matrix, "dtype", None)
    return np.dtype(np.float64 if dtype is None else dtype)


def _size(matrix: Any, name: str, method: str) -> int:
    shape = getattr(matrix, "shape", None)
    unassembled = callable(getattr(matrix, "assemble", None))
    if shape is None or not hasattr(matrix, "__matmul__") or unassembled:
        raise TypeError(
            f"{method} needs {name} with a shape and a product A @ x (a NumPy array, a SciPy sparse "
            f"matrix or LinearOperator, an assembled operator), got {type(matrix).__name__}"
            + (", which is not assembled: call its .assemble()" if unassembled else "")
        )
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(f"{method} needs {name} square and not empty, got shape {tuple(shape)}")
    if isinstance(matrix, np.ndarray) and unmasked(matrix, name).dtype.kind not in "fciu":
        raise TypeError(f"{method} needs {name} with numbers, got an array of {matrix.dtype}")
    return int(shape[0])


def checked_columns(values: Any, size: int, name: str, empty: bool = False) -> tuple[np.ndarray, tuple[int, ...]]:
    """Vectors (n,) or (n, m) as columns (n, m), and their own shape; empty: whether m may be 0."""
    array = unmasked(values, name)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"{name} must hold numbers, got an array of {array.dtype}")
    if array.ndim not in (1, 2) or array.shape[0] != size or (0 in array.shape and not empty):
        raise ValueError(f"{name} must have shape ({size},) or ({size}, m), got {array.shape}")
    bad = array.size - np.count_nonzero(np.isfinite(array))
    if bad:
        raise ValueError(f"{name} holds {bad} entries that are NaN or infinite, of {array.size}")
    return array.reshape(size, array.size // size), array.shape
