"""H-matrices know no space: one file looks at spaces, integrands and operators."""

import ast
from pathlib import Path

import pytest

import calderon.hmatrix

FOLDER = Path(calderon.hmatrix.__file__).parent
FOREIGN = "calderon.spaces", "calderon.integrands", "calderon.operators"


def imported(path: Path) -> set[str]:
    """Modules of FOREIGN that a file imports."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return {module for module in FOREIGN for name in names if f"{name}.".startswith(f"{module}.")}


def test_one_file_looks_at_spaces_and_operators():
    found = {str(path.relative_to(FOLDER)): imported(path) for path in FOLDER.rglob("*.py")}
    assert {path for path, modules in found.items() if modules} == {"galerkin.py"}
    assert found["galerkin.py"] >= {"calderon.spaces", "calderon.operators"}


@pytest.mark.parametrize("folder", [FOLDER, FOLDER / "device"])
def test_folders_and_files_are_small(folder):
    files = [path for path in folder.iterdir() if path.is_file()]
    assert len(files) <= 20
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 500 for path in files)
