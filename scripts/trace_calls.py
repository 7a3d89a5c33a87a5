"""Count the files and functions of the package that one command enters: `python scripts/trace_calls.py`.

Calls of Python functions with a name are counted, of a second run, on one thread; compiled kernels are not seen.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import calderon as cal  # noqa: E402  after the number of threads is set
from calderon.cli import app  # noqa: E402

PACKAGE = str(Path(cal.__file__).parent)


def entered(run: Callable[[], object]) -> tuple[int, int]:
    """Numbers of files and of functions of the package that a second call of `run` enters."""
    run()
    found: set[tuple[str, str, int]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            found.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len({file for file, _, _ in found}), len(found)


def scattering() -> object:
    """Sound scattered by a rigid sphere with about 1,200 unknowns, by plane waves."""
    mesh = cal.mesh.sphere(1.0, h=0.11)
    problem = cal.SoundHardScattering(mesh, wavenumber=4.0)
    return problem.solve(cal.PlaneWave([0, 0, 1], 4.0), method="mlfmm", rtol=1e-3)


def solid() -> object:
    """A sphere under pressure, by fast multipoles."""
    mesh = cal.mesh.sphere(1.0, h=0.25)
    steel = cal.ElasticMaterial(210e9, 0.3)
    return cal.ElasticSolid(mesh, steel, loads={0: cal.Pressure(1e6)}).solve(method="fmm")


def example() -> object:
    """The shipped case of a submarine."""
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        return app(["example", "submarine", "--out", f"{folder}/result"], standalone_mode=False)


if __name__ == "__main__":
    for name, run in (
        ("SoundHardScattering.solve(method='mlfmm')", scattering),
        ("ElasticSolid.solve(method='fmm')", solid),
        ("calderon example submarine", example),
    ):
        files, functions = entered(run)
        print(f"{name}: {files} files, {functions} functions")
