"""Compile the kernels that many tests use, before the first of them: python tests/compile_kernels.py 0 (or 1).

Two workers of pytest-xdist would compile the same kernels at the same time. The two halves have few in common, and
take about as long as each other.
"""

import gc
import sys

import numpy as np

import calderon as cal
from calderon.hmatrix import Admissibility, Choices, assemble_hmatrix
from catalogue import CURRENT_POTENTIALS, FORMS, GREENS, LAYER_POTENTIALS, LAYERS

MESH = cal.mesh.sphere(radius=1.0, h=0.3)
POINTS = np.array([[0.0, 0.0, 3.0], [0.0, 0.0, 1.01]])


def matrices(form: str, green: str) -> None:
    """Dense, and, but for the form that only variants take so, by rows and compressed."""
    operator = FORMS[form].on(GREENS[green], MESH)
    operator.assemble()
    if form != "adjoint_double_layer":
        operator.entries([0], [1])
        assemble_hmatrix(operator, choices=Choices(rtol=1e-3, leaf=8, admissibility=Admissibility(eta=8.0)))


def layers(green: str) -> None:
    """Kernels of layers of P1, of static ones of P0, and of their potentials."""
    for form in LAYERS:
        matrices(form, green)
    for build in (cal.single_layer, cal.double_layer) if green == "laplace" else ():
        build(GREENS[green], cal.P0(MESH)).assemble()
    for potential in LAYER_POTENTIALS.values():
        density = cal.Function(cal.P1(MESH), np.ones(cal.P1(MESH).dimension))
        potential(GREENS[green], density).evaluate(POINTS)
        potential(GREENS[green], density).gradient(POINTS)


def fields() -> None:
    """Kernels of fields of edge functions, and of their potentials."""
    edges = cal.RWG(MESH)
    matrices("electric_field", "helmholtz")
    for potential in CURRENT_POTENTIALS.values():
        current = cal.VectorFunction(edges, np.ones(edges.dimension))
        potential(GREENS["helmholtz"], current).evaluate(POINTS)


def time_steps() -> None:
    """Kernels of time steps of degree 1 to 3, for both fluxes."""
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1)
    for order in (1, 2, 3):
        for flux in ("centred", "upwind"):
            simulation = cal.MaxwellDG(mesh, order, flux, boundaries={"wall": "absorbing"})
            simulation.run(simulation.time_step)


HALVES = (
    [lambda: layers("laplace"), lambda: matrices("magnetic_field", "helmholtz")],
    [fields, lambda: layers("helmholtz"), time_steps],
)

if __name__ == "__main__":
    gc.set_threshold(100_000, 50)  # compiling makes many objects, and few of them are garbage
    for compute in HALVES[int(sys.argv[1])]:
        compute()
