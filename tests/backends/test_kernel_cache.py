"""Kernels on disk are found again where nothing of theirs changed, and compiled again where something did."""

import gc
import shutil
import subprocess
import sys
from collections import namedtuple
from enum import IntEnum
from pathlib import Path

import numba
from numba.core import event
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary

import calderon
from calderon.backends.kernel_cache import capture_of, stamp_of
from calderon.backends.numba import jitable_part, kernel

PACKAGE = Path(calderon.__file__).parent

STAMPS = """
import calderon as cal
from calderon.backends import kernel_cache
from calderon.galerkin.regular.tile import TileKind, tile_kernel
from calderon.integrands.component import Component

helmholtz = tile_kernel(
    TileKind(cal.Helmholtz(2.0).radial(0.0), (Component(0),), True, False, False, True, True, True, False, 6, 3)
)
print(kernel_cache.__file__)

def change(name):
    path = __import__("pathlib").Path(cal.__file__).parent / name
    before = kernel_cache.stamp_of(helmholtz.py_func)
    path.write_text(path.read_text() + "# changed\\n")
    kernel_cache._content.cache_clear()
    print(name, kernel_cache.stamp_of(helmholtz.py_func) != before)

change("dg/operator/curl.py")
change("greens/laplace.py")
change("greens/helmholtz.py")
change("greens/elementary.py")
change("backends/vectors.py")
change("mesh/triangles.py")
"""


def run(program: str, path: Path, **environment: str) -> list[str]:
    variables = {"PYTHONPATH": str(path), "PATH": "/usr/bin", **environment}
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def test_a_boundary_kernel_depends_on_its_green_s_function_and_not_on_dg(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "calderon", ignore=shutil.ignore_patterns("__pycache__"))
    where, *changes = run(STAMPS, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert where.startswith(str(tmp_path))
    assert dict(line.rsplit(" ", 1) for line in changes if line) == {
        "dg/operator/curl.py": "False",
        "greens/laplace.py": "False",
        "greens/helmholtz.py": "True",
        "greens/elementary.py": "True",
        "backends/vectors.py": "True",
        "mesh/triangles.py": "False",
    }


def test_a_kernel_is_compiled_again_when_another_file_changes(tmp_path):
    part = "from calderon.backends.numba import jitable_part\nN = 1\n@jitable_part\ndef part(x):\n    return x + {}\n"
    whole = (
        "from calderon.backends.numba import kernel\nfrom part import part\n"
        "@kernel\ndef whole(x):\n    return part(x)\n"
        "print(whole(1), sum(whole.stats.cache_hits.values()))\n"
    )
    (tmp_path / "whole.py").write_text(whole)
    folder = f"{tmp_path}:{PACKAGE.parent}"
    printed = []
    for number in (1, 1, 2):
        (tmp_path / "part.py").write_text(part.format(number))
        printed += run("import whole", folder, NUMBA_CACHE_DIR=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")[:1]
    assert printed == ["2 0", "2 1", "3 0"]


def test_a_kernel_whose_arguments_had_a_type_of_another_name_is_compiled_again(tmp_path):
    whole = (
        "from calderon.backends.numba import kernel\nfrom typing import NamedTuple\n"
        "@kernel\ndef whole(x):\n    return x.a + 1\n"
        "class {0}(NamedTuple):\n    a: int\n"
        "print(whole({0}(1)), sum(whole.stats.cache_hits.values()))\n"
    )
    folder = f"{tmp_path}:{PACKAGE.parent}"
    printed = []
    for name in ("First", "Other", "Other"):
        (tmp_path / "whole.py").write_text(whole.format(name))
        printed += run("import whole", folder, NUMBA_CACHE_DIR=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")[:1]
    assert printed == ["2 0", "2 0", "2 1"]


SCALE = 2.0


@jitable_part
def scaled(x):
    return SCALE * x


def test_constants_that_a_captured_function_names_belong_to_the_stamp(monkeypatch):
    def call(x):
        return scaled(x)

    before = stamp_of(call)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert stamp_of(call) != before


def captured(first, second, factor):
    def part(x):
        return factor * x

    def call(x):
        return part(x) + first[0] * second[0]

    return call


def test_captured_values_count_and_not_the_objects_that_hold_them():
    layout = (3, "P1")
    same = capture_of(captured(layout, layout, 2.0))
    assert capture_of(captured(layout, tuple(list(layout)), 2.0)) == same
    others = [captured(layout, (4, "P1"), 2.0), captured(layout, layout, 3.0), captured(layout, layout, 2), scaled]
    assert len({same, *map(capture_of, others)}) == 5


class Observer(event.Listener):
    def __init__(self):
        self.states = []

    def on_start(self, event):
        self.states.append(gc.get_threshold())

    def on_end(self, event):
        self.states.append(gc.get_threshold())


def test_kernels_of_other_packages_are_left_alone():
    with event.install_listener("numba:compile", Observer()) as observer:
        assert numba.njit(lambda x: x + 1)(1) == 2
    assert set(observer.states) == {gc.get_threshold()}


def test_only_kernels_become_machine_code(monkeypatch):
    built, finalize = [], JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        JITCodeLibrary, "_finalize_specific", lambda library: (built.append(library.name), finalize(library))
    )

    @jitable_part
    def twice(x):
        return 2 * x

    @jitable_part
    def power_and_double(x, n):
        return twice(x) ** n + twice(n)

    @kernel
    def whole(x):
        return power_and_double(x, 2.0) + power_and_double(x, 3.0) + twice(x)

    whole._cache = NullCache()
    assert whole(1.0) == 4.0 + 4.0 + 8.0 + 6.0 + 2.0
    names = [name for name in built if "test_only_kernels" in name]
    assert len(names) == 1 and names[0].endswith("whole")


def stamp_with(layout):
    """The stamp of a function that reads a place of a layout."""

    def read(record):
        return record[layout.SECOND]

    return stamp_of(read)


def test_layouts_of_records_enter_the_key():
    """Enumerations by their members, named tuples by the names of their fields: two that are exchanged differ."""
    orders = [("FIRST", "SECOND"), ("SECOND", "FIRST")]
    one, same, two = (IntEnum("Layout", {name: n for n, name in enumerate(orders[n])}) for n in (0, 0, 1))
    assert stamp_with(one) == stamp_with(same) != stamp_with(two)
    one, same, two = (namedtuple("Layout", orders[n])(0, 1) for n in (0, 0, 1))
    assert stamp_with(one) == stamp_with(same) != stamp_with(two)
