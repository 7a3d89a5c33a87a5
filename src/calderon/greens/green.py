"""The interface of a Green's function: its values for kernels, and facts that operators choose by."""

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol

from calderon.backends.vectors import jitable
from calderon.quadrature.options import Quadrature
from calderon.validation import describe


@functools.lru_cache
def parameter_reader(count: int) -> Callable[..., Any]:
    """The compiled function from (numbers, first) to the tuple of the `count` numbers from `first` on."""
    if count == 0:
        return _no_parameters
    before = parameter_reader(count - 1)

    @jitable
    def parameters_of(numbers, first):
        """The parameters as a tuple."""
        return (*before(numbers, first), numbers[first + count - 1])

    return parameters_of


@jitable
def _no_parameters(numbers, first):
    """The empty tuple, of no numbers from the first one on."""
    return ()


class Radial(NamedTuple):
    """The compiled radial functions f_0, f_1, ... of a Green's function, on vectors (backends/vectors.py).

    value(r2, parameters, reference) -> (Re f_0, Im f_0, Re f_1, Im f_1, ...) at the squared distance r2, all divided by
    phase(reference, parameters) -> (Re, Im), where `shifts`. Those of a scalar function are f_0 = 4 pi G and
    f_1 = 4 pi G'/r; further ones are what a form of the function reads (integrands/component.py). A pair of triangles
    takes the distance of its centroids as reference and multiplies its sums by the phase, so that per quadrature point
    only the difference r - reference enters oscillation and decay: half the work. Real Green's functions return
    anything as imaginary parts. All are marked `jitable`.

    parameters: how many numbers of `RadialGreen.parameters` they read, as a tuple.
    multiple: gives the same as value with fewer operations, where f_n lacks the factor factors(bits)[n] for numbers of
    so many bits, which coefficients take in advance; or None.
    orders: the n-th radial function is singular like 1/r^orders[n], which is also its dimension.
    """

    value: Callable[..., Any]
    phase: Callable[..., Any]
    shifts: bool
    parameters: int
    multiple: Callable[..., Any] | None = None
    factors: Callable[[int], tuple[float, ...]] | None = None
    orders: tuple[int, ...] = (1, 3)

    def lacking(self, function: int, bits: int) -> float:
        """The factor by which f_n, n = function, by `multiple` is to be multiplied."""
        return 1.0 if self.factors is None else self.factors(bits)[function]


class RadialGreen(Protocol):
    """G(r), a function of the distance r = |x - y| alone.

    `parameters`: numbers of dimension 1/length, as many as `radial` reads. `wavenumber`: the k of Laplacian G + k^2 G
    = -delta. solves_helmholtz: whether G does solve it, so that G = exp(i k r) / (4 pi r), on which the
    hypersingular operator and potentials near a surface rely. source: the file of the package with the same
    formulas in C. radial(spread): the compiled form; `spread` is the largest |k| |r - reference| that will be
    asked of a shifted one.
    """

    source: ClassVar[str]
    solves_helmholtz: ClassVar[bool]

    @property
    def is_complex(self) -> bool:
        """Whether the values are complex."""
        ...

    def radial(self, spread: float) -> Radial:
        """The compiled radial functions."""
        ...

    @property
    def wavenumber(self) -> complex:
        """k of the equation in 1/m, the largest one if there are several."""
        ...

    @property
    def parameters(self) -> tuple[float, ...]:
        """Numbers of dimension 1/length."""
        ...


@jitable
def no_phase(reference, parameters):
    """The phase of a Green's function that is not shifted: 1, for any reference distance and parameters."""
    return reference * 0.0 + 1.0, reference * 0.0


def green_defines(green: RadialGreen) -> tuple[tuple[str, str | int], ...]:
    """Definitions that tell a device source which Green's function it serves; NotImplementedError for one in Python
    alone."""
    if not green.source:
        raise NotImplementedError(
            f"{green} is a function in Python, which the processor alone computes: choose backend='numba', or give it "
            "a twin in C (CONTRIBUTING.md, 'Adding a Green's function')"
        )
    lossy = int(green.is_complex and complex(green.wavenumber).imag != 0)
    return ("GREEN", f'"{green.source}"'), ("COMPLEX", int(green.is_complex)), ("LOSSY", lossy)


def checked_quadrature(what: str, green: Any, quadrature: Any, waves: bool = False) -> Quadrature:
    """The quadrature, the default one for None; TypeError for other values, and if `green` is not a Green's function.
    waves: NotImplementedError for one that does not solve the Helmholtz equation."""
    if isinstance(green, type) or not callable(getattr(green, "radial", None)):
        raise TypeError(
            f"{what} needs a Green's function, got {describe(green)}: try Laplace(), Helmholtz(k) or "
            "ModifiedHelmholtz(w)"
        )
    if waves and not getattr(green, "solves_helmholtz", False):
        raise NotImplementedError(
            f"{what} needs a solution of Laplacian G + k^2 G = -delta, got {describe(green)}, whose solves_helmholtz "
            "is not True: single_layer, double_layer and adjoint_double_layer accept any function of the distance"
        )
    return quadrature_or_usual(what, quadrature)


def quadrature_or_usual(what: str, quadrature: Any) -> Quadrature:
    """The quadrature, the default one for None; TypeError for other values."""
    if not isinstance(quadrature, Quadrature | None):
        raise TypeError(f"{what} needs a Quadrature or None, got {describe(quadrature)}: try Quadrature(regular=6)")
    return Quadrature() if quadrature is None else quadrature
