"""Files are verified when they are read back: links, sizes, versions and contents, with any checksums."""

import hashlib
import json
import shutil

import h5py
import numpy as np
import pytest
from damaged_copies import load, reseal, write

import calderon as cal
from calderon.backends import memory
from calderon.files import DamagedFile, hdf5_contents, hdf5_reading, new_file, put, saved_file
from calderon.files.hdf5_contents import ArrayDigest
from calderon.files.hdf5_writing import FileKind

KINDS = "matrix", "sum", "assembly", "checkpoint"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for kind in KINDS:
        write(kind, folder / f"{kind}.h5")
    return folder


@pytest.fixture
def copy(files, tmp_path):
    """Copies of the files: a function of the kind that gives the path of one."""

    def copied(kind):
        return shutil.copyfile(files / f"{kind}.h5", tmp_path / f"{kind}.h5")

    return copied


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_says_what_it_is_and_who_wrote_it(kind, copy):
    with h5py.File(copy(kind)) as file:
        assert {"kind", "version", "package", "byte_order", "sha256"} <= set(file.attrs)
        assert file.attrs["byte_order"] in ("little", "big")
        found = []
        file.visititems(lambda name, each: found.append(each) if isinstance(each, h5py.Dataset) else None)
        assert found and all(each.fletcher32 for each in found if each.size and each.ndim)
        assert all(len(each.attrs["sha256"]) == 64 for each in found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_the_former_version_is_read_with_a_warning(kind, copy):
    """It has no checksums, and texts of HDF5 instead of bytes."""
    path, expected = copy(kind), load(kind, copy(kind))
    path = copy(kind)
    with h5py.File(path, "r+") as file:
        named = []
        file.visititems(lambda name, each: named.append(name) if isinstance(each, h5py.Dataset) else None)
        for name in named:
            values = file[name][()]
            del file[name]
            file[name] = values
        file.attrs["version"] -= 1
        for name in ("sha256", "package", "byte_order"):
            del file.attrs[name]
        if kind == "assembly":
            texts = json.loads(file["identities"][()].tobytes())
            del file["identities"]
            file["identities"] = texts
    with pytest.warns(UserWarning, match="written by an earlier release, without checksums"):
        assert load(kind, path) == expected


def link_outside(file, name, other):
    file[name] = h5py.ExternalLink(str(other), name)


def soft_link(file, name, other):
    with h5py.File(other) as source:
        file["elsewhere"] = source[name][()]
    file[name] = h5py.SoftLink("/elsewhere")


def virtual(file, name, other):
    with h5py.File(other) as source:
        layout = h5py.VirtualLayout(source[name].shape, source[name].dtype)
        layout[:] = h5py.VirtualSource(source[name])
    file.create_virtual_dataset(name, layout)


def external(file, name, other):
    with h5py.File(other) as source:
        shape, dtype = source[name].shape, source[name].dtype
    file.create_dataset(name, shape, dtype, external=[(str(other), 0, h5py.h5f.UNLIMITED)])


def compressed(file, name, other):
    with h5py.File(other) as source:
        file.create_dataset(name, data=source[name][()], compression="gzip", chunks=True)


def vast(file, name, other):
    with h5py.File(other) as source:
        file.create_dataset(name, (10**13,), source[name].dtype, chunks=(1000,))


@pytest.mark.parametrize("forge", [link_outside, soft_link, virtual, external, compressed, vast])
@pytest.mark.parametrize(("kind", "name"), [("matrix", "slabs/0/numbers"), ("checkpoint", "electric")])
def test_what_leads_out_of_a_file_or_is_larger_than_it_is_refused(kind, name, forge, copy, files):
    path = copy(kind)
    with h5py.File(path, "r+") as file:
        del file[name]
        forge(file, name, files / f"{kind}.h5")
    with pytest.raises(cal.DamagedFile) as caught:
        load(kind, path)
    assert caught.value.file == str(path) and caught.value.remedy in str(caught.value)
    assert isinstance(caught.value.__cause__ or caught.value, ValueError)


def test_a_group_within_itself_is_refused(copy):
    path = copy("matrix")
    with h5py.File(path, "r+") as file:
        file["slabs/0/up"] = file["slabs"]
    with pytest.raises(cal.DamagedFile, match="has a second name"):
        load("matrix", path)


def test_memory_is_asked_for_before_arrays_are_read(copy, monkeypatch):
    path = copy("matrix")
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="the matrix in .*matrix.h5"):
        cal.hmatrix.HMatrix.load(path)


def changed(path, name, change):
    """Change an array or an attribute, with right digests afterwards."""
    with h5py.File(path, "r+") as file:
        if name in file.attrs:
            file.attrs[name] = change(file.attrs[name])
        else:
            values = change(file[name][()])
            attributes = dict(file[name].attrs)
            del file[name]
            made = file.create_dataset(name, data=values)
            made.attrs.update(attributes)
        reseal(file, *([] if name in file.attrs else [name]))


def with_nan(values):
    values = np.array(values)
    values.flat[len(values) // 2] = np.nan
    return values


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("steps", lambda n: n - 10**6, "steps is -"),
        ("steps", lambda n: n + 10**9, "steps are done of a run of"),
        ("count", lambda n: [n, n], "attribute count is a list"),
        ("electric", lambda values: values[:-1], "has the shape"),
        ("magnetic", lambda values: values.astype(np.float32), "has the type float32"),
        ("electric", with_nan, "not finite"),
        ("observers/000/rows", with_nan, "not finite"),
        ("observers/000/rows", lambda values: values[:-1], "records of another number of steps"),
        ("observers/000/rows", lambda values: values[..., :2], "has the shape"),
        ("observers/001/voltage", lambda values: np.repeat(values, 3), "records of another number of steps"),
    ],
)
def test_a_checkpoint_with_right_digests_and_wrong_numbers_is_refused(name, change, message, copy):
    path = copy("checkpoint")
    changed(path, name, change)
    with pytest.raises(cal.DamagedFile, match=message) as caught:
        load("checkpoint", path)
    assert "delete it to restart" in str(caught.value) and path.exists()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("slabs/0/numbers", with_nan, "not finite"),
        ("slabs/0/numbers", lambda values: values[:-1], "outside of its slab"),
        ("slabs/0/table", lambda values: np.concatenate([values, values[-1:]]), "overlap"),
        ("slabs/0/table", lambda values: values[:-1], "overlap, or do not follow"),
        ("rows/order", lambda values: np.r_[values[1], values[1:]], "no permutation"),
        ("rows/boxes", with_nan, "not finite"),
        ("blocks/kind", lambda values: values.astype(np.int64), "has the type int64"),
        ("blocks/row", lambda values: np.r_[values[:-1], values[-1] - 1], "do not cover it once"),
    ],
)
def test_a_matrix_with_right_digests_and_wrong_tables_is_refused(name, change, message, copy):
    path = copy("matrix")
    changed(path, name, change)
    with pytest.raises(cal.DamagedFile, match=message):
        load("matrix", path)


def test_a_sum_of_parts_of_other_shapes_is_refused(copy):
    path = copy("sum")
    changed(path, "shape", lambda shape: shape + 1)
    with pytest.raises(cal.DamagedFile):
        load("sum", path)


@pytest.mark.parametrize("name", ["kind", "sha256"])
def test_a_file_without_an_attribute_is_refused(name, copy):
    path = copy("matrix")
    with h5py.File(path, "r+") as file:
        del file.attrs[name]
    with pytest.raises(ValueError, match="not written by this package" if name == "kind" else "sha256 cannot be read"):
        load("matrix", path)


@pytest.mark.parametrize("columns", [(), (3,)])
def test_a_large_array_is_verified_while_it_is_read_in_parts(tmp_path, monkeypatch, columns):
    """Its digest is the SHA-256 of all bytes, and one wrong number in the last part is refused."""
    for module in (hdf5_contents, hdf5_reading):
        monkeypatch.setattr(module, "PART", 1000)
    path, kind, values = tmp_path / "large.h5", FileKind("large", "array", "write it again"), np.zeros((1234, *columns))
    values[...] = np.random.default_rng(0).standard_normal(values.shape)
    with new_file(path, kind) as file:
        put(file, "values", values)
    with saved_file(path, kind) as file:
        assert file.attribute("kind") == "large"
        assert np.array_equal(file.array("values"), values)
    with h5py.File(path, "r+") as file:
        assert file["values"].attrs["sha256"] == hashlib.sha256(values.tobytes()).hexdigest()
        file["values"][-1] += 1
    with saved_file(path, kind) as file, pytest.raises(DamagedFile, match="checksum of values"):
        file.array("values")


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_numbers_that_are_not_finite_are_found_while_they_are_hashed(dtype):
    large = np.full(2 * ArrayDigest.half + 5, np.finfo(dtype).max / 2, dtype)  # products of which are infinite
    for place in (None, 0, ArrayDigest.half - 1, ArrayDigest.half, len(large) - 1):
        for value in (np.nan, np.inf, -np.inf):
            given, digest = large.copy(), ArrayDigest(find_finite=True)
            if place is not None:
                given[place] = value
                given[(place + ArrayDigest.half) % (2 * ArrayDigest.half)] = 0
            digest.add(given)
            assert digest.text() == hashlib.sha256(given.tobytes()).hexdigest()
            assert digest.finite == (place is None)
