"""The methods of solve(): compressed, automatic and without a matrix, against the dense one."""

import numpy as np
import pytest

import calderon.mesh as meshes
from calderon.formulations import (
    FluidTransmission,
    ImpedanceScattering,
    LaplaceDirichlet,
    PECScattering,
    SoundHardScattering,
    SoundSoftScattering,
)
from calderon.formulations.options import SolveOptions, largest_dense
from calderon.greens import Helmholtz
from calderon.hmatrix.galerkin import WORK
from calderon.operators import single_layer
from calderon.operators.methods import fastest, plans
from calderon.solvers.iteration import ToleranceError
from calderon.spaces import P0, P1
from calderon.waves import PlaneWave

K = 3.0
WAVE = PlaneWave([1, 0.2, 0.1], K)
PROBLEMS = {
    "hard": (lambda mesh: SoundHardScattering(mesh, K), WAVE),
    "soft": (lambda mesh: SoundSoftScattering(mesh, K), WAVE),
    "impedance": (lambda mesh: ImpedanceScattering(mesh, K, lambda x: 1 + 0.5 * x[:, 0]), WAVE),
    "fluid": (lambda mesh: FluidTransmission(mesh, K, 1.5 * K, 2.0), WAVE),
    "Dirichlet": (LaplaceDirichlet, lambda x: x[:, 0]),
    "conductor": (
        lambda mesh: PECScattering(mesh, K, formulation="cfie"),
        PlaneWave([1, 0, 0], K, polarization=[0, 0, 1]),
    ),
}


FURTHER = {"soft", "Dirichlet", "conductor"}
CONDITION = {"Dirichlet": 30}  # V s = g is of the first kind: errors of the matrix count by its condition number


@pytest.fixture(scope="module")
def body():
    return meshes.ellipsoid((1.0, 0.5, 0.5), 0.22)


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.variant] if each in FURTHER else []) for each in PROBLEMS]
)
def test_h_matrix_and_dense_matrix_agree_to_the_tolerance(name, body):
    pose, data = PROBLEMS[name]
    problem = pose(body)
    dense = problem.solve(data, rtol=1e-9).surface.coefficients
    for rtol in (1e-3, 1e-6):
        solution = problem.solve(data, method="hmatrix", rtol=rtol)
        error = np.linalg.norm(solution.surface.coefficients - dense) / np.linalg.norm(dense)
        assert error < CONDITION.get(name, 3) * rtol, (rtol, error)
        assert "H-matri" in solution.info.matrix
        assert problem.system.key[:2] == ("hmatrix", rtol / 10)


def test_auto_is_dense_for_few_unknowns_and_compressed_above(body, monkeypatch):
    problem = SoundHardScattering(body, K)
    assert "dense" in problem.solve(WAVE, method="auto", compression_rtol=1e-3).info.matrix
    matrix = problem.system.matrix
    assert problem.solve(WAVE).info.assembly_seconds == 0 and problem.system.matrix is matrix
    monkeypatch.setattr("calderon.operators.methods.DENSE_BYTES", 16 * problem.unknowns**2 - 1)
    assert "H-matri" in problem.solve(WAVE, method="auto", rtol=1e-3).info.matrix
    assert problem.system.key[:2] == ("hmatrix", 1e-3 / 10)
    problem.solve(WAVE, method="auto", rtol=1e-3, compression_rtol=1e-2)
    assert problem.system.key[:2] == ("hmatrix", 1e-2)
    assert problem.solve(WAVE, method="auto", solver="lu").info.method == "LU"  # needs entries, so it is dense
    problem = SoundHardScattering(body, K)
    problem.solve(WAVE, method="auto", rtol=1e-4)
    matrix = problem.system.matrix
    problem.monostatic_target_strength([[1.0, 0, 0]])  # by the given matrix and its accuracy
    assert problem.system.matrix is matrix


def test_options_for_a_number_of_unknowns():
    few, many = largest_dense(), largest_dense() + 1
    assert SolveOptions("auto").for_unknowns(few).method == "dense"
    assert SolveOptions("auto").for_unknowns(many).method == "hmatrix"
    for method in ("dense", "matrix-free", "hmatrix"):
        assert SolveOptions(method).for_unknowns(many).method == method


def test_products_of_plane_waves_have_a_tolerance_that_they_hold(body):
    """A tenth of the solver's by default is 1e-7, which they hold for few operators: "auto" failed, or took minutes."""
    assert [SolveOptions(method, 1e-6).assembly_rtol for method in ("hmatrix", "mlfmm", "auto")] == [1e-7, 1e-6, 1e-6]
    assert SolveOptions("mlfmm", 1e-3).assembly_rtol == 1e-4
    assert SolveOptions("mlfmm", compression_rtol=1e-7).assembly_rtol == 1e-7
    operator = SoundHardScattering(body, K).system.operator
    found = [{plan.method for plan in plans(operator, rtol)} for rtol in (1e-6, 1e-7)]
    assert found == [{"dense", "hmatrix", "mlfmm"}, {"dense", "hmatrix"}]


def test_plans_of_h_matrices_count_the_triangles_of_functions(body):
    """P0 has twice the unknowns of P1, with one triangle instead of six: a third of the integrals."""
    plans = [single_layer(Helmholtz(K), space(body)).plan("hmatrix", 1e-4) for space in (P0, P1)]
    assert plans[0].seconds < plans[1].seconds


def test_auto_compresses_where_plane_waves_do_not_hold_the_tolerance(body, monkeypatch):
    """At very long waves, for example. A request for plane waves is refused; near entries precondition both."""

    def refuse(*_):
        raise ToleranceError("plane waves have an error of 2.8e-06 on 64 rows for rtol=1e-06: increase rtol")

    monkeypatch.setattr("calderon.operators.methods.DENSE_BYTES", 1)
    monkeypatch.setattr("calderon.mlfmm.operator.prepared", refuse)
    # so that plane waves seem to be the fastest
    monkeypatch.setattr("calderon.hmatrix.galerkin.WORK", WORK._replace(algebra=1e15))
    problem = SoundHardScattering(body, K)
    with pytest.raises(ToleranceError, match="increase rtol"):
        problem.solve(WAVE, method="mlfmm")
    metal, wave = PECScattering(body, K, formulation="efie"), PROBLEMS["conductor"][1]
    assert metal.solve(wave, method="auto", preconditioner="near").info.method.endswith("near")
    for solution in (problem.solve(WAVE, method="auto"), *problem.solve_all([WAVE], method="auto")):
        assert "H-matri" in solution.info.matrix
        text = "not mlfmm: plane waves have an error of 2.8e-06 on 64 rows for rtol=1e-06"
        assert solution.info.matrix.endswith(text)


def test_monostatic_sweep_with_a_compressed_matrix(body):
    """More directions than are iterated together, none of them factorised."""
    angles = np.linspace(0, np.pi, 19)
    directions = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    exact = SoundHardScattering(body, K).monostatic_target_strength(directions)
    problem = SoundHardScattering(body, K)
    problem.solve(WAVE, method="hmatrix", rtol=1e-5)
    swept = problem.monostatic_target_strength(directions, rtol=1e-5)
    assert problem.system.factors is None and problem.system.key[:2] == ("hmatrix", 1e-5 / 10)
    assert np.abs(swept - exact).max() < 1e-3


@pytest.mark.parametrize("formulation", ["efie", pytest.param("cfie", marks=pytest.mark.variant)])
def test_hierarchical_factors_precondition_conductors(body, formulation):
    """Few iterations where the electric equation alone needs many; a sweep uses them by default."""
    problem = PECScattering(body, K, formulation=formulation)
    wave = PROBLEMS["conductor"][1]
    solution = problem.solve(wave, method="hmatrix", preconditioner="hlu", rtol=1e-5)
    dense = PECScattering(body, K, formulation=formulation).solve(wave, rtol=1e-9)
    error = np.linalg.norm(solution.surface.coefficients - dense.surface.coefficients)
    assert error < 1e-3 * np.linalg.norm(dense.surface.coefficients)
    assert solution.info.iterations <= 10
    assert "hlu" in solution.info.method and solution.info.factorisation_seconds > 0
    angles = np.linspace(0, np.pi, 7)
    factors = problem.system.factors
    swept = problem.monostatic_rcs(angles, 0.0)
    assert problem.system.factors is factors
    exact = PECScattering(body, K, formulation=formulation).monostatic_rcs(angles, 0.0)
    assert np.abs(10 * np.log10(swept / exact)).max() < 0.02


def test_hierarchical_factors_are_for_compressed_matrices(body):
    with pytest.raises(ValueError, match="preconditioner"):
        SoundHardScattering(body, K).solve(WAVE, preconditioner="hlu")


def test_a_matrix_that_stays_on_a_device_gives_the_same_solution(opencl, body):
    problem = SoundHardScattering(body, K)
    there = problem.solve(WAVE, rtol=1e-9, backend="opencl", keep_on_device=True).surface.coefficients
    assert "opencl" in str(problem.system.matrix)
    here = SoundHardScattering(body, K).solve(WAVE, rtol=1e-9).surface.coefficients
    assert np.linalg.norm(there - here) < 1e-7 * np.linalg.norm(here)
    with pytest.raises(ValueError, match="keep_on_device"):
        problem.solve(WAVE, keep_on_device=True)


def test_sweeps_after_a_solution_on_a_device_without_factors(opencl, body):
    """The default needs LU, which OpenCL has not: the matrix comes to the host. Impossible options are named."""
    directions = [[1.0, 0, 0], [0, 1.0, 0]]
    problem = SoundHardScattering(body, K)
    problem.solve(WAVE, backend="opencl", keep_on_device=True)
    there = problem.monostatic_target_strength(directions, solver="gmres")
    assert problem.system.key[4]
    assert np.allclose(problem.monostatic_target_strength(directions), there, atol=1e-4)
    assert problem.system.key == ("dense", None, "opencl", "double", False)
    with pytest.raises(ValueError, match="no LU factorisation: .* choose solver='gmres', or omit keep_on_device"):
        problem.monostatic_target_strength(directions, keep_on_device=True)
    assert np.allclose(problem.monostatic_target_strength(directions, backend="numba"), there, atol=1e-4)


def test_bodies_far_from_each_other_are_planned_as_two_and_take_no_plane_waves():
    one = meshes.sphere(radius=1.0, h=0.06)
    two = meshes.merge([one, one.translated([1000.0, 0, 0])])
    alone, both = (single_layer(Helmholtz(K), P1(mesh)) for mesh in (one, two))
    first, second = ({each.method: each for each in plans(operator, 1e-4)} for operator in (alone, both))
    assert second["mlfmm"].nbytes > 10 * second["hmatrix"].nbytes
    assert 1.5 < second["hmatrix"].nbytes / first["hmatrix"].nbytes < 3
    assert fastest(both, 1e-4)[0] == "hmatrix"
