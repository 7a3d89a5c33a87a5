"""Laplace problems from case files."""

import pytest

from calderon.case import parse
from calderon.report import headlines, run

CASE = """\
[mesh]
shape = "sphere"
radius = "1 m"
h = "0.5 m"
[physics]
problem = "laplace-dirichlet"
potential = "2 V"
side = "exterior"
"""


def test_the_charge_is_told_of_the_outside_only():
    outside = {name: (float(value), unit) for name, value, unit in headlines(run(parse(CASE)), {})[:2]}
    charge, unit = outside["total charge over ε₀"]
    assert charge == pytest.approx(4 * 3.14159 * 2, rel=0.06) and unit == "V m"
    assert outside["capacitance in vacuum"][0] == pytest.approx(111.27, rel=0.06)
    inside = {name for name, _, _ in headlines(run(parse(CASE.replace("exterior", "interior"))), {})}
    assert not [name for name in inside if "charge" in name or "capacitance" in name]
