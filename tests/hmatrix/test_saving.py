"""Saved matrices are the same matrices; files appear whole or not at all; others are refused."""

import h5py
import numpy as np
import pytest
from point_kernels import point_matrix, sphere_points

import calderon as cal
from calderon.backends import memory
from calderon.hmatrix import Admissibility, HMatrix, block_tree, cluster_tree, galerkin, hmatrix, storage

X, Y = sphere_points(500), sphere_points(300, seed=1)


def build(symmetric=True, dtype=np.float64):
    rows = cluster_tree(X)
    columns = rows if symmetric else cluster_tree(Y)
    tree = block_tree(rows, columns, Admissibility(), symmetric)
    k = 5.0 if np.dtype(dtype).kind == "c" else 0.0
    given = point_matrix(rows, columns, X, X if symmetric else Y, k, 0.05, dtype=dtype, symmetric=symmetric)
    return hmatrix(given, tree, 1e-4, label="points")


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.complex64, marks=pytest.mark.variant)])
def test_a_loaded_matrix_is_the_saved_one(tmp_path, symmetric, dtype):
    A = build(symmetric, dtype)
    A.save(tmp_path / "A.h5")
    B = HMatrix.load(tmp_path / "A.h5")
    assert str(B) == str(A) and B.nbytes == A.nbytes and B.dtype == A.dtype
    assert np.array_equal(B.to_array(), A.to_array())
    x = np.random.default_rng(0).standard_normal((A.shape[1], 2)).astype(dtype)
    assert np.array_equal(A @ x, B @ x)
    assert str(B.statistics) == str(A.statistics)
    assert (B.tree.columns is B.tree.rows) == symmetric


def test_slabs_have_no_unused_room(monkeypatch):
    """Neither the last nor those before it, in which the next block had no place."""
    monkeypatch.setattr(storage, "SLAB", 100 * 8)
    store = storage.Store(np.dtype(np.float64))
    for count in (60, 60, 30):
        store.add(storage.Slab(np.full(count, float(count)), np.zeros((1, 7), np.int64)))
    assert [slab.numbers.tolist() for slab in store.slabs()] == [[60.0] * 60, [60.0] * 60 + [30.0] * 30]
    assert all(slab.numbers.base is None for slab in store.slabs())


def test_unused_room_in_a_file_of_the_former_version_is_left_out(tmp_path):
    """Whatever stands there, since it was never written."""
    A, path = build(), tmp_path / "A.h5"
    A.save(path)
    with h5py.File(path, "r+") as file:
        numbers = file["slabs/0/numbers"][()]
        del file["slabs/0/numbers"]
        file["slabs/0/numbers"] = np.append(numbers, [np.nan, np.inf])
        file.attrs["version"] = 1
    with pytest.warns(UserWarning, match="earlier release"):
        B = HMatrix.load(path)
    assert np.array_equal(B.to_array(), A.to_array()) and B.nbytes == A.nbytes


def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch):
    A, path = build(), tmp_path / "A.h5"
    A.save(path)
    before = path.read_bytes()

    def fail(*arguments, **options):
        raise OSError("disk full")

    monkeypatch.setattr(h5py.Group, "create_dataset", fail)
    with pytest.raises(OSError, match="disk full"):
        A.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["A.h5"]


def test_wrong_files_are_refused(tmp_path):
    A = build()
    path = tmp_path / "A.h5"
    with pytest.raises(ValueError, match=r"\.h5"):
        A.save(tmp_path / "A.npz")
    with pytest.raises(FileNotFoundError, match="folder"):
        A.save(tmp_path / "none" / "A.h5")
    with pytest.raises(FileNotFoundError, match="no file"):
        HMatrix.load(path)
    path.write_text("not HDF5")
    with pytest.raises(ValueError, match="it is no HDF5 file"):
        HMatrix.load(path)
    with h5py.File(path, "w") as file:
        file.attrs["kind"] = "something else"
    with pytest.raises(ValueError, match="holds no H-matrix"):
        HMatrix.load(path)
    A.save(path)
    with h5py.File(path, "a") as file:
        file.attrs["version"] = 99
    with pytest.raises(ValueError, match="version 99.*version 2"):
        HMatrix.load(path)
    A.save(path)
    with h5py.File(path, "a") as file:
        del file["slabs/0"]
    with pytest.raises(ValueError, match="damaged"):
        HMatrix.load(path)


# ------------------------------------------------------------------------------------------------------------- sums
SPACE = cal.P1(cal.mesh.sphere(1.0, 0.35))
GREEN = cal.Helmholtz(2.0)


def burton_miller(space=SPACE, k=2.0):
    green = cal.Helmholtz(k)
    double = cal.double_layer(green, space)
    return 0.5 * cal.identity(space) - double + 0.5j * cal.hypersingular(green, space) + 0.1 * double.H


def test_a_loaded_sum_is_the_saved_one_and_can_be_factorised(tmp_path):
    A = burton_miller().assemble("hmatrix", rtol=1e-4)
    A.save(tmp_path / "A.h5")
    B = cal.hmatrix.ComposedOperator.load(tmp_path / "A.h5")
    assert str(B) == str(A) and B.nbytes == A.nbytes and B.dtype == A.dtype and len(B.parts) == len(A.parts)
    x = np.random.default_rng(0).standard_normal((A.shape[1], 2))
    assert np.allclose(A @ x, B @ x, rtol=1e-13, atol=1e-14)
    assert np.allclose(A.H @ x, B.H @ x, rtol=1e-13, atol=1e-14)
    b = A @ x
    assert np.allclose(cal.hlu(B, 1e-8).solve(b), cal.hlu(A, 1e-8).solve(b), atol=1e-10)
    with pytest.raises(ValueError, match="holds no H-matrix: it is a calderon sum"):
        HMatrix.load(tmp_path / "A.h5")
    product = cal.single_layer(GREEN, SPACE) @ cal.single_layer(GREEN, SPACE)
    with pytest.raises(ValueError, match="only sums"):
        product.assemble("hmatrix", rtol=1e-3).save(tmp_path / "B.h5")


# ------------------------------------------------------------------------------------- assemblies that are interrupted
@pytest.fixture
def computed(monkeypatch):
    """A list of the operators that were compressed, not taken from a file."""
    found = []
    whole = galerkin._Composition._computed

    def noted(self, operator, *arguments):
        found.append(operator.integrand.name)
        return whole(self, operator, *arguments)

    monkeypatch.setattr(galerkin._Composition, "_computed", noted)
    return found


def test_an_interrupted_assembly_goes_on_from_its_file(tmp_path, monkeypatch, computed):
    path, operator = tmp_path / "A.h5", burton_miller()
    whole = operator.assemble("hmatrix", rtol=1e-4)
    names = computed.copy()
    assert len(names) == 2
    computed.clear()
    compress = galerkin.hmatrix

    def interrupted(*arguments):
        if len(computed) == 2:
            raise KeyboardInterrupt
        return compress(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(galerkin, "hmatrix", interrupted)
        with pytest.raises(KeyboardInterrupt):
            operator.assemble("hmatrix", rtol=1e-4, matrix_file=path)
    assert computed == names and [each.name for each in tmp_path.iterdir()] == ["A.h5"]
    computed.clear()
    resumed = burton_miller().assemble("hmatrix", rtol=1e-4, matrix_file=path)
    assert computed == names[1:]  # the first was there
    x = np.random.default_rng(0).standard_normal(SPACE.dimension)
    assert np.array_equal(resumed @ x, whole @ x)
    computed.clear()
    again = burton_miller().assemble("hmatrix", rtol=1e-4, matrix_file=path)
    assert computed == [] and np.array_equal(again @ x, whole @ x)
    assert again.parts[0].tree.rows is again.parts[1].tree.columns
    assert cal.hlu(again, 1e-3).ranks == cal.hlu(whole, 1e-3).ranks


def test_an_interrupt_while_writing_leaves_the_file_that_was_there(tmp_path, monkeypatch, computed):
    path = tmp_path / "A.h5"
    create = h5py.Group.create_dataset

    def interrupted(group, name, **options):
        if group.name.startswith("/parts/1"):
            raise KeyboardInterrupt
        return create(group, name, **options)

    with monkeypatch.context() as patch:
        patch.setattr(h5py.Group, "create_dataset", interrupted)
        with pytest.raises(KeyboardInterrupt):
            burton_miller().assemble("hmatrix", rtol=1e-4, matrix_file=path)
    assert [each.name for each in tmp_path.iterdir()] == ["A.h5"]
    computed.clear()
    burton_miller().assemble("hmatrix", rtol=1e-4, matrix_file=path)
    assert len(computed) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"space": cal.P1(cal.mesh.sphere(1.0, 0.36))}, "mesh .* instead of"),
        ({"space": cal.P1(cal.mesh.sphere(1.01, 0.35))}, "mesh .* instead of"),
        ({"k": 2.1}, r"wavenumber=2.0\) instead of Helmholtz\(wavenumber=2.1"),
        ({"rtol": 1e-5}, "rtol 0.0001 instead of 1e-05"),
        ({"precision": "single"}, "numbers complex128 instead of complex64"),
        ({"choices": cal.hmatrix.Choices(leaf=16)}, "leaf 32 x 32, .* instead of leaf 16 x 16"),
    ],
)
def test_a_file_of_another_problem_is_refused_and_stays(tmp_path, change, message):
    path = tmp_path / "A.h5"
    burton_miller().assemble("hmatrix", rtol=1e-4, matrix_file=path)
    before = path.read_bytes()
    operator = burton_miller(**{name: change[name] for name in ("space", "k") if name in change})
    options = {"rtol": 1e-4} | {name: value for name, value in change.items() if name not in ("space", "k")}
    if "choices" in change:
        options = {"choices": cal.hmatrix.Choices(rtol=1e-4, leaf=16)}
    with pytest.raises(ValueError, match=f"holds the matrix of another problem: .*{message}"):
        cal.hmatrix.assemble_hmatrix(operator, matrix_file=path, **options)
    assert path.read_bytes() == before


def test_other_files_and_methods_are_refused(tmp_path):
    operator = cal.single_layer(GREEN, SPACE)
    build().save(tmp_path / "A.h5")
    with pytest.raises(ValueError, match="holds no assembly of H-matrices: it is a calderon H-matrix"):
        operator.assemble("hmatrix", matrix_file=tmp_path / "A.h5")
    with pytest.raises(ValueError, match=r"should end in \.h5"):
        operator.assemble("hmatrix", matrix_file=tmp_path / "A.npy")
    with pytest.raises(FileNotFoundError, match="create it first"):
        operator.assemble("hmatrix", matrix_file=tmp_path / "none" / "A.h5")
    with pytest.raises(ValueError, match="method 'dense' saves nothing"):
        operator.assemble("dense", matrix_file=tmp_path / "B.h5")
    operator.assemble("hmatrix", matrix_file=tmp_path / "B.h5")
    with h5py.File(tmp_path / "B.h5", "a") as file:
        file.attrs["version"] = 99
    with pytest.raises(ValueError, match="version 99.*version 2"):
        operator.assemble("hmatrix", matrix_file=tmp_path / "B.h5")


def test_a_problem_is_solved_again_from_the_file(tmp_path, computed):
    path, wave = tmp_path / "ball.h5", cal.PlaneWave([0, 0, 1], 2.0)
    options = {"method": "hmatrix", "rtol": 1e-4, "matrix_file": path}
    first = cal.SoundHardScattering(SPACE.mesh, 2.0).solve(wave, **options)
    assert len(computed) == 2
    second = cal.SoundHardScattering(SPACE.mesh, 2.0).solve(wave, **options)
    assert len(computed) == 2 and np.array_equal(first.surface.coefficients, second.surface.coefficients)
    with pytest.raises(ValueError, match="another problem"):
        cal.SoundHardScattering(SPACE.mesh, 2.0).solve(wave, **(options | {"rtol": 1e-5}))
    with pytest.raises(ValueError, match="method 'dense' saves nothing"):
        cal.SoundHardScattering(SPACE.mesh, 2.0).solve(wave, matrix_file=path)


def test_a_file_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    path, operator = tmp_path / "A.h5", cal.single_layer(GREEN, SPACE)
    operator.assemble("hmatrix", matrix_file=path)
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="the matrix in .*A.h5"):
        operator.assemble("hmatrix", matrix_file=path)


@pytest.mark.variant
def test_a_matrix_at_hand_is_saved_when_a_file_is_named(tmp_path, computed):
    path, wave = tmp_path / "ball.h5", cal.PlaneWave([0, 0, 1], 2.0)
    options = {"method": "hmatrix", "rtol": 1e-4}
    problem = cal.SoundHardScattering(SPACE.mesh, 2.0)
    first = problem.solve(wave, **options)
    problem.solve(wave, **options, matrix_file=path)
    written = path.stat().st_mtime_ns
    problem.solve(wave, **options, matrix_file=path)
    assert path.stat().st_mtime_ns == written  # once is enough
    again = cal.SoundHardScattering(SPACE.mesh, 2.0).solve(wave, **options, matrix_file=path)
    assert len(computed) == 2 and np.array_equal(first.surface.coefficients, again.surface.coefficients)
    other = cal.SoundHardScattering(SPACE.mesh, 2.1)
    other.solve(cal.PlaneWave([0, 0, 1], 2.1), **options)
    with pytest.raises(ValueError, match="another problem"):
        other.solve(cal.PlaneWave([0, 0, 1], 2.1), **options, matrix_file=path)
    interior = cal.LaplaceNeumann(SPACE.mesh, side="interior")  # one H-matrix, with the mean added
    for files in ({}, {"matrix_file": tmp_path / "inside.h5"}):
        interior.solve(lambda x: x[:, 0], **options, **files)
    assert (tmp_path / "inside.h5").is_file()
