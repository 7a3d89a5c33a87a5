"""Magnetic fields of heads, heads of OpenMEEG files, and molecules of PQR files, against closed forms."""

import numpy as np
import pytest
import scipy.constants

import calderon as cal

RADII, SIGMA = {"Cortex": 0.87, "Skull": 0.92, "Scalp": 1.0}, (0.33, 0.0042, 0.33)
GEOMETRY = """# Domain Description 1.1

Interfaces 3

Interface Cortex: "cortex.tri"
Interface Skull: "skull.tri"
Interface Scalp: "scalp.tri"

Domains 4

Domain Brain: -Cortex
Domain Bone: +Cortex -Skull
Domain Skin: Skull -Scalp
Domain Air: Scalp
"""
CONDUCTIVITIES = "# Properties Description 1.0 (Conductivities)\n\nAir 0.0\nBrain 0.33\nBone 0.0042\nSkin 0.33\n"


@pytest.fixture
def head(tmp_path):
    for name, radius in RADII.items():
        mesh = cal.mesh.sphere(radius, 0.3)
        rows = [" ".join(f"{x:.12g}" for x in (*v, *v / radius)) for v in mesh.vertices]
        rows = [f"- {len(rows)}", *rows, "- " + " ".join(3 * [str(len(mesh.triangles))])]
        rows += [" ".join(map(str, triangle)) for triangle in mesh.triangles.tolist()]
        (tmp_path / f"{name.lower()}.tri").write_text("\n".join(rows) + "\n")
    (tmp_path / "head.geom").write_text(GEOMETRY)
    (tmp_path / "head.cond").write_text(CONDUCTIVITIES)
    return tmp_path


def test_the_magnetic_field_of_a_dipole_in_a_head(head):
    problem = cal.StaticProblem.from_openmeeg(head / "head.geom", head / "head.cond")
    assert list(problem.regions) == ["Brain", "Bone", "Skin"] and set(problem.mesh.names) == set(RADII)
    x = np.random.default_rng(0).normal(size=(20, 3))
    x *= 1.1 / np.linalg.norm(x, axis=1, keepdims=True)
    place = [0.0, 0.1, 0.5]
    tangent, radial = (problem.solve(sources=[cal.StaticDipole(place, m)]) for m in ([1.0, 0, 0], [0, 0.1, 0.5]))
    exact = cal.exact.head_magnetic_field(place, [1.0, 0, 0], x)
    found = tangent.magnetic_field(x)
    assert np.linalg.norm(found - exact) < 0.02 * np.linalg.norm(exact)
    assert np.linalg.norm(radial.magnetic_field(x)) < 0.02 * np.linalg.norm(exact)
    nodes = problem.function_space.nodes
    scalp = np.linalg.norm(nodes, axis=1) > 0.97
    series = cal.exact.layered_head([*RADII.values()], SIGMA, place, [1.0, 0, 0], nodes[scalp])
    at = tangent.surface.coefficients[scalp]
    assert np.linalg.norm(at - at.mean() - series + series.mean()) < 0.05 * np.linalg.norm(series)
    electrode = cal.StaticProblem(cal.mesh.sphere(1.0, 0.8), {"a": cal.Region("all", conductivity=1.0)}, outside=None)
    currents = [cal.PointCharge([0, 0, z], q) for z, q in ((0.5, 1.0), (-0.5, -1.0))]
    with pytest.raises(ValueError, match="have wires"):
        electrode.solve(sources=currents).magnetic_field(x)


def test_meshes_named_apart_and_old_files(head):
    new = cal.StaticProblem.from_openmeeg(head / "head.geom", head / "head.cond", scale=0.1)
    files = "".join(f"Mesh m{name}: {name.lower()}.tri\n" for name in RADII)
    interfaces = "".join(f"Interface {name}: +m{name}\n" for name in RADII)
    domains = GEOMETRY[GEOMETRY.index("Domains 4") :]
    text = f"# Domain Description 1.1\nMeshes 3\n{files}Interfaces 3\n{interfaces}{domains}"
    (head / "apart.geom").write_text(text)
    apart = cal.StaticProblem.from_openmeeg(head / "apart.geom", head / "head.cond")
    assert set(apart.mesh.names) == {f"m{name}" for name in RADII} and apart.unknowns == new.unknowns
    assert new.mesh.bounds.max() == pytest.approx(0.1, rel=0.05)
    old = "# Domain Description 1.0\nInterfaces 3 Mesh\ncortex.tri\nskull.tri\nscalp.tri\n"
    (head / "old.geom").write_text(
        old + "Domains 4\nDomain Brain -1\nDomain Bone 1 -2\nDomain Skin 2 -3\nDomain Air 3\n"
    )
    assert cal.StaticProblem.from_openmeeg(head / "old.geom", head / "head.cond").unknowns == new.unknowns


@pytest.mark.parametrize(
    "name, old, new, message",
    [
        ("head.geom", "-Skull", "-Dura", r"line 12: expected are interfaces out of .*, got '-Dura'"),
        ("head.geom", "Interfaces 3", "Interfaces 9", "it ends after|expected are"),
        ("head.geom", '"cortex.tri"', "../cortex.tri", "files in its own folder"),
        ("head.geom", "# Domain", "# Main", "does not begin with"),
        ("head.cond", "Bone 0.0042", "Bone -1", "line 5: expected are conductivities from 0 on, .* got 'Bone -1'"),
        ("head.cond", "Bone 0.0042\n", "", "no conductivity of the domain 'Bone'"),
        ("skull.tri", "- ", "- x", "expected are a whole number"),
        ("skull.tri", " 113\n", " 99999\n", "a whole number from 0 to"),
    ],
)
def test_what_is_no_head(head, name, old, new, message):
    text = (head / name).read_text()
    assert old in text
    (head / name).write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        cal.StaticProblem.from_openmeeg(head / "head.geom", head / "head.cond")


def test_an_ion_of_a_pqr_file(tmp_path):
    path = tmp_path / "ion.pqr"
    path.write_text("REMARK an ion\nATOM 1 NA NA 1 1.000 0.000 2.000 1.0000 2.0000\nTER\nEND\n")
    ion, a = cal.Molecule.read(path), 2e-10
    water = cal.Region(permittivity=78.5, debye_length=8e-10)
    inside = {"ion": cal.Region("all", permittivity=4.0)}
    energy = cal.StaticProblem(ion.surface(0.6e-10), inside, outside=water).solve(sources=ion.sources).solvation_energy
    born = scipy.constants.e**2 / (8 * np.pi * scipy.constants.epsilon_0 * a)
    assert energy == pytest.approx(born * (1 / (78.5 * (1 + a / 8e-10)) - 1 / 4.0), rel=2e-3)


def test_two_atoms_are_one_surface(tmp_path):
    pytest.importorskip("gmsh")
    path = tmp_path / "two.pqr"
    path.write_text("ATOM 1 O MOL A 1 0 0 0 -0.5 1.5\nHETATM 2 H MOL A 1 0 0 1.0 0.5 1.2\n")
    molecule = cal.Molecule.read(path)
    mesh = molecule.surface(0.3e-10)
    r, s, d = 1.5, 1.2, 1.0
    lens = np.pi * (r + s - d) ** 2 * (d**2 + 2 * d * (r + s) - 3 * (r - s) ** 2) / (12 * d)
    assert mesh.is_closed and mesh.number_of_components == 1
    assert mesh.volume == pytest.approx((4 / 3 * np.pi * (r**3 + s**3) - lens) * 1e-30, rel=0.05)
    charges = np.array([each.charge for each in molecule.sources])
    assert charges / scipy.constants.e == pytest.approx([-0.5, 0.5])


@pytest.mark.parametrize(
    "line, message",
    [
        ("ATOM 1 O MOL 1 0 0 0 -0.5", "line 2: expected are ATOM n name"),
        ("ATOM 1 O MOL 1 0 0 nan -0.5 1.5", "finite numbers"),
        ("ATOM 1 O MOL 1 0 0 0 -0.5 -1.5", "radii from 0"),
        ("hello there", "got 'hello there'"),
    ],
)
def test_what_is_no_molecule(tmp_path, line, message):
    (tmp_path / "a.pqr").write_text(f"REMARK a test\n{line}\n")
    with pytest.raises(ValueError, match=message):
        cal.Molecule.read(tmp_path / "a.pqr")
