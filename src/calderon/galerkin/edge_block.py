"""Any block of rows and columns of a Galerkin matrix of edge functions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.threads import in_parts
from calderon.galerkin.block import Block
from calderon.galerkin.device.forms import DeviceForm, edge_device_form
from calderon.galerkin.forms.edge import test_data, trial_data
from calderon.galerkin.forms.electric import ELECTRIC
from calderon.galerkin.forms.form import Form
from calderon.galerkin.forms.magnetic import MAGNETIC
from calderon.galerkin.regular.element_tables import barycentric_functions
from calderon.integrands import MAGNETIC_FIELD, VECTOR_POTENTIAL, Integrand
from calderon.mesh.geometry import FlatTriangles
from calderon.quadrature import NearQuadrature, TriangleRule

TOGETHER = 4096
"""Test triangles whose numbers are made together: what they are made of has some megabytes."""


class EdgeBlock(Block):
    """A block of the electric or magnetic field of edge functions, which are not rotated; tested, in the electric
    field, with such functions, in the magnetic field with any that are affine on triangles (forms/edge.py)."""

    @property
    def electric(self) -> bool:
        """Whether the field is the electric one."""
        return self.integrand != MAGNETIC_FIELD

    @property
    def form(self) -> Form:
        """The form of the electric or of the magnetic field."""
        return ELECTRIC if self.electric else MAGNETIC

    @classmethod
    def device_form_of(cls, integrand: Integrand, test: Any, trial: Any) -> DeviceForm:
        """The part of the form that devices are given."""
        form = MAGNETIC if integrand == MAGNETIC_FIELD else ELECTRIC
        return edge_device_form(form, test.dofs.shape[1])

    def _coefficients(self, factor: complex) -> NDArray[np.float64]:
        """(4,) Re and Im of what multiplies the integrals, and of 4 / k^2, or of 0 without charges."""
        k = complex(self.green.wavenumber) / self.scale
        # f_i . f_j has no dimension, div f_i div f_j / k^2 neither
        alpha = factor * (1j * k * self.scale if self.electric else 1.0) * self.scaling
        if k**2 == 0:
            raise ValueError(f"the square of the wavenumber {self.green.wavenumber:g} is zero in double precision")
        charge = 0j if self.integrand == VECTOR_POTENTIAL else 4 / k**2
        return np.array([alpha.real, alpha.imag, charge.real, charge.imag])

    def moment_functions(self, rule: TriangleRule) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Barycentric coordinates, or products of them, at the points of a rule on both sides."""
        return barycentric_functions(rule, self.form.tests), barycentric_functions(rule, 3)

    def fields(self, test: bool, which: slice = slice(None)) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values (n, L, 3, 3) of the local functions of one side at the vertices, and divergences (n, L), of some of
        its triangles. The cross product of the magnetic field with the normal goes with test functions: f . (n x e) =
        (f x n) . e."""
        space, chosen = (self.test_space, self.test) if test else (self.trial_space, self.trial)
        values: NDArray[np.float64] = space.corner_values[chosen.triangles[which]]
        if self.electric:
            return values, 2 * space.scale[chosen.triangles[which]] / self.scale
        if test:
            values = np.cross(values, self.test_surface.normals[which, None, None])
        return values, np.zeros(values.shape[:2])

    @property
    def trial_scales(self) -> NDArray[np.float64]:
        """(n, 3) factors s_b of the trial functions s_b (y - w_b)."""
        scales: NDArray[np.float64] = self.trial_space.scale[self.trial.triangles] / self.scale
        return scales

    def _form_data(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Numbers that the form reads of the triangles of both sides (forms/edge.py)."""
        parts = dict[int, NDArray[np.float64]]()

        def work(low: int, high: int) -> None:
            """Make the numbers of some test triangles."""
            which = slice(low, high)
            values, divergences = self.fields(True, which)
            surface = FlatTriangles(*(each[which] for each in self.test_surface))
            parts[low] = test_data(surface, values, 0.5 * divergences if self.electric else None)

        count = len(self.test.triangles)
        in_parts(work, count, TOGETHER) if count else work(0, 0)
        tests = np.concatenate([parts[low] for low in sorted(parts)])
        return tests, trial_data(self.trial_surface, self.trial_scales)

    def _coarse(self) -> bool:
        """Whether special pairs need fewer digits."""
        # entries of loops and the magnetic field are small compared with the largest: products need fewer digits
        return isinstance(self.quadrature, NearQuadrature) and self._single()

    @property
    def _vanishing(self) -> bool:
        """Whether integrals over a triangle and itself are zero: of f_i, x - y and f_j in one plane."""
        return not self.electric
