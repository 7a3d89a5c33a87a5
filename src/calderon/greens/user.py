"""Green's functions of a user: a function of the distance in Python, compiled by Numba for the processor.

Kernels compute on vectors of squared distances in the coordinates of a scaled mesh. The function of the user takes one
distance in metres: its values are computed one after the other, several times slower than vectors.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from numba.core import types

from calderon.backends.numba import jitable_part
from calderon.backends.vectors import VectorType, jitable, square_root, vector_intrinsic
from calderon.greens.green import Radial, no_phase
from calderon.validation import describe, finite_number, list_of, real_number, refuse_gain, text

PROBES = tuple(2.0**exponent for exponent in range(-20, 1))
"""Distances at which a function is examined when it is given: in m, or in 1 / |wavenumber| where that is shorter."""
GROWTH = 1.5
"""The largest growth of r^s |G| from one of the smallest two distances to the other."""
SLOPES = 1e-4
"""The largest deviation of a slope from differences of values, relative to the slope and to G/r."""
FOUR_PI = 4 * math.pi


@vector_intrinsic
def of_vector(typing_context, vector, place):
    """The number at a place of a vector."""

    def generate(context, builder, sig, args):
        return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))

    return vector.scalar(vector, types.intp), generate


@vector_intrinsic
def with_number(typing_context, vector, place, number):
    """The vector with another number at a place."""

    def generate(context, builder, sig, args):
        return builder.insert_element(args[0], args[2], builder.trunc(args[1], ir.IntType(32)))

    return vector(vector, types.intp, vector.scalar), generate


@vector_intrinsic
def numbers_in(typing_context, vector):
    """Numbers in a vector: a constant to the compiler."""
    assert isinstance(vector, VectorType)

    def generate(context, builder, sig, args):
        return context.get_constant(types.intp, vector.width)

    return types.intp(vector), generate


@vector_intrinsic
def kept_apart(typing_context, vector):
    """0; the function in which it stands is called, not copied into each of the many places of a kernel, of which the
    compiler would make minutes of work."""

    def generate(context, builder, sig, args):
        builder.function.attributes.add("noinline")
        return context.get_constant(types.intp, 0)

    return types.intp(vector), generate


@functools.lru_cache(maxsize=64)
def radial_of(function: Callable[..., Any], constants: int, is_complex: bool) -> Radial:
    """The compiled form of function(r, *constants) -> (G, dG/dr).

    parameters[0] is a metre in the coordinates of the kernel, m; the constants are multiplied by it, as all parameters.
    4 pi G and 4 pi G'/r have the dimensions 1/length and 1/length^3 of any other Green's function: they are multiplied
    by m and m^3.
    """
    call = _with_constants(jitable_part(function), constants)

    @jitable_part(forceinline=False)
    def values(r2, parameters):
        """4 pi G and 4 pi G'/r, real and imaginary parts, at squared distances r2."""
        metre = parameters[0]
        distance = square_root(r2) * metre
        g, g_i, h, h_i = r2 * 0.0, r2 * 0.0, r2 * 0.0, r2 * 0.0
        for n in range(kept_apart(r2), numbers_in(r2)):
            r = of_vector(distance, n)
            found, slope = call(r, parameters)
            first, second = FOUR_PI * metre, FOUR_PI * metre * metre * metre / r
            g = with_number(g, n, found.real * first)
            h = with_number(h, n, slope.real * second)
            if is_complex:
                g_i = with_number(g_i, n, found.imag * first)
                h_i = with_number(h_i, n, slope.imag * second)
        return g, g_i, h, h_i

    @jitable
    def value(r2, parameters, reference):
        """The values at squared distances r2, without a reference."""
        return values(r2, parameters)

    return Radial(value, no_phase, False, 1 + constants)


@functools.lru_cache(maxsize=64)
def _with_constants(function: Callable[..., Any], constants: int) -> Callable[..., Any]:
    """function(r, *constants) as a function of r and of the parameters of a kernel, which have a factor."""
    if constants == 0:

        @jitable_part
        def alone(r, parameters):
            """The function of the distance alone, whatever the parameters."""
            return function(r)

        return alone
    before = _numbers(constants)

    @jitable_part
    def called(r, parameters):
        """The function of the distance and of the constants in the parameters."""
        return function(r, *before(parameters))

    return called


@functools.cache
def _numbers(count: int) -> Callable[..., Any]:
    """The compiled function from parameters to the first `count` constants, as a tuple."""
    if count == 0:
        return _none
    others = _numbers(count - 1)

    @jitable_part
    def numbers(parameters):
        """The constants without the factor that all parameters have."""
        return (*others(parameters), parameters[count] / parameters[0])

    return numbers


@jitable_part
def _none(parameters):
    """No constants, of any parameters."""
    return ()


@dataclass(frozen=True)
class Green:
    """A Green's function G(r) of the distance r = |x - y| from a function in Python.

    function(r, *constants) returns G in 1/m and dG/dr in 1/m^2 at one distance r > 0 in m, real or complex, both by
    expressions that Numba compiles (`math`, `cmath`, arithmetic, branches, other functions marked by `numba.njit`). It
    is compiled, so numbers that it captures stay as they are; those that change are better given as constants.
    wavenumber: the largest k in 1/m, real or with a positive imaginary part, by which rules of integration and the
    warning of coarse meshes are chosen; 0 for functions that do not oscillate. singularity: s of G ~ c / r^s at r = 0,
    1 or 0; weaker ones, such as a logarithm, are below 1. constants: real numbers. name: what outputs call it.

    Operators: single_layer, double_layer, adjoint_double_layer and `cal.Form`, dense, matrix-free, as H-matrices and by
    equivalent sources, on the processor. Devices refuse it, and so do potentials and the hypersingular operator, which
    need a solution of the Helmholtz equation.

    Raises TypeError for what is no such function, ValueError for values that are not finite, are more singular than
    stated, or have a slope that is not that of G.
    """

    function: Callable[..., tuple[complex, complex]]
    wavenumber: complex = 0.0
    singularity: float = 1.0
    constants: tuple[float, ...] = ()
    name: str = ""

    source: ClassVar[str] = ""
    solves_helmholtz: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Examine the function at some distances."""
        function = getattr(self.function, "py_func", self.function)
        if not callable(function) or not hasattr(function, "__code__"):
            raise TypeError(f"Green needs a function of the distance r in Python, got {describe(self.function)}")
        k = finite_number(self.wavenumber, "the wavenumber")
        refuse_gain(complex(k), "the wavenumber")
        power = real_number(self.singularity, "the singularity")
        if not 0 <= power <= 1:
            raise ValueError(
                f"the singularity s of G ~ c / r^s is from 0 to 1, got {self.singularity!r}: integrals over two "
                "surfaces with a stronger one need a form of their own"
            )
        given_constants = list_of(self.constants, int | float | np.number, "the constants of Green are real numbers")
        constants = tuple(real_number(each, "a constant of Green") for each in given_constants)
        name = text(self.name, "the name of a Green's function") or getattr(function, "__name__", "G")
        given = {"function": function, "wavenumber": k, "singularity": power, "constants": constants, "name": name}
        for key, value in given.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "_kinds", _examined(self))

    def __repr__(self) -> str:
        constants = ", ".join(f"{each:g}" for each in self.constants)
        return f"Green({self.name}{f' with {constants}' if constants else ''}, wavenumber={self.wavenumber:g})"

    @property
    def is_complex(self) -> bool:
        """Whether the values are complex."""
        found: bool = self._kinds  # type: ignore[attr-defined]
        return found

    @property
    def parameters(self) -> tuple[float, ...]:
        """One metre in the coordinates of kernels, and the constants with the same factor."""
        return (1.0, *self.constants)

    def radial(self, spread: float) -> Radial:
        """The compiled radial functions, whatever the spread of distances."""
        return radial_of(self.function, len(self.constants), self.is_complex)


def _examined(green: Green) -> bool:
    """Whether the values of a function are complex; TypeError or ValueError for one that cannot be used."""
    r = np.array(PROBES) / max(1.0, abs(complex(green.wavenumber)))
    found = [_pair(green, float(at)) for at in r]
    values, slopes = np.array(found).T
    with np.errstate(all="ignore"):
        if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
            bad = r[~(np.isfinite(values) & np.isfinite(slopes))][0]
            raise ValueError(f"{green.name}({bad:g}) gives values that are not finite")
        strength = r**green.singularity * abs(values)
        if strength[0] > GROWTH * strength[1] > 0:
            raise ValueError(
                f"{green.name} grows faster than 1 / r^{green.singularity:g} from r = {r[1]:.2g} to {r[0]:.2g} m: "
                "state its singularity, 1 at most, or the wavenumber 1j * w of a decay exp(-w r)"
            )
        near = np.array([[_pair(green, float(at) * (1 + sign * 1e-4))[0] for sign in (1, -1)] for at in r])
        differences = (near[:, 0] - near[:, 1]) / (2e-4 * r)
    scale = abs(slopes) + abs(values) / r
    oscillation = 1 + abs(complex(green.wavenumber)) * r
    if (abs(differences - slopes) > SLOPES * scale * oscillation**2).any():
        worst = int(np.argmax(abs(differences - slopes) / (scale * oscillation**2 + 1e-300)))
        raise ValueError(
            f"{green.name}({r[worst]:g}) gives the slope {slopes[worst]:.6g}, but differences of its values give "
            f"{differences[worst]:.6g}: return G and dG/dr"
        )
    return bool(np.iscomplexobj(np.array(found)))


def _pair(green: Green, r: float) -> tuple[complex, complex]:
    """G and dG/dr as numbers; TypeError for other results."""
    try:
        value, slope = green.function(r, *green.constants)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{green.name}(r{', constants' if green.constants else ''}) has to return G and dG/dr at a distance r: "
            f"{type(error).__name__}: {error}"
        ) from None
    numbers = (value, slope)
    if not all(isinstance(each, int | float | complex | np.number) for each in numbers):
        raise TypeError(f"{green.name} has to return two numbers, G and dG/dr, got {value!r} and {slope!r}")
    return value, slope
