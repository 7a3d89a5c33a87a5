"""Operators on meshes that are far finer than the wavelength against dense matrices."""

import numpy as np
import pytest

import calderon as cal
from calderon.mlfmm import medium
from calderon.mlfmm.plan import is_integral
from calderon.operators.tree import terms_of
from catalogue import cases, graded

MESH = cal.mesh.sphere(radius=1.0, h=0.09)
RANDOM = np.random.default_rng(3)


def operators(mesh, k):
    green, p0, p1 = cal.Helmholtz(k), cal.P0(mesh), cal.P1(mesh)
    double, hypersingular = cal.double_layer(green, p1), cal.hypersingular(green, p1)
    return {
        "single, P0 to P1": cal.single_layer(green, p0, p1),
        "combined": 0.5 * cal.identity(p1) - double + (1j / abs(k)) * hypersingular,
    }


def distance(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def check(operator, mesh, k, rtol):
    fast, dense = operator.assemble("mlfmm", rtol=rtol), operator.assemble("dense")
    x, y = (RANDOM.standard_normal((n, 2)) + 1j * RANDOM.standard_normal((n, 2)) for n in operator.shape[::-1])
    assert 1e-9 < distance(fast @ x, dense @ x) <= rtol
    assert distance(fast.T @ y, dense.T @ y) <= rtol
    if len(x) == mesh.number_of_vertices:
        wave = np.exp(1j * k * mesh.vertices[:, 2:])
        assert distance(fast @ wave, dense @ wave) <= rtol
    return fast


def fields(mesh, k):
    green, space = cal.Helmholtz(k), cal.RWG(mesh)
    electric, magnetic = cal.electric_field(green, space), cal.magnetic_field(green, space)
    return {"electric": electric, "magnetic": magnetic, "combined": 0.5 * electric - 0.5 * magnetic}


@pytest.mark.variant
@pytest.mark.parametrize("name", cases(operators(MESH, 1.0), ["combined"]))
def test_bodies_that_are_small_against_the_wavelength(name, monkeypatch):
    monkeypatch.setattr(medium, "LEAVES", medium.LEAVES._replace(factors=()))
    operator = operators(MESH, 0.5)[name]
    fast = check(operator, MESH, 0.5, 1e-3)
    (levels,) = fast.levels
    assert levels
    assert all(level.points >= 3 and level.half == 0 for level in levels)
    assert f"{len(levels)} levels, {len(levels)} of them low-frequency ones" in str(fast)
    assert operator.plan("mlfmm", 1e-3).details.endswith("of them low-frequency ones")


@pytest.mark.parametrize(("k", "rtol"), cases([(5.0, 1e-3), (5.0, 5e-5), (5.0 + 1.5j, 1e-3)], [(5.0, 1e-3)]))
def test_meshes_that_are_refined_towards_a_point(k, rtol, monkeypatch):
    monkeypatch.setattr(medium, "LEAVES", medium.LEAVES._replace(factors=()))
    mesh = graded(MESH, 5.0)
    fast = check(operators(mesh, k)["combined"], mesh, k, rtol)
    assert {level.points > 0 for level in fast.levels[0]} == {False, True}


@pytest.mark.parametrize("name", cases(["electric", "magnetic"], []))
def test_currents_on_bodies_that_are_small_against_the_wavelength(name, monkeypatch):
    monkeypatch.setattr(medium, "LEAVES", medium.LEAVES._replace(factors=()))
    mesh = cal.mesh.sphere(radius=1.0, h=0.13)
    (levels,) = check(fields(mesh, 0.5)[name], mesh, 0.5, 1e-3).levels
    assert levels
    assert all(level.points for level in levels)


def test_currents_in_loops_are_not_lost(monkeypatch):
    monkeypatch.setattr(medium, "LEAVES", medium.LEAVES._replace(near=40_000.0))
    mesh = cal.mesh.sphere(radius=1.0, h=0.13)
    wave = cal.PlaneWave(direction=[0, 0, 1], polarization=[1, 0, 0], wavenumber=0.02)
    problem = cal.PECScattering(mesh, 0.02, formulation="efie")
    directions = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, -1]]
    fields = [problem.solve(wave, method=name, rtol=1e-3).far_field(directions) for name in ("mlfmm", "dense")]
    assert distance(*fields) <= 1e-3


@pytest.mark.variant
def test_currents_on_a_mesh_that_is_refined_towards_a_point(monkeypatch):
    monkeypatch.setattr(medium, "LEAVES", medium.LEAVES._replace(factors=(), low_factors=(1.0,)))
    operator = fields(graded(cal.mesh.sphere(radius=1.0, h=0.1), 5.0), 5.0)["combined"]
    fast, rows = operator.assemble("mlfmm", rtol=1e-3), np.arange(0, operator.shape[0], 17)
    x = RANDOM.standard_normal((operator.shape[1], 2)) + 1j * RANDOM.standard_normal((operator.shape[1], 2))
    assert distance((fast @ x)[rows], operator.entries(rows, slice(None)) @ x) <= 1e-3
    assert {level.points > 0 for level in fast.levels[0]} == {False, True}


def test_meshes_of_ten_elements_a_wavelength_have_plane_waves_alone():
    operator = operators(MESH, 5.0)["combined"]
    terms = [term for term in terms_of(operator) if is_integral(term)]
    assert medium.Medium(terms, operator.shape, 0.35, np.float32).least == 0
