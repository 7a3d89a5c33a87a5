"""Equal input, threads and machine give equal bits: from run to run, and in another process."""

import os
import subprocess
import sys

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


def test_two_processes_give_equal_bits_on_several_threads():
    """Four threads on fewer processors end their tasks in another order each time. The program has 18 results of 6
    kinds."""
    settings = os.environ | {"NUMBA_NUM_THREADS": "4"}
    command = [sys.executable, "-c", PROGRAM]
    texts = [subprocess.run(command, env=settings, stdout=subprocess.PIPE, check=True, text=True).stdout for _ in "ab"]
    lines = [each.splitlines() for each in texts]
    assert [len(each) for each in lines] == [18, 18]
    found = sorted(set(lines[0] + lines[1]))
    assert len(found) == 6, "\n".join(found)
