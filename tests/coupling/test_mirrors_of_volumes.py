"""Volumes on one side of mirrors: solutions are those of the whole, with its images."""

from functools import cache

import numpy as np
import pytest

import calderon as cal
from calderon.coupling import InhomogeneousDielectric
from calderon.mesh.shapes.mirror_images import mirror_images

pytest.importorskip("skfem")
STEEL = cal.ElasticMaterial.from_wave_speeds(7700.0, longitudinal=5950.0, shear=3240.0, loss_factor=0.1)
WATER = cal.Fluid(1000.0, 1500.0)
THETA = np.linspace(0, np.pi, 7)
PLACES = np.array([[0.2, 0.3, 0.4], [0.2, 0.3, -0.4], [0, 0, 2], [0.1, 0.2, 0.0]])
PARITIES = {"even": 1, "odd": -1}


@cache
def half(hollow=False):
    """A box z > 0 bent to half a ball, 48 tetrahedra, or half a shell."""
    box = cal.mesh.box([-1, -1, 0], [1, 1, 1], 3 if hollow else 2)
    x = box.vertices
    x = x * np.abs(x).max(axis=1, keepdims=True) / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
    kept = np.abs(box.centroids).max(axis=1) > 1 / 3 if hollow else slice(None)
    return cal.TetrahedralMesh(x, box.tetrahedra[kept])


@cache
def whole(hollow=False):
    part = half(hollow)
    images = mirror_images(part.vertices, part.tetrahedra, ("z",))
    return cal.TetrahedralMesh(images.vertices, images.numbers[:, part.tetrahedra].reshape(-1, 4))


def wave(parity):
    return cal.PlaneWave([0.6, 0, 0.8]) + PARITIES[parity] * cal.PlaneWave([0.6, 0, -0.8])


def difference(one, other):
    far, exact = one.far_field(THETA, 0.3), other.far_field(THETA, 0.3)
    return np.abs(far - exact).max() / np.abs(exact).max()


@pytest.mark.parametrize(
    ("parity", "formulation", "space"),
    [("even", "burton-miller", "P1"), ("odd", "symmetric", "P2")],
)
def test_bodies_of_varying_material(parity, formulation, space):
    gel = {"density_ratio": lambda x: 2 + x[:, 0], "formulation": formulation, "space": space}
    part = cal.InhomogeneousScattering(half(), 1.0, **gel, mirrors={"z": parity})
    solution, expected = (
        each.solve(wave(parity), method="dense", rtol=1e-9)
        for each in (part, cal.InhomogeneousScattering(whole(), 1.0, **gel))
    )
    assert part.unknowns < 0.7 * expected.info.unknowns
    assert difference(solution, expected) < 1e-7
    assert solution.field(PLACES) == pytest.approx(expected.field(PLACES), abs=1e-7)
    with pytest.raises(ValueError, match="as even or odd"):
        part.solve(cal.PlaneWave([0, 0, 1]))


def test_magnets_in_fields_and_next_to_coils():
    loop = cal.CurrentPath([[3, 0, 0], [0, 3, 0], [-3, 0, 0], [0, -3, 0]], current=1.0)
    for source, parity in ((cal.UniformField([1, 0, 0]), "even"), (loop, "odd")):
        found, expected = (
            cal.InhomogeneousPotential(volume, permeability=3.0, space="P1", mirrors=mirrors)
            .solve(source, method="dense", rtol=1e-9)
            .strength(PLACES)
            for volume, mirrors in ((half(), {"z": parity}), (whole(), None))
        )
        assert np.abs(found - expected).max() < 1e-7 * np.abs(expected).max()
    with pytest.raises(ValueError, match="current path is not as even or odd"):
        cal.InhomogeneousPotential(half(), permeability=3.0, space="P1", mirrors={"z": "even"}).solve(loop)


@pytest.mark.parametrize(("parity", "hollow"), [("even", False), ("odd", True)])
def test_elastic_bodies_that_forces_drive(parity, hollow):
    """A force off the mirror has an image, one in the mirror is its own."""
    sign, force, place = PARITIES[parity], np.array([3.0, 1.0, 2.0]), np.array([0.1, 0.2, 0.7])
    own = [([0, 0.8, 0], [1.0, 0, 0] if parity == "even" else [0, 0, 1.0])]
    images = [(place * [1, 1, -1], sign * force * [1, 1, -1])]
    given = {"material": STEEL, "fluid": WATER}
    found, expected = (
        cal.ElasticScattering(volume, 1.0, **given, mirrors=mirrors, point_forces=[(place, force), *own, *more]).solve(
            wave(parity)
        )
        for volume, mirrors, more in ((half(hollow), {"z": parity}, []), (whole(hollow), None, images))
    )
    assert difference(found, expected) < 1e-7
    inside = np.array([place, images[0][0], [0.0, 0.8, 0.0]])
    moved = expected.displacement(inside)
    assert np.abs(found.displacement(inside) - moved).max() < 1e-6 * np.abs(moved).max()
    assert found.input_power == pytest.approx(expected.input_power, rel=1e-6)
    assert found.lost_power == pytest.approx(expected.lost_power, rel=1e-6)


def electric_wave(parity, plane="z"):
    """A plane wave and its image as at a magnetic wall, even, or at one of metal, odd."""
    given = cal.PlaneWave([0.6, 0, 0.8], polarization=[0.8, 1.0, -0.6]).at(1.0)
    return given + PARITIES[parity] * given.mirrored(plane)


@pytest.mark.filterwarnings("ignore:.*elements per wavelength")
@pytest.mark.parametrize(
    ("parity", "formulation"), [("even", "symmetric"), ("odd", "symmetric"), ("odd", "johnson-nedelec")]
)
def test_dielectrics(parity, formulation):
    glass = {"permittivity": lambda x: 2 + 0.5 * x[:, 0], "permeability": 1.5, "formulation": formulation}
    part = InhomogeneousDielectric(half(), 1.0, **glass, mirrors={"z": parity})
    found, expected = (
        each.solve(electric_wave(parity), method="dense", rtol=1e-9)
        for each in (part, InhomogeneousDielectric(whole(), 1.0, **glass))
    )
    assert part.unknowns < 0.6 * expected.info.unknowns
    assert difference(found, expected) < 1e-7
    for name in ("electric", "magnetic"):
        fields = getattr(expected, name)(PLACES[:3])  # H jumps between tetrahedra, as in the mirror
        assert np.abs(getattr(found, name)(PLACES[:3]) - fields).max() < 1e-7 * np.abs(fields).max()
    with pytest.raises(ValueError, match="as even or odd"):
        part.solve(cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0]))
    with pytest.raises(ValueError, match="a radar"):
        part.monostatic_rcs(0.0, 0.0)


@pytest.mark.filterwarnings("ignore:.*elements per wavelength")
def test_a_dielectric_in_two_mirrors_at_its_resonance():
    """A quarter of it; where the matrix of the volume has no inverse, behind a surface that absorbs."""
    box = half()
    quarter = cal.TetrahedralMesh(box.vertices, box.tetrahedra[box.centroids[:, 0] > 0])
    tensor = [[3.0, 0.2, 0.1], [0.2, 2.5, 0.3], [0.1, 0.3, 2.0]]

    def graded(x):
        s = np.where(x < 0, -1, 1) * [1, 0, 1] + [0, 1, 0]
        return np.array(tensor) * s[:, :, None] * s[:, None, :]

    images = mirror_images(quarter.vertices, quarter.tetrahedra, ("x", "z"))
    full = cal.TetrahedralMesh(images.vertices, images.numbers[:, quarter.tetrahedra].reshape(-1, 4))
    given = electric_wave("odd")
    incident = given + given.mirrored("x")
    found, expected = (
        InhomogeneousDielectric(volume, 1.0, permittivity=graded, permeability=graded, mirrors=mirrors)
        for volume, mirrors in ((quarter, {"x": "even", "z": "odd"}), (full, None))
    )
    for problem in (found, expected):
        object.__setattr__(problem.elimination, "limit", 1.0)  # every matrix counts as resonant
    one, other = (each.solve(incident, method="dense", rtol=1e-9) for each in (found, expected))
    assert found.elimination.is_resonant and difference(one, other) < 1e-7
    fields = other.magnetic(PLACES[:3])
    assert np.abs(one.magnetic(PLACES[:3]) - fields).max() < 1e-7 * np.abs(fields).max()


def test_a_dielectric_above_a_ground_of_metal():
    problem = InhomogeneousDielectric(half(), 1.0, permittivity=2.0, mirrors=cal.HalfSpace("z"))
    down = cal.PlaneWave([-0.6, 0, -0.8], polarization=[0, 1, 0])
    found = problem.solve(down, method="dense", rtol=1e-9)
    angle = np.arccos(0.8)
    levels = [problem.monostatic_rcs(angle, 0.0, each, method="dense") for each in ("HH", "VH")]
    assert sum(levels) == pytest.approx(found.rcs(angle, 0.0), rel=1e-5)
    field = found.electric([[0.1, 0.2, 1e-9]])[0]
    assert np.abs(field[:2]).max() < 1e-6 * np.abs(found.electric([[0.1, 0.2, 0.4]])).max()


def test_half_spaces():
    """A sonar above a body on a plane sees what a wave with its reflection scatters."""
    plane, angle = cal.HalfSpace("z"), np.arccos(0.8)
    for problem in (
        cal.ElasticScattering(half(), 1.0, material=STEEL, fluid=WATER, mirrors=plane),
        cal.InhomogeneousScattering(half(), 1.0, density_ratio=2.0, space="P1", mirrors=cal.HalfSpace("z", False)),
    ):
        echo = problem.solve(cal.PlaneWave([-0.6, 0, -0.8]), method="dense", rtol=1e-8).target_strength(angle, 0.0)
        assert problem.monostatic_target_strength(angle, 0.0) == pytest.approx(echo, abs=1e-3)


def test_refusals():
    elastic = {"material": STEEL, "fluid": WATER}
    with pytest.raises(cal.MeshError, match="both sides"):
        cal.ElasticScattering(whole(), 1.0, **elastic, mirrors={"z": "even"})
    with pytest.raises(ValueError, match="not its own image"):
        cal.ElasticScattering(half(), 1.0, **elastic, mirrors={"z": "even"}, point_forces=[([0, 0.8, 0], [0, 0, 1])])
    with pytest.raises(ValueError, match="holes"):
        cal.InhomogeneousScattering(half(True), 1.0, density_ratio=2.0, mirrors={"z": "even"})
    with pytest.raises(ValueError, match="Baffle"):
        cal.InhomogeneousScattering(half(), 1.0, density_ratio=2.0, mirrors=cal.Baffle())
    with pytest.raises(ValueError, match="no HalfSpace"):
        cal.InhomogeneousPotential(half(), 2.0, mirrors=cal.HalfSpace("z"))
