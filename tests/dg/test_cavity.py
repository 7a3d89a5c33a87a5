"""Standing waves in a cube: rates, energy, precision, failures."""

import numpy as np
import pytest

import calderon as cal
from calderon.dg.stepping.system import Steps

MODE = cal.exact.cubic_cavity(mode=(1, 1, 1))


def simulation(cells, order, **options):
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=cells)
    result = cal.MaxwellDG(mesh, order=order, boundaries={"wall": "pec"}, **options)
    result.set_fields(electric=MODE.electric, magnetic=MODE.magnetic)
    return result


def error(cells, order, flux, courant, until=0.5):
    result = simulation(cells, order, flux=flux, courant=courant)
    result.run(until)
    return result.l2_error(MODE.electric, MODE.magnetic)


@pytest.mark.parametrize(
    ("flux", "order", "cells", "courant", "rate"),
    [
        ("centred", 2, (4, 8), 0.3, 2),
        ("centred", 3, (3, 6), 0.1, 3),
        ("upwind", 1, (4, 8), 0.9, 2),
        ("upwind", 2, (3, 6), 0.9, 3),
        ("upwind", 3, (2, 4), 0.9, 4),
    ],
)
def test_rates(flux, order, cells, courant, rate):
    coarse, fine = (error(n, order, flux, courant) for n in cells)
    assert np.log2(coarse / fine) > rate - 0.3
    assert error(cells[0], order, flux, courant / 2) == pytest.approx(coarse, rel=0.05)


def test_leap_frog_conserves_the_discrete_energy():
    result = simulation(2, 2, courant=0.95)
    step = result.time_step
    before = result._system.discrete_energy(step)
    result.run(3000 * step)
    assert result._system.discrete_energy(step) == pytest.approx(before, rel=1e-11)
    assert simulation(4, 4).energy() == pytest.approx(
        1 / 8, rel=1e-3
    )  # mean of E^2 over the cube is (1 + 1) / 8, halved


def test_upwind_loses_energy_and_never_gains():
    result = simulation(2, 1, flux="upwind")
    energies = []
    for n in range(1, 6):
        result.run(0.2 * n)
        energies.append(result.energy())
    assert all(later < earlier for earlier, later in zip(energies[:-1], energies[1:], strict=True))


@pytest.mark.parametrize("flux", ["centred", "upwind"])
def test_time_step_limit_is_sharp(flux):
    """Noise grows without bound a tenth above the limit and not at 0.99 of it."""
    result = simulation(3, 2, flux=flux)
    rng = np.random.default_rng(0)

    def growth(factor):
        result.set_fields(lambda x, t: rng.standard_normal(x.shape), lambda x, t: rng.standard_normal(x.shape))
        start = result.energy()
        result._system.advance(Steps(0.0, factor * result.time_step_limit, 400))
        return result.energy() / start

    assert growth(0.99) < 10
    assert growth(1.1 if flux == "centred" else 1.6) > 1e3


def test_single_precision_follows_double():
    results = [simulation(3, 3, precision=precision) for precision in ("double", "single")]
    points = np.random.default_rng(1).random((50, 3))
    for each in results:
        each.run(0.5)
    double, single = (each.electric(points) for each in results)
    assert np.abs(single - double).max() < 1e-5


def test_field_at_points():
    result = simulation(4, 4)
    points = np.vstack([np.random.default_rng(2).random((100, 3)), [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.25]]])
    assert np.abs(result.electric(points) - MODE.electric(points, 0)).max() < 2e-3
    with pytest.raises(ValueError, match="1 points are outside the mesh, the first is number 1"):
        result.electric([[0.5, 0.5, 0.5], [1.5, 0, 0]])


def test_exact_mode_solves_maxwell():
    points, step = np.random.default_rng(3).random((20, 3)), 1e-5
    mode = cal.exact.cubic_cavity((1, 2, 3), amplitude=(1, 1, -1))

    def curl(field):
        jacobian = [(field(points + step * e) - field(points - step * e)) / (2 * step) for e in np.eye(3)]
        return np.stack([jacobian[i - 2][:, i - 1] - jacobian[i - 1][:, i - 2] for i in range(3)], axis=1)

    rate = (mode.magnetic(points, 0.3 + step) - mode.magnetic(points, 0.3 - step)) / (2 * step)
    assert np.allclose(rate, -curl(lambda x: mode.electric(x, 0.3)), atol=1e-7)
    rate = (mode.electric(points, 0.3 + step) - mode.electric(points, 0.3 - step)) / (2 * step)
    assert np.allclose(rate, curl(lambda x: mode.magnetic(x, 0.3)), atol=1e-7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flux": "central"}, "unknown flux 'central'"),
        ({"order": 7}, "order=7"),
        ({"courant": 1.5}, "courant=1.5"),
        ({"boundaries": {"walls": "pec"}}, "no faces are called 'walls'"),
        ({"boundaries": {"wall": "metal"}}, "'pec', 'pmc', 'absorbing'"),
        ({"materials": {"brain": cal.Material()}}, "no part 'brain'"),
        ({"time_step": 1.0}, "stability limit"),
        ({"sources": [cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], 1e9)]}, "absorbing"),
    ],
)
def test_mistakes_are_named(options, message):
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1)
    with pytest.raises(ValueError, match=message):
        cal.MaxwellDG(mesh, **{"order": 1} | options)


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("order", [1, 2])
def test_the_limit_of_a_tiny_mesh_is_that_of_its_matrix(order, precision):
    """Lanczos has done all there is to do after fewer steps than it may take; what is left is rounding."""
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1)
    found = cal.MaxwellDG(mesh, order, precision=precision)
    system = found._system
    lanes, zeros = system.lanes_of, np.zeros(6)
    gains, places = lanes(zeros, -np.ones(6)), system.element_blocks.places_of(np.arange(6)).ravel()
    columns = []
    for place in places:
        unit, image = np.zeros_like(system.electric), np.zeros_like(system.electric)
        unit[place] = 1
        system._run(system.magnetic, unit, 0, gains)
        system._run(image, system.magnetic, 1, gains)
        columns.append(image[places].astype(float))
    largest = np.linalg.eigvals(np.array(columns)).real.max()
    assert found.time_step_limit == pytest.approx(2 / np.sqrt(largest) / 1.01, rel=1e-5)


@pytest.mark.parametrize("flux", ["centred", "upwind"])
@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_single_precision_takes_meshes_of_all_sizes(flux, size):
    """Steps and fields of a small or large cavity are those of one of 1 m, scaled."""
    box, found = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), []
    for scale in (1.0, size):
        mesh = cal.TetrahedralMesh(scale * box.vertices, box.tetrahedra, names={"air": 0})
        source = cal.CurrentSource("air", [0, 0, 1], cal.RampedSine(1e8 / scale))
        simulation = cal.MaxwellDG(mesh, 2, flux, materials={}, sources=[source], precision="single")
        simulation.run(2e-8 * scale)
        found.append([simulation.time_step / scale, simulation.energy() / scale])
    assert found[1] == pytest.approx(found[0], rel=1e-5)


@pytest.mark.parametrize(("backend", "value"), [("numba", np.nan), ("numba", -np.inf), ("opencl", -np.inf)])
def test_a_run_that_blows_up_stops_and_says_where(backend, value, request):
    if backend == "opencl":
        request.getfixturevalue("opencl")
    result = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), 1, backend=backend)
    result.set_fields(MODE.electric, MODE.magnetic)
    result._system.electric[7] = value
    with pytest.raises(FloatingPointError, match="no longer finite at step .*, first in tetrahedron 0: take a smaller"):
        result.run(0.5)


def test_a_magnetic_field_alone_that_is_not_finite_is_seen():
    result = simulation(2, 1)
    assert result._system.finite()
    result._system.magnetic[7] = np.nan
    assert np.isfinite(result._system.electric).all() and not result._system.finite()


def test_fields_that_are_large_but_finite_go_on():
    """Their sum is not."""
    result = simulation(2, 1)
    result._system.electric[:] = 1e306
    assert not result._system.finite()
    result.run(result.time_step / 1e6)
    assert np.isfinite(result._system.electric).all()
