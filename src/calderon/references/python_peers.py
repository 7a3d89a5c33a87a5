"""References that other packages of Python compute next to calderon, in an interpreter of their own.

The environment variable CALDERON_PEERS names that interpreter, `CALDERON_PEERS=/path/to/python calderon validate`;
without it they are looked for where calderon is.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from calderon.formulations import LaplaceDirichlet, Wire, WireAntenna, WireGap
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh, cube, sphere
from calderon.potentials import single_layer_potential
from calderon.quadrature import triangle_rule
from calderon.references.reference import Reference
from calderon.references.sound import deviation
from calderon.spaces import P0, Function

VARIABLE = "CALDERON_PEERS"
SECONDS = 300
"""Seconds that another program may take."""


def interpreter() -> str:
    """The Python that has the other packages."""
    return os.environ.get(VARIABLE) or sys.executable


@cache
def _holds(python: str, package: str) -> bool:
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    try:
        return subprocess.run([python, "-c", look], check=False, capture_output=True, timeout=SECONDS).returncode == 0
    except OSError:
        return False


@dataclass(frozen=True)
class Peer:
    """A package of another Python: its name for imports, that for pip, and a program that reads `given` and leaves
    `found`, both made of numbers, lists and texts."""

    package: str
    pip: str
    program: str

    def missing(self) -> str:
        """Why the package cannot be asked; empty where it can."""
        if _holds(interpreter(), self.package):
            return ""
        return (
            f"{self.package} is not installed for {interpreter()}: pip install {self.pip}, or name another Python by "
            f"the environment variable {VARIABLE}"
        )

    def asked(self, **given: Any) -> Any:
        """The answer of the program; ValueError with its last words where it fails."""
        text = (
            f"import json, sys\ngiven = json.load(sys.stdin)\n{self.program}\nprint('\\nfound: ' + json.dumps(found))\n"
        )
        ran = subprocess.run(
            [interpreter(), "-c", text],
            input=json.dumps(given),
            text=True,
            check=False,
            capture_output=True,
            timeout=SECONDS,
        )
        line = next((each for each in reversed(ran.stdout.splitlines()) if each.startswith("found: ")), "")
        if ran.returncode or not line:
            last = [each for each in ran.stderr.splitlines() if each.strip()][-1:]
            raise ValueError(f"{self.package} has found nothing: {' '.join(last)[:200]}")
        return json.loads(line.removeprefix("found: "))


BEMPP = Peer(
    "bempp_cl",
    "bempp-cl",
    """
import numpy as np
import bempp_cl.api as bempp
grid = bempp.Grid(np.array(given["vertices"]).T, np.array(given["triangles"]).T)
space = bempp.function_space(grid, "DP", 0)
layer = bempp.operators.boundary.laplace.single_layer(space, space, space).weak_form()
sums = bempp.GridFunction(space, coefficients=np.ones(space.global_dof_count)).projections(space)
found = float(sums @ np.linalg.solve(layer.to_dense(), sums))
""",
)
FMM3D = Peer(
    "fmm3dpy",
    "fmm3dpy",
    """
import numpy as np
import fmm3dpy
points, charges, targets = (np.array(given[name]) for name in ("points", "charges", "targets"))
sums = fmm3dpy.lfmm3d(eps=1e-8, sources=points.T.copy(), charges=charges, targets=targets.T.copy(), pgt=1).pottarg
one = fmm3dpy.lfmm3d(
    eps=1e-8, sources=np.zeros((3, 1)), charges=np.ones(1), targets=np.array([[2.0], [0], [0]]), pgt=1
).pottarg
found = (sums / (4 * np.pi * 2 * np.ravel(one)[0])).tolist()  # 1 / r, or 1 / (4 pi r): as its release has it
""",
)
NGSOLVE = Peer(
    "ngsolve",
    "ngsolve",
    """
from netgen.occ import OCCGeometry, Sphere
from ngsolve import BND, BilinearForm, CGSolver, IdentityMatrix, InnerProduct, LinearForm, Mesh, SurfaceL2, ds
from ngsolve.bem import LaplaceSL
mesh = Mesh(OCCGeometry(Sphere((0, 0, 0), 1)).GenerateMesh(maxh=0.4))
space = SurfaceL2(mesh, order=0)
u, v = space.TnT()
layer = LaplaceSL(u * ds(bonus_intorder=3)) * v * ds(bonus_intorder=3)
sums = LinearForm(1 * v.Trace() * ds).Assemble()
density = CGSolver(layer.mat, pre=IdentityMatrix(), tol=1e-10) * sums.vec
found = {
    "charge": InnerProduct(density, sums.vec),
    "vertices": [list(each.point) for each in mesh.vertices],
    "triangles": [[each.nr for each in one.vertices] for one in mesh.Elements(BND)],
}
""",
)
PYNEC = Peer(
    "PyNEC",
    "PyNEC",
    """
import PyNEC
nec = PyNEC.nec_context()
half = given["length"] / 2
nec.get_geometry().wire(1, given["segments"], 0, 0, -half, 0, 0, half, given["radius"], 1.0, 1.0)
nec.geometry_complete(0)
nec.fr_card(0, 1, given["frequency"] / 1e6, 0)
nec.ex_card(0, 1, given["segments"] // 2 + 1, 0, 1.0, 0, 0, 0, 0, 0)
nec.xq_card(0)
impedance = complex(nec.get_input_parameters(0).get_impedance()[0])
found = [impedance.real, impedance.imag]
""",
)


def _capacitance(mesh: TriangleMesh) -> float:
    """The charge of a conductor at 1 V by constant functions, eps_0 = 1."""
    return float(LaplaceDirichlet(mesh, space="P0").solve(1.0).surface.integral())


def _by_bempp() -> float:
    mesh = cube(1.0, 0.25)
    known = BEMPP.asked(vertices=mesh.vertices.tolist(), triangles=mesh.triangles.tolist())
    return abs(_capacitance(mesh) / known - 1)


def _by_ngsolve() -> float:
    """The deviation of the charge on triangles that NGSolve makes."""
    found = NGSOLVE.asked()
    vertices, triangles = np.array(found["vertices"]), np.array(found["triangles"])
    return abs(_capacitance(TriangleMesh(vertices, triangles)) / found["charge"] - 1)


def _by_fmm3d() -> float:
    """Potentials of 1 + z on a sphere, as sums over 7 points of each triangle."""
    mesh, rule, space = sphere(1.0, 0.3), triangle_rule(5), P0(sphere(1.0, 0.3))
    density = Function(space, 1.0 + mesh.centroids[:, 2])
    corners = mesh.vertices[mesh.triangles]
    barycentric = np.column_stack([1 - rule.points.sum(axis=1), rule.points])
    points = np.einsum("qc,tci->tqi", barycentric, corners).reshape(-1, 3)
    weights = rule.weights / rule.weights.sum()
    charges = (density.coefficients * mesh.areas)[:, None] * weights
    targets = 2.0 * np.random.default_rng(0).standard_normal((200, 3))
    targets *= np.maximum(1.0, 1.5 / np.linalg.norm(targets, axis=1))[:, None]
    found = single_layer_potential(Laplace(), density).evaluate(targets)
    given = {"points": points.tolist(), "charges": charges.ravel().tolist(), "targets": targets.tolist()}
    return deviation(found, np.array(FMM3D.asked(**given)))


def _by_pynec() -> float:
    length, radius, segments, frequency = 0.5, 1e-3, 41, 250e6
    wire = Wire([[0, 0, -length / 2], [0, 0, length / 2]], radius, segments)
    found = np.ravel(WireAntenna([wire], [WireGap([0, 0, 0])], frequency=frequency).solve().input_impedance)[0]
    given = {"length": length, "radius": radius, "segments": segments, "frequency": frequency}
    known = complex(*PYNEC.asked(**given)).conjugate()
    return float(abs(found - known) / abs(known))


SAME = "capacitance on the same mesh"
PEERS = (
    Reference("cube-by-bempp", SAME, "bempp-cl, run next to it", 1e-4, _by_bempp, peer=BEMPP),
    Reference("sums-by-fmm3d", "potentials around a sphere", "fmm3dpy, run next to it", 1e-6, _by_fmm3d, peer=FMM3D),
    Reference("sphere-by-ngsolve", SAME, "NGSolve, run next to it", 1e-4, _by_ngsolve, peer=NGSOLVE),
    Reference(
        "dipole-by-pynec", "impedance of a short dipole", "NEC-2, run next to it (PyNEC)", 0.05, _by_pynec, peer=PYNEC
    ),
)
"""Rows of `calderon validate`."""
