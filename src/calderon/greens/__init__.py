"""Green's functions: functions of two points, each with its compiled radial part."""

from calderon.greens.elastostatic import Elastostatic
from calderon.greens.green import Radial, RadialGreen, parameter_reader
from calderon.greens.helmholtz import Helmholtz
from calderon.greens.laplace import Laplace
from calderon.greens.modified_helmholtz import ModifiedHelmholtz
from calderon.greens.user import Green

__all__ = [
    "Elastostatic",
    "Green",
    "Helmholtz",
    "Laplace",
    "ModifiedHelmholtz",
    "Radial",
    "RadialGreen",
    "parameter_reader",
]
