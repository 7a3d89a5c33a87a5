"""Steps of sweeps over materials and potentials against problems solved one by one."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.errors import AccuracyWarning


def coated(resin, around=1.0, h=0.5):
    mesh = cal.mesh.joined({"core": cal.mesh.sphere(1.0, h), "coat": cal.mesh.sphere(1.5, 1.2 * h)})
    regions = {"coat": cal.Region(["core", "coat"], permittivity=resin)}
    return cal.StaticProblem(mesh, regions, {"core": "core"}, cal.Region(permittivity=around))


X = np.array([[0, 0, 1.2], [0, 2.0, 0.5]])


@pytest.mark.parametrize("method", ["dense", pytest.param("fmm", marks=pytest.mark.variant)])
def test_steps_are_solutions(method, tmp_path):
    options = {"method": method, **({} if method == "dense" else {"solver": "gmres", "rtol": 1e-8})}
    charge, constants, around = [cal.PointCharge([0, 0, 2.5], 1e-11)], [2.0, 1e3], [1.0, 80.0]
    found = coated(4.0).sweep({"coat": constants, "outside": around}, {"core": 1.0}, sources=charge, **options)
    for step, resin, outer in zip(found, constants, around, strict=True):
        alone = coated(resin, outer).solve({"core": 1.0}, sources=charge, **options)
        assert step.totals["core"] == pytest.approx(alone.totals["core"], rel=1e-7)
        assert step.field(X) == pytest.approx(alone.field(X), rel=1e-7)
        assert step.flux_density(X) == pytest.approx(alone.flux_density(X), rel=1e-6)
    found[1].save(tmp_path / "step.h5")
    assert np.array_equal(cal.load(tmp_path / "step.h5").field(X), found[1].field(X))


def test_steps_of_potentials_and_charges():
    problem = coated(4.0)
    for step, value in zip(problem.sweep(charges={"core": [0.0, 1e-9, 3e-9]}), (0.0, 1e-9, 3e-9), strict=True):
        assert step.totals["core"] == pytest.approx(value)
        assert step.potentials["core"] == pytest.approx(problem.solve(charges={"core": value}).potentials["core"])
    both = problem.sweep({"coat": [2.0, 2.0, 3.0]}, voltages={"core": [1.0, 2.0, 2.0]})
    assert both[1].totals["core"] == pytest.approx(2 * both[0].totals["core"], rel=1e-10)
    assert both[2].totals["core"] > both[1].totals["core"]


@pytest.mark.parametrize(
    "given, message",
    [
        ({"materials": {"coat": [2.0, 3.0]}, "voltages": {"core": [1.0, 2.0, 3.0]}}, "one length"),
        ({"materials": {"coat": 2.0}, "voltages": {"core": 1.0}}, "one length"),
        ({"materials": {"oil": [2.0]}, "voltages": {"core": 1.0}}, "unknown region 'oil'"),
        ({"materials": {"coat": [-2.0]}, "voltages": {"core": 1.0}}, "positive"),
        ({"materials": {"coat": [2.0]}, "voltages": {"core": 1.0}, "matrix_file": "a.h5"}, "matrix_file"),
        (
            {"materials": {"coat": [2.0]}, "voltages": {"core": 1.0}, "preconditioner": "near", "solver": "gmres"},
            "preconditioned by",
        ),
    ],
)
def test_what_is_no_sweep(given, message):
    with pytest.raises(ValueError, match=message):
        coated(4.0, h=0.9).sweep(**given)


def test_a_sweep_warns_once_of_constants_too_far_apart():
    problem = coated(4.0, h=0.9)
    with pytest.warns(AccuracyWarning, match=r"factor of 2e\+09") as noticed:
        problem.sweep({"coat": [1e8, 2e9, 1e9]}, voltages={"core": 1.0})
    assert len(noticed) == 1
