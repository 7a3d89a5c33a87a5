"""Large examples, at a lower frequency on a coarser mesh: they compute what a dense matrix does."""

import re

import numpy as np
import pytest

from calderon.case import parse
from calderon.report import example, run
from catalogue import cases

LARGE = {
    "submarine-1000": 5.0, "almond-10GHz": 5.0, "sphere-20": 20.0, "raindrop": 5.0,
}  # fmt: skip
"""By how much wavelengths and elements are larger here."""


def smaller(name: str) -> str:
    """The text of an example at a lower frequency, with few angles and without pictures."""
    text = example(name).text
    for key, factor in (("frequency", 1 / LARGE[name]), ("h", LARGE[name])):
        value = re.search(rf'^{key} = "([\d.]+)', text, flags=re.M)
        if value:
            text = text.replace(value[0], f'{key} = "{factor * float(value[1]):.6g}')
    text = (
        re.sub(r"^divisions = .", "divisions = 0", text, flags=re.M)
        .replace('"fine"', '"coarse"')
        .replace('["abs"]', "[]")
    )
    return re.sub(r"count = \d+", "count = 4", text)


@pytest.mark.parametrize("name", cases(LARGE, ["almond-10GHz"]))
def test_a_large_example_at_a_lower_frequency(name):
    text = smaller(name)
    step = run(parse(text)).steps[0]
    dense = run(parse(re.sub(r"^(method|compression_rtol) = .*$", "", text, flags=re.M))).steps[0]
    assert (step.plane_waves is None) == (name == "submarine-1000") and dense.plane_waves is None
    assert step.elements_per_wavelength > 6
    levels = [(step.monostatic[pair], dense.monostatic[pair]) for pair in step.monostatic]
    levels += [(step.strength, dense.strength)] if step.strength is not None else []
    assert levels
    for found, expected in levels:
        strong = expected > expected.max() - 20
        np.testing.assert_allclose(found[strong], expected[strong], atol=0.15)
    if name.startswith("sphere"):
        assert step.exact_error < 0.05
