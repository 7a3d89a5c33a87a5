"""Moments of pairs of triangles: both kernels, each kernel of the integrands, both floating-point types."""

import numpy as np
import pytest

import calderon as cal
from calderon.galerkin.regular.element_tables import surface
from calderon.galerkin.special.near_pairs import product_kernel, product_scratch
from calderon.galerkin.special.touching_pairs import moment_kernel, moment_scratch
from calderon.pairs.classes import Pairs
from calderon.pairs.tables import ProductTable, RuleTable
from calderon.quadrature.singular import points_on_side
from calderon.spaces.element import Element

LINEAR, QUADRATIC = Element(1), Element(2)
RULES = [(points_on_side(6), points_on_side((3, 4))), (points_on_side((2, 5)), points_on_side(8))]
GREENS = {"laplace": cal.Laplace(), "helmholtz": cal.Helmholtz(2.0 + 0.3j)}


@pytest.fixture(scope="module")
def pairs():
    """Nineteen pairs of triangles apart, in two rules, in any order of their vertices."""
    rng = np.random.default_rng(0)
    sides = []
    for centre in (0.0, 0.4):
        corners = 0.1 * rng.standard_normal((5, 3, 3)) + centre
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        jacobians = np.linalg.norm(normals, axis=1)
        sides.append(surface(corners, normals / jacobians[:, None], jacobians))
    orders = [np.array([rng.permutation(3) for _ in range(19)]).astype(np.int8) for _ in range(2)]
    triangles = rng.integers(0, 5, (19, 2)).astype(np.int32)
    return sides, Pairs(triangles, *orders), (np.arange(19) >= 11).astype(np.int32)


def expected(green, normal, sides, pairs, rules, table):
    """The same sums by NumPy: (kernels, 2, n, A, B)."""
    radial = []
    for (i, j), one, two, rule in zip(pairs.triangles, *pairs[1:], rules, strict=True):
        x, y = sides[0].corners[i][one], sides[1].corners[j][two]
        p, q = (slice(*part.starts[rule : rule + 2]) for part in (table.test, table.trial))
        (u, v), (s, t) = table.test.points[:, p], table.trial.points[:, q]
        points = [
            np.outer(1 - a - b, z[0]) + np.outer(a, z[1]) + np.outer(b, z[2]) for a, b, z in ((u, v, x), (s, t, y))
        ]
        d = points[0][:, None] - points[1]
        r = np.linalg.norm(d, axis=2)
        k = complex(green.wavenumber)
        value, slope = np.exp(1j * k * r) / r, np.exp(1j * k * r) * (1j * k * r - 1) / r**3
        values = {
            "none": [value],
            "test": [slope * (d @ sides[0].normals[i])],
            "trial": [-slope * (d @ sides[1].normals[j])],
        }
        values["both"] = values["trial"] + values["test"]
        values["gradient"] = list(np.moveaxis(slope[:, :, None] * d, 2, 0))
        measure = sides[0].jacobian[i] * sides[1].jacobian[j]
        left, right = table.test.products[:, p], table.trial.products[:, q]
        radial.append([measure * left @ each @ right.T for each in values[normal]])
    whole = np.moveaxis(np.array(radial), 0, 1)
    return np.stack([whole.real, whole.imag], axis=1)


@pytest.mark.parametrize("elements", [(LINEAR, LINEAR), (QUADRATIC, LINEAR)])
@pytest.mark.parametrize(
    "name, normal",
    [
        ("laplace", "none"),
        ("laplace", "trial"),
        ("helmholtz", "test"),
        ("helmholtz", "both"),
        ("helmholtz", "gradient"),
    ],
)
def test_both_kernels_give_the_sums_of_their_rules(pairs, name, normal, elements):
    sides, which, rules = pairs
    green = GREENS[name]
    table = ProductTable.of(RULES, *elements)
    wanted = expected(green, normal, sides, which, rules, table)
    form = green.radial(1.0), normal, green.is_complex
    parameters = np.array(green.parameters)
    for real, bound in ((np.float64, 1e-11), (np.float32, 2e-5)):
        product, by_pairs = table.to(real), table.in_pairs().to(real)
        parts = 2 * len(wanted)
        for run, given, scratch in (
            (product_kernel(*form), product, product_scratch(product, parts)),
            (moment_kernel(*form), by_pairs, moment_scratch(by_pairs)),
        ):
            out = np.zeros(wanted.shape)
            run(*sides, which, rules, given, parameters, scratch, out)
            assert np.abs(out - wanted).max() < bound * np.abs(wanted).max()


def test_rules_by_pairs_of_points_are_padded_with_nothing():
    table = ProductTable.of(RULES, LINEAR, LINEAR)
    flat = table.in_pairs()
    assert isinstance(flat, RuleTable) and flat.number_of_rules == table.number_of_rules == 2
    sums = np.add.reduceat(flat.products.sum(axis=0), flat.starts[:-1])
    assert sums == pytest.approx([0.25, 0.25], rel=1e-13)
    assert all(each % 8 == 0 for each in flat.starts)
