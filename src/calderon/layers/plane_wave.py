"""The field of a plane wave in a stack of layers, with all that the layers reflect and transmit."""

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.layers.lines import line_functions
from calderon.layers.sections import Sections

Complex = NDArray[np.complex128]


@kernel
def _lines(k, sections, z, layer, source_z, source_layer, out):
    """Fill out (n, 4) with V_i and I_i of the TM line, then of the TE line, at heights z (n,) in the layers `layer`
    (n,), of a source at source_z in source_layer; k: k_rho; sections: `Sections.data`."""
    for i in range(len(z)):
        values = line_functions(k, sections, z[i], layer[i], source_z, source_layer)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = values[0], values[1], values[4], values[5]


def plane_wave(
    sections: Sections, radial: NDArray[np.float64], vector: NDArray[np.float64], points: NDArray[np.float64]
) -> tuple[Complex, Complex]:
    """E (n, 3) in V/m and H for eta0 = 1 of a wave of 1 V/m from the direction `radial` (3,), not along the layers,
    with E along the unit vector `vector` across it; its phase is 0 at the origin without the stack.

    With u along the horizontal wavenumber k and v = z x u: E_u and H_v are voltage and current of the TM line, E_v and
    -H_u those of the TE line, eps k0 E_z = -k H_v and mu k0 H_z = k E_v.
    """
    # the layer from which the wave comes, and its face to the stack
    side = -1 if radial[2] > 0 else 0
    n0, face = len(sections.eps) - 1 if side else 0, float(sections.low[-1] if side else sections.high[0])
    k0, number = sections.k0, sections.wavenumbers[n0].real
    # directions u along the horizontal wavenumber and v across it
    k, sine = -number * radial[:2], float(np.linalg.norm(radial[:2]))
    u = -radial[:2] / sine if sine > 1e-9 else np.array([1.0, 0.0])
    v = np.array([-u[1], u[0]])
    # voltages and currents of both lines, at the points and at the face, for a source on the face
    size, kz = number * max(sine, 1e-9), number * abs(radial[2])
    z = np.ascontiguousarray(points[:, 2])
    layer = np.array([sections.layer_of(each) for each in z], dtype=np.int64)
    lines = np.empty((len(z), 4), complex)
    _lines(complex(size), sections.data, z, layer, face, n0, lines)
    here, outside, mu0 = np.empty((1, 4), complex), np.flatnonzero(layer == n0), sections.mu[n0]
    _lines(complex(size), sections.data, np.array([face]), np.array([n0]), face, n0, here)
    # a wave of 1 V/m is that of a current 2 Y on the face; outside the stack it is added to its reflection
    out = []
    for pair, admittance, part in (
        (slice(0, 2), k0 * sections.eps[n0] / kz, vector[:2] @ u),
        (slice(2, 4), kz / (k0 * mu0), vector[:2] @ v),
    ):
        values = 2 * admittance * lines[:, pair]
        reflected = 2 * admittance * here[0, pair.start] - 1
        back = np.exp(1j * kz * np.abs(z[outside] - face))  # source and observer are on the line of the wave
        values[outside, 0] = 1 / back + reflected * back
        values[outside, 1] = (-1 if side else 1) * admittance * (1 / back - reflected * back)
        out.append(part * np.exp(-1j * number * radial[2] * face) * values)
    # fields of both lines, with the phase along the layers
    (e_u, h_v), (e_v, current) = (each.T for each in out)
    e_z, h_z, h_u = -size * h_v / (k0 * sections.eps[layer]), size * e_v / (k0 * sections.mu[layer]), -current
    wave = np.exp(1j * points[:, :2] @ k)
    electric = np.concatenate([e_u[:, None] * u + e_v[:, None] * v, e_z[:, None]], axis=1)
    magnetic = np.concatenate([h_u[:, None] * u + h_v[:, None] * v, h_z[:, None]], axis=1)
    return wave[:, None] * electric, wave[:, None] * magnetic
