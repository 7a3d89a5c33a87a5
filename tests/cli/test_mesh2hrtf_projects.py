"""Projects of Mesh2HRTF are read, solved as by the interface in Python, and written; what is wrong is refused."""

import json
import re

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import calderon as cal
from calderon.cli import app
from calderon.kinds.numcalc.lines import ProjectError
from calderon.kinds.numcalc.reading import read_project
from calderon.kinds.numcalc.running import driven

NC = """##-------------------------------------------
## This file was created by mesh2input
##-------------------------------------------
Mesh2HRTF 1.0.0
##
Head-Related Transfer Functions
##
## Controlparameter I
0 0 0 0 7 0
##
## Controlparameter II
1 2 0.000001 0.00e+00 1 0 0
##
## Load Frequency Curve
0 3
0.000000 0.000000e+00 0.0
0.000001 0.040000e+04 0.0
0.000002 0.080000e+04 0.0
##
## 1. Main Parameters I
2 {elements} {nodes} 0 0 2 1 4 0
##
## 2. Main Parameters II
{planes} {points} {inside} 0.0000e+00 0 0 0
##
## 3. Main Parameters III
0 0 0 0
##
## 4. Main Parameters IV
346.18 1.1839e+00 {time} 0.0e+00 0.0 e+00 0.0e+00 0.0e+00
##
NODES
../../ObjectMeshes/Reference/Nodes.txt
../../EvaluationGrids/Ring/Nodes.txt
##
ELEMENTS
../../ObjectMeshes/Reference/Elements.txt
../../EvaluationGrids/Ring/Elements.txt
##
# SYMMETRY
# 0 0 0
##
BOUNDARY
{boundary}
RETU
##
{sources}
POST PROCESS
##
END
"""
HAIR = """CURVES
2 2
1 2
400 0.2 0.0
1200 0.6 0.0
2 2
400 0.0 0.0
800 -0.3 0.0
##"""
RING = np.array([[0.2, 0, 0], [0, 0.2, 0], [-0.2, 0, 0], [0, 0, 0.3]])
AIR = cal.Fluid(1.1839, 346.18)


@pytest.fixture(scope="module")
def head():
    return cal.mesh.sphere(0.0875, 0.05)


@pytest.fixture
def project(head, tmp_path):
    """A function that writes a project with a BOUNDARY and sources, and gives the path of its NC.inp."""

    def written(boundary, sources="", *, inside=0, time=1.0):
        folders = {name: tmp_path / "project" / name for name in ("ObjectMeshes/Reference", "EvaluationGrids/Ring")}
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        body, ring = folders.values()
        # numbers of nodes and elements of the grid begin anywhere
        nodes = [f"{i} {x:.15g} {y:.15g} {z:.15g}" for i, (x, y, z) in enumerate(head.vertices.tolist())]
        (body / "Nodes.txt").write_text("\n".join([str(len(nodes)), *nodes]) + "\n")
        elements = [f"{i} {a} {b} {c} 0 0 0" for i, (a, b, c) in enumerate(head.triangles.tolist())]
        (body / "Elements.txt").write_text("\n".join([str(len(elements)), *elements]) + "\n")
        grid = [f"{500000 + i} {x} {y} {z}" for i, (x, y, z) in enumerate(RING.tolist())]
        (ring / "Nodes.txt").write_text("\n".join(["4", *grid]) + "\n")
        (ring / "Elements.txt").write_text("2\n500000 500000 500001 500002 2 0 1\n500001 500001 500002 500003 2 0 1\n")
        counts = {
            "planes": len(re.findall("^PLANE", sources, re.M)),
            "points": len(re.findall("^POINT", sources, re.M)),
        }
        text = NC.format(
            elements=len(elements) + 2, nodes=len(nodes) + 4, boundary=boundary, sources=sources, inside=inside,
            time=time, **counts,
        )  # fmt: skip
        path = tmp_path / "project" / "NumCalc" / "source_1" / "NC.inp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return written


def test_an_ear_and_hair_have_the_pressures_of_the_interface_in_python(project, head, tmp_path):
    """VELO at one element, ADMI with curves on others: pressures on the grid, on another one of a saved solution, and
    transfer functions over a point source of the same flow at the origin."""
    last = head.number_of_triangles - 1
    path = project(f"# ear\nELEM 3 TO 3 VELO 0.1 -1 0.0 -1\n# hair\nELEM 40 TO {last} ADMI 1.0 1 1.0 2", HAIR)
    out = tmp_path / "out"
    ran = CliRunner().invoke(app, ["run", str(path), "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    velocity, admittance = np.zeros(last + 1), np.zeros(last + 1, complex)
    velocity[3], admittance[40:] = 0.1, 0.4 - 0.3j  # half way along both curves, at 800 Hz
    impedance = np.where(admittance == 0, np.inf, AIR.impedance / np.where(admittance == 0, 1, admittance))
    walls = [cal.Velocity(velocity), cal.Impedance(impedance)]
    direct = cal.AcousticProblem(head, frequency=800.0, fluid=AIR, conditions=walls).solve()
    with h5py.File(out / "pressures.h5") as file:
        assert file["frequencies"][:].tolist() == [400.0, 800.0]
        found, numbers = file["0/pressures"][:], file["0/numbers"][:]
    assert numbers.tolist() == [500000, 500001, 500002, 500003]
    found = found[:, :, 0]  # of the only source
    np.testing.assert_allclose(found[1], direct.field(RING), rtol=1e-6)
    other = [[0.5, 0.1, 0.0], [0.0, 0.0, -1.0]]
    np.testing.assert_allclose(cal.load(out / "solution_0002.h5").field(other), direct.field(other), rtol=1e-6)
    summary = json.loads((out / "summary.json").read_text())
    assert [each["frequency_Hz"] for each in summary["solution"]] == [400.0, 800.0]
    assert CliRunner().invoke(app, ["run", str(path), "--out", str(out)]).exit_code == 4  # there is a result
    sofar = pytest.importorskip("sofar", reason="SOFA files are written by the extra sofa")
    made = sofar.read_sofa(str(out / "HRTF_Ring.sofa"), verbose=False)
    omega, r = 2 * np.pi * 800.0, np.linalg.norm(RING, axis=1)
    free = -1j * omega * 1.1839 * 0.1 * head.areas[3] / (4 * np.pi) * np.exp(1j * omega / 346.18 * r) / r
    np.testing.assert_allclose((made.Data_Real - 1j * made.Data_Imag)[:, 0, 1], found[1] / free, rtol=1e-9)
    np.testing.assert_allclose(made.ReceiverPosition.ravel(), head.centroids[3], atol=1e-12)
    raw = sofar.read_sofa(str(out / "pressure_Ring.sofa"), verbose=False)
    np.testing.assert_allclose((raw.Data_Real - 1j * raw.Data_Imag)[:, 0, 1], found[1])


@pytest.mark.parametrize("time", [1.0, -1.0])
@pytest.mark.parametrize("inside", [0, 1])
def test_sources_pressures_and_velocities_of_both_sides_and_time_factors(project, head, inside, time):
    """A velocity counts along the normal of the mesh, so inside it is the opposite of that into the fluid; numbers for
    exp(+i omega t) are conjugate."""
    sources = "POINT SOURCES\n0 0.0 0.02 0.0 0.1 -1 0.2 -1\n##"
    if not inside:
        sources = "PLANE WAVES\n1 0 -2 0 1.0 -1 0.5 -1\n##\nPOINT SOURCES\n0 0.2 0.0 0.0 0.1 -1 0.2 -1\n##"
    boundary = "ELEM 0 TO 20 PRES 2.0 -1 1.0 -1\nELEM 21 TO 30 VELO 0.1 -1 0.3 -1\nELEM 31 TO 40 IMPE 2.0 -1 1.0 -1"
    found = driven(read_project(project(boundary, sources, inside=inside, time=time)), 400.0)
    sign = (lambda z: z) if time == 1.0 else np.conj
    x, k = np.array([[0.0, -0.03, 0.01]] if inside else [[0.0, -0.3, 0.1]]), 2 * np.pi * 400.0 / 346.18
    expected = cal.PointSource([0, 0.02, 0], k, sign(0.1 + 0.2j))(x) if inside else (
        cal.PlaneWave([0, -1, 0], k, sign(1 + 0.5j))(x) + cal.PointSource([0.2, 0, 0], k, sign(0.1 + 0.2j))(x)
    )  # fmt: skip
    np.testing.assert_allclose(found.sources(x), expected, rtol=1e-12)
    assert found.problem.side == ("interior" if inside else "exterior")
    walls = {wall.name: wall for wall in found.problem.walls}
    given, moving = walls["tag 1"], walls["tag 0"]
    assert given.triangles.tolist() == list(range(21)) and given.pressure.value == sign(2 + 1j)
    velocity = np.zeros(head.number_of_triangles, complex)
    velocity[21:31] = sign(0.1 + 0.3j) * (-1 if inside else 1)
    np.testing.assert_allclose(moving.velocity.value, velocity)
    impedance = moving.impedance.value
    np.testing.assert_allclose(impedance[31:41], sign(2 + 1j) * AIR.impedance)
    assert np.isinf(impedance[41:]).all() and found.flow == pytest.approx(sign(0.1 + 0.3j) * head.areas[21:31].sum())


def test_a_plan_and_a_mesh_of_quadrilaterals(project, head, tmp_path):
    path = project("ELEM 3 TO 3 VELO 0.1 -1 0.0 -1")
    ran = CliRunner().invoke(app, ["run", str(path), "--plan"])
    assert ran.exit_code == 0 and f"{head.number_of_vertices}" in ran.output and "dense" in ran.output
    body = path.parents[2] / "ObjectMeshes" / "Reference" / "Elements.txt"
    a, b, c = head.triangles[0]
    second = next(t for t in range(1, head.number_of_triangles) if {b, c} <= set(head.triangles[t].tolist()))
    (d,) = set(head.triangles[second].tolist()) - {b, c}
    kept = [row for i, row in enumerate(body.read_text().splitlines()[1:]) if i not in (0, second)]
    body.write_text("\n".join([str(len(kept) + 1), *kept, f"3000 {a} {b} {d} {c} 0 0 0"]) + "\n")
    count = head.number_of_triangles + 2
    path.write_text(
        path.read_text().replace(f"2 {count} ", f"2 {count - 1} ").replace("ELEM 3 TO 3", "ELEM 3000 TO 3000")
    )
    found = read_project(path)
    assert found.mesh.number_of_triangles == head.number_of_triangles
    assert len(found.boundary[0].triangles) == 2


@pytest.mark.parametrize("kind, parity", [(1, "even"), (4, "odd")])
def test_half_of_a_symmetric_project_is_the_whole(project, tmp_path, kind, parity):
    """The part on one side of z = 0, with SYMMETRY, against the mirrored mesh with both sources; two such sources have
    one matrix."""
    half = cal.mesh.hemisphere(0.0875, 0.05)
    count = half.number_of_triangles
    place = "POINT SOURCES\n0 0.0 0.2 0.15 1.0 -1 0.5 -1\n##"
    path = project("ELEM 0 TO 20 VELO 0.1 -1 0.0 -1\nELEM 30 TO 36 ADMI 0.5 -1 0.2 -1", place)
    body = path.parents[2] / "ObjectMeshes" / "Reference"
    rows = [f"{i} {x:.15g} {y:.15g} {z:.15g}" for i, (x, y, z) in enumerate(half.vertices.tolist())]
    (body / "Nodes.txt").write_text("\n".join([str(len(rows)), *rows]) + "\n")
    elements = [f"{i} {a} {b} {c} 0 0 0" for i, (a, b, c) in enumerate(half.triangles.tolist())]
    (body / "Elements.txt").write_text("\n".join([str(count), *elements]) + "\n")
    text = re.sub(r"\n2 \d+ \d+ 0 0 2 1 4 0", f"\n2 {count + 2} {len(rows) + 4} 0 1 2 1 4 0", path.read_text())
    path.write_text(text.replace("# SYMMETRY\n# 0 0 0", f"SYMMETRY\n0 0 {kind}\n0.0 0.0 0.0"))
    read = read_project(path)
    assert read.mirrors == {"z": parity}
    found = driven(read, 400.0)
    part, sign = found.problem.solve(found.sources), 1.0 if parity == "even" else -1.0
    velocity, admittance = np.zeros(2 * count), np.zeros(2 * count, complex)
    velocity[:21], velocity[count : count + 21] = 0.1, sign * 0.1
    for start in (0, count):
        admittance[start + 30 : start + 37] = 0.5 + 0.2j
    impedance = np.where(admittance == 0, np.inf, AIR.impedance / np.where(admittance == 0, 1, admittance))
    k = found.problem.wavenumber
    sources = cal.PointSource([0, 0.2, 0.15], k, 1 + 0.5j) + sign * cal.PointSource([0, 0.2, -0.15], k, 1 + 0.5j)
    walls = [cal.Velocity(velocity), cal.Impedance(impedance)]
    whole = found.problem.surface.whole  # the part, then its image
    direct = cal.AcousticProblem(whole, frequency=400.0, fluid=AIR, conditions=walls).solve(sources)
    points = np.concatenate([RING + [0, 0, 0.05], RING - [0, 0, 0.05]])
    np.testing.assert_allclose(part.field(points), direct.field(points), rtol=1e-4, atol=1e-4)
    other = driven(read, 400.0)
    other.take_matrix(found)
    assert other.problem.system is found.problem.system
    for new, message in (("0 0 5", "a kind of plane is"), ("0 1 1", "and 2 are given"), ("0 0 0", "and 0 are given")):
        path.write_text(path.read_text().replace(f"\n0 0 {kind}\n0.0", f"\n{new}\n0.0"))
        with pytest.raises(ProjectError, match=message):
            read_project(path)
        path.write_text(path.read_text().replace(f"\n{new}\n0.0", f"\n0 0 {kind}\n0.0"))
    path.write_text(path.read_text().replace("0.0 0.0 0.0\n##", "0.0 0.0 0.1\n##"))
    with pytest.raises(ProjectError, match="this one is z = 0.1: move the mesh"):
        read_project(path)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("Mesh2HRTF 1.0.0", "*HEADING", "line 4 .*begins with Mesh2HRTF"),
        ("VELO", "TRIM", "condition TRIM is not supported: VELO, PRES, ADMI, IMPE are"),
        ("VELO 0.1 -1", "VELO nan -1", "a real part is a finite number, got 'nan'"),
        ("0.1 -1 0.0 -1", "0.1 1 0.0 -1", "both parts have a curve"),
        ("0.1 -1 0.0 -1", "0.1 7 0.0 7", "curve 7 is used and not given"),
        ("0.1 -1 0.0 -1", "0.1 IMAG 0.0", "IMAG and NEGA are not supported"),
        ("VELO 0.1", "IMPE 0.0", "IMPE is a number that is not 0"),
        ("ELEM 3 TO 3", "ELEM 9000 TO 9001", "no elements from 9000 to 9001"),
        ("ELEM 3 TO 3", "ELEM +-3 TO 3", r"an element is a whole number from 0, got '\+-3'"),
        ("ELEM 3 TO 3", "ELEM 3 TO " + "9" * 5000, "an element is a whole number from 0, got '9999"),
        ("ELEM 3 TO 3", "NODE 3 TO 3", "a condition is ELEM first TO last"),
        ("POST PROCESS", "CHIEF", "this card is not supported"),
        ("# SYMMETRY", "SYMMETRY", "the header promises 0 symmetry planes, which are under SYMMETRY"),
        ("0 0 2 1 4 0", "0 1 2 1 4 0", "the header promises 1 symmetry planes"),
        ("../../ObjectMeshes/Reference/Nodes.txt", "../../../../../etc/passwd", "outside of the project"),
        ("../../ObjectMeshes/Reference/Nodes.txt", "/etc/passwd", "outside of the project"),
        ("Reference/Nodes.txt", "Missing/Nodes.txt", "no such file"),
        ("Reference/Nodes.txt", "Refer\0ence/Nodes.txt", "no path has a zero character"),
        ("1 2 0.000001", "1 3 0.000001", "two steps have one frequency"),
        ("1 2 0.000001", "1 99999999 0.000001", "at most 100000 frequencies"),
        ("0.040000e+04", "-0.04e+04", "frequencies are positive"),
        ("346.18", "-346.18", "speed of sound and the density are positive"),
        ("RETU", "# RETU", "a condition is ELEM"),
        ("END\n", "", "ends after line .*, where END is expected"),
        ("0 0 0 0.0000e+00 0 0 0", "0 2 0 0.0000e+00 0 0 0", "the header promises 2 under POINT SOURCES"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_with_its_line(project, old, new, message):
    path = project("ELEM 3 TO 3 VELO 0.1 -1 0.0 -1")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ProjectError, match=message):
        read_project(path)


@pytest.mark.parametrize(
    "file, change, message",
    [
        ("Nodes.txt", lambda text: text.replace("\n3 ", "\n2 ", 1), "another node has this number"),
        ("Nodes.txt", lambda text: re.sub(r"\n3 \S+", "\n3 inf", text), "a coordinate is a finite number"),
        ("Nodes.txt", lambda text: text.replace("\n3 ", "\n999 ", 1), "node 3, which no file of NODES has"),
        ("Nodes.txt", lambda text: "99999999999\n" + text, "the header promises"),
        ("Nodes.txt", lambda text: "\n".join(text.splitlines()[:9]), "ends after line 9, where line 9 of"),
        ("Elements.txt", lambda text: text.replace(" 0 0 0\n", " 1 0 0\n", 1), "property 0 on the body or 2"),
        ("Elements.txt", lambda text: text.replace(" 0 0 0\n", " 0\n", 1), "an element has its number, 3 or 4 nodes"),
        ("Elements.txt", lambda text: text.replace(" 0 0 0", " 2 0 0"), "of the surface of a body"),
    ],
)  # fmt: skip
def test_damaged_meshes_are_refused_with_their_line(project, file, change, message):
    path = project("ELEM 3 TO 3 VELO 0.1 -1 0.0 -1")
    body = path.parents[2] / "ObjectMeshes" / "Reference" / file
    body.write_text(change(body.read_text()))
    with pytest.raises(ProjectError, match=message):
        read_project(path)


def test_all_sources_of_a_project_are_the_ears_of_one_file(project, head, tmp_path):
    """The folder of a project with two sources, left and right; one with other frequencies is refused."""
    path = project("ELEM 3 TO 3 VELO 0.1 -1 0.0 -1")
    other = path.parents[1] / "source_2" / "NC.inp"
    other.parent.mkdir()
    other.write_text(path.read_text().replace("ELEM 3 TO 3", "ELEM 9 TO 9"))
    ran = CliRunner().invoke(app, ["run", str(path.parents[2]), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    with h5py.File(tmp_path / "out" / "pressures.h5") as file:
        found = file["0/pressures"][:]
    for number, element in enumerate((3, 9)):
        velocity = np.zeros(head.number_of_triangles)
        velocity[element] = 0.1
        problem = cal.AcousticProblem(head, frequency=400.0, fluid=AIR, conditions=cal.Velocity(velocity))
        np.testing.assert_allclose(found[0, :, number], problem.solve().field(RING), rtol=1e-6)
    assert (tmp_path / "out" / "source_2_0002.h5").is_file()
    other.write_text(other.read_text().replace("0.040000e+04", "0.03e+04"))
    ran = CliRunner().invoke(app, ["run", str(path.parents[2]), "--out", str(tmp_path / "again")])
    assert ran.exit_code == 2 and "has other frequencies or grids" in ran.output
    sofar = pytest.importorskip("sofar", reason="SOFA files are written by the extra sofa")
    made = sofar.read_sofa(str(tmp_path / "out" / "HRTF_Ring.sofa"), verbose=False)
    assert made.GLOBAL_SOFAConventions == "SimpleFreeFieldHRTF"
    np.testing.assert_allclose(made.ReceiverPosition.reshape(2, 3), head.centroids[[3, 9]], atol=1e-12)


def test_silent_projects_and_estimates_are_refused(project, tmp_path):
    path = project("ELEM 3 TO 3 ADMI 0.1 -1 0.0 -1")
    ran = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 2 and "nothing sounds" in ran.output and not (tmp_path / "out").exists()
    ran = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "out"), "--estimate"])
    assert ran.exit_code == 2 and "leave --estimate" in ran.output
