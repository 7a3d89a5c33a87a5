"""A single layer and an adjoint double layer with common distances: a V + b K' in one pass over distant pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.block import Block
from calderon.galerkin.regular.element_tables import in_threes
from calderon.galerkin.regular.tile import tile_kernel
from calderon.greens import Radial
from calderon.integrands import ADJOINT_DOUBLE_LAYER, SINGLE_LAYER
from calderon.quadrature import triangle_rule


def are_joint(layer: BilinearForm, adjoint: BilinearForm) -> bool:
    """Whether a single and an adjoint double layer, both of waves, have the spaces and rules that `JointBlock` needs.
    The rule of distant pairs of a Green's function without a wavenumber is another one for each."""
    if (layer.integrand, adjoint.integrand) != (SINGLE_LAYER, ADJOINT_DOUBLE_LAYER) or not layer.is_complex:
        return False
    test, trial, rule = layer.test, layer.trial, triangle_rule(layer.quadrature.regular)
    same = (layer.green, layer.quadrature) == (adjoint.green, adjoint.quadrature)
    same = same and test is adjoint.test and trial is adjoint.trial and test.element.degree > 0
    return same and in_threes(rule, *(each.element.values(rule.points) for each in (test, trial)))


class JointBlock(Block):
    """Some multiple of an adjoint double layer, whose distant pairs have those of a single layer added.

    layer: the block of the single layer, for which `are_joint` holds. Touching and near pairs are those of the adjoint
    double layer alone: both blocks leave the same ones out of the regular part.
    """

    def __init__(self, layer: Block, *given: Any) -> None:
        self.layer = layer
        super().__init__(*given)

    def _compile(self, radial: Radial, factor: complex) -> None:
        """Coefficients and compiled kernels."""
        super()._compile(radial, factor)
        both = self.layer.form.regular[0], self.form.regular[0]
        self.tile = tile_kernel(self.tile_kind._replace(components=both))
        bits = 8 * self.real.itemsize
        factors = [radial.lacking(each.radial, bits) for each in both]
        self.tile_scalars = self._scalars()
        self.tile_scalars[1:5] = np.append(self.layer.coefficients[:2] * factors[0], self.coefficients[2:] * factors[1])

    def reached(self) -> list[NDArray[np.float64]]:
        """Squares of the distances from which on pairs are distant for both layers."""
        sides = super().reached(), self.layer.reached()
        return [np.maximum(*each) for each in zip(*sides, strict=True)]
