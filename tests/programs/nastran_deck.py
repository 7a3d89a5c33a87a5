"""A Nastran deck with two properties, as a body of which one is loaded."""

from pathlib import Path

import numpy as np

import calderon as cal

corners = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
quads = {1: [(1, 2, 4, 3)], 2: [(5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]}
lines = ["BEGIN BULK"]
lines += [f"GRID,{n},,{x},{y},{z}" for n, (x, y, z) in enumerate(corners, start=1)]
number = 0
for part, members in quads.items():
    for a, b, c, d in members:
        lines += [f"CTRIA3,{number + 1},{part},{a},{b},{c}", f"CTRIA3,{number + 2},{part},{a},{c},{d}"]
        number += 2
Path("cube.bdf").write_text("\n".join([*lines, "ENDDATA"]) + "\n")
mesh = cal.mesh.read("cube.bdf").divided(2)
assert mesh.is_closed and abs(mesh.volume - 1) < 1e-12 and np.unique(mesh.tags).tolist() == [1, 2]
charge = cal.LaplaceDirichlet(mesh).solve(1.0).surface
assert abs(charge.integral(tags=1) / charge.integral() - 1 / 6) < 0.01
