"""What every Green's function offers to the operators."""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol


class Green(Protocol):
    """G(r), a function of the distance r = |x - y| alone.

    radial(r2, p0, p1) -> (Re 4 pi G, Im 4 pi G, Re 4 pi G'/r, Im 4 pi G'/r) is a function of the squared distance
    marked `register_jitable`; (p0, p1) are `parameters`, each of dimension 1/length. Real Green's functions return
    anything as imaginary parts. `wavenumber` is the k of  Laplacian G + k^2 G = -delta.
    """

    is_complex: ClassVar[bool]

    @property
    def radial(self) -> Callable[..., Any]: ...

    @property
    def wavenumber(self) -> complex: ...

    @property
    def parameters(self) -> tuple[float, float]: ...
