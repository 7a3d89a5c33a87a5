"""Options that do not go together are refused before a mesh is made, in the words of the one who wrote them."""

import inspect

import pytest

import calderon as cal
from calderon.case.solver import RealSolver
from calderon.formulations.options import DEFAULTS, SolveChoices, SolveOptions
from calderon.kinds.periodic.model import PeriodicSolver
from calderon.kinds.planar.model import PlanarSolver
from calderon.kinds.reflectarray.model import ReflectarraySolver
from calderon.kinds.surface.model import Solver

REFUSED = [
    ({"method": "mlfmm", "rtol": 1e-4, "precision": "single"}, r"rtol=0.0001 takes products of 1e-05: .* hold 8e-05"),
    ({"method": "mlfmm", "compression_rtol": 1e-5, "precision": "single"}, r"^(.*\n)*.*compression_rtol=1e-05: "),
    ({"method": "mlfmm", "compression_rtol": 1e-10}, r"compression_rtol=1e-10: products by method 'mlfmm' hold 1e-09"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_tolerances_below_what_a_method_holds(options, message):
    with pytest.raises(ValueError, match=message):
        Solver(**options)  # the table of a case file
    with pytest.raises(ValueError, match=message):
        SolveOptions(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "hmatrix", "precision": "mixed"}, "precision='mixed' is for dense matrices"),
        ({"method": "mlfmm", "precision": "mixed"}, "precision='mixed' is for dense matrices"),
        ({"method": "matrix-free", "backend": "numba+opencl"}, "accept several backends"),
    ],
)
def test_precisions_and_backends_that_a_method_lacks(options, message):
    with pytest.raises(ValueError, match=message):
        SolveOptions(**options)
    problem = cal.SoundHardScattering(cal.mesh.sphere(1.0, 0.8), 1.0)
    with pytest.raises(ValueError, match=message):
        problem.solve(cal.PlaneWave([0, 0, 1], 1.0), **options)


def test_tolerances_that_are_held_are_accepted():
    for options in (
        {"method": "mlfmm", "rtol": 1e-3, "precision": "single"},
        {"method": "mlfmm", "rtol": 1e-5, "compression_rtol": 1e-4, "precision": "single"},
        {"method": "mlfmm", "rtol": 1e-8},
        {"method": "hmatrix", "rtol": 1e-5, "precision": "single"},
        {"method": "auto", "rtol": 1e-6, "precision": "single"},
    ):
        assert Solver(**options).method == SolveOptions(**options).method


SOLVED = (
    cal.SoundHardScattering, cal.FluidTransmission, cal.LaplaceDirichlet, cal.LaplaceNeumann, cal.PECScattering,
    cal.DielectricScattering, cal.PECAntenna, cal.ElasticSolid, cal.BondedSolids, cal.PlanarProblem, cal.PeriodicCell,
)  # fmt: skip


@pytest.mark.parametrize("kind", SOLVED)
def test_options_and_defaults_are_the_same_for_every_physics(kind):
    """The preconditioner depends on the problem, and is shown without a default."""
    shown = inspect.signature(kind.solve).parameters
    assert set(SolveChoices.__annotations__) <= set(shown)
    for name in SolveChoices.__annotations__:
        assert shown[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert shown[name].default == (... if name == "preconditioner" else DEFAULTS[name])


@pytest.mark.parametrize("table", [Solver, PeriodicSolver, PlanarSolver, ReflectarraySolver, RealSolver])
def test_case_files_have_the_defaults_of_problems(table):
    given = table()
    common = [name for name in DEFAULTS if hasattr(given, name) and name != "preconditioner"]
    assert "rtol" in common and {name: getattr(given, name) for name in common} == {n: DEFAULTS[n] for n in common}
