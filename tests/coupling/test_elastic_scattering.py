"""Elastic bodies in water: the series of a sphere, rigid and driven bodies, resonances in vacuo, energy, modes."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal

pytest.importorskip("skfem")
STEEL = cal.ElasticMaterial.from_wave_speeds(7700.0, longitudinal=5950.0, shear=3240.0)
WATER = cal.Fluid(1000.0, 1500.0)
WAVE = cal.PlaneWave([0, 0, 1])
ANGLES = np.linspace(0, np.pi, 19)
FORCE = 2.5


@functools.cache
def ball():
    """92 tetrahedra: a coarse ball, 705 displacements and 186 pressures."""
    return cal.mesh.ball(1.0, 0.6)


@functools.cache
def problem(ka=1.0, **given):
    return cal.ElasticScattering(ball(), ka, **{"material": STEEL, "fluid": WATER} | given)


@functools.cache
def solution(ka=1.0):
    return problem(ka).solve(WAVE)


def difference(one, other):
    far, exact = one.far_field(ANGLES, 0.0), other.far_field(ANGLES, 0.0)
    return np.abs(far - exact).max() / np.abs(exact).max()


def test_a_steel_ball_scatters_as_the_series_says():
    exact = cal.exact.elastic_sphere(1.0, 1.0, STEEL, WATER)
    assert difference(solution(), exact) < 1.5e-2
    place = np.array([[0, 0, -1.5], [2.0, 0, 0]])
    assert solution().field(place) == pytest.approx(exact.total(place), rel=6e-3)
    moved = exact.surface_normal_derivative([[0, 0, 1.0]])[0] / (WATER.density * 1500.0**2)
    found = solution().normal_displacement
    top = np.argmax(found.space.nodes[:, 2])
    assert found.coefficients[top] == pytest.approx(moved, rel=0.06)


def test_methods_and_solvers_agree():
    """Also monostatic sweeps, by the transpose of the displacements."""
    direct = solution()
    for options in ({"solver": "gmres"}, {"solver": "gmres", "preconditioner": "mass"}, {"method": "hmatrix"}):
        assert difference(problem().solve(WAVE, rtol=1e-6, **options), direct) < 1e-5
    steps = [problem().solve(WAVE, solver="gmres", preconditioner=each).info.iterations for each in ("osrc", "mass")]
    assert steps[0] < steps[1]
    backward = direct.target_strength(np.pi, 0.0)
    assert problem().monostatic_target_strength(np.pi, 0.0, method="dense") == pytest.approx(backward, abs=1e-6)


def test_reciprocity():
    """Burton and Miller's equation is not symmetric: as far as the mesh is accurate."""
    there, back = np.array([[0.6, 0.0, 0.8]]), np.array([[0.0, 0.0, -1.0]])
    other = problem().solve(cal.PlaneWave(-there[0]))
    assert other.far_field(back) == pytest.approx(solution().far_field(there), rel=1e-2)


def test_a_rigid_and_heavy_ball_is_sound_hard():
    stiff = cal.ElasticMaterial(STEEL.youngs_modulus * 1e4, STEEL.poissons_ratio, STEEL.density * 1e4)
    found = problem(material=stiff).solve(WAVE)
    hard = cal.SoundHardScattering(ball().surface(), 1.0, space="P2").solve(WAVE, solver="lu")
    assert difference(found, hard) < 1e-3


def test_nothing_happens_at_a_resonance_in_vacuo():
    """There displacements cannot be eliminated alone, and the field is that of the whole system. The first modes after
    rigid motions are five of torsion."""
    soft = cal.ElasticMaterial.from_wave_speeds(7700.0, 1190.0, 648.0)
    frequencies, _ = problem(material=soft).structure.modes(16, 1e5)
    assert frequencies[:6].max() < 1e-3 * frequencies[6]
    ka = 2 * np.pi * frequencies[13] / WATER.speed_of_sound
    resonant = problem(ka, material=soft)
    there, response, n = resonant.solve(WAVE), resonant.response, resonant.unknowns
    assert response.is_resonant and "behind an absorbing surface" in str(there.info)
    operators = resonant.system.assembled.to_array()
    slopes = response.inertia * (operators[:, n:] @ response.trace.toarray())
    load = (response.trace.T @ response.pairing).toarray()
    whole = np.block([[response.matrix.toarray(), -load], [slopes, operators[:, :n]]])
    rhs = np.concatenate([np.zeros(len(load)), resonant._tested(WAVE.at(ka))])
    pressure = np.linalg.solve(whole, rhs)[-n:]
    assert np.abs(there.surface.coefficients - pressure).max() < 1e-8 * np.abs(pressure).max()
    iterated = resonant.solve(WAVE, method="dense", solver="gmres", rtol=1e-7, preconditioner="modes")
    assert difference(iterated, there) < 1e-5 and iterated.info.iterations < 20


def test_a_mode_that_does_not_move_the_fluid():
    """A mass on a spring inside, of any amplitude at its own frequency: the pressure is that without it."""
    whole, square = problem().structure, 1500.0**2
    stiffness = sp.block_diag([whole.stiffness, [[square]]])
    normal = sp.hstack([whole.normal, sp.csr_array((whole.normal.shape[0], 1))])
    sprung = cal.Structure(stiffness, sp.block_diag([whole.mass, [[1.0]]]), normal, whole.space)
    with pytest.warns(cal.AccuracyWarning, match="does not move the fluid"):
        found = cal.ElasticScattering(sprung, 1.0, fluid=WATER).solve(WAVE)
    assert difference(found, solution()) < 1e-6


@pytest.mark.parametrize("kind", ["spread", "at a point"])
def test_a_small_ball_that_a_force_drives_moves_with_half_of_the_water(kind):
    ka = 0.1
    force = [0, 0, FORCE]
    given = {
        "spread": {"loads": {"wall": cal.elastic.Force(force)}},
        "at a point": {"point_forces": [([0, 0, 0], force)]},
    }
    found = cal.ElasticScattering(ball(), ka, material=STEEL, fluid=WATER, **given[kind]).solve()
    omega, volume = ka * WATER.speed_of_sound, ball().volumes.sum()
    expected = -FORCE / (omega**2 * volume * (STEEL.density + WATER.density / 2))
    centre = ball().volumes @ found.displacement(ball().centroids) / volume
    assert centre == pytest.approx([0, 0, expected], rel=1e-2, abs=2e-3 * abs(expected))
    speed = omega * abs(expected)
    radiated = speed**2 / 2 * np.pi * WATER.impedance * ka**4 / 3
    assert found.radiated_power() == pytest.approx(radiated, rel=4e-2)


def test_the_power_of_forces_is_radiated_and_lost():
    lossy = cal.ElasticMaterial.from_wave_speeds(7700.0, 5950.0, 3240.0, loss_factor=0.2)
    force = {"point_forces": [([0, 0, 1.0 - 1e-3], [0, 0, FORCE])]}
    for material, share in ((STEEL, 0.0), (lossy, 0.02)):
        found = cal.ElasticScattering(ball(), 1.0, material=material, fluid=WATER, **force).solve()
        assert found.input_power == pytest.approx(found.radiated_power() + found.lost_power, rel=7e-3)
        assert found.lost_power >= share * found.input_power
        assert found.lost_power < found.input_power


def test_a_structure_by_its_matrices_and_by_modes():
    """Few modes are far off in water without the static rest of the others."""
    whole = problem().structure
    same = cal.Structure(whole.stiffness, whole.mass, whole.normal, whole.space)
    assert difference(cal.ElasticScattering(same, 1.0, fluid=WATER).solve(WAVE), solution()) < 1e-9
    shift = 1500.0**2 / 4
    frequencies, shapes = whole.modes(20, shift)
    surface = cal.P2(whole.surface)
    basis = cal.ElasticScattering(ball(), 1.0, material=STEEL, fluid=WATER).body.basis
    nodes = cal.coupling.trace(basis, surface)
    there = np.stack([nodes @ part for part in np.split(shapes, 3)], axis=1).transpose(2, 0, 1)
    modal = cal.Structure.from_modes(frequencies, there, whole.space)
    with pytest.warns(cal.AccuracyWarning, match="static rest"):
        without = difference(cal.ElasticScattering(modal, 1.0, fluid=WATER).solve(WAVE), solution())
    corrected = modal.with_rest(whole.static_rest(shift))
    found = cal.ElasticScattering(corrected, 1.0, fluid=WATER)
    assert difference(found.solve(WAVE), solution()) < 1e-3 < 10 * without
    assert found.monostatic_target_strength(np.pi, 0.0) == pytest.approx(
        found.solve(WAVE).target_strength(np.pi, 0.0), abs=1e-6
    )


def test_an_empty_shell():
    """A thin and coarse one: 4 edges along a quarter of it."""
    wall = cal.mesh.thickened(cal.mesh.sphere(1.0, h=0.6), 0.1)
    found = cal.ElasticScattering(wall, 1.0, material=STEEL, fluid=WATER).solve(WAVE)
    exact = cal.exact.elastic_shell(1.0, 1.0, 0.9, STEEL, WATER)
    assert found.mesh.number_of_triangles == cal.mesh.sphere(1.0, h=0.6).number_of_triangles
    assert difference(found, exact) < 1.5e-2
    assert found.field([[0, 0, 0.0]])[0] == 0


def test_a_shell_filled_with_a_lighter_liquid(tmp_path):
    """Against the series, within the error of an empty one; the liquid moves with the wall, here to 10 %."""
    wall, oil = cal.mesh.thickened(cal.mesh.sphere(1.0, h=0.6), 0.1), cal.Fluid(870.0, 1380.0)
    filled = cal.ElasticScattering(wall, 1.0, material=STEEL, fluid=WATER, inside=oil)
    found = filled.solve(WAVE)
    assert difference(found, cal.exact.elastic_shell(1.0, 1.0, 0.9, STEEL, WATER, oil)) < 1.5e-2
    assert difference(filled.solve(WAVE, solver="gmres", rtol=1e-7), found) < 1e-5
    assert filled.monostatic_target_strength(np.pi, 0.0) == pytest.approx(found.target_strength(np.pi, 0.0), abs=1e-5)
    at = filled.body.holes.centroids[np.argmax(filled.body.holes.centroids[:, 2])]
    wet, steel = found.displacement([0.98 * at, at + [0, 0, 1e-3]])
    assert abs(wet[2] - steel[2]) < 0.1 * abs(steel[2])
    found.save(tmp_path / "filled.h5")
    loaded = cal.load(tmp_path / "filled.h5")
    assert loaded.inside == oil and loaded.field([[0, 0, 0.0]]) == found.field([[0, 0, 0.0]]) != 0
    with pytest.raises(ValueError, match="holes of a body"):
        problem(inside=oil)


def test_materials_by_tag_and_frequencies():
    outer = ball().centroids[:, 2] > 0
    volume = cal.TetrahedralMesh(ball().vertices, ball().tetrahedra, outer, {"low": 0, "high": 1})
    both = cal.ElasticScattering(volume, frequency=1500 / (2 * np.pi), material={"low": STEEL, 1: STEEL}, fluid=WATER)
    assert both.wavenumber == pytest.approx(1.0)
    sweep = both.sweep([1500 / (2 * np.pi), 239.0], WAVE)
    assert [each.frequency for each in sweep] == pytest.approx([238.73, 239.0], rel=1e-4)
    assert difference(sweep[0], solution()) < 1e-9
    assert both.plan(method="hmatrix").nbytes > 0
    with pytest.raises(ValueError, match=r"tags \[1\] have no material"):
        cal.ElasticScattering(volume, 1.0, material={"low": STEEL}, fluid=WATER)
    with pytest.raises(ValueError, match="no tetrahedron has the tag 'middle'"):
        cal.ElasticScattering(volume, 1.0, material={"middle": STEEL}, fluid=WATER)


def test_a_solution_is_saved_and_loaded(tmp_path):
    solution().save(tmp_path / "ball.h5")
    loaded = cal.load(tmp_path / "ball.h5")
    assert type(loaded) is type(solution()) and loaded.fluid == WATER
    places = np.array([[0, 0, 0.5], [0, 0, 1.5], [2.0, 0.3, 0]])
    for name in ("field", "displacement"):
        assert np.array_equal(getattr(loaded, name)(places), getattr(solution(), name)(places))
    plane = loaded.on_plane(normal=[0, 1, 0], size=[3, 3], points=[3, 3])
    assert np.isnan(plane.arrays["pressure"][1, 1]) and np.isfinite(plane.arrays["pressure"][0, 0])


def test_refusals():
    with pytest.raises(ValueError, match="needs the density"):
        cal.ElasticScattering(ball(), 1.0, material=cal.ElasticMaterial(2e11, 0.3), fluid=WATER)
    with pytest.raises(TypeError, match="needs the fluid around it"):
        cal.ElasticScattering(ball(), 1.0, material=STEEL)
    with pytest.raises(ValueError, match="nothing sounds"):
        problem().solve()
    with pytest.raises(ValueError, match="outside the mesh"):
        cal.ElasticScattering(ball(), 1.0, material=STEEL, fluid=WATER, point_forces=[([0, 0, 3], [0, 0, 1])])
    whole = problem().structure
    with pytest.raises(ValueError, match="expected"):
        cal.Structure(whole.stiffness, whole.mass[:-1, :-1], whole.normal, whole.space)
    with pytest.raises(ValueError, match="gain"):
        cal.Structure(whole.stiffness * (1 + 0.1j), whole.mass, whole.normal, whole.space)
    with pytest.raises(ValueError, match="have the shape"):
        cal.Structure.from_modes([1.0, 2.0], np.zeros((2, 5, 3)), whole.space)
    thin = cal.mesh.thickened(cal.mesh.sphere(1.0, h=0.6), 0.01)
    with pytest.raises(cal.MeshError, match="times longer than thick"):
        cal.ElasticScattering(thin, 1.0, material=STEEL, fluid=WATER)
    with pytest.raises(ValueError, match="hierarchical factors"):
        problem().solve(WAVE, method="hmatrix", preconditioner="hlu")
