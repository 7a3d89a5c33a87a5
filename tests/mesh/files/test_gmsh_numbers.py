"""Files of gmsh with any numbers of nodes are read in memory of their own size; wrong counts are refused."""

import tracemalloc

import meshio
import numpy as np
import pytest

from calderon.mesh import MeshError, cube, read, read_tetrahedra

FORMATS = [("2.2", False), ("2.2", True), ("4.0", True), ("4.1", False), ("4.1", True)]
"""Without 4.0 as text, which meshio cannot read."""
SURFACE = cube(1.0, 0.5)


def written(path, version, binary, mesh=SURFACE):
    """A file of meshio."""
    cells = [("triangle", mesh.triangles)]
    tags = {f"gmsh:{name}": [np.ones(len(mesh.triangles), np.int32)] for name in ("physical", "geometrical")}
    content = meshio.Mesh(mesh.vertices, cells, cell_data=tags)
    meshio.gmsh.write(path, content, fmt_version=version, binary=binary)
    return path


def renumbered(text, number):
    """A text of version 2.2 or 4.1, one entity, with other numbers of nodes."""
    begin, middle = text.index("$Nodes"), text.index("$Elements")
    lines, elements = text[begin:middle].splitlines(), text[middle:].splitlines()
    if "4.1 0" in text:
        count = len(SURFACE.vertices)
        lines[3 : 3 + count] = [str(number(int(line))) for line in lines[3 : 3 + count]]
        first, corners = 3, 3
    else:
        lines[2:-1] = [" ".join([str(number(int(a))), *rest]) for a, *rest in map(str.split, lines[2:-1])]
        first, corners = 2, 3
    for n in range(first, len(elements) - 1):
        parts = elements[n].split()
        if len(parts) > corners:
            elements[n] = " ".join(parts[:-corners] + [str(number(int(word))) for word in parts[-corners:]])
    return text[:begin] + "\n".join(lines + elements) + "\n"


@pytest.mark.parametrize("version", ["2.2", "4.1"])
@pytest.mark.parametrize("step", [1, 7, 40_000_000])
def test_sparse_numbers_are_read_without_a_table_of_them(tmp_path, version, step):
    path = written(tmp_path / "a.msh", version, False)
    expected = read(path)
    path.write_text(renumbered(path.read_text(), lambda n: step * ((5 * n) % 127)))
    tracemalloc.start()
    found = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    assert np.array_equal(found.vertices[found.triangles], expected.vertices[expected.triangles])
    assert found.tags.tolist() == expected.tags.tolist()


@pytest.mark.parametrize(("version", "binary"), FORMATS)
def test_a_damaged_count_is_refused_at_once(tmp_path, version, binary):
    """Each of the counts at the begin of the lists, larger and smaller by one, and very large."""
    path = written(tmp_path / "a.msh", version, binary)
    assert read(path).number_of_triangles == SURFACE.number_of_triangles
    whole = path.read_bytes()
    for name, count in (("Nodes", len(SURFACE.vertices)), ("Elements", SURFACE.number_of_triangles)):
        begin = whole.index(b"$" + name.encode()) + len(name) + 1
        is_text = version == "2.2" or not binary
        old = b"%d" % count if is_text else np.uint64(count).tobytes()
        place = whole.index(old, begin)
        assert place - begin < 60
        for other in (count - 1, count + 1, 10**12, 2**62):
            new = b"%d" % other if is_text else np.uint64(other).tobytes()
            path.write_bytes(whole[:place] + new + whole[place + len(old) :])
            tracemalloc.start()
            with pytest.raises(MeshError, match=rf"its section \${name} (has|does)"):
                read(path)
            assert tracemalloc.get_traced_memory()[1] < 20e6
            tracemalloc.stop()


def test_a_binary_file_of_sparse_tetrahedra(tmp_path):
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
        gmsh.model.occ.synchronize()
        gmsh.option.setNumber("Mesh.MeshSizeMax", 0.5)
        gmsh.option.setNumber("Mesh.FirstNodeTag", 2_000_000_000)
        gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
        gmsh.option.setNumber("Mesh.Binary", 1)
        gmsh.model.mesh.generate(3)
        gmsh.write(str(tmp_path / "a.msh"))
    finally:
        gmsh.finalize()
    assert b"2000000000" not in (tmp_path / "a.msh").read_bytes()  # numbers, not text
    assert read_tetrahedra(tmp_path / "a.msh").volumes.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_repeated_and_unknown_nodes_are_refused(tmp_path, version):
    path = written(tmp_path / "a.msh", version, False)
    text = path.read_text()
    path.write_text(renumbered(text, lambda n: max(n, 2)))
    with pytest.raises(MeshError, match="several nodes of the number 2"):
        read(path)
    path.write_text(renumbered(text, lambda n: n - 1))
    with pytest.raises(MeshError, match="a node of the number 0"):
        read(path)
    sparse = renumbered(text, lambda n: n + 10**9)
    begin = sparse.index("$Elements")
    path.write_text(sparse[:begin] + sparse[begin:].replace(str(10**9 + 1), str(10**9 - 5), 1))
    with pytest.raises(MeshError, match="an element with the node 999999995, which is not in the file"):
        read(path)
