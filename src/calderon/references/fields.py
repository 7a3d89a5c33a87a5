"""References of electromagnetic fields: spheres against Mie series, a dipole against NEC-2, a line by elliptic
integrals."""

from typing import Any

import numpy as np
from scipy.special import ellipk

import calderon.exact as exact
from calderon.exact import SPEED_OF_LIGHT
from calderon.formulations import DielectricScattering, PECScattering, Wire, WireAntenna, WireGap
from calderon.mesh import sphere
from calderon.planar import Layer, Stack, line_parameters
from calderon.references.reference import Reference
from calderon.references.sound import DIRECTIONS, deviation
from calderon.waves import ElectromagneticPlaneWave


def _scattered(problem: Any, series: exact.MieScattering) -> float:
    wave = ElectromagneticPlaneWave(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    return deviation(problem.solve(wave).far_field(DIRECTIONS), series.far_field(DIRECTIONS))


def _conducting() -> float:
    return _scattered(PECScattering(sphere(1.0, 0.25), 2.0), exact.mie_pec_sphere(2.0, 1.0))


def _dielectric() -> float:
    return _scattered(DielectricScattering(sphere(1.0, 0.35), 1.0, 2.25), exact.mie_dielectric_sphere(1.0, 1.0, 2.25))


def _dipole() -> float:
    """Against 85.72 + j 48.71 ohm."""
    wire = Wire([[0, 0, -0.25], [0, 0, 0.25]], 1e-3, 42)
    found = WireAntenna([wire], [WireGap([0, 0, 0])], SPEED_OF_LIGHT).solve().input_impedance
    return float(abs(np.ravel(found)[0] - (85.72 - 48.71j)) / abs(85.72 + 48.71j))


def _stripline() -> float:
    """Z_c = 30 pi / sqrt(eps) K(k) / K(k'), 1 / k = cosh(pi w / 2b)."""
    stack = Stack([Layer(1e-3, 2.2), Layer(1e-3, 2.2)], below="pec", above="pec")
    k = 1 / np.cosh(np.pi / 4)
    known = 30 * np.pi / 2.2**0.5 * ellipk(k**2) / ellipk(1 - k**2)
    return float(abs(line_parameters(stack, 1e-3, 1e9, z=1e-3).impedance / known - 1))


CONDUCTING = Reference("conducting-sphere", "far field at k a = 2", "Mie series", 0.02, _conducting)
DIELECTRIC = Reference("dielectric-sphere", "far field at k a = 1, permittivity 2.25", "Mie series", 0.02, _dielectric)
DIPOLE = Reference(
    "dipole", "impedance of half a wave of wire, radius 1e-3 waves", "NEC-2 (nec2c), 85.72 + j 48.71 ohm", 0.05, _dipole
)
STRIPLINE = Reference(
    "stripline", "characteristic impedance", "S. B. Cohn, IRE Trans. MTT-2 (1954), 52, elliptic integrals", 2e-3,
    _stripline,
)  # fmt: skip
