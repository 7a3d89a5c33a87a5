"""Conductors of any conductivity with the centred flux: fields decay as they do with the upwind flux, and the longest
step is that without conduction."""

import numpy as np
import pytest

import calderon as cal
from calderon.dg.operator.reference import reference_tetrahedron

MODE = cal.exact.cubic_cavity(mode=(1, 1, 1))
TAU = cal.exact.VACUUM_IMPEDANCE * cal.exact.SPEED_OF_LIGHT
"""1 / epsilon_0."""


def graded(cells, tags=None, names=None):
    """A unit cube in which one layer of cells is thinner than the others."""
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=cells)
    widths = np.where(np.arange(cells) == cells // 2, 0.2, 1.0)
    vertices, places = mesh.vertices.copy(), np.concatenate([[0.0], np.cumsum(widths)]) / widths.sum()
    vertices[:, 0] = np.interp(vertices[:, 0], np.linspace(0, 1, cells + 1), places)
    tags = np.zeros(len(mesh.tetrahedra), int) if tags is None else tags
    names = {"metal": 0} if names is None else names
    return cal.TetrahedralMesh(vertices, mesh.tetrahedra, tags, names, mesh.faces, mesh.face_tags, mesh.face_names)


def energy_left(conductivity, until=None, **options):
    """The part of the energy of an electric field that is left after 20 steps, or the given time, and that time."""
    metal = {"metal": cal.Material(conductivity=conductivity)}
    result = cal.MaxwellDG(graded(4), 2, materials=metal, **options)
    result.set_fields(MODE.electric, lambda x, t: np.zeros_like(x))
    before, until = result.energy(), until or 20 * result.time_step
    result.run(until)
    return result.energy() / before, until


@pytest.mark.parametrize("local", [False, True])
def test_energy_decays_as_with_the_upwind_flux(local):
    for conductivity in (0.0, 1e-2, 1.0, 6e7, 1e20):
        left, until = energy_left(conductivity, local_time_stepping=local)
        assert left == pytest.approx(energy_left(conductivity, until, flux="upwind")[0], abs=0.01), conductivity


def test_a_magnetic_field_in_a_good_conductor_stays():
    """It diffuses in mu sigma L^2, here 75 s, whatever the size of the steps."""
    result = cal.MaxwellDG(graded(4), 2, materials={"metal": cal.Material(conductivity=6e7)})
    result.set_fields(lambda x, t: np.zeros_like(x), lambda x, t: MODE.magnetic(x, 0.2))
    before = result.energy()
    result.run(200 * result.time_step)
    assert result.energy() == pytest.approx(before, rel=1e-6)


def test_decay_of_a_uniform_field_is_exact_at_any_step():
    """Without a curl, E = E_0 exp(-sigma t / epsilon), with whatever number of steps."""
    wall = {"boundaries": {"wall": "pmc"}, "materials": {"metal": cal.Material(2.0, conductivity=0.05)}}
    for courant in (0.9, 0.2):
        result = cal.MaxwellDG(graded(2), 1, courant=courant, **wall)
        result.set_fields(lambda x, t: np.tile([1.0, 0, 0], (len(x), 1)), lambda x, t: np.zeros_like(x))
        result.run(3e-10)
        expected = np.exp(-0.05 * 3e-10 / 2.0 * TAU)
        assert result.electric([[0.3, 0.4, 0.2]])[0, 0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("local, boundary", [(False, "pec"), (False, "absorbing"), (True, "pec")])
def test_no_conductivity_makes_the_longest_step_unstable(local, boundary):
    """The spectral radius of a step of that length, with conductivities between 0 and 1e20 S/m at random, is 1."""
    count, rng = 6 * 2**3, np.random.default_rng(5)
    values = np.where(rng.random(count) < 0.2, 0.0, 10 ** rng.uniform(-6, 20, count))
    materials = {f"part {n}": cal.Material(1 + rng.random(), 1.0, value) for n, value in enumerate(values)}
    mesh = graded(2, np.arange(count), {name: n for n, name in enumerate(materials)})
    options = {"materials": materials, "boundaries": {"wall": boundary}, "courant": 1.0}
    result = cal.MaxwellDG(mesh, 1, local_time_stepping=local, **options)
    assert len(result.elements_by_step) == 1 + local
    system, step = result._system, result.time_step * result.medium.speed
    if local:
        system._begin(step)
    coefficients = [system._coefficients(step, field) for field in range(2)]
    real = np.flatnonzero(result._element_blocks.in_lanes(np.ones((count, 3, reference_tetrahedron(1).size))))
    columns = []
    for place in np.concatenate([real, system.electric.size + real]):
        for field in (system.electric, system.magnetic):
            field[:] = 0
        (system.electric if place < system.electric.size else system.magnetic)[place % system.electric.size] = 1
        system._update(1, coefficients[1], 0.0)
        system._update(0, coefficients[0], 0.0)
        columns.append(np.concatenate([system.electric[real], system.magnetic[real]]))
    assert np.abs(np.linalg.eigvals(np.array(columns))).max() < 1 + 1e-6
