"""The quadrature over directions."""

import numpy as np
import pytest
from scipy.special import gamma

from calderon.quadrature.sphere import sphere_rule


@pytest.mark.parametrize("degree", [0, 3, 8])
def test_sphere_rule_is_exact_to_its_degree(degree):
    directions, weights = sphere_rule(degree)
    assert weights.sum() == pytest.approx(4 * np.pi)
    assert np.allclose(np.linalg.norm(directions, axis=1), 1)
    for a in range(degree + 1):
        for b in range(degree + 1 - a):
            for c in range(degree + 1 - a - b):
                odd = a % 2 or b % 2 or c % 2
                parts = gamma((a + 1) / 2) * gamma((b + 1) / 2) * gamma((c + 1) / 2)
                exact = 0 if odd else 2 * parts / gamma((a + b + c + 3) / 2)
                assert weights @ np.prod(directions ** [a, b, c], axis=1) == pytest.approx(exact, abs=1e-12)
