"""calderon run --plan: what a matrix will take, without computing it."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import calderon as cal
from calderon.answers import WRONG_INPUT
from calderon.cli import app
from calderon.hmatrix.galerkin import plan_hmatrix
from calderon.operators.lazy_operator import LazyOperator
from calderon.operators.memory_estimate import preparation_bytes
from surface_case import surface_case

SMALL = "surface = []\n[solver]\nrtol = 1e-3\nmethod = "
FINE = 'shape = "sphere"\nradius = 1\nh = 0.1'


def planned(text: str, folder: Path) -> str:
    """The printed plan, in which spaces and lines do not matter."""
    (folder / "case.toml").write_text(text)
    result = CliRunner().invoke(app, ["run", "--plan", str(folder / "case.toml")])
    assert result.exit_code == 0, result.output
    assert [each.name for each in folder.iterdir()] == ["case.toml"]
    return re.sub(r"\s+", " ", result.output)


@pytest.fixture(autouse=True)
def no_matrix(monkeypatch):
    """Assembling is an error."""
    monkeypatch.delattr(LazyOperator, "assemble")


def test_plane_waves_print_levels_degrees_bytes_and_seconds(tmp_path):
    text = planned(surface_case(SMALL + '"mlfmm"', FINE, wavenumber=10), tmp_path)
    plan = cal.SoundHardScattering(cal.mesh.sphere(1.0, 0.1), 10.0).plan(method="mlfmm", rtol=1e-3)
    assert "method mlfmm, multilevel fast multipole operator numbers single precision" in text
    assert f"tree {plan.details}" in text and "degrees to" in plan.details
    assert re.search(r"memory [\d.]+ MB, [\d.]+ .B are free", text)
    assert re.search(r"set-up about \S+ s one product about \S+ s", text)


def test_the_choice_of_auto_is_explained(tmp_path, monkeypatch):
    few = planned(surface_case(SMALL + '"auto"', FINE), tmp_path)
    assert 'method dense, dense matrix why "auto" stores the entries of up to 8192 unknowns' in few
    monkeypatch.setattr("calderon.operators.methods.DENSE_BYTES", 16 * 100**2)
    text = planned(surface_case(SMALL + '"auto"', FINE, wavenumber=10), tmp_path)
    chosen = re.search(r"method (\w+), .* why chosen as (\w+): about .*, not (\w+): about", text)
    assert chosen and chosen[1] == chosen[2]
    assert {chosen[2], chosen[3]} == {"mlfmm", "hmatrix"}


def test_a_sweep_is_planned_at_its_highest_frequency_and_factors_are_counted(tmp_path):
    case = surface_case(SMALL + '"dense"\nsolver = "lu"').replace(
        "wavenumber = 1.5", 'frequency = ["300 Hz", "400 Hz"]\nspeed_of_sound = "1500 m/s"'
    )
    text = planned(case, tmp_path)
    unknowns = int(re.search(r"unknowns (\d+)", text)[1])
    assert "planned, of the sweep 400 Hz" in text
    assert f"memory {cal.backends.format_bytes(2 * 16 * unknowns**2)}" in text


def test_a_plan_has_the_precision_of_the_case(tmp_path):
    problem, plans = cal.SoundHardScattering(cal.mesh.sphere(1.0, 0.1), 10.0), []
    for precision in ("single", "double"):
        text = planned(surface_case(SMALL + f'"hmatrix"\nprecision = "{precision}"', FINE, wavenumber=10), tmp_path)
        plan = problem.plan(method="hmatrix", rtol=1e-3, precision=precision)
        assert f"numbers {precision} precision memory {cal.backends.format_bytes(plan.nbytes)}," in text
        assert f" in {precision} precision" in str(plan)
        plans.append(plan)
    single, double = plans  # what prepares the matrix is the same
    assert single.nbytes < double.nbytes and single.product_seconds == double.product_seconds / 2
    with pytest.raises(ValueError, match="hold 8e-05 and above with precision='single'"):
        problem.plan(method="mlfmm", rtol=1e-4, precision="single")


def test_h_matrices_of_short_waves_are_larger():
    """Measured on a sphere of 10,002 vertices: 155 MB where its diameter times the wavenumber is 40, 84 MB where it
    is 1."""
    space = cal.P1(cal.mesh.sphere(1.0, 0.1))
    long, short = (cal.single_layer(cal.Helmholtz(k), space) for k in (0.5, 20.0))
    plans = [
        (plan_hmatrix(each).nbytes - preparation_bytes(each), plan_hmatrix(each).seconds) for each in (long, short)
    ]
    assert 155 / 84 / 1.2 < plans[1][0] / plans[0][0] < 155 / 84 * 1.2 and plans[1][1] > 1.4 * plans[0][1]


def test_a_method_that_stores_nothing_has_no_estimate(tmp_path):
    assert "no entries" in planned(surface_case(SMALL + '"matrix-free"'), tmp_path)


def test_a_method_for_other_equations_is_refused_with_its_line(tmp_path):
    (tmp_path / "case.toml").write_text(surface_case(SMALL + '"fmm"'))
    result = CliRunner().invoke(app, ["run", "--plan", str(tmp_path / "case.toml")])
    assert result.exit_code == WRONG_INPUT
    assert 'line 14: solver.method = "fmm"' in result.output


def test_a_solid_and_fields_in_time_have_plans(tmp_path):
    solid = CliRunner().invoke(app, ["example", "hollow-sphere", "--plan"])
    assert solid.exit_code == 0 and re.search(r"solution +about \S+ s", solid.output)
    in_time = CliRunner().invoke(app, ["example", "cavity", "--plan"])
    assert in_time.exit_code == 0 and re.search(r"unknowns +157500\s", in_time.output)
    assert re.search(r"steps +693 of", in_time.output) and "are free" in in_time.output
