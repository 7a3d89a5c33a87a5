"""FastCap files: a coated conductor and two plates, written here, against problems that are posed directly."""

import numpy as np
import pytest

import calderon as cal


def write_panels(path, mesh, name="1"):
    """A .qui file of the triangles of a mesh."""
    corners = mesh.vertices[mesh.triangles].reshape(-1, 9)
    rows = [f"T {name} " + " ".join(f"{x:.17g}" for x in row) for row in corners]
    path.write_text("\n".join(["0 panels of a test", "* a comment", *rows]) + "\n")


@pytest.fixture
def coated(tmp_path):
    core = cal.mesh.sphere(1.0, 0.5)
    write_panels(tmp_path / "core.qui", core)
    write_panels(tmp_path / "coat.qui", core.scaled(1.5))
    deck = tmp_path / "deck.lst"
    deck.write_text("* coated\nC core.qui 4.0 0 0 0\nD coat.qui 1.0 4.0 0 0 0 0 0 0 -\n")
    return deck, core


def test_a_coated_conductor(coated):
    deck, core = coated
    found = cal.StaticProblem.from_fastcap(deck).capacitance_matrix()
    mesh = cal.mesh.joined({"core": core, "coat": core.scaled(1.5)})
    coat = {"coat": cal.Region(["core", "coat"], permittivity=4.0)}
    direct = cal.StaticProblem(mesh, coat, {"core": "core"}).capacitance_matrix()
    assert found.row.values.tolist() == ["1"]
    assert found.item() == pytest.approx(direct.item(), rel=1e-6)


def test_a_conductor_within_another(coated):
    """The space between them has the permittivity of the inner one, that around them the one of the outer."""
    deck, core = coated
    deck.write_text("C core.qui 2.0 0 0 0\nC coat.qui 1.0 0 0 0\n")
    problem = cal.StaticProblem.from_fastcap(deck)
    assert [*problem.electrodes] == ["1%1", "1%2"] and len(problem.regions) == 1
    exact = 4 * np.pi * cal.exact.VACUUM_PERMITTIVITY * 2.0 * 1.5 / 0.5
    assert -problem.capacitance_matrix().values[0, 1] == pytest.approx(exact, rel=0.02)


def test_a_block_with_a_pad_that_touches_it_and_a_second_conductor(tmp_path):
    block = cal.mesh.cuboid((1.0, 1.0, 0.5), h=0.5)
    pad = (block.normals[:, 2] > 0.5) & (block.centroids[:, :2] < 0).all(axis=1)
    parts = {"pad": pad, "rest": ~pad}
    for name, own in parts.items():
        write_panels(tmp_path / f"{name}.qui", cal.TriangleMesh(block.vertices, block.triangles[own]))
    square = "Q 1 0 0 0  0.5 0 0  0.5 0.5 0  0 0.5 0"
    (tmp_path / "far.qui").write_text(f"0 a square\n{square}\nN 1 far\n")
    deck = tmp_path / "deck.lst"
    deck.write_text("C pad.qui 1.0 0 0 0\nC far.qui 1.0 0 0 1.0\nD rest.qui 1.0 11.7 0 0 0 0 0 0 -\n")
    problem = cal.StaticProblem.from_fastcap(deck)
    found = problem.capacitance_matrix().values
    far = cal.TriangleMesh(np.array([[0, 0, 1.0], [0.5, 0, 1], [0.5, 0.5, 1], [0, 0.5, 1]]), [[0, 1, 2], [0, 2, 3]])
    tagged = {name: cal.TriangleMesh(block.vertices, block.triangles[own]) for name, own in parts.items()}
    mesh = cal.mesh.joined({**tagged, "far": far})
    silicon = {"silicon": cal.Region(["pad", "rest"], permittivity=11.7)}
    direct = cal.StaticProblem(mesh, silicon, {"pad": "pad", "far": "far"}).capacitance_matrix().values
    assert [*problem.electrodes] == ["1", "far"] or [*problem.electrodes] == ["far", "1"]
    order = [[*problem.electrodes].index(name) for name in ("1", "far")]
    assert found[np.ix_(order, order)] == pytest.approx(direct, rel=1e-6)


MISTAKES = [
    ("C core.qui 4.0 0 0 0", "C core.qui 4.0 0 0", "line 2: expected are C file"),
    ("C core.qui 4.0", "C ../core.qui 4.0", "in its own folder"),
    ("C core.qui 4.0", "C other.qui 4.0", "no such file"),
    ("C core.qui 4.0", "C core.qui -4.0", "positive permittivities"),
    ("C core.qui 4.0", "C core.qui nan", "finite numbers"),
    ("C core.qui 4.0", "X core.qui 4.0", "line 2: expected"),
]


@pytest.mark.parametrize("old, new, message", MISTAKES)
def test_mistakes_are_told_with_their_line(coated, old, new, message):
    deck, _ = coated
    deck.write_text(deck.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message):
        cal.StaticProblem.from_fastcap(deck)


def test_panels_with_a_hole_are_refused(coated):
    deck, _ = coated
    lines = (deck.parent / "coat.qui").read_text().splitlines()
    (deck.parent / "coat.qui").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(ValueError, match="in one part of space"):
        cal.StaticProblem.from_fastcap(deck)
