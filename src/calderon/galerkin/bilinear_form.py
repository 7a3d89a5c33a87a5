"""A bilinear form: Green's function, integrand, spaces and quadrature. Drivers see this, and no operator."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from calderon.galerkin.block import Block
from calderon.greens import RadialGreen
from calderon.integrands import Integrand
from calderon.quadrature import Quadrature


@dataclass(frozen=True, eq=False)
class BilinearForm:
    """int int phi_i(x) k(x, y) psi_j(y) with the kernel of `integrand` for `green`."""

    green: RadialGreen
    integrand: Integrand
    trial: Any
    test: Any
    quadrature: Quadrature = field(default_factory=Quadrature)

    block: ClassVar[type[Block]] = Block

    @property
    def shape(self) -> tuple[int, int]:
        """(test.dimension, trial.dimension)."""
        return self.test.dimension, self.trial.dimension

    @property
    def is_complex(self) -> bool:
        """Whether entries are complex."""
        return self.green.is_complex

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix equals its transposed."""
        return self.integrand.symmetric and self.test is self.trial
