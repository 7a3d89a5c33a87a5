"""Sound of walls that move, yield or have a given pressure, against series, sources and ducts."""

import numpy as np
import pytest

import calderon as cal

WATER = cal.Fluid(1000.0, 1500.0)
AIR = cal.Fluid(1.2, 343.0)
OUTSIDE = np.array([[0.0, 0.0, 3.0], [3.0, 0.0, 0.0], [1.0, 1.0, 1.5]])
INSIDE = np.array([[0.0, 0.0, 0.0], [0.3, 0.2, -0.4], [-0.2, 0.1, 0.5]])


def largest(found, exact):
    return np.abs(found - exact).max() / np.abs(exact).max()


def halves(h):
    """A sphere with the tags 1 below z = 0.2 and 2 above."""
    mesh = cal.mesh.sphere(1.0, h)
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, np.where(mesh.centroids[:, 2] > 0.2, 2, 1))


@pytest.mark.parametrize("k", [1.0, np.pi])  # the second is a resonance of the inside
@pytest.mark.parametrize("order", [0, 1])
def test_pulsating_and_oscillating_spheres_converge_with_order_two(k, order):
    exact = cal.exact.radiating_sphere(k, 1.0, slopes=[0] * order + [1j * k * WATER.impedance * 1e-3])
    velocity, errors, powers, sizes = cal.Velocity([1e-3, [0, 0, 1e-3]][order]), [], [], []
    for h in (0.32, 0.2):
        mesh = cal.mesh.sphere(1.0, h)
        solution = cal.AcousticProblem(mesh, k, fluid=WATER, conditions=velocity).solve(rtol=1e-8)
        assert solution.info.iterations < 10
        surface = exact(mesh.vertices / np.linalg.norm(mesh.vertices, axis=1)[:, None])
        errors.append(np.linalg.norm(solution.surface.coefficients - surface) / np.linalg.norm(surface))
        powers.append(abs(solution.sound_power / exact.radiated_power(1000.0, 1500.0) - 1))
        sizes.append(mesh.mean_edge_length)
    assert largest(solution.field(OUTSIDE), exact(OUTSIDE)) < 2e-3
    assert np.log(errors[0] / errors[1]) / np.log(sizes[0] / sizes[1]) == pytest.approx(2, abs=0.3), errors
    assert powers[1] < 5e-3 and solution.power_error < 2e-3
    loud = OUTSIDE[::2]  # a dipole is silent at its side
    assert largest(solution.spl(loud), 20 * np.log10(np.abs(exact(loud)) / np.sqrt(2) / 1e-6)) < 1e-3
    assert largest(solution.directivity([[0, 0, 1.0]]), np.array([2 * order + 1.0])) < 3e-3
    z = exact.complex_power(1000.0, 1500.0) / (2 * np.pi / (2 * order + 1) * 1e-6)
    assert solution.radiation_impedance() == pytest.approx(z, rel=0.02)
    assert solution.radiation_efficiency == pytest.approx(z.real / WATER.impedance, rel=0.02)


def test_power_of_a_small_oscillating_sphere_is_that_of_the_far_field():
    """At ka = 0.1 the resistance is 5e-4 of the reactance, and the surface integral is off by several percent."""
    k, velocity = 0.1, cal.Velocity([0, 0, 1e-3])
    exact = cal.exact.radiating_sphere(k, 1.0, slopes=[0, 1j * k * WATER.impedance * 1e-3])
    power = exact.radiated_power(1000.0, 1500.0)
    solution = cal.AcousticProblem(cal.mesh.sphere(1.0, 0.34), k, fluid=WATER, conditions=velocity).solve(rtol=1e-9)
    assert solution.sound_power == pytest.approx(power, rel=2e-3)
    assert solution.complex_power.imag == pytest.approx(exact.complex_power(1000.0, 1500.0).imag, rel=0.02)


@pytest.mark.parametrize("k", [1.0, np.pi])
def test_a_source_inside_by_velocity_and_pressure_on_parts(k):
    """The field of a point source from its velocity below z = 0.2 and its pressure above; at a resonance, too."""
    source, errors, sizes = cal.PointSource([0.2, 0.1, -0.15], k), [], []
    inertia = 1j * k * WATER.impedance

    def velocity(x, nu):
        return np.einsum("ij,ij->i", source.gradient(x), nu) / inertia

    conditions = {1: cal.Velocity(velocity), 2: cal.SoundPressure(source)}
    for h in (0.32, 0.2):
        mesh = halves(h)
        problem = cal.AcousticProblem(mesh, k, fluid=WATER, conditions=conditions)
        assert problem.unknowns == mesh.number_of_vertices
        solution = problem.solve(rtol=1e-8)
        errors.append(largest(solution.field(OUTSIDE), source(OUTSIDE)))
        sizes.append(mesh.mean_edge_length)
    assert solution.info.iterations < 25
    assert errors[1] < 0.02
    assert np.log(errors[0] / errors[1]) / np.log(sizes[0] / sizes[1]) == pytest.approx(2, abs=0.5), errors
    assert solution.power_error < 1e-3  # what both parts give together
    held = cal.AcousticProblem(mesh, k, fluid=WATER, conditions=cal.SoundPressure(source)).solve(rtol=1e-8)
    assert largest(held.field(OUTSIDE), source(OUTSIDE)) < 0.02


def test_a_source_outside_by_velocity_and_pressure_on_parts_inside():
    k = 1.0
    source, inertia = cal.PointSource([0.5, 0.4, 1.6], k), 1j * k * WATER.impedance

    def velocity(x, nu):
        return np.einsum("ij,ij->i", source.gradient(x), nu) / inertia

    conditions = {1: cal.Velocity(velocity), 2: cal.SoundPressure(source)}
    problem = cal.AcousticProblem(halves(0.25), k, fluid=WATER, side="interior", conditions=conditions)
    solution = problem.solve(rtol=1e-8)
    assert largest(solution.field(INSIDE), source(INSIDE)) < 5e-3
    gradient = solution.gradient(INSIDE)
    assert largest(gradient, source.gradient(INSIDE)) < 0.02
    assert largest(solution.velocity(INSIDE), gradient / inertia) < 1e-12
    assert abs(solution.complex_power.real) < 5e-4 * abs(solution.complex_power.imag)  # no energy stays
    assert np.allclose(problem.solve(rtol=1e-8, preconditioner="mass").field(INSIDE), solution.field(INSIDE), rtol=1e-5)


def test_scattering_is_that_of_the_scattering_problems():
    """Rigid, of one impedance, and of pressure 0, whose equation is that of Brakhage and Werner times eta."""
    mesh, k, wave = cal.mesh.sphere(1.0, 0.34), 2.0, cal.PlaneWave([0, 0.6, 0.8], 2.0)
    rigid = cal.AcousticProblem(mesh, k, fluid=WATER).solve(wave, rtol=1e-10)
    hard = cal.SoundHardScattering(mesh, k).solve(wave, rtol=1e-10)
    assert largest(rigid.field(OUTSIDE), hard.field(OUTSIDE)) < 1e-9
    z = 0.7 - 0.3j
    yielding = cal.AcousticProblem(mesh, k, fluid=WATER, conditions=cal.Impedance.relative(z)).solve(wave, rtol=1e-10)
    other = cal.ImpedanceScattering(mesh, k, impedance=z).solve(wave, rtol=1e-10)
    assert largest(yielding.field(OUTSIDE), other.field(OUTSIDE)) < 1e-9
    assert yielding.absorbed_power() == pytest.approx(other.absorbed_power(1000.0, 1500.0), rel=1e-9)
    free = cal.AcousticProblem(mesh, k, fluid=WATER, conditions=cal.SoundPressure(0.0)).solve(wave, rtol=1e-8)
    soft = cal.SoundSoftScattering(mesh, k).solve(wave, rtol=1e-8)
    assert largest(free.far_field(OUTSIDE), soft.far_field(OUTSIDE)) < 1e-7


def test_an_impedance_that_jumps_is_one_of_each_part():
    """By tags, by an array of triangles and by a function within parts: one equation. Rigid parts by tag or
    infinity."""
    mesh, wave = halves(0.34), cal.PlaneWave([0, 0.6, 0.8], 2.0)

    def softer(x):
        return (0.5 + 1j) * WATER.impedance + 0 * x[:, 0]

    per_triangle = np.where(mesh.tags == 1, 2.0, 0.5 + 1j) * WATER.impedance
    given = [
        {1: cal.Impedance.relative(2.0), 2: cal.Impedance.relative(0.5 + 1j)},
        cal.Impedance(per_triangle),
        {1: cal.Impedance.relative(2.0), 2: [cal.Velocity(0.0), cal.Impedance(softer)]},
    ]
    first, *others = (
        cal.AcousticProblem(mesh, 2.0, fluid=WATER, conditions=each).solve(wave, rtol=1e-10) for each in given
    )
    for each in others:
        assert largest(each.surface.coefficients, first.surface.coefficients) < 1e-8
    assert first.absorbed_power(1) + first.absorbed_power(2) == pytest.approx(first.absorbed_power())
    part = cal.AcousticProblem(mesh, 2.0, fluid=WATER, conditions={2: cal.Impedance(1e6)}).solve(wave, rtol=1e-10)
    whole = np.where(mesh.tags == 2, 1e6, np.inf)
    all_of = cal.AcousticProblem(mesh, 2.0, fluid=WATER, conditions=cal.Impedance(whole)).solve(wave, rtol=1e-10)
    assert largest(all_of.surface.coefficients, part.surface.coefficients) < 1e-8
    assert part.absorbed_power(1) == 0


def tube(h):
    """A square duct along x from -0.5 to 0.5; tag 3 is its left end, 5 the right one."""
    box = cal.mesh.cuboid([1.0, 0.1, 0.1], h=h)
    return cal.TriangleMesh(box.vertices, box.triangles, np.rint(box.normals @ [1, 2, 3]).astype(int) + 4)


ALONG = np.array([[-0.4, 0.0, 0.0], [0.1, 0.0, 0.0], [0.4, 0.02, -0.01]])


@pytest.mark.parametrize(
    "space, h, frequency, bound",
    [
        ("P2", 0.05, 343.0, 1e-3),
        ("P1", 0.05, 343.0, 5e-3),
        pytest.param("P2", 0.033, 1000.0, 5e-3, marks=pytest.mark.variant),
    ],
)
def test_a_piston_sends_a_plane_wave_into_a_duct_without_reflection(space, h, frequency, bound):
    """p = rho c v exp(ikx) with an end of rho c; the end takes what the piston gives; signs and both sides' nu. On the
    surface the error is largest at the corners of both ends."""
    ends = {3: cal.Velocity(1.0), 5: cal.Impedance(AIR.impedance)}
    shared = {"fluid": AIR, "side": "interior", "space": space}
    problem = cal.AcousticProblem(tube(h), frequency=frequency, conditions=ends, **shared)
    solution = problem.solve()

    def wave(x):
        return AIR.impedance * np.exp(1j * problem.wavenumber * (x[:, 0] + 0.5))

    assert largest(solution.field(ALONG), wave(ALONG)) < bound
    on_surface = bound if space == "P2" else 0.02
    assert largest(solution.surface.coefficients, wave(solution.surface.space.nodes)) < on_surface
    assert solution.absorbed_power(5) == pytest.approx(solution.sound_power, rel=bound)
    assert solution.sound_power == pytest.approx(0.5 * AIR.impedance * 0.01, rel=bound)
    assert solution.radiation_impedance(3) == pytest.approx(AIR.impedance, rel=2 * bound)
    assert largest(solution.intensity(ALONG)[:, 0], np.full(3, 0.5 * AIR.impedance)) < 10 * bound
    with pytest.raises(ValueError, match="do not move"):
        solution.radiation_impedance(5)


def test_a_duct_with_a_given_pressure_at_its_end_has_the_wave_of_that_pressure():
    ends = {3: cal.Velocity(1.0), 5: cal.SoundPressure(AIR.impedance * np.exp(2j * np.pi))}
    problem = cal.AcousticProblem(tube(0.05), frequency=343.0, fluid=AIR, side="interior", conditions=ends, space="P2")
    solution = problem.solve()
    assert largest(solution.field(ALONG), AIR.impedance * np.exp(2j * np.pi * (ALONG[:, 0] + 0.5))) < 1e-3
    assert abs(solution.complex_power) < 1e-3 * 0.5 * AIR.impedance * 0.01  # one end gives what the other one takes


def test_walls_that_move_and_yield_have_the_pressure_of_a_spring():
    """A stiffness K, Z = iK / omega: the piston behind a spring, v - p / Z, sends p = rho c v / (1 + rho c / Z)."""
    omega = 2 * np.pi * 343.0
    z = 1j * 5e5 / omega
    ends = {3: [cal.Velocity(1.0), cal.Impedance(z)], 5: cal.Impedance(AIR.impedance)}
    problem = cal.AcousticProblem(tube(0.05), frequency=343.0, fluid=AIR, side="interior", conditions=ends, space="P2")
    wave = AIR.impedance / (1 + AIR.impedance / z) * np.exp(2j * np.pi * (ALONG[:, 0] + 0.5))
    assert largest(problem.solve().field(ALONG), wave) < 1e-3


@pytest.mark.variant
def test_loss_of_the_fluid_damps_by_its_wavenumber():
    lossy = cal.Fluid(1.2, 343.0, loss=0.02)
    problem = cal.AcousticProblem(
        cal.mesh.sphere(1.0, 0.34), frequency=100.0, fluid=lossy, conditions=cal.Velocity(1.0)
    )
    k = 2 * np.pi * 100.0 / 343.0 * (1 + 0.02j)
    assert problem.wavenumber == pytest.approx(k)
    exact = cal.exact.radiating_sphere(k, 1.0, slopes=[2j * np.pi * 100.0 * 1.2])
    assert largest(problem.solve().field(OUTSIDE), exact(OUTSIDE)) < 0.01
    assert problem.at(problem.wavenumber).frequency == pytest.approx(100.0)


METHODS = ["hmatrix", pytest.param("mlfmm", marks=pytest.mark.variant)]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_dense_solution(method):
    """With a velocity that varies, walls that yield and a part of given pressure: all blocks, and what is known."""
    conditions = {1: [cal.Velocity(lambda x: 1e-3 * (1 + x[:, 2])), cal.Impedance(1e6)], 2: cal.SoundPressure(1.0)}
    problem = cal.AcousticProblem(halves(0.34), 1.0, fluid=WATER, conditions=conditions)
    dense = problem.solve(rtol=1e-8).field(OUTSIDE)
    assert largest(problem.solve(method=method, rtol=1e-5).field(OUTSIDE), dense) < 1e-4


SOLVERS = [
    {"solver": "lu"},
    {"precision": "mixed"},
    {"precision": "single", "rtol": 1e-5},
]


@pytest.mark.variant
@pytest.mark.parametrize("options", [*SOLVERS, {"backend": "opencl", "precision": "single"}])
def test_every_solver_precision_and_backend_gives_the_same_solution(options, opencl):
    conditions = {1: [cal.Velocity(lambda x: 1e-3 * (1 + x[:, 2])), cal.Impedance(1e6)], 2: cal.SoundPressure(1.0)}
    problem = cal.AcousticProblem(halves(0.34), 1.0, fluid=WATER, conditions=conditions)
    dense = problem.solve(rtol=1e-8).field(OUTSIDE)
    assert largest(problem.solve(**options).field(OUTSIDE), dense) < 1e-5


def test_sweeps_plans_and_several_sources():
    mesh, k = cal.mesh.sphere(1.0, 0.5), 1.0
    problem = cal.AcousticProblem(mesh, k, fluid=WATER, conditions=cal.Velocity(lambda x: 1e-3 * (1 + x[:, 2])))
    source = cal.PointSource([0, 0, 3.0])
    alone, both = problem.solve_all([None, source], rtol=1e-8)
    rigid = cal.AcousticProblem(mesh, k, fluid=WATER).solve(source, rtol=1e-8)
    x = OUTSIDE[1:]
    assert largest(both.field(x), alone.field(x) + rigid.field(x)) < 1e-6
    assert problem.plan(method="dense").nbytes > 0 and "unknowns" in str(problem.plan(method="hmatrix"))
    sweep = problem.sweep([100.0, 238.7], rtol=1e-8)
    assert (
        largest(sweep[1].field(OUTSIDE), problem.at(2 * np.pi * 238.7 / 1500.0).solve(rtol=1e-8).field(OUTSIDE)) < 1e-9
    )
    assert sweep.at_points(OUTSIDE).arrays["pressure"].shape == (2, 3)
    table = sweep.to_xarray()
    assert table["sound_power"].attrs["units"] == "W" and table["sound_power_level"].attrs["units"] == "dB re 1 pW"
    assert np.allclose(table["sound_power"].values, [each.sound_power for each in sweep])


def test_solutions_are_saved_and_have_units(tmp_path):
    mesh = halves(0.5)
    conditions = {1: [cal.Velocity(1e-3), cal.Impedance(1e6)], 2: cal.SoundPressure(1.0)}
    source = cal.Multipole([0, 0, 4.0], [1.0, 0, 0.5j, 0]) + cal.PointSource([3.0, 3.0, 0])
    solution = cal.AcousticProblem(mesh, 1.0, fluid=WATER, conditions=conditions).solve(source)
    solution.save(tmp_path / "sound.h5")
    again = cal.load(tmp_path / "sound.h5")
    assert np.array_equal(again.field(OUTSIDE), solution.field(OUTSIDE))
    assert again.sound_power == solution.sound_power and again.fluid == WATER
    far = solution.far_field_arrays([0.1, 0.2], [0.0])
    assert {each.name: each.unit for each in far.quantities} == {
        "amplitude": "Pa m",
        "phase": "rad",
        "directivity": "dB",
    }
    assert "sound power" in str(solution) and solution.scene().layers


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda mesh: cal.AcousticProblem(mesh, 1.0, fluid=WATER).solve(), "nothing sounds"),
        (lambda mesh: cal.AcousticProblem(mesh, 1.0, fluid=WATER, side="inside"), "unknown side"),
        (lambda mesh: cal.AcousticProblem(mesh, 1.0 + 0.1j, fluid=cal.Fluid(1.2, 343.0, 0.02)), "both state a loss"),
        (
            lambda mesh: cal.AcousticProblem(mesh, 1.0, fluid=WATER, side="interior").solve(cal.PlaneWave([0, 0, 1.0])),
            "no sound comes from there",
        ),
        (
            lambda mesh: cal.AcousticProblem(mesh, 1.0, fluid=WATER, side="interior").solve(
                cal.PointSource([0, 0, 2.0])
            ),
            "outside of the surface: place it inside",
        ),
        (
            lambda mesh: cal.AcousticProblem(mesh, 1.0, fluid=WATER).solve(cal.PointSource([0, 0, 0.0])),
            "inside the body",
        ),
        (
            lambda mesh: cal.AcousticProblem(cal.mesh.plate([1.0, 1.0], 0.5), 1.0, fluid=WATER, side="interior"),
            "closed surface",
        ),
    ],
)
def test_problems_without_meaning_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call(cal.mesh.sphere(1.0, 0.5))
    with pytest.raises(TypeError, match="needs fluid="):
        cal.AcousticProblem(cal.mesh.sphere(1.0, 0.5), 1.0)


def test_interiors_have_no_far_field():
    solution = cal.AcousticProblem(
        cal.mesh.sphere(1.0, 0.5), 1.0, fluid=WATER, side="interior", conditions=cal.Velocity(1.0)
    ).solve()
    with pytest.raises(ValueError, match="side='exterior'"):
        solution.far_field([[0, 0, 1.0]])


def test_meshes_in_millimetres_are_doubted():
    """A box of 300 mm that is read as 300 m, at 50 Hz and at 5 kHz."""
    mesh = cal.mesh.sphere(150.0, 50.0)
    with pytest.warns(cal.AccuracyWarning, match="coordinates count in metres: a mesh in mm is read with scale=1e-3"):
        cal.AcousticProblem(mesh, frequency=50.0, fluid=AIR, conditions=cal.Velocity(1.0))
    with pytest.warns(cal.mesh.MeshWarning, match="mesh in millimetres"), pytest.warns(cal.AccuracyWarning):
        cal.AcousticProblem(mesh, frequency=5000.0, fluid=AIR, conditions=cal.Velocity(1.0))


@pytest.mark.parametrize("condition", [cal.Velocity, cal.Impedance, cal.SoundPressure])
@pytest.mark.parametrize("change", [1, -1])
def test_arrays_of_another_length_than_vertices_or_triangles_are_refused(condition, change):
    mesh = cal.mesh.sphere(1.0, 0.5)
    wrong = condition(np.ones(mesh.number_of_vertices + change))
    with pytest.raises(ValueError, match=f"{mesh.number_of_vertices} vertices of the mesh, or one for all"):
        cal.AcousticProblem(mesh, 1.0, fluid=WATER, conditions=wrong).solve()
