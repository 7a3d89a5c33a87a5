"""The electric field of currents on metal between the layers of a stack."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.galerkin.layered.matrix import LayeredMatrix
from calderon.galerkin.layered.metal import LayeredMetal
from calderon.galerkin.layered.vertical import VerticalMatrix
from calderon.greens.green import quadrature_or_usual
from calderon.integrands import ELECTRIC_FIELD, Integrand
from calderon.layers import Sections, Stack
from calderon.layers.parts import MetalParts, parts_of
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.lazy_operator import with_spaces
from calderon.operators.methods import is_automatic
from calderon.operators.tree import Index
from calderon.quadrature import Quadrature
from calderon.spaces import EdgeSpace
from calderon.validation import describe, truth

METHODS, ON_DEVICES = ("dense", "hmatrix", "fft"), ("dense", "fft")
"""Methods that have tables of Green's functions, and those of them whose products devices compute."""


@dataclass(frozen=True, eq=False, repr=False)
class LayeredElectricField(BoundaryOperator):
    """The operator of `layered_electric_field`."""

    sections: Sections
    trial: EdgeSpace
    quadrature: Quadrature
    charges: bool = True

    is_leaf: ClassVar[bool] = True
    is_layered: ClassVar[bool] = True
    integrand: ClassVar[Integrand] = ELECTRIC_FIELD
    upright_flops: ClassVar[float] = 3.5e5
    """Flops, in estimates by measurement, of an entry with vertical metal, its tables among them."""

    def __repr__(self) -> str:
        return with_spaces(f"electric field in {len(self.sections.eps)} layers", self)

    @property
    def test(self) -> EdgeSpace:
        return self.trial

    @property
    def is_complex(self) -> bool:
        return True

    @property
    def is_symmetric(self) -> bool:
        return True

    @property
    def wavenumber(self) -> float:
        """The largest one of layers in which waves travel, in 1/m."""
        return self.sections.densest

    def require_method(self, name: Any, backend: str = "numba") -> None:
        able = METHODS if backend == "numba" else ON_DEVICES
        if not (is_automatic(name) or (isinstance(name, str) and name in able)):
            raise ValueError(
                f"the electric field in layers is assembled by method={' or '.join(map(repr, able))}, got {name!r}"
            )

    @cached_property
    def special_flops(self) -> float:
        """Flops, in estimates, of all that is not an entry of distant functions of horizontal metal: by measurement
        2.5e10 for the tables of a pair of heights, 1.7e7 for touching and near pairs of a function."""
        heights, upright = self.horizontal_metal.heights, self.trial.dofs[self.parts.vertical]
        vertical = len(np.unique(upright[upright >= 0]))
        own = 2.5e10 * len(heights) * (len(heights) + 1) / 2 + 1.7e7 * self.trial.dimension
        return own + self.upright_flops * vertical * self.trial.dimension

    @property
    def horizontal_metal(self) -> LayeredMetal:
        """The horizontal metal in its stack."""
        parts = self.parts
        space = self.trial.taken(parts.horizontal) if len(parts.vertical) else self.trial
        return LayeredMetal(self.sections, space, charges=self.charges)

    def value(self, products: Any) -> Any:
        if not products.layered:
            self.require_method("another method")
        return products.leaf(self)

    @cached_property
    def matrix(self) -> LayeredMatrix:
        """Its entries; tables and near pairs are made once."""
        parts, flat = self.parts, self.horizontal_metal
        if not len(parts.vertical):
            return LayeredMatrix(flat, self.quadrature)
        return LayeredMatrix(flat, self.quadrature, self._vertical(parts))

    def _vertical(self, parts: MetalParts) -> sp.csr_array:
        """Entries that vertical metal adds; below `SLOWEST` they are computed at a multiple of the frequency, with
        currents and charges scaled."""
        sections, factor = self.sections.hastened(self.trial.mesh.diameter)
        given = sections, self.trial, parts, self.quadrature
        if factor == 1:
            return VerticalMatrix(*given, self.charges).matrix
        currents = VerticalMatrix(*given, False).matrix
        of_charges = VerticalMatrix(*given).matrix - currents if self.charges else 0 * currents
        return sp.csr_array(currents / factor + factor * of_charges)

    def columns(self, functions: Index) -> NDArray[np.complex128]:
        """(dimension, n) the columns of some functions, ascending, for which few special pairs are integrated."""
        out = np.zeros((self.shape[0], len(functions)), complex)
        replace(self.matrix, functions=functions).add_to(out, 1.0, None, functions)
        return out

    @cached_property
    def parts(self) -> MetalParts:
        """Horizontal and vertical metal."""
        return parts_of(self.sections, self.trial.mesh, self.trial.triangles)

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        self._add(place, factor, rows, columns, False)

    def add_half_to(self, place: Any, factor: complex) -> None:
        """place += factor * S, where the matrix is S + S^T."""
        self._add(place, factor, None, None, True)

    def _add(self, place: Any, factor: complex, rows: Index | None, columns: Index | None, half: bool) -> None:
        """On devices distant pairs of horizontal metal; the processor computes tables and all others."""
        for part in self.matrix.special_parts(rows, columns):
            place.add_entries((0.5 * factor if half else factor) * part.data, *part.coords)
        self.matrix.add_distant(place.target, factor, rows, columns, half, place.execution, place.advance)


def layered_electric_field(
    stack: Stack,
    frequency: float,
    trial: EdgeSpace,
    *,
    quadrature: Quadrature | None = None,
    charges: bool = True,
) -> LayeredElectricField:
    """T: <f_i, T f_j> = i k0 int int (f_i . G f_j - K div f_i div f_j / k0^2), in m^2, complex symmetric.

    The tangential electric field of the surface current f_j in a stack of layers at `frequency` in Hz, with eta0 = 1,
    as `electric_field` in free space. G has the components G_xx, G_zx, G_xz, G_zz. trial: RWG functions of metal that
    is horizontal, on interfaces of the stack at heights z that `stack.interfaces` states, or vertical, its triangles
    cut at interfaces. Into walls currents flow through `spaces.half_functions`. Methods "dense", also on devices, and,
    for horizontal metal on the processor, "hmatrix" and "fft". charges: False leaves out K, next to which G is lost at
    low frequency. Formulation C of K. A. Michalski and D. Zheng (1990).

    Raises MeshError for metal off every interface and not vertical, TypeError for other spaces.
    """
    if not isinstance(stack, Stack):
        raise TypeError(f"the layers must be a Stack, got {describe(stack)}")
    if not isinstance(trial, EdgeSpace) or trial.rotated:
        raise TypeError(f"currents in a layered medium need RWG functions, got {describe(trial)}: try RWG(mesh)")
    chosen = quadrature_or_usual("the electric field in layers", quadrature)
    return LayeredElectricField(stack.at(frequency), trial, chosen, truth(charges, "charges"))
