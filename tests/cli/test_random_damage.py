"""Randomly damaged meshes and cases, with fixed seeds: refused with a message or right, within 5 s and 500 MB.

The damage is done, and its outcome judged, in a process of its own (this file with KIND and COUNT as arguments), which
may not have more memory than that; it prints what is wrong, and a line "done" at the end.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import meshio
import numpy as np
import pytest

from calderon.answers import UNEXPECTED, explained
from calderon.case import CaseError, parse
from calderon.mesh import MeshError, box, cube, read, read_tetrahedra
from calderon.report import run

SECONDS, MEGABYTES = 5.0, 500
SURFACE_FORMATS = "a.msh", "a.vtu", "a.ply", "a.stl", "a.obj", "a.inp"
GMSH_FORMATS = [("2.2", False), ("2.2", True), ("4.0", True), ("4.1", False), ("4.1", True)]
NUMBERS = "0", "-1", "1e300", "-1e-300", "nan", "inf", "99999999999", "1" + 400 * "0", "x", ""

ON_A_SURFACE = """\
title = "sphere"
[mesh]
shape = "sphere"
radius = "1 m"
h = 0.7
[physics]
problem = "sound-hard"
frequency = 100
speed_of_sound = 1500.0
[incident]
azimuth = "30 deg"
amplitude = 2.0
[solver]
solver = "lu"
rtol = 1e-4
[output]
far_field = { plane = "xy", start = "0 deg", stop = "180 deg", count = 3 }
"""
IN_TIME = """\
[mesh]
shape = "box"
low = [0, 0, 0]
high = [1, 1, 1]
cells = 2
[physics]
problem = "transient"
[initial]
mode = [1, 1, 0]
[solver]
order = 2
courant = 0.5
[run]
until = "2 ns"
[output]
probes = [[0.5, 0.4, 0.3]]
"""
VALUES = [
    "0", "-1", "1e300", "1e-300", "-1e-300", "nan", "inf", "1" + 400 * "0", "true", '""', '"[/red] :x:"', '"1 parsec"',
    "[]", "{}", "[1, 2]", "[0, 0, 0]", "[nan, 0, 0]", "[1e300, 0, 1e300]", "[[1]]", "1979-05-27", '"\\u0000"',
]  # fmt: skip


def whole_files(folder):
    """(name, bytes, reader) of good files of every format."""
    surface, volume = cube(1.0, 0.5), box([0, 0, 0], [1, 1, 1], cells=1)
    for name in SURFACE_FORMATS:
        surface.write(folder / name)
        yield name, (folder / name).read_bytes(), read
    tags = {f"gmsh:{each}": [np.ones(len(surface.triangles), np.int32)] for each in ("physical", "geometrical")}
    content = meshio.Mesh(surface.vertices, [("triangle", surface.triangles)], cell_data=tags)
    for version, binary in GMSH_FORMATS:
        meshio.gmsh.write(folder / "a.msh", content, fmt_version=version, binary=binary)
        yield "a.msh", (folder / "a.msh").read_bytes(), read
    for name in ("a.msh", "a.vtu"):
        volume.write(folder / name)
        yield name, (folder / name).read_bytes(), read_tetrahedra


def damaged(data, rng):
    """A copy with one to three of: bits flipped, bytes lost, doubled or replaced, another number, another line."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        if not data:
            break
        start = rng.randrange(len(data))
        stop = min(len(data), start + int(2 ** rng.uniform(0, 9)))
        kind = rng.choice(["flip", "lose", "double", "random", "cut", "number", "number", "lines"])
        if kind == "flip":
            data[start] ^= 1 << rng.randrange(8)
        elif kind == "lose":
            del data[start:stop]
        elif kind == "double":
            data[start:start] = data[start:stop]
        elif kind == "random":
            data[start:stop] = rng.randbytes(stop - start)
        elif kind == "cut":
            del data[start:]
        elif kind == "number":
            words = bytes(data).split(b" ")
            words[rng.randrange(len(words))] = rng.choice(NUMBERS).encode()
            data = bytearray(b" ".join(words))
        else:
            lines = bytes(data).split(b"\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            data = bytearray(b"\n".join(lines))
    return bytes(data)


def changed(text, rng):
    """A case with one or two other values, or lines lost, doubled or with another key, or a flipped bit."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 2)):
        n = rng.randrange(len(lines))
        key, sign, _value = lines[n].partition(" = ")
        kind = rng.choice(["value", "value", "value", "lose", "double", "key", "byte"])
        if kind == "value" and sign:
            lines[n] = f"{key} = {rng.choice(VALUES)}"
        elif kind == "lose" and len(lines) > 1:
            del lines[n]
        elif kind == "double":
            lines.insert(n, lines[n])
        elif kind == "key":
            lines[n] = lines[n][::-1]
        elif kind == "byte" and lines[n]:
            place = rng.randrange(len(lines[n]))
            lines[n] = lines[n][:place] + chr(rng.randrange(256)) + lines[n][place + 1 :]
    return "\n".join(lines)


def numbers_of(results):
    """The results of a case as one row of numbers."""
    if hasattr(results, "final"):
        return np.concatenate([results.final, *([results.signals.electric.ravel()] if results.signals else [])])
    steps = [
        (step.surface.coefficients, *(np.ravel(each) for each in step.far_field.values())) for step in results.steps
    ]
    return np.concatenate([part for step in steps for part in step])


def wrong_mesh(path, reader):
    """A complaint about how a file is read; None for a MeshError with a message and for a mesh."""
    try:
        mesh = reader(path)
    except MeshError as error:
        return None if path.name in str(error) else f"the file is not named: {error}"
    cells = mesh.triangles if reader is read else mesh.tetrahedra
    good = len(cells) and np.isfinite(mesh.vertices).all() and cells.min() >= 0 and cells.max() < len(mesh.vertices)
    return None if good else f"an invalid mesh: {mesh}"


def wrong_case(text, expected):
    """A complaint about how a case is read. One that says what the good one said gives its numbers, others finite
    ones."""
    try:
        file = parse(text)
    except CaseError as error:
        return None if "\n" in str(error) or ":" in str(error) else f"no place is named: {error}"
    try:
        numbers = numbers_of(run(file))
    except Exception as error:
        code, words = explained(error)
        return None if code != UNEXPECTED and words else f"{type(error).__name__}: {error}"
    same = {str(parse(each).case): result for each, result in expected.items()}.get(str(file.case))
    if same is not None and not np.array_equal(same, numbers):
        return "the case is the same, its numbers are not"
    return None if np.isfinite(numbers).all() else f"numbers that are not finite: {numbers}"


def outcomes(kind, count, folder):
    """Lines (seed, failure) of each damaged copy that is not answered as it should be."""
    if kind == "meshes":
        wholes = list(whole_files(folder))
        for name, data, reader in wholes:
            (folder / name).write_bytes(data)
            assert wrong_mesh(folder / name, reader) is None
    else:
        expected = {text: numbers_of(run(parse(text))) for text in (ON_A_SURFACE, IN_TIME)}
    bound_memory()
    for seed in range(count):
        rng = random.Random(seed)
        if kind == "meshes":
            name, data, reader = wholes[seed % len(wholes)]
            (folder / name).write_bytes(damaged(data, rng))
        else:
            text = changed(rng.choice(list(expected)), rng)
        start = time.process_time()
        print(seed, end=" ", file=sys.stderr, flush=True)  # the last one shows which of them does not end
        try:
            failure = wrong_mesh(folder / name, reader) if kind == "meshes" else wrong_case(text, expected)
        except Exception as error:
            failure = f"raw {type(error).__name__}: {error}"
        if (seconds := time.process_time() - start) > SECONDS:
            failure = f"{seconds:.1f} s"
        if failure:
            yield seed, failure


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("meshes", 100),
        pytest.param("meshes", 400, marks=pytest.mark.variant),
        pytest.param("cases", 100, marks=pytest.mark.variant),
    ],
)
def test_random_damage_is_refused_in_words_or_gives_valid_numbers(kind, count):
    command = [sys.executable, __file__, kind, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout == "done\n", done.stdout + done.stderr[-2000:]


def bound_memory():
    """Let the process have 500 MB more of addresses than it has, so that it need not use them to fail."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main(kind, count):
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for line in outcomes(kind, int(count), Path(folder)):
            print(json.dumps(line), flush=True)
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
