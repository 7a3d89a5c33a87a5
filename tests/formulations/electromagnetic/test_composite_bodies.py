"""Materials and metal that touch: against the same bodies uncut, Mie's series, and bodies without a part of air."""

import numpy as np
import pytest
from benchmarks.problems import halves as halves_of_balls

import calderon as cal
from calderon.formulations.composite.equation import local_equation
from calderon.formulations.electromagnetic.dielectric_regions import region
from calderon.spaces.edge.loops import FlowGraph

THETA = np.linspace(0, np.pi, 37)
AIR = cal.Material()
HALVES = {
    "upper": cal.Interface("air", "top"),
    "lower": cal.Interface("air", "low"),
    "cut": cal.Interface("top", "low"),
}


def wave(k):
    return cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0], wavenumber=k)


def difference(one, other):
    a, b = (each.far_field(THETA, 0.0) for each in (one, other))
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def halves(h):
    """A disc of radius 1 of rings of 4, 8, ... vertices, and the hemisphere that it is mapped to by equal areas, of
    edges of about h."""
    n = round(1.9 / h)
    i, j = (each.ravel() for each in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    cells = {((0, 0), (1, 0), (0, 1)): i + j < n, ((1, 0), (1, 1), (0, 1)): i + j < n - 1}
    first, second = (
        np.concatenate([[each[at] + corner[axis] for corner in cell] for cell, at in cells.items()], axis=1)
        for axis, each in enumerate((i, j))
    )
    radius, angle = (first + second) / n, np.pi / 2 * second / np.maximum(first + second, 1)
    quarters = angle.ravel("F") + np.pi / 2 * np.arange(4)[:, None]
    r = np.tile(radius.ravel("F"), 4)
    flat = np.stack([r * np.cos(quarters.ravel()), r * np.sin(quarters.ravel()), 0 * r], axis=1)
    disc = cal.TriangleMesh(flat, np.arange(len(flat)).reshape(-1, 3)).merged_vertices()
    x, y = disc.vertices[:, :2].T
    polar, phi = 2 * np.arcsin(np.clip(np.hypot(x, y) / np.sqrt(2), 0, 1)), np.arctan2(y, x)
    return disc, np.column_stack([np.sin(polar) * np.cos(phi), np.sin(polar) * np.sin(phi), np.cos(polar)])


def cut_sphere(h):
    """A sphere in two halves, of the volume of the unit sphere."""
    disc, upper = halves(h)
    t, n = disc.triangles, len(upper)
    vertices = np.concatenate([upper, upper * [1, 1, -1], disc.vertices])
    tags = np.repeat([0, 1, 2], len(t))
    names = {"upper": 0, "lower": 1, "cut": 2}
    whole = np.concatenate([t, t[:, [0, 2, 1]] + n, t + 2 * n])
    mesh = cal.TriangleMesh(vertices, whole, tags, names).merged_vertices(1e-6)
    return mesh.scaled((4 * np.pi / 3 / mesh.restricted(["upper", "lower"]).volume) ** (1 / 3))


def half_coated_sphere(h):
    """A unit sphere whose upper half has a coat up to 1.25 radii, with a ring between."""
    disc, upper = halves(h)
    t, n, radius = disc.triangles, len(upper), np.hypot(*disc.vertices[:, :2].T)
    ring = np.flatnonzero(radius > 1 - 1e-9)
    ring = ring[np.argsort(np.arctan2(*disc.vertices[ring, 1::-1].T))]
    after = np.roll(ring, -1)
    between = np.concatenate(
        [np.column_stack([ring, ring + 2 * n, after]), np.column_stack([after, ring + 2 * n, after + 2 * n])]
    )
    parts = [t, t[:, [0, 2, 1]] + n, t + 2 * n, between]
    tags, names = np.repeat(np.arange(4), [len(each) for each in parts]), {"top": 0, "low": 1, "coat": 2, "ring": 3}
    vertices = np.concatenate([upper, upper * [1, 1, -1], 1.25 * upper])
    return cal.TriangleMesh(vertices, np.concatenate(parts), tags, names).merged_vertices(1e-6)


@pytest.fixture(scope="module")
def sphere():
    return cut_sphere(0.45)


def of_sphere(mesh, low=2.25, **given):
    regions = {"air": AIR, "top": cal.Material(2.25), "low": cal.Material(low)}
    return cal.MaxwellProblem(mesh, regions=regions, surfaces=HALVES, **({"wavenumber": 1.0} | given))


@pytest.fixture(scope="module")
def solved(sphere):
    problem = of_sphere(sphere)
    return problem, problem.solve(wave(1.0))


def test_a_sphere_cut_in_two_scatters_as_the_whole_one(sphere, solved):
    problem, solution = solved
    outer = sphere.restricted(["upper", "lower"])
    whole = cal.DielectricScattering(outer, 1.0, 2.25).solve(wave(1.0))
    assert difference(solution, whole) < 2e-4
    x = np.array([[0.1, 0.2, 0.5], [0.1, 0.2, -0.5], [0, 0, 1.5]])
    assert solution.region_names(x) == ["top", "low", "air"]
    np.testing.assert_allclose(solution.electric(x), whole.electric(x), atol=2e-3)
    # an interface of M and J at the cut: unknowns of the whole, those on the disc, and nothing twice
    assert problem.unknowns == 2 * sphere.number_of_edges


def decibels(solution, exact):
    return abs(10 * np.log10([solution.rcs(THETA, phi) / exact.rcs(THETA, phi) for phi in (0.0, np.pi / 2)]))


@pytest.mark.variant
def test_a_cut_sphere_scatters_as_mie_says():
    mesh = cut_sphere(0.25)
    solution = of_sphere(mesh, wavenumber=1.5).solve(wave(1.5))
    whole = cal.DielectricScattering(mesh.restricted(["upper", "lower"]), 1.5, 2.25).solve(wave(1.5))
    assert difference(solution, whole) < 2e-4
    errors = decibels(solution, cal.exact.mie_dielectric_sphere(1.5, 1.0, 2.25))
    assert errors.mean() < 0.01 and errors.max() < 0.05


@pytest.mark.variant
def test_halves_of_two_materials_converge_with_the_square_of_the_edges():
    """Between meshes of h and of h / 1.4 the largest difference is 0.9 dB (h^2 - h^2 / 2): 0.075 dB, then 0.033 dB."""
    found = []
    for h in (0.4, 0.28, 0.2):
        solution = of_sphere(cut_sphere(h), 4.0, wavenumber=1.5).solve(wave(1.5))
        rcs = [solution.rcs(np.linspace(0, np.pi, 37), phi) for phi in (0.0, np.pi / 2)]
        found.append(10 * np.log10(np.array(rcs)))
    first, second = (abs(found[n + 1] - found[n]).max() for n in range(2))
    assert second < 0.05 and second < 0.55 * first


@pytest.mark.variant
def test_halves_of_two_materials_agree_with_the_solver_in_time():
    """In both planes, also where the pattern is 25 dB down; one material first, against Mie."""
    pytest.importorskip("gmsh")
    for row in (found := halves_of_balls.differences()).values():
        assert row["largest"] < 0.25 and row["mean"] < 0.05
    assert found["two media, two meshes"]["largest"] < 0.05


def test_the_matrix_is_symmetric_and_every_method_has_it(sphere, solved):
    problem, solution = solved
    array = problem.system.matrix.to_array()
    assert abs(array - array.T).max() < 1e-12 * abs(array).max()
    x = np.random.default_rng(0).normal(size=problem.unknowns)
    for method in ("hmatrix", "mlfmm"):
        product = problem.system.operator.assemble(method, rtol=1e-6) @ x
        assert np.linalg.norm(product - array @ x) < 1e-6 * np.linalg.norm(array @ x)
    compressed = problem.solve(wave(1.0), method="hmatrix")
    assert compressed.info.method.endswith("near") and compressed.info.iterations < solution.info.iterations + 5
    assert difference(compressed, solution) < 1e-4
    assert problem.plan(method="dense").nbytes > array.nbytes
    assert problem.monostatic_rcs(np.pi, 0.0) == pytest.approx(solution.rcs(np.pi, 0.0), rel=1e-5)
    assert solution.extinction_cross_section() == pytest.approx(solution.scattering_cross_section(), rel=2e-3)


def test_loops_have_no_charges_in_the_preconditioner(sphere, solved):
    """Currents in loops have fields that grow with k, i k g f_i . f_j, those of charges fall with 1 / k; discs of
    currents have the size (1 + 4 k s) / (1 - i k a)."""
    problem = solved[0]
    own = problem.traces[problem.skeleton.unbounded]
    x = own.electric.T @ FlowGraph.of(own.space).loops().toarray()

    def of(k):
        medium = region((), k, 1.0, 1.0)
        found = local_equation(problem.system.operator, [own], [medium])
        return np.einsum("nm,nm->m", x, found @ x)

    assert np.abs(of(1e-4) / (1e-4 * 1j) / (of(1e-5) / (1e-5 * 1j)) - 1).max() < 1e-3


@pytest.mark.parametrize("k, most", [(0.02, 30), (1.0, 45)])
def test_few_steps_solve_bodies_that_are_small_and_large(sphere, k, most):
    solution = of_sphere(sphere, 4.0, wavenumber=k).solve(wave(k), solver="gmres", method="dense", rtol=1e-5)
    assert solution.info.method.endswith("near") and solution.info.iterations <= most


def test_a_device_has_the_same_matrix(opencl, solved):
    problem, solution = solved
    assert difference(problem.solve(wave(1.0), backend="opencl"), solution) < 1e-9


def test_solutions_are_saved_and_shown(solved, tmp_path):
    _, solution = solved
    solution.save(tmp_path / "halves.h5")
    again = cal.load(tmp_path / "halves.h5")
    x = np.array([[0.1, 0.2, 0.5], [0.1, 0.2, -0.5], [0, 0, 1.5]])
    assert np.array_equal(again.electric(x), solution.electric(x)) and again.names == ("air", "top", "low")
    assert np.array_equal(again.far_field(THETA, 0.3), solution.far_field(THETA, 0.3))
    assert "top" in str(solution) and solution.scene().parts


def test_sweeps_are_in_si_units(sphere):
    problem = of_sphere(sphere, low=4.0, wavenumber=None, frequency=3e7)
    sweep = problem.sweep([3e7, 4e7], cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0]))
    assert sweep[0].power_unit == "W" and sweep[1].frequency == pytest.approx(4e7)
    assert sweep[0].rcs(0.0, 0.0) < sweep[1].rcs(0.0, 0.0)


def test_lossy_layers_are_those_of_the_body_without_the_cut():
    mesh = cal.mesh.layered_cuboid((0.8, 0.5), (0.3, 0.2), 0.17)
    surfaces = {"layer 1": cal.Interface("air", "low"), "layer 2": cal.Interface("air", "high"),
                "joint 1": cal.Interface("low", "high")}  # fmt: skip
    board = cal.Material(2.25, conductivity=0.005)
    problem = cal.MaxwellProblem(
        mesh, regions={"air": AIR, "low": board, "high": board}, surfaces=surfaces, wavenumber=3.0
    )
    both = problem.solve(wave(3.0))
    epsilon = problem.media[1].permittivity
    one = cal.DielectricScattering(mesh.restricted(["layer 1", "layer 2"]), 3.0, epsilon).solve(wave(3.0))
    assert difference(both, one) < 8e-4
    absorbed = both.absorbed_power()
    assert sum(absorbed.values()) == pytest.approx(one.absorbed_power().sum(), rel=5e-3)
    extinction = both.scattering_cross_section() + both.absorption_cross_section()
    assert both.extinction_cross_section() == pytest.approx(extinction, rel=2e-3)


@pytest.mark.variant
def test_a_layer_of_air_on_another_one_changes_nothing():
    errors = []
    for h in (0.17, 0.125):
        mesh = cal.mesh.layered_cuboid((0.8, 0.5), (0.3, 0.2), h)
        surfaces = {"layer 1": cal.Interface("air", "low"), "layer 2": cal.Interface("air", "high"),
                    "joint 1": cal.Interface("low", "high")}  # fmt: skip
        media = {"air": AIR, "low": cal.Material(4.0), "high": AIR}
        both = cal.MaxwellProblem(mesh, regions=media, surfaces=surfaces, wavenumber=3.0).solve(wave(3.0))
        lower = cal.DielectricScattering(mesh.restricted(["layer 1", "joint 1"]), 3.0, 4.0).solve(wave(3.0))
        errors.append(difference(both, lower))
    assert errors[1] < errors[0] < 3e-3


@pytest.mark.filterwarnings("ignore:orientation")  # of parts that meet in rings any one is as good
@pytest.mark.parametrize("bounds", [{0.45: 6e-3, 0.3: 2e-3}, {0.22: 1e-3}])
def test_a_coat_of_air_on_half_of_a_conductor_changes_nothing(bounds):
    for h, bound in bounds.items():
        mesh = half_coated_sphere(h)
        surfaces = {"top": cal.Metal("coat"), "low": cal.Metal("air"), "coat": cal.Interface("air", "coat"),
                    "ring": cal.Interface("coat", "air")}  # fmt: skip
        problem = cal.MaxwellProblem(mesh, regions={"air": AIR, "coat": AIR}, surfaces=surfaces, wavenumber=1.5)
        bare = cal.PECScattering(mesh.restricted(["top", "low"]), 1.5, formulation="efie")
        solution = problem.solve(wave(1.5), solver="lu")
        assert difference(solution, bare.solve(wave(1.5), solver="lu")) < bound
        assert not solution.electric([[0.1, 0.2, 0.3]]).any()
        assert solution.region_names([[0, 0, 0], [0, 0, 1.1]]) == [None, "coat"]


def test_sheets_are_those_of_the_electric_equation():
    """Crossed plates have one function fewer at the common edge than faces; resistive ones absorb."""
    plate = cal.mesh.plate([1.0, 1.0], 0.25)
    turned = plate.rotated(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
    mesh = cal.mesh.merge([plate, turned]).merged_vertices()
    tags = {tag: cal.Sheet("air") for tag in np.unique(mesh.tags).tolist()}
    problem = cal.MaxwellProblem(mesh, regions={"air": AIR}, surfaces=tags, wavenumber=2.0)
    other = cal.PECScattering(mesh, 2.0, formulation="efie")
    assert problem.unknowns == other.unknowns
    solution = problem.solve(wave(2.0), solver="lu")
    assert difference(solution, other.solve(wave(2.0), solver="lu")) < 1e-10
    lossy = {tag: cal.Sheet("air", 200.0) for tag in tags}
    found = cal.MaxwellProblem(mesh, regions={"air": AIR}, surfaces=lossy, wavenumber=2.0).solve(wave(2.0), solver="lu")
    j = found.electric_currents[0]
    absorbed = 200 / 376.730313668 / 2 * np.vdot(j.coefficients, j.space.mass_matrix() @ j.coefficients).real
    balance = found.extinction_cross_section() - found.scattering_cross_section()
    assert balance == pytest.approx(2 * absorbed, rel=1e-3) and balance > 0.05


REFUSED = {
    "unknown region": ({"cut": cal.Interface("top", "lower")}, {}, "unknown region 'lower'.*did you mean 'low'"),
    "unknown tag": ({"cat": cal.Interface("top", "low")}, {}, "unknown tags"),
    "contradiction": ({"cut": cal.Interface("air", "top")}, {}, "contradict each other.*edges"),
    "unused": ({}, {"rest": AIR}, "no surface bounds the region 'rest'"),
    "metal": ({"cut": cal.Metal("top")}, {}, "contradict each other.*edges"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_surfaces_that_do_not_fit_are_refused(sphere, case):
    surfaces, more, message = REFUSED[case]
    regions = {"air": AIR, "top": AIR, "low": AIR} | more
    with pytest.raises(ValueError, match=message):
        cal.MaxwellProblem(sphere, regions=regions, surfaces=HALVES | surfaces, wavenumber=1.0)


def test_open_regions_and_missing_surfaces_are_refused(sphere):
    cup = sphere.restricted(["lower", "cut"])
    rest = {name: HALVES[name] for name in ("upper", "lower")}
    regions = {"air": AIR, "top": AIR, "low": AIR}
    with pytest.raises(ValueError, match="ends: a region there is not closed.*edges"):
        cal.MaxwellProblem(
            sphere.restricted(["upper"]), regions=regions, surfaces={"upper": HALVES["upper"]}, wavenumber=1.0
        )
    with pytest.raises(ValueError, match="says nothing of the tag 'cut'"):
        cal.MaxwellProblem(sphere, regions=regions, surfaces=rest, wavenumber=1.0)
    with pytest.raises(ValueError, match="below 0.001"):
        cal.MaxwellProblem(cup, regions={"air": AIR, "low": cal.Material(2.0)}, wavenumber=1e-4,
                           surfaces={"lower": HALVES["lower"], "cut": cal.Interface("air", "low")})  # fmt: skip
    inner = cal.mesh.merge([cup.scaled(3.0), cal.mesh.sphere(0.3, 0.3).translated([0, 0, -1.5])])
    tags = {tag: cal.Interface("air", "low") for tag in np.unique(inner.tags).tolist()}
    with pytest.raises(ValueError, match="unbounded|lies in"):
        cal.MaxwellProblem(inner, regions={"air": AIR, "low": cal.Material(2.0)}, surfaces=tags, wavenumber=1.0)


def test_sources_inside_and_lossy_surroundings_are_refused(sphere, solved):
    dipole = cal.ElectricDipole([0, 0, 0.5], [0, 0, 1], 1.0)
    with pytest.raises(ValueError, match="lies in a body"):
        solved[0].solve(dipole)
    wet = {"air": cal.Material(80.0, conductivity=4.0), "top": AIR, "low": AIR}
    with pytest.raises(ValueError, match="has loss"):
        cal.MaxwellProblem(sphere, regions=wet, surfaces=HALVES, frequency=1e7)


def test_factors_that_sums_of_regions_do_not_have_are_refused_before_the_matrix(sphere):
    problem = of_sphere(sphere)
    with pytest.raises(ValueError, match="hierarchical factors.*take 'near'"):
        problem.solve(wave(1.0), method="hmatrix", preconditioner="hlu")
    assert problem.system.matrix is None
