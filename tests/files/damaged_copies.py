"""A program that damages copies of a file, loads each and prints what came of it, as JSON.

It is a process of its own, since a damaged table that reaches a compiled kernel may end it. Arguments: flips or tables,
the kind of file, a folder, and how many bits, or rows of each table, are changed.
"""

import json
import shutil
import sys
import warnings
from pathlib import Path

import h5py
import numpy as np

import calderon as cal
from calderon.files.hdf5_contents import DIGEST, ArrayDigest, entries, file_digest

MESH = cal.mesh.ellipsoid([3.0, 0.4, 0.4], 0.3)
KINDS = "matrix", "sum", "assembly", "checkpoint"


def matrix_operator():
    return cal.single_layer(cal.Helmholtz(1.0), cal.P1(MESH))


def sum_operator():
    space = cal.P1(MESH)
    return 0.5 * cal.identity(space) - cal.double_layer(cal.Helmholtz(1.0), space) + 2j * matrix_operator()


def simulation():
    source = cal.CurrentSource("vacuum", [0, 0, 1], cal.RampedSine(1.0, 1e-2))
    made = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), 2, sources=[source])
    made.add_probe([[0.4, 0.5, 0.6]])
    return made


class Stop(Exception):
    pass


def write(kind, path):
    if kind == "matrix":
        matrix = matrix_operator().assemble("hmatrix", rtol=1e-3)
        assert matrix.statistics.total.low_rank and matrix.statistics.total.dense
        matrix.save(path)
    elif kind == "sum":
        sum_operator().assemble("hmatrix", rtol=1e-3).save(path)
    elif kind == "assembly":
        sum_operator().assemble("hmatrix", rtol=1e-3, matrix_file=path)
    else:

        def stop(done, total):
            if done >= 20:
                raise Stop

        try:
            simulation().run(1.0, stop, path, checkpoint_seconds=0.0)
        except Stop:
            pass


def load(kind, path):
    """Everything that a file gives, as bytes."""
    if kind == "matrix":
        return of_matrix(cal.hmatrix.HMatrix.load(path))
    if kind == "checkpoint":
        made = simulation()
        made.run(1.0, checkpoint=path)
        parts = [made._system.electric, made._system.magnetic, made.ports["vacuum"].voltage]
        return b"".join(np.asarray(each).tobytes() for each in parts) + made._observers[0].electric.tobytes()
    if kind == "sum":
        found = cal.hmatrix.ComposedOperator.load(path)
    else:
        found = sum_operator().assemble("hmatrix", rtol=1e-3, matrix_file=path)
    x = np.random.default_rng(0).standard_normal(found.shape[1])
    return b"".join(map(of_matrix, found.parts)) + (found @ x).tobytes()


def of_matrix(found):
    x = np.random.default_rng(0).standard_normal(found.shape[1])
    return (found @ x).tobytes() + b"".join(each.numbers.tobytes() + each.table.tobytes() for each in found.slabs)


def outcome(kind, path, expected):
    """How a file was received: the beginning of the error, "same" or "other"."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "same" if load(kind, path) == expected else "other"
    except cal.DamagedFile:
        return "damaged"
    except ValueError as error:
        return f"refused: {error}"
    except BaseException as error:
        return f"raw: {type(error).__name__}: {error}"


def flips(kind, path, count):
    """Single bits: every second one in the numbers, the others in names, types and tables of contents."""
    whole, random = path.read_bytes(), np.random.default_rng(1)
    numbers = np.zeros(len(whole), bool)
    with h5py.File(path) as file:
        for _, each in entries(file):
            if isinstance(each, h5py.Dataset) and each.chunks:
                for n in range(each.id.get_num_chunks()):
                    chunk = each.id.get_chunk_info(n)
                    numbers[chunk.byte_offset : chunk.byte_offset + chunk.size] = True
    expected, copy = load_copy(kind, path), path.with_name(f"copy-{path.name}")
    for number in range(count):
        places = np.flatnonzero(numbers if number % 2 else ~numbers)
        place, bit = int(random.choice(places)), int(random.integers(8))
        data = bytearray(whole)
        data[place] ^= 1 << bit
        copy.write_bytes(data)
        yield f"bit {bit} of byte {place}", outcome(kind, copy, expected)


def load_copy(kind, path):
    """Content of the undamaged file; it stays, though a run removes its checkpoint."""
    copy = path.with_name(f"first-{path.name}")
    shutil.copyfile(path, copy)
    return load(kind, copy)


def reseal(file, *names):
    """Make the digests of some arrays right again, and that of the file."""
    for name in names:
        digest = ArrayDigest()
        digest.add(file[name][()])
        file[name].attrs[DIGEST] = digest.text()
    file.attrs[DIGEST] = file_digest(file)


CHANGES = 1, -1, 100_000, -100_000, 2**62


def tables(kind, path, count):
    """Numbers of the tables, `count` rows of each, with digests made right again, and one of each column with digests
    as they were, which are compared before any number is used."""
    expected, random = load_copy(kind, path), np.random.default_rng(2)
    copy = path.with_name(f"copy-{path.name}")
    with h5py.File(path) as file:
        names = [name for name, each in entries(file) if isinstance(each, h5py.Dataset) and each.dtype.kind == "i"]
        shapes = {name: file[name].shape for name in names}
    for name in names:
        columns = range(shapes[name][1]) if len(shapes[name]) == 2 else [None]
        for column in columns:
            for change in CHANGES:
                rows = random.choice(shapes[name][0], min(count, shapes[name][0]), replace=False)
                for row, sealed in [(rows[0], False)] * (change == CHANGES[0]) + [(row, True) for row in rows]:
                    shutil.copyfile(path, copy)
                    with h5py.File(copy, "r+") as file:
                        place = (row,) if column is None else (row, column)
                        value = int(file[name][place]) + change
                        if not -(2**63) <= value < 2**63 or file[name].dtype.itemsize < 8 and abs(change) > 1:
                            continue
                        file[name][place] = value
                        if sealed:
                            reseal(file, name)
                    what = f"{name}[{row}, {column}] + {change}, {'new' if sealed else 'old'} digest"
                    yield what, outcome(kind, copy, expected)


if __name__ == "__main__":
    what, kind, folder, count = sys.argv[1:]
    path = Path(folder, f"{kind}.h5")
    write(kind, path)
    found = list((flips if what == "flips" else tables)(kind, path, int(count)))
    print(json.dumps(found))
