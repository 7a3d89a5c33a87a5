"""Equal input, threads and machine give equal bits: from run to run, and in another process."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib

import numpy as np

import calderon as cal
from calderon.hmatrix import Admissibility, Choices, assemble_hmatrix, compression

compression.SMALLEST = 1e3  # many pieces of a small matrix
mesh = cal.mesh.sphere(radius=1.0, h=0.3)
green, P1 = cal.Helmholtz(1.7), cal.P1(mesh)
operators = {
    "V": cal.single_layer(green, P1),
    "K": cal.double_layer(green, P1),
    "W": cal.hypersingular(green, P1),
    "E": cal.electric_field(green, cal.RWG(mesh)),
}
choices = Choices(rtol=1e-3, leaf=8, admissibility=Admissibility(eta=8.0))
for name, operator in operators.items():
    x = np.cos(np.arange(operator.shape[1]) ** 2.0)
    for _ in range(3):
        results = {"dense": operator.assemble()}
        if name == "V":
            results["matrix-free"] = operator.assemble(method="matrix-free") @ x
            results["H-matrix"] = assemble_hmatrix(operator, choices=choices) @ x
        for method, values in results.items():
            print(name, method, hashlib.sha256(np.ascontiguousarray(values)).hexdigest())
"""


SOLID = """
import hashlib

import numpy as np

import calderon as cal

mesh = cal.mesh.cuboid((1.0, 1.0, 1.0), 0.14)
tags = np.where(mesh.centroids[:, 0] < 1e-9, 1, 0)
mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"free": 0, "wall": 1})
load = {"free": cal.Traction(lambda x, n: x)}
solid = cal.ElasticSolid(mesh, cal.ElasticMaterial(2.1, 0.3), {"wall": cal.elastic.Fixed()}, load)
for _ in range(2):
    print(hashlib.sha256(solid.solve(method="fmm", rtol=1e-4).displacement.at_nodes).hexdigest())
"""


@pytest.mark.parametrize(
    ("program", "results", "kinds"), [(PROGRAM, 18, 6), pytest.param(SOLID, 2, 1, marks=pytest.mark.variant)]
)
def test_two_processes_give_equal_bits_on_several_threads(program, results, kinds):
    """Four threads on fewer processors end their tasks in another order each time."""
    settings = os.environ | {"NUMBA_NUM_THREADS": "4"}
    command = [sys.executable, "-c", program]
    texts = [subprocess.run(command, env=settings, stdout=subprocess.PIPE, check=True, text=True).stdout for _ in "ab"]
    lines = [each.splitlines() for each in texts]
    assert [len(each) for each in lines] == [results, results]
    found = sorted(set(lines[0] + lines[1]))
    assert len(found) == kinds, "\n".join(found)
