"""Potentials as values, integrals over parts, capacitances, and bodies of different fluids."""

import logging
import math

import numpy as np
import pytest

import calderon as cal

BALL = cal.mesh.sphere(radius=0.5, h=0.35)
TWO = cal.mesh.merge([BALL, BALL.translated([1.6, 0, 0])])
POINTS = np.array([[[2.0, 0.3, 0.1], [0.0, 1.5, -1.0]], [[0, 0, 3.0], [-2.0, 0, 0]]])
EPS0 = 8.8541878128e-12


def test_potentials_are_values():
    density = cal.Function.interpolate(cal.P1(BALL), lambda x: 1 + x[:, 0])
    u = cal.single_layer_potential(cal.Laplace(), density)
    v = cal.double_layer_potential(cal.Laplace(), density)
    flat = POINTS.reshape(-1, 3)
    assert u(POINTS).shape == (2, 2) and u(POINTS).ravel() == pytest.approx(u.evaluate(flat))
    assert u(POINTS[0, 0]) == pytest.approx(u.evaluate(flat)[0]) and u(POINTS[0, 0]).shape == ()
    w = np.float64(2) * u + v / 2 - u
    assert w(POINTS) == pytest.approx(u(POINTS) + v(POINTS) / 2)
    assert w.gradient(flat) == pytest.approx(u.gradient(flat) + v.gradient(flat) / 2)
    for wrong in (lambda: u + 1, lambda: u * "a"):
        with pytest.raises((TypeError, ValueError)):
            wrong()
    with pytest.raises(ValueError, match="three coordinates"):
        u([1.0, 2.0])


def test_integrals_over_tags():
    density = cal.Function.interpolate(cal.P1(TWO), lambda x: 1.0 + 0 * x[:, 0])
    tags = np.unique(TWO.tags).tolist()
    assert density.integral(tags[0]) == pytest.approx(BALL.area)
    assert density.integral(tags) == pytest.approx(density.integral())
    with pytest.raises(cal.MeshError, match="unknown tags"):
        density.integral("hull")
    current = cal.VectorFunction.interpolate(cal.RWG(TWO), lambda x: x)
    assert sum(current.integral(tag) for tag in tags) == pytest.approx(current.integral())


def test_capacitances_of_two_balls():
    """C. J. Bouwkamp: equal conducting spheres of radius a at the distance d; images give C11 and C12."""
    mesh = cal.mesh.merge(
        [cal.mesh.sphere(radius=0.5, h=0.25), cal.mesh.sphere(radius=0.5, h=0.25).translated([2, 0, 0])]
    )
    c = cal.LaplaceDirichlet(mesh).capacitance_matrix()
    u = np.arccosh(2.0 / (2 * 0.5))
    n = np.arange(1, 40)
    scale = 4 * np.pi * EPS0 * 0.5 * np.sinh(u)
    own, mutual = scale * np.sum(1 / np.sinh((2 * n - 1) * u)), -scale * np.sum(1 / np.sinh(2 * n * u))
    assert c == pytest.approx(np.array([[own, mutual], [mutual, own]]), rel=0.01)
    assert c == pytest.approx(c.T, rel=1e-5)
    tags = np.unique(mesh.tags).tolist()
    assert cal.LaplaceDirichlet(mesh).capacitance_matrix(tags) == pytest.approx(c)
    with pytest.raises(ValueError, match="belong to no conductor"):
        cal.LaplaceDirichlet(mesh).capacitance_matrix(tags[:1])


def test_bodies_of_different_fluids():
    """With equal fluids the tables give what the numbers give; far apart, each body scatters alone."""
    tags, wave = np.unique(TWO.tags).tolist(), cal.PlaneWave([1, 0.5, 0])
    given = {"wavenumber": 1.0, "interior_wavenumber": 1.4, "density_ratio": 1.3}
    single = cal.FluidTransmission(TWO, **given).solve(wave, rtol=1e-8)
    table = cal.FluidTransmission(TWO, 1.0, dict.fromkeys(tags, 1.4), dict.fromkeys(tags, 1.3)).solve(wave, rtol=1e-8)
    assert table.surface.coefficients == pytest.approx(single.surface.coefficients, abs=5e-5)
    places = np.array([[0.1, 0, 0], [1.6, 0.1, 0], [0, 0, 2.0]])
    assert table.field(places) == pytest.approx(single.field(places), abs=2e-3)
    apart = cal.mesh.merge([BALL, BALL.translated([400.0, 0, 0])])
    tags = np.unique(apart.tags).tolist()
    both = cal.FluidTransmission(apart, 1.0, {tags[0]: 1.4, tags[1]: 2.0}, {tags[0]: 1.3, tags[1]: 0.5})
    alone = cal.FluidTransmission(BALL, **given)
    assert both.solve(wave).field(places[:1]) == pytest.approx(alone.solve(wave).field(places[:1]), rel=0.01)
    assert both.at(2.0).interior_wavenumber == {tags[0]: 2.8, tags[1]: 4.0}
    with pytest.raises(ValueError, match="each tag has one fluid"):
        cal.FluidTransmission(TWO, 1.0, {0: 1.4}, 1.3)


@pytest.mark.parametrize("load", [lambda x: math.sin(x[0]), lambda x: 1.0 if x[0] > 0 else 0.0])
def test_a_load_that_is_not_vectorised_gets_that_advice(load):
    with pytest.raises((TypeError, ValueError)) as caught:
        cal.P1(BALL).load_vector(load)
    assert "must be vectorised" in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


def test_matrices_have_the_name_of_scipy_for_their_entries():
    matrix = cal.single_layer(cal.Laplace(), cal.P1(BALL)).assemble()
    assert matrix.toarray() == pytest.approx(matrix @ np.eye(matrix.shape[1]))


def test_compiling_is_reported_once(caplog):
    from calderon.backends import kernel_cache

    kernel_cache._announce.cache_clear()
    with caplog.at_level(logging.INFO, logger="calderon"):
        kernel_cache.report_compilation("one")
        kernel_cache.report_compilation("two")
    assert [record.message for record in caplog.records] == ["compiling kernels (once, kept on disk)"]


def test_objects_say_in_one_line_what_they_are():
    problem = cal.SoundHardScattering(BALL, 1.0)
    solution = problem.solve(cal.PlaneWave([1, 0, 0]))
    charge = cal.LaplaceDirichlet(BALL).solve(1.0)
    for each in (problem, solution, solution.info, solution.surface, charge, charge.layers[0], 2 * charge.layers[0]):
        text = repr(each)
        assert "\n" not in text and len(text) < 250 and text.startswith(type(each).__name__), text
        assert each._repr_html_().startswith(f"<b>{type(each).__name__}</b><pre>")
    assert "42 unknowns" not in repr(cal.P1(BALL)) and "unknowns (P1)" in repr(problem)


def test_signatures_name_their_arguments():
    """All public functions and methods name them, so that editors complete them; several planes may be shown."""
    import inspect

    given = [getattr(cal, name) for name in cal.__all__]
    classes = [each for each in given if inspect.isclass(each) and not issubclass(each, (Exception, Warning))]
    methods = [each for one in classes for name, each in inspect.getmembers(one, callable) if name[0] != "_"]
    for function in [*filter(inspect.isfunction, given), *classes, *methods]:
        kinds = {each.kind: name for name, each in inspect.signature(function).parameters.items()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, function
        assert kinds.get(inspect.Parameter.VAR_POSITIONAL, "planes") == "planes", function
    assert {"voltages", "method", "maxiter", "matrix_file"} < set(inspect.signature(cal.PECAntenna.solve).parameters)
