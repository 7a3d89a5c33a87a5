"""A disk that fills: the error names the file, and matrices that are not needed later are left out with a warning."""

import errno
from contextlib import contextmanager

import numpy as np
import pytest

import calderon as cal
from calderon.data.paraview import write_collection
from calderon.files import whole_file
from calderon.formulations.ports.port_sweep import write_touchstone

resource = pytest.importorskip("resource", reason="limits of the size of files are those of POSIX")
MESH = cal.mesh.sphere(1.0, 0.3)


@contextmanager
def files_of_at_most(count):
    """Writes beyond so many bytes of a file fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_error_names_the_file_and_not_its_hidden_place(tmp_path):
    path = tmp_path / "table.csv"
    with pytest.raises(OSError, match=r"cannot write all of the file: .*table\.csv") as caught, files_of_at_most(100):
        with whole_file(path) as scratch:
            scratch.write_bytes(bytes(1000))
    assert caught.value.errno == errno.EFBIG and caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


def _draw(path):
    cal.plots.cartesian([0, 1], {"a": [1, 2]}, "x", "y", file=path)


WRITERS = {
    **{f"m{ending}": MESH.write for ending in (".msh", ".vtu", ".stl", ".obj", ".ply", ".inp")},
    "box.msh": cal.mesh.box([0, 0, 0], [1, 1, 1], 1).write,
    "u.vtu": cal.Function(cal.P0(MESH), np.ones(MESH.number_of_triangles)).write,
    "view.html": MESH.to_html,
    "a.s2p": lambda path: write_touchstone(path, np.arange(1.0, 9), np.zeros((8, 2, 2), complex), 50.0),
    "a.pvd": lambda path: write_collection(path, [(1.0, 0, "a.vtu")] * 9),
    **{f"c{end}": _draw for end in (".png", ".pdf", ".svg")},
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_names_its_file_and_leaves_none(tmp_path, name):
    with pytest.raises(OSError, match="cannot write all of the file") as caught, files_of_at_most(50):
        WRITERS[name](tmp_path / name)
    assert caught.value.filename == str(tmp_path / name) and list(tmp_path.iterdir()) == []


def test_other_errors_stay_as_they_are(tmp_path):
    with pytest.raises(PermissionError, match="elsewhere"), whole_file(tmp_path / "a.csv"):
        raise PermissionError(errno.EACCES, "no", "elsewhere")


@pytest.mark.parametrize(("method", "rtol"), [("hmatrix", 1e-4), ("mlfmm", 1e-3)])
def test_a_solution_is_not_lost_with_the_file_of_its_matrix(tmp_path, method, rtol):
    path = tmp_path / "matrix.h5"
    wave = cal.PlaneWave([0, 0, 1], 2.0)
    exact = cal.SoundHardScattering(MESH, 2.0).solve(wave, method=method, rtol=rtol)
    problem = cal.SoundHardScattering(MESH, 2.0)
    with files_of_at_most(3000), pytest.warns(RuntimeWarning, match=r"is not saved, .* without: .*\.h5") as caught:
        found = problem.solve(wave, method=method, rtol=rtol, matrix_file=path)
    assert len([each for each in caught if each.category is RuntimeWarning]) == 1
    assert np.allclose(found.surface.coefficients, exact.surface.coefficients, rtol=1e-10)
    assert not path.exists()
    problem.solve(wave, method=method, rtol=rtol, matrix_file=path)  # the matrix that is there is saved now
    assert path.exists()
