"""The types of the package serve a user's program under `mypy --strict`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import calderon

PROGRAM = """
import numpy as np
from numpy.typing import NDArray

import calderon as cal


def strength(mesh: cal.TriangleMesh, k: float) -> NDArray[np.float64]:
    problem = cal.SoundHardScattering(mesh, wavenumber=k)
    solution = problem.solve(cal.PlaneWave([1, 0, 0]), rtol=1e-6)
    directions = cal.exact.unit_directions(np.linspace(0, np.pi, 7), np.zeros(7))
    return solution.target_strength(directions)


def inverse(r: float) -> tuple[float, float]:
    return 1 / r, -1 / r**2


mesh = cal.mesh.sphere(1.0, h=0.5)
space = cal.P0(mesh)
matrix = cal.single_layer(cal.Laplace(), space).assemble("hmatrix", rtol=1e-4)
density, info = cal.gmres(matrix, space.load_vector(1.0), rtol=1e-8)
charge = cal.Function(space, density).integral()
form = cal.Form([cal.Component(1, (1, 0, 0))], test=[lambda centroids, normals: normals[:, 0]])
operator = form(cal.Laplace(), space) + cal.single_layer(cal.Green(inverse), space)
figure = cal.plots.cartesian([0.0, 1.0], {"a": [1.0, 2.0]})
print(strength(mesh, 2.0), charge, info, operator, figure)
"""


@pytest.mark.variant
@pytest.mark.parametrize("wrong", [False, True])
def test_a_program_passes_and_one_with_a_wrong_argument_does_not(tmp_path, wrong):
    program = PROGRAM.replace("wavenumber=k)", "wavenumber='k')") if wrong else PROGRAM
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    given = {**os.environ, "MYPYPATH": str(Path(calderon.__file__).parents[1])}
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "program.py"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=given, cwd=tmp_path)
    assert ran.returncode == int(wrong), ran.stdout
    assert ("wavenumber" in ran.stdout) is wrong
