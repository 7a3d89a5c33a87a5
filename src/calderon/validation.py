"""Checks of input: choices, numbers, arrays of points, directions and indices, constants of waves and media.

Each returns the value in the type that the caller computes with. Errors name the argument, what came and what is
allowed.
"""

import functools
import numbers
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Index = NDArray[np.int64]
Method = TypeVar("Method", bound=Callable[..., Any])


SMALLEST, LARGEST = 1e-100, 1e100
"""Magnitudes of numbers with a unit whose powers are numbers in double precision, too."""


MOST = np.iinfo(np.int64).max
"""The largest number of anything."""


def describe(value: Any) -> str:
    """Text for the given object in an error: its value if that is short, else its type."""
    short = isinstance(value, str | int | float | complex | type | None)
    return repr(value) if short else f"{type(value).__name__}"


def one_of(value: Any, choices: Iterable[str], name: str) -> str:
    """The value, if it is one of the choices; ValueError naming them otherwise."""
    allowed = list(choices)
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"unknown {name} {value!r}: choose {' or '.join(map(repr, allowed))}")
    return str(value)


def unmasked(values: Any, name: str) -> np.ndarray:
    """The values as an array; ValueError for a masked array with masked entries, whose mask an array does not keep."""
    parts = values if isinstance(values, list | tuple) else (values,)
    masked = [part for part in parts if isinstance(part, np.ma.MaskedArray)]
    if hidden := sum(int(np.count_nonzero(np.ma.getmaskarray(part))) for part in masked):
        raise ValueError(
            f"{name}: a masked array with {hidden} masked entries, whose values are not to be used: choose the valid "
            "ones with .compressed(), or replace the others with .filled(value)"
        )
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name}: rows of different lengths are no array") from None


def points_in_space(values: ArrayLike, name: str = "points") -> np.ndarray:
    """An array (n, 3) of finite numbers in double precision."""
    array = unmasked(values, name)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be real numbers, got an array of {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} must have shape (n, 3), got {array.shape}")
    array = np.asarray(array, dtype=np.float64)
    bad = np.flatnonzero(~(np.abs(array) <= LARGEST).all(axis=1))
    if len(bad):
        wrong = "NaN or infinite" if not np.isfinite(array[bad]).all() else f"beyond {LARGEST:g}"
        raise ValueError(f"{len(bad)} of {len(array)} {name} are {wrong}, the first is number {bad[0]}")
    return array


def one_or_more_points(values: ArrayLike, name: str = "points") -> np.ndarray:
    """Points (n, 3), or one (3,), as an array (n, 3) of finite numbers in double precision."""
    array = unmasked(values, name)
    return points_in_space(array[None] if array.shape == (3,) else array, name)


def of_any_shape(evaluate: Method) -> Method:
    """A method with values (n, ...) at points (n, 3) as one that accepts points (..., 3), in whose shape its values
    come."""

    @functools.wraps(evaluate)
    def shaped(self: Any, points: ArrayLike, *arguments: Any, **options: Any) -> Any:
        x = unmasked(points, "points")
        if x.ndim < 3 or x.shape[-1] != 3:
            return evaluate(self, points, *arguments, **options)
        values = evaluate(self, x.reshape(-1, 3), *arguments, **options)
        return values.reshape(*x.shape[:-1], *values.shape[1:])

    return shaped  # type: ignore[return-value]


def unit_vectors(values: ArrayLike, name: str = "directions") -> np.ndarray:
    """Directions (n, 3), or one (3,), of any length but zero as unit vectors (n, 3)."""
    array = one_or_more_points(values, name)
    largest = np.abs(array).max(axis=1, keepdims=True)
    if bad := np.count_nonzero(largest == 0):
        raise ValueError(f"{bad} of {len(array)} {name} have length zero, the first is number {np.argmin(largest)}")
    array = array / largest
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def along_normals(gradient: np.ndarray, normals: ArrayLike) -> np.ndarray:
    """n . grad u (n,) of gradients (n, 3) at points with normals (n, 3)."""
    n = points_in_space(normals, "normals")
    if n.shape != gradient.shape:
        raise ValueError(f"{len(n)} normals for {len(gradient)} points")
    return np.einsum("pi,pi->p", gradient, n)


def unit_vector(values: ArrayLike, name: str = "direction") -> np.ndarray:
    """One direction (3,), normalised and read-only."""
    return _normalised(_three_numbers(values, name, np.float64), name)


def one_point(values: ArrayLike, name: str) -> np.ndarray:
    """One point (3,), read-only."""
    return _within(_three_numbers(values, name, np.float64), name)


def _within(array: np.ndarray, name: str) -> np.ndarray:
    """The array; ValueError for magnitudes beyond LARGEST."""
    if np.abs(array).max(initial=0.0) > LARGEST:
        raise ValueError(f"{name} must be numbers of at most {LARGEST:g}, got {array.tolist()}")
    return array


def whole_number(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """A whole number, at least `least` and at most `most` (or MOST); ValueError for others, also for True and False."""
    real = _is_number(value, numbers.Real) and np.isfinite(as_complex(value, name))
    if not real or value != int(value) or not least <= value <= (MOST if most is None else most):
        wanted = f"a whole number of at least {least} is needed" if most is None else ""
        raise ValueError(f"{name}={value!r}: {wanted or f'choose a whole number from {least} to {most}'}")
    return int(value)


def truth(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {describe(value)}")
    return bool(value)


def text(value: Any, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, got {describe(value)}")
    return value


def instance(value: Any, kinds: Any, what: str) -> Any:
    """The value, if it is of one of the kinds; TypeError for others. what: "a mesh of triangles is needed"."""
    if not isinstance(value, kinds):
        raise TypeError(f"{what}, got {describe(value)}")
    return value


def list_of(values: Any, kinds: Any, what: str) -> tuple[Any, ...]:
    """Objects of some kinds, or one alone, as a tuple; TypeError for others. what: "ports are a list of Port"."""
    if isinstance(values, kinds):
        return (values,)
    if not isinstance(values, list | tuple):
        raise TypeError(f"{what}, got {describe(values)}")
    for number, each in enumerate(values):
        if not isinstance(each, kinds):
            raise TypeError(f"{what}, got {describe(values)}, of which number {number} is {describe(each)}")
    return tuple(values)


def _largest(array: np.ndarray) -> float:
    """The largest magnitude, in double precision; NaN where one is NaN."""
    return float(np.abs(array.astype(np.result_type(array, np.float64), copy=False)).max(initial=0.0))


def real_array(values: ArrayLike, name: str, what: str) -> NDArray[np.float64]:
    """Finite real numbers, at most LARGEST, in an array of any shape; what: what they are, in an error."""
    array = unmasked(values, name)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be real numbers, {what}, got an array of {array.dtype}")
    if not _largest(array) <= LARGEST:
        raise ValueError(f"{name} must be finite {what}, at most {LARGEST:g}, got {values!r}")
    return array.astype(np.float64)


def broadcast(given: Mapping[str, ArrayLike], what: str) -> tuple[NDArray[np.float64], ...]:
    """Real numbers by name as arrays of one shape, that of the largest; what: what they are, in an error."""
    arrays = {name: real_array(values, name, what) for name, values in given.items()}
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        raise ValueError(
            f"{' and '.join(f'{name} of shape {each.shape}' for name, each in arrays.items())} do not go together: "
            "give one number for one of them, or arrays of the same shape"
        ) from None


def finite_numbers(values: ArrayLike, count: int, name: str, what: str) -> NDArray[np.complex128]:
    """(count,) numbers, real or complex, at most LARGEST, from a list or, of one, the number; what: what is needed, in
    an error."""
    array = np.atleast_1d(unmasked(values, name))
    if array.dtype.kind not in "fiuc":
        raise TypeError(f"{what}, got {name}={values!r}")
    if array.shape != (count,) or not _largest(array) <= LARGEST:
        raise ValueError(f"{what}, got {name}={values!r}")
    return array.astype(np.complex128)


def positive_numbers(values: ArrayLike, name: str, what: str) -> NDArray[np.float64]:
    """(n,) positive numbers of usual size, from a list of them or one alone; what: what is needed, in an error."""
    array = np.atleast_1d(unmasked(values, name))
    if array.dtype.kind in "fiu" and array.ndim == 1 and array.size:
        array = array.astype(np.float64)
        if np.all((array >= SMALLEST) & (array <= LARGEST)):
            return array
    raise ValueError(f"{what}, from {SMALLEST:g} to {LARGEST:g}, got {name}={values!r}")


def several(value: Any, count: int, name: str, check: Callable[[Any, str], Any]) -> list[Any]:
    """One value for all directions, or one for each, as a list, each checked."""
    given = unmasked(value, name)
    if given.shape not in ((), (count,)):
        raise ValueError(f"{name} is one value or a list of {count}, got {value!r}")
    return [check(each, name) for each in np.broadcast_to(given, (count,)).tolist()]


def real_numbers(
    values: ArrayLike, shape: tuple[int | None, ...], name: str, what: str, error: type[ValueError] = ValueError
) -> NDArray[np.float64]:
    """An array of real numbers of a shape (None: any length but 0), at most LARGEST; what: what they are, in an
    error."""
    array = unmasked(values, name)
    lengths = zip(array.shape, shape, strict=False)
    fits = array.ndim == len(shape) and all(n == wanted or (wanted is None and n) for n, wanted in lengths)
    if array.dtype.kind not in "fiu" or not fits or not _largest(array) <= LARGEST:
        raise error(f"{name} is {what}, got {values!r}")
    return array.astype(np.float64)


def place_in_plane(values: ArrayLike, name: str) -> tuple[float, float]:
    """(x, y), two finite numbers."""
    array = real_numbers(values, (2,), name, "two finite numbers (x, y)")
    return float(array[0]), float(array[1])


def _three_numbers(values: ArrayLike, name: str, kind: type[np.inexact[Any]]) -> np.ndarray:
    """Three finite numbers, real or complex, in an array of that kind; read-only."""
    array, real = unmasked(values, name), kind is np.float64
    if array.dtype.kind not in ("fiu" if real else "fiuc") or array.shape != (3,) or not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be three finite {'real ' if real else ''}numbers, got {values!r}")
    array = np.array(array, dtype=kind)
    array.flags.writeable = False
    return array


def _normalised(vector: np.ndarray, name: str) -> np.ndarray:
    """A vector (3,) divided by its length, however large or small; read-only."""
    largest = np.abs(vector).max()
    if largest == 0:
        raise ValueError(f"{name} must not be zero")
    unit: np.ndarray = vector / largest
    unit /= np.linalg.norm(unit)
    unit.flags.writeable = False
    return unit


def positive_length(value: float, name: str) -> float:
    """A length above zero."""
    if not (_is_number(value, numbers.Real) and 0 < as_complex(value, name).real < np.inf):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(_of_usual_size(complex(value), name).real)


def _of_usual_size(number: complex, name: str) -> complex:
    """The number; ValueError for one whose powers are beyond double precision."""
    if number != 0 and not SMALLEST <= abs(number) <= LARGEST:
        raise ValueError(f"{name} must be 0 or between {SMALLEST:g} and {LARGEST:g}, got {number!r}: check the unit")
    return number


def finite_number(value: complex, name: str) -> complex | float:
    """A finite number, as float where it is real."""
    if not _is_number(value, numbers.Complex) or not np.isfinite(number := as_complex(value, name)):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    _of_usual_size(number, name)
    return number.real if number.imag == 0 else number


def inverse(value: complex, name: str) -> complex | float:
    """1 / value of a finite number that is not 0."""
    if (number := finite_number(value, name)) == 0:
        raise ValueError(f"{name} must not be 0, got {value!r}")
    return 1 / number


def real_number(value: float, name: str) -> float:
    """A finite real number."""
    number = finite_number(value, name)
    if isinstance(number, complex):
        raise ValueError(f"{name} must be a real number, got {value!r}")
    return number


def as_complex(value: Any, name: str) -> complex:
    """A number in double precision; ValueError for an integer beyond."""
    try:
        return complex(value)
    except OverflowError:
        raise ValueError(f"{name} must be a finite number, got an integer beyond double precision") from None


def _is_number(value: object, kind: type) -> bool:
    """Whether it is a number of that kind; True and False are not."""
    return isinstance(value, kind) and not isinstance(value, bool)


def refuse_gain(number: complex, name: str, advice: str = "") -> None:
    """ValueError for a negative imaginary part of a wavenumber or a constant."""
    if np.imag(number) < 0:
        raise ValueError(
            f"{name} {number!r} has a negative imaginary part, which is gain: with the time factor exp(-i omega t) "
            f"loss is a positive one; try the conjugate, {number.conjugate()}{advice}"
        )


def nonnegative_wavenumber(value: complex, name: str = "wavenumber") -> complex | float:
    """k with Re k >= 0 and Im k >= 0; zero is allowed (statics)."""
    number = finite_number(value, name)
    refuse_gain(number, name)
    if np.real(number) < 0:
        raise ValueError(f"{name} must not have a negative real part, got {value!r}")
    return number


def nonzero_wavenumber(value: complex, name: str = "wavenumber") -> complex | float:
    """k as `nonnegative_wavenumber`, but not zero."""
    number = nonnegative_wavenumber(value, name)
    if number == 0:
        raise ValueError(f"{name} must not be zero here: at zero frequency there is no wave")
    return number


def relative_constant(value: complex, name: str) -> complex | float:
    """A relative permittivity or permeability: not zero, Im >= 0."""
    number = finite_number(value, name)
    refuse_gain(number, name)
    if number == 0:
        raise ValueError(f"{name} must not be zero")
    return number


def complex_vector(values: ArrayLike, name: str) -> np.ndarray:
    """A vector (3,) of finite numbers, not zero, complex and read-only."""
    array = _within(_three_numbers(values, name, np.complex128), name)
    if not np.any(array):
        raise ValueError(f"{name} must not be zero")
    return array


def transverse_polarization(values: ArrayLike | None, direction: np.ndarray) -> np.ndarray:
    """A unit vector e (3,), complex, orthogonal to the unit vector `direction` to 1e-6, made so to rounding; read-only.

    None: the x axis, or y if the direction is within 45 degrees of x, made orthogonal.
    """
    if values is None:
        values = np.array([0.0, 1, 0]) if abs(direction[0]) > np.sqrt(0.5) else np.array([1.0, 0, 0])
        values = values - (values @ direction) * direction
    array = _normalised(complex_vector(values, "polarization"), "polarization")
    along = array @ direction
    if abs(along) > 1e-6:
        raise ValueError(
            f"polarization must be orthogonal to the direction of travel {direction.tolist()}: "
            f"{abs(along):.3g} of {np.asarray(values).tolist()} lies along it"
        )
    return _normalised(array - along * direction, "polarization")


def wave_impedance(value: complex) -> complex | float:
    """The impedance of a medium, with positive real part."""
    eta = finite_number(value, "impedance")
    if not np.real(eta) > 0:
        raise ValueError(f"the real part of the impedance must be positive, got {value!r}")
    return eta


def finite_complex(value: Any, name: str) -> complex:
    """A finite complex number."""
    if not _is_number(value, numbers.Complex):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not np.isfinite(number := as_complex(value, name)):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return _of_usual_size(number, name)


def wavenumber_of_a_wave(value: Any, name: str = "the wavenumber") -> complex | float:
    """k with Re k > 0 and Im k >= 0, as float where it is real."""
    k = finite_complex(value, name)
    refuse_gain(k, name)
    if k.real <= 0:
        raise ValueError(
            f"{name} must be positive (2 pi times frequency over speed of sound), got {value!r}; "
            "at zero frequency use LaplaceDirichlet or LaplaceNeumann"
        )
    return k.real if k.imag == 0 else k


def index_array(requested: ArrayLike | slice, size: int, what: str) -> tuple[Index, Index]:
    """Distinct numbers, ascending, and the place of each requested one among them.

    requested: one number, a list of them in -size..size-1, a slice, or a mask (size,) of truth values.
    Raises TypeError for anything else, IndexError for numbers outside and for masks of another length.
    """
    chosen = np.arange(size)[requested] if isinstance(requested, slice) else unmasked(requested, f"{what}s")
    given = np.atleast_1d(chosen)
    if given.dtype.kind == "b":
        if given.shape != (size,):
            raise IndexError(f"a mask of the {size} {what}s has shape ({size},), got {given.shape}")
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise TypeError(
            f"{what}s are chosen by a list of integers, a slice or a mask, got an array of {given.dtype} of shape "
            f"{given.shape}"
        )
    outside = given[(given < -size) | (given >= size)] if given.size else given
    if outside.size:
        raise IndexError(f"{what} {outside[0]} is outside of the {size} {what}s: 0 to {size - 1}, or -1 for the last")
    return np.unique(given.astype(np.int64) % size, return_inverse=True)


def callers_level() -> int:
    """The stacklevel with which a warning points at the line of the user's program that led here, however many
    constructors, cached properties and functions of the package lie between."""
    frame, level, between = sys._getframe(1), 1, ("calderon", "dataclasses", "functools")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in between:
        frame, level = frame.f_back, level + 1
    return level
