"""Sheets, walls with boundary layers and four-poles computed on a device are those of the processor."""

import numpy as np
import pytest

import calderon as cal

AIR = cal.Fluid.air()
DISC = cal.mesh.disc(0.1, 0.05)
BOX = cal.mesh.cuboid([0.04, 0.01, 0.01], h=0.01)
DUCT = cal.TriangleMesh(
    BOX.vertices, BOX.triangles, np.rint(BOX.normals[:, 0]).astype(int) + 1, {"inlet": 0, "walls": 1, "outlet": 2}
)


def sheet(**options):
    panel = cal.Impedance.perforated(0.5e-3, 1e-3, 0.02, cavity=None)
    solution = cal.AcousticSheet(DISC, frequency=500.0, fluid=AIR, impedance=panel).solve(
        cal.PlaneWave([0, 0.6, -0.8]), **options
    )
    return solution.surface.coefficients, solution.field([[0, 0, 0.2], [0.05, 0, -0.1]])


def duct(conditions):
    return cal.AcousticProblem(DUCT, frequency=1000.0, fluid=AIR, side="interior", conditions=conditions)


def narrow(**options):
    solution = duct({"inlet": cal.Velocity(1.0), "walls": cal.ViscothermalWall()}).solve(**options)
    return solution.surface.coefficients, solution.absorbed_power("walls")


def four_pole(**options):
    pole = duct({"walls": cal.ViscothermalWall()}).four_pole("inlet", "outlet", **options)
    return pole.of_particle_velocity / [[1, AIR.impedance], [1 / AIR.impedance, 1]], pole.transmission_loss


@pytest.mark.parametrize("solved", [sheet, narrow, four_pole])
@pytest.mark.parametrize("precision, bound", [("double", 1e-7), ("single", 1e-3)])
def test_a_device_gives_what_the_processor_gives(opencl, solved, precision, bound):
    for here, there in zip(
        solved(rtol=1e-9), solved(rtol=1e-9 if precision == "double" else 1e-5, backend="opencl", precision=precision),
        strict=True,
    ):  # fmt: skip
        assert np.abs(np.asarray(there) - here).max() < bound * np.abs(here).max()
