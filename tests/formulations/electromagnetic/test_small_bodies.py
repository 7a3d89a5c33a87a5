"""Bodies far below the wavelength, with and without handles: fields keep the static limit, or are refused."""

import re
import warnings

import numpy as np
import pytest

import calderon as cal

pytestmark = [
    pytest.mark.filterwarnings("ignore:wavenumber times diameter"),
    pytest.mark.filterwarnings("ignore:formulation='mfie'"),
    pytest.mark.filterwarnings("ignore:the currents leave 0.8"),
]
DIRECTION = np.array([1.0, 2.0, -1.0]) / np.sqrt(6)
POLARIZATION = np.array([1.0, 0.0, 1.0]) / np.sqrt(2)
THETA, PHI = np.array([0.3, 1.2, 2.2, 3.0]), np.array([0.2, 0.5, 1.0, 2.0])
SIZES = [1e-2, 1e-4, 1e-6]
"""k times diameter."""


def far_field(problem, **options):
    """F / k^2, which has a limit."""
    wave = cal.PlaneWave(DIRECTION, problem.wavenumber, polarization=POLARIZATION)
    return problem.solve(wave, **options).far_field(THETA, PHI) / problem.wavenumber**2


def decibels(one, two):
    lengths = [np.linalg.norm(each, axis=-1) for each in (one, two)]
    return np.abs(20 * np.log10(lengths[0] / lengths[1])).max()


def difference(one, two):
    return np.linalg.norm(one - two) / np.linalg.norm(two)


def at_rest(mesh, make):
    """The limit, of bodies without loss, by extrapolation of the real part, which is even in k, from larger sizes."""
    coarse, fine = (far_field(make(size / mesh.diameter), solver="lu").real for size in (0.2, 0.1))
    return (4 * fine - coarse) / 3


def blocks(filled):
    """The surface of unit cubes, two triangles a face."""
    filled, number, triangles = np.pad(np.asarray(filled, bool), 1), {}, []
    for axis, side in np.ndindex(3, 2):
        free = filled & ~np.roll(filled, 1 - 2 * side, axis)
        u, v = np.roll(np.eye(3, dtype=int), axis + 1, axis=1)[0], np.roll(np.eye(3, dtype=int), axis + 2, axis=1)[0]
        for cube in np.argwhere(free):
            base = cube + side * np.roll([1, 0, 0], axis)
            a, b, c, d = (number.setdefault(tuple(base + step), len(number)) for step in (0 * u, u, u + v, v))
            triangles += [[a, b, c], [a, c, d]] if side else [[a, c, b], [a, d, c]]
    corners = np.array(list(number), float)
    return cal.mesh.TriangleMesh(corners - corners.mean(axis=0), np.array(triangles))


@pytest.fixture(scope="module")
def ring():
    return cal.mesh.torus(1.0, 0.3, 0.3)


@pytest.fixture(scope="module")
def pretzel():
    """Genus 2, and no symmetry."""
    filled = np.zeros((5, 4, 2), bool)
    filled[:, :3, 0] = True
    filled[1, 1, 0] = filled[3, 1, 0] = False
    filled[4, 3, 0] = filled[0, 0, 1] = True
    mesh = blocks(filled)
    assert mesh.is_closed
    assert mesh.number_of_vertices - mesh.number_of_edges + mesh.number_of_triangles == -2
    return mesh


FORMULATIONS = {"efie": {"formulation": "efie"}, "dual": {}, "primal": {"testing": "primal"}}


@pytest.fixture(scope="module")
def electric_limit(ring):
    return at_rest(ring, lambda k: cal.PECScattering(ring, k, formulation="efie"))


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_ring_has_the_static_limit_of_the_electric_equation(ring, electric_limit, name):
    """Primal tests are that far from it on this mesh at larger sizes, too."""
    for size in SIZES:
        problem = cal.PECScattering(ring, size / ring.diameter, **FORMULATIONS[name])
        found = far_field(problem, solver="lu")
        assert decibels(found, electric_limit) < {"efie": 1e-3, "dual": 0.05, "primal": 0.3}[name]
        assert decibels(far_field(problem), found) < 1e-3  # by GMRES


@pytest.mark.parametrize("h", [0.3, pytest.param(0.18, marks=pytest.mark.variant)])
def test_errors_above_005_db_are_stated_at_every_size(h):
    """The part of the incident wave that is left inside of a ring is an estimate of the error of combined equations,
    which is one of the mesh: it does not depend on the size."""
    ring = cal.mesh.torus(1.0, 0.3, h)
    for size in (1.0, 1e-2, 1e-6):
        k = size / ring.diameter
        right = far_field(cal.PECScattering(ring, k, formulation="efie"), solver="lu")
        for name in ("dual", "primal"):
            with warnings.catch_warnings(record=True) as given:
                warnings.simplefilter("always")
                found = far_field(cal.PECScattering(ring, k, testing=name), solver="lu")
            texts = [str(each.message) for each in given if "of the incident wave" in str(each.message)]
            stated = [float(re.search(r"leave (\S+) % ", text)[1]) / 100 for text in texts]
            wrong = difference(found, right)
            assert stated or (name == "dual" and wrong < 0.0058)
            assert all(wrong < each < 12 * wrong for each in stated)
            assert all(("take testing='dual'" in text) == (name == "primal") for text in texts)


def test_meshes_too_coarse_for_an_estimate_are_warned_of(pretzel):
    with pytest.warns(cal.AccuracyWarning, match=r"the error is not known, .* refine the mesh"):
        far_field(cal.PECScattering(pretzel, 0.1), solver="lu")


@pytest.mark.filterwarnings("ignore:no point inside")
@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_body_of_genus_2_keeps_its_static_limit(pretzel, name):
    """Each formulation its own: two triangles a face are coarse for the combined ones."""
    limit = at_rest(pretzel, lambda k: cal.PECScattering(pretzel, k, **FORMULATIONS[name]))
    for size in SIZES:
        problem = cal.PECScattering(pretzel, size / pretzel.diameter, **FORMULATIONS[name])
        assert decibels(far_field(problem, solver="lu"), limit) < 5e-3


def test_without_the_equations_of_handles_a_ring_is_wrong(ring, electric_limit, monkeypatch):
    monkeypatch.setattr("calderon.formulations.electromagnetic.handles.HANDLES_BELOW", 0.0)
    k = 1e-4 / ring.diameter
    assert decibels(far_field(cal.PECScattering(ring, k), solver="lu"), electric_limit) > 1


def test_compressed_combined_equations_with_handles(ring):
    problem = cal.PECScattering(ring, 1e-3 / ring.diameter)
    dense = far_field(problem, solver="lu")
    for method in ("hmatrix", "mlfmm"):
        assert decibels(far_field(problem, method=method, rtol=1e-5), dense) < 2e-3
    swept = [problem.monostatic_rcs(THETA, PHI, method="dense", solver=solver) for solver in ("lu", "gmres")]
    assert np.allclose(*swept, rtol=1e-4)


def test_the_magnetic_equation_alone_is_refused_with_handles_and_at_low_frequency(ring):
    with pytest.raises(ValueError, match=r"1 handle\(s\) .* take formulation='cfie'"):
        cal.PECScattering(ring, 1.0 / ring.diameter, formulation="mfie")
    ellipsoid = cal.mesh.ellipsoid([1.0, 0.6, 0.3], 0.4)
    with pytest.raises(ValueError, match="k times diameter = 0.01: below 0.05"):
        cal.PECScattering(ellipsoid, 0.01 / ellipsoid.diameter, formulation="mfie")


@pytest.fixture(scope="module")
def ball():
    return cal.mesh.sphere(1.0, 0.5)


@pytest.mark.parametrize("ka", [1e-1, 1e-3, 1e-4, 1e-6])
def test_small_dielectric_spheres(ball, ka):
    problem = cal.DielectricScattering(ball, ka, 3.0 + 0.5j, 2.0)
    exact = cal.exact.mie_dielectric_sphere(ka, 1.0, 3.0 + 0.5j, 2.0, DIRECTION, POLARIZATION)
    found = exact.far_field(THETA, PHI) / ka**2
    assert difference(far_field(problem, solver="lu"), found) < 3e-4
    assert difference(far_field(problem), found) < 3e-4
    assert difference(far_field(problem, rtol=1e-3), found) < 3e-3
    wave = cal.PlaneWave(DIRECTION, ka, polarization=POLARIZATION)
    assert problem.solve(wave, solver="lu").absorbed_power()[0] == pytest.approx(exact.absorbed_power(), rel=2e-3)


def test_a_dielectric_body_with_handles_and_no_symmetry_keeps_its_static_limit(pretzel):
    limit = at_rest(pretzel, lambda k: cal.DielectricScattering(pretzel, k, 3.0))
    for size in (5e-4, 1e-6):
        assert difference(far_field(cal.DielectricScattering(pretzel, size / pretzel.diameter, 3.0)), limit) < 1e-3


def test_far_bodies_are_as_many_single_ones(ball):
    """Their distance is a hundred diameters, and their static limit is solved together."""
    pair = cal.mesh.merge([ball.translated([0, 0, z]) for z in (-150.0, 150.0)])
    k = 1e-8
    assert difference(far_field(cal.DielectricScattering(pair, k, 3.0), solver="lu"),
                      2 * far_field(cal.DielectricScattering(ball, k, 3.0), solver="lu")) < 2e-3  # fmt: skip


def test_what_loses_currents_without_charges_is_refused(ball):
    wave = cal.PlaneWave(DIRECTION, 1e-3, polarization=POLARIZATION)
    small = cal.DielectricScattering(ball, 1e-3, 3.0)
    with pytest.raises(ValueError, match="method='hmatrix' to 1e-05 at k times diameter .* take compression_rtol="):
        small.solve(wave, method="hmatrix", rtol=1e-4)
    with pytest.raises(ValueError, match="PMCHWT in precision='single' at k times edge .* take precision='double'"):
        small.solve(wave, precision="single")
    with pytest.raises(ValueError, match="Mueller's equations at k times diameter = 0.0035: .* formulation='pmchwt'"):
        cal.DielectricScattering(ball, 1e-3, 3.0, formulation="muller")
    metal = cal.DielectricScattering(ball, 1e-7, 1e12j)  # the skin is no longer than the body
    with pytest.raises(ValueError, match="the static limit does not stand .* np.inf as permittivity"):
        metal.solve(cal.PlaneWave(DIRECTION, 1e-7, polarization=POLARIZATION))


@pytest.mark.variant
def test_plans_have_the_tolerance_of_solutions(ball):
    small = cal.DielectricScattering(ball, 0.02 / ball.diameter, 3.0)
    far_field(small, method="hmatrix", rtol=1e-4)
    taken = small.system.key[1]
    assert taken < 4.1e-6
    assert small.plan(method="hmatrix", rtol=1e-4) == small.plan(method="hmatrix", rtol=1e-4, compression_rtol=taken)


def test_plans_are_those_of_the_finer_matrices_that_loops_need(ball):
    """Plans refuse what solutions refuse; two matrices are counted as two."""
    small = cal.DielectricScattering(ball, 0.02 / ball.diameter, 3.0)
    assert small.plan(method="hmatrix", rtol=1e-4).nbytes > small.system.operator.plan("hmatrix", 1e-5).nbytes
    with pytest.raises(ValueError, match="take compression_rtol="):
        small.plan(method="hmatrix", rtol=1e-4, compression_rtol=1e-4)
    with pytest.raises(ValueError, match="take precision='double'"):
        small.plan(method="hmatrix", precision="single")
    metal = cal.PECScattering(ball, 0.02 / ball.diameter, formulation="efie")
    both, one = metal.plan(method="hmatrix", rtol=1e-4), metal.system.operator.plan("hmatrix", 1e-5)
    assert both.nbytes > 1.5 * one.nbytes and "two matrices" in str(both)


@pytest.mark.parametrize("permittivity", [-2 + 0.1j, -2 + 0.01j])
def test_mueller_near_a_plasmon_is_warned_of(ball, permittivity):
    exact = cal.exact.mie_dielectric_sphere(0.3, 1.0, permittivity, 1.0, DIRECTION, POLARIZATION)
    exact = exact.far_field(THETA, PHI) / 0.3**2
    muller = cal.DielectricScattering(ball, 0.3, permittivity, formulation="muller")
    with pytest.warns(cal.AccuracyWarning, match="% of the incident wave inside .* take formulation='pmchwt'"):
        assert difference(far_field(muller, solver="lu"), exact) > 0.05
    with pytest.warns(cal.AccuracyWarning, match="% of the incident wave inside"):
        muller.monostatic_rcs(THETA, PHI)


@pytest.mark.parametrize("permittivity", [-2 + 0.1j, -2 + 0.01j, -5 + 0.5j, 10.0])
@pytest.mark.filterwarnings("error::calderon.AccuracyWarning")
def test_pmchwt_near_a_plasmon_is_right(ball, permittivity):
    exact = cal.exact.mie_dielectric_sphere(0.3, 1.0, permittivity, 1.0, DIRECTION, POLARIZATION)
    problem = cal.DielectricScattering(ball, 0.3, permittivity)
    assert difference(far_field(problem, solver="lu"), exact.far_field(THETA, PHI) / 0.3**2) < 3e-3
