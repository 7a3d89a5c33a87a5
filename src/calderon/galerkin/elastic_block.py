"""Any block of rows and columns of a Galerkin matrix of elastostatics."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.galerkin.block import Block
from calderon.galerkin.device.forms import DeviceForm, elastic_device_form
from calderon.galerkin.forms.elastic import elastic_form
from calderon.galerkin.forms.form import Form
from calderon.integrands import Integrand
from calderon.quadrature import NearQuadrature, TriangleRule


class ElasticBlock(Block):
    """A block of the single layer (U), the double layer (T) or its adjoint, of `Elastostatic`, between fields of three
    components."""

    @property
    def form(self) -> Form:
        """The form of displacements, or of tractions of the normal of the integrand."""
        sizes = self.test_space.element.size, self.trial_space.element.size
        return elastic_form(self.integrand.normal, *sizes, 2 if self.is_complex else 1)

    @classmethod
    def device_form_of(cls, integrand: Integrand, test: Any, trial: Any) -> DeviceForm:
        """The part of the form that devices are given."""
        return elastic_device_form(integrand, test, trial)

    def _coefficients(self, factor: complex) -> NDArray[np.float64]:
        """(4,) Re and Im of what multiplies the integrals, c2 of forms/elastic.py, and 0."""
        ratio = self.green.poissons_ratio
        alpha = complex(factor) * self.scaling / (2 * (1 - ratio))
        if self.integrand.normal != "none":
            return np.array([alpha.real, alpha.imag, 1 - 2 * ratio, 0.0])
        alpha /= -2 * self.green.shear_modulus
        return np.array([alpha.real, alpha.imag, 3 - 4 * ratio, 0.0])

    def _coarse(self) -> bool:
        """Whether special pairs need fewer digits: never."""
        return False  # of triangles in one plane (G'/r) d remains, which double layers do not have

    @property
    def digits(self) -> int:  # type: ignore[override]
        """Decimal digits of near pairs (pairs.rules.Wanted)."""
        fine = self.quadrature.singular >= 10  # near pairs get one digit more, too
        return 7 if fine else 5 if isinstance(self.quadrature, NearQuadrature) and self._single() else 6

    @property
    def mirrored(self) -> bool:  # type: ignore[override]
        """Whether the form is a principal value: T is, U is not. Close pairs of a needle and itself made it wrong by a
        fifth; 60 mirrored points hold it to 1e-4 of its row up to a length of 10,000 heights."""
        return self.integrand.normal != "none"

    def moment_functions(self, rule: TriangleRule) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values of the local functions of the scalar spaces at the points of a rule on both sides."""
        return self.test_space.element.values(rule.points), self.trial_space.element.values(rule.points)

    def _form_data(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Normals of the triangles of both sides, where the form has one."""
        if self.integrand.normal == "none":
            return super()._form_data()
        return self.test_surface.normals, self.trial_surface.normals
