"""Imports run downhill, at the top of files, fast, and without any extra."""

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import calderon

ROOT = Path(__file__).parents[1]
PACKAGE = Path(calderon.__file__).parent
DRIVERS = {
    "cupy",
    "cupyx",
    "pyopencl",
    "mpi4py",
    "gdstk",
    "gmsh",
    "manifold3d",
    "mcp",
    "pymetis",
    "pyvista",
    "skfem",
    "skrf",
    "xarray",
    "pandas",
    "trimesh",
}


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs the source tree")
def test_imports_run_downhill():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_folder_has_its_place_in_the_contract():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    named = {name.strip(" ()") for layer in contract["layers"] for name in layer.split("|")}
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - {"__init__"} <= named


def module_imports(root: Path) -> dict[str, set[str]]:
    """The modules of the package at `root` that each of its modules imports, those for type checkers included."""
    files = {".".join((root.name, *path.relative_to(root).with_suffix("").parts)): path for path in root.rglob("*.py")}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        wanted = set[str]()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{path}: a relative import"
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= {each if each in files else str(node.module) for each in whole}
        found[name] = wanted & files.keys()
    return found


def test_imports_have_no_circles():
    """Not within a package either, nor through imports for type checkers alone."""
    assert list(graphlib.TopologicalSorter(module_imports(PACKAGE)).static_order())


def test_a_circle_through_type_checking_is_found(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("from package.b import f\n")
    (package / "b.py").write_text("if TYPE_CHECKING:\n    from package import a\n")
    assert module_imports(package) == {"package": set(), "package.a": {"package.b"}, "package.b": {"package.a"}}
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(module_imports(package)).prepare()


def imports_inside_functions(path: Path) -> list[str]:
    """Modules that the file imports inside a function."""
    names, text = list[str](), path.read_text(encoding="utf-8")
    if not re.search(r"(?m)^[ \t]+(import|from) ", text):
        return names
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    names += [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    names.append(node.module or ".")
    return names


def test_only_drivers_are_imported_inside_functions():
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) > 20
    strange = {
        str(path.relative_to(PACKAGE)): name
        for path in files
        for name in imports_inside_functions(path)
        if name.split(".")[0] not in DRIVERS
    }
    assert not strange


def test_the_search_for_inner_imports_finds_one(tmp_path):
    (tmp_path / "x.py").write_text("def f():\n    if 1:\n        from os import path\n    import gmsh\n")
    assert sorted(imports_inside_functions(tmp_path / "x.py")) == ["gmsh", "os"]


def test_import_needs_no_extra_and_waits_for_nothing_that_few_programs_use():
    """Drivers are hidden. How long it takes is measured by `python -m benchmarks startup`."""
    program = (
        "import gc, sys\n"
        f"for name in {sorted(DRIVERS)!r}: sys.modules[name] = None\n"
        "import calderon\n"
        "assert 'plots' in dir(calderon)\n"
        "assert not {'numpy', 'numba', 'scipy', 'h5py', 'meshio'} & set(sys.modules)\n"
        "calderon.SoundHardScattering, calderon.mesh.sphere, calderon.planar.patch\n"
        "assert gc.isenabled() and gc.get_freeze_count(), 'collections look at modules'\n"
        "later = {'scipy.' + name for name in ('fft', 'interpolate', 'ndimage', 'optimize', 'spatial', 'special')}\n"
        "unused = {'matplotlib', 'pydantic', 'calderon.dg', 'calderon.formulations.elastic'} | later\n"
        "assert not unused & set(sys.modules)\n"
        "calderon.plots.curves\n"
        "assert 'matplotlib' in sys.modules\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_formats_wait_for_files(tmp_path):
    """A mesh and a solution import no package that reads, writes or draws; writing a file imports its package."""
    program = (
        "import sys\n"
        "import calderon as cal\n"
        "mesh = cal.mesh.sphere(radius=1.0, h=1.0)\n"
        "solution = cal.LaplaceDirichlet(mesh).solve(1.0, method='dense')\n"
        "assert not {'h5py', 'meshio', 'matplotlib', 'pyvista', 'gmsh'} & set(sys.modules)\n"
        "mesh.write('mesh.vtu')\n"
        "assert len(cal.mesh.read('mesh.vtu').triangles) == len(mesh.triangles)\n"
        "assert not {'h5py', 'meshio'} & set(sys.modules)\n"
        "mesh.to_meshio()\n"
        "assert 'meshio' in sys.modules and 'h5py' not in sys.modules\n"
        "solution.save('solution.h5')\n"
        "assert cal.load('solution.h5').surface.coefficients.tobytes() == solution.surface.coefficients.tobytes()\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr


def test_help_waits_for_no_numbers():
    program = (
        "import sys\n"
        "from calderon.cli import app\n"
        "try: app(['run', '--help'])\n"
        "except SystemExit: print({'numpy', 'calderon.commands'} & set(sys.modules))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "Case file" in run.stdout and run.stdout.endswith("set()\n")


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="'calderon' has no attribute 'plot'"):
        calderon.plot
