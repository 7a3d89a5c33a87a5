"""Costs are counts times rates of the machine, and grow with the unknowns as theory says."""

import json

import numpy as np
import pytest

import calderon as cal
from calderon.backends import rates, thread_count
from calderon.backends.rates import TYPICAL, Rates
from calderon.products import cost
from calderon.products.cost import EFFICIENCY, Cost, entry_flops, pair_flops, row_flops

MESH = cal.mesh.sphere(1.0, 0.3)


@pytest.fixture
def known(monkeypatch):
    """A machine of known rates."""
    found = Rates(flops=1e10, nbytes=2e9, calls=1e5)
    monkeypatch.setattr(cost, "machine_rates", lambda: found)
    return found


def test_costs_add_up_and_threads_share_the_flops(known):
    one = Cost(flops=3e9, nbytes=4e9, calls=2e5)
    assert one.seconds == pytest.approx(3e9 / (EFFICIENCY * 1e10 * thread_count()) + 2 + 2)
    assert (one + 2 * one).seconds == pytest.approx(3 * one.seconds)
    assert Cost().seconds == 0


def test_entries_count_the_triangles_and_points_of_their_functions():
    """Six triangles around a vertex, two for each vertex: of P1 an entry of a row has 12 pairs, of P0 one; twice as
    many where clusters overlap. 6 x 6 points. 1 / r takes 3 differences, 5 flops for r^2, 6 for its root, 2 to add it;
    exp(ikr) takes 44 more, and 10 to multiply and differentiate; the three components of fields half as many more."""
    green = cal.Laplace()
    flat, linear = (cal.single_layer(green, space(MESH)) for space in (cal.P0, cal.P1))
    assert pair_flops(flat) == pair_flops(linear) == 36 * (3 + 5 + 6 + 2)
    assert row_flops(flat) == cost.HALO * pair_flops(flat) == entry_flops(flat)
    assert row_flops(linear) / row_flops(flat) == pytest.approx(12, rel=0.1)
    assert entry_flops(linear) / entry_flops(flat) == pytest.approx(4, rel=0.1)
    waves = cal.single_layer(cal.Helmholtz(1.0), cal.P0(MESH))
    fields = cal.electric_field(cal.Helmholtz(1.0), cal.RWG(MESH))
    assert pair_flops(waves) == 36 * (3 + 5 + 6 + 2 + 44 + 10) and pair_flops(fields) == 1.5 * pair_flops(waves)


def test_rates_are_measured_once_and_kept(monkeypatch, tmp_path):
    file, measured = tmp_path / "new" / "rates.json", []

    def measure():
        measured.append(1)
        return Rates(1e10, 2e9, 1e5)

    monkeypatch.setattr(rates, "_file", lambda: file)
    monkeypatch.setattr(rates, "measured", measure)
    once = rates.machine_rates.__wrapped__
    assert once() == once() == Rates(1e10, 2e9, 1e5) and len(measured) == 1
    assert [each.name for each in file.parent.iterdir()] == ["rates.json"]
    for damaged in ("{", json.dumps({"flops": 1.0}), json.dumps({"flops": -1.0, "nbytes": 1.0, "calls": 1.0}),
                    json.dumps({"flops": 1e300, "nbytes": 1e10, "calls": 1e6})):  # fmt: skip
        file.write_text(damaged)
        assert once() == Rates(1e10, 2e9, 1e5)
    assert len(measured) == 5
    monkeypatch.setattr(rates, "_file", lambda: None)
    assert once() == Rates(1e10, 2e9, 1e5) and len(measured) == 6


def test_measured_rates_are_those_of_a_computer_and_a_clock_that_stands_gives_typical_ones(monkeypatch):
    found = rates.measured()
    assert 1e8 < found.flops < 1e13 and 1e8 < found.nbytes < 1e13 and 1e4 < found.calls < 1e9
    monkeypatch.setattr(rates.time, "thread_time", lambda: 0.0)
    assert rates.measured() == TYPICAL


@pytest.mark.parametrize("method, power", [("dense", 2.0), ("fmm", 1.0)])
def test_seconds_grow_as_the_theory_of_a_method_says(monkeypatch, method, power):
    """All entries take n^2, fast multipoles n, since each function has so many near entries and moments; on a
    machine whose calls outside compiled code take no time."""
    monkeypatch.setattr(cost, "machine_rates", lambda: Rates(flops=1e10, nbytes=1e10, calls=1e15))
    few, many = (cal.single_layer(cal.Laplace(), cal.P1(cal.mesh.sphere(1.0, h))) for h in (0.03, 0.015))
    ratio = many.plan(method, 1e-4).seconds / few.plan(method, 1e-4).seconds
    assert np.log(ratio) / np.log(many.shape[0] / few.shape[0]) == pytest.approx(power, abs=0.2)


def test_small_matrices_are_dense_and_large_ones_compressed():
    """The plans that "auto" compares cross between some hundred and some ten thousand unknowns."""
    few, many = (cal.single_layer(cal.Laplace(), cal.P1(cal.mesh.sphere(1.0, h))) for h in (0.3, 0.04))
    assert few.plan(rtol=1e-3).method == "dense" and many.plan(rtol=1e-3).method == "fmm"
    assert np.isfinite(many.plan("dense").seconds)
