"""The boundary integrands by name: four of scalar functions, two of vector fields.

With d = x - y, x on the test and y on the trial side, grad_x G = (G'/r) d, so dG/dn_x = (G'/r) d.n_x and
dG/dn_y = -(G'/r) d.n_y. On flat triangles d.n_x does not depend on where x lies in its triangle, nor d.n_y on y in its
own: operators compute these factors outside of their inner loops.
"""

from dataclasses import dataclass
from typing import Literal

from calderon.integrands.component import Component


@dataclass(frozen=True)
class Integrand:
    """One integrand.

    normal: "none" for G itself, "trial" for dG/dn_y, "test" for dG/dn_x. curls: integrated by parts, with surface curls
    of trial and test functions:  int int G (curl_G phi_i . curl_G phi_j - k^2 n_x . n_y phi_i phi_j).
    symmetric: unchanged when trial and test side are exchanged.
    """

    name: str
    normal: Literal["none", "trial", "test"]
    symmetric: bool
    curls: bool = False

    @property
    def component(self) -> Component:
        """G, or its normal derivative, as a component."""
        return Component(0 if self.normal == "none" else 1, normal=self.normal)


SINGLE_LAYER = Integrand("single_layer", "none", symmetric=True)
DOUBLE_LAYER = Integrand("double_layer", "trial", symmetric=False)
ADJOINT_DOUBLE_LAYER = Integrand("adjoint_double_layer", "test", symmetric=False)
HYPERSINGULAR = Integrand("hypersingular", "none", symmetric=True, curls=True)
ELECTRIC_FIELD = Integrand("electric_field", "none", symmetric=True)
"""i k (f_i . f_j - div f_i div f_j / k^2) G of vector fields."""
VECTOR_POTENTIAL = Integrand("vector_potential", "none", symmetric=True)
"""i k f_i . f_j G of vector fields: what currents add to the electric field, without their charges."""
MAGNETIC_FIELD = Integrand("magnetic_field", "test", symmetric=False)
"""f_i . (n_x x (grad_x G x f_j)); "test" here means (G'/r) d . e for a constant vector e instead of the normal."""
