"""The four boundary integrands by name."""

from collections.abc import Callable
from dataclasses import dataclass

from calderon.integrands.layers import test_normal_derivative, trial_normal_derivative, value


@dataclass(frozen=True)
class Integrand:
    """One integrand. `evaluate` is its compiled form (see layers.py).

    curls: integrated by parts, with surface curls of trial and test functions:
    int int G (curl_G phi_i . curl_G phi_j - k^2 n_x . n_y phi_i phi_j).
    symmetric: unchanged when trial and test side are exchanged.
    """

    name: str
    evaluate: Callable[..., tuple[float, float]]
    symmetric: bool
    curls: bool = False


SINGLE_LAYER = Integrand("single_layer", value, symmetric=True)
DOUBLE_LAYER = Integrand("double_layer", trial_normal_derivative, symmetric=False)
ADJOINT_DOUBLE_LAYER = Integrand("adjoint_double_layer", test_normal_derivative, symmetric=False)
HYPERSINGULAR = Integrand("hypersingular", value, symmetric=True, curls=True)
