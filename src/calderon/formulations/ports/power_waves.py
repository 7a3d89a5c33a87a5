"""Scattering matrices of power waves, for complex reference impedances of each port.

With voltages U = Z I and reference impedances Z_r of positive real part, one for each port, waves toward and back are

    a = F (U + Z_r I),    b = F (U - Z_r* I),    F = 1 / (2 sqrt(Re Z_r)),    b = S a,

so that |a|^2 - |b|^2 is the power that enters, and a = 0 is a port with the load Z_r.

K. Kurokawa, IEEE Trans. MTT-13 (1965), 194. Real Z_r give the usual S.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.validation import finite_complex, several

Complex = NDArray[np.complex128]
Reference = float | Complex
"""A resistance in ohm of all ports, or complex impedances (p,)."""


def reference_impedances(values: ArrayLike, ports: int) -> Reference:
    """One resistance as a number, else impedances (ports,); ValueError unless all have a positive real part."""
    given = several(values, ports, "z0, the reference impedances in ohm,", finite_complex)
    if not all(each.real > 0 for each in given):
        raise ValueError(f"z0, the reference impedances in ohm, need positive real parts, got {values!r}")
    if len(set(given)) == 1 and given[0].imag == 0:
        return float(given[0].real)
    return np.array(given, np.complex128)


def reference_text(reference: Reference) -> str:
    """The reference as text: "50 ohm"."""
    return f"{', '.join(f'{each:g}' for each in np.ravel(np.asarray(reference)).tolist())} ohm"


def scattering(admittance: Complex, reference: Reference) -> Complex:
    """S = F (1 - Z_r* Y) (1 + Z_r Y)^-1 F^-1 of admittances (..., p, p) in S."""
    one, z = np.eye(admittance.shape[-1]), np.reshape(reference, (-1, 1))
    toward, back = one + z * admittance, one - np.conj(z) * admittance
    found = np.linalg.solve(toward.swapaxes(-1, -2), back.swapaxes(-1, -2)).swapaxes(-1, -2)
    return np.asarray(found * _factors(reference))


def impedance(s: Complex, reference: Reference) -> Complex:
    """Z = F^-1 (1 - S)^-1 (S Z_r + Z_r*) F in ohm of scattering matrices (..., p, p)."""
    one, z = np.eye(s.shape[-1]), np.ravel(reference)
    found = np.linalg.solve(one - s, s * z + one * np.conj(z))
    return np.asarray(found / _factors(reference))


def renormalised(s: Complex, reference: Reference, other: Reference) -> Complex:
    """Scattering matrices (..., p, p) for other reference impedances; those of ports without an impedance or admittance
    matrix, such as a through line, too.

    With V = F^-1-weighted waves of the old ones, U = (Z_r* a + Z_r b) 2 F and I = (a - b) 2 F give the new ones.
    """
    old, new = (np.broadcast_to(np.ravel(each), s.shape[-1:])[:, None] for each in (reference, other))
    one, root = np.eye(s.shape[-1]), np.sqrt(old.real)
    voltages, currents = (np.conj(old) * one + old * s) / root, (one - s) / root
    toward = (voltages + new * currents) / np.sqrt(new.real)
    back = (voltages - np.conj(new) * currents) / np.sqrt(new.real)
    return np.asarray(np.linalg.solve(toward.swapaxes(-1, -2), back.swapaxes(-1, -2)).swapaxes(-1, -2))


def _factors(reference: Reference) -> Any:
    """F_i / F_j (p, p), or 1 for one resistance."""
    if np.ndim(reference) == 0:
        return 1.0
    root = np.sqrt(np.asarray(reference).real)
    return root[None, :] / root[:, None]


def network(frequencies: NDArray[np.float64], s: Complex, reference: Reference, name: str) -> Any:
    """An `skrf.Network` of S (n, p, p) at frequencies (n,) in Hz: conjugates, since it has exp(+j omega t), with power
    waves. ImportError with what to install."""
    try:
        import skrf
    except ImportError:
        raise ImportError("networks are of scikit-rf: pip install 'calderon[skrf]'") from None
    z0 = np.conj(np.broadcast_to(np.ravel(reference), s.shape[-1:])).astype(complex)
    return skrf.Network(
        frequency=skrf.Frequency.from_f(frequencies, unit="Hz"), s=s.conj(), z0=z0, s_def="power", name=name
    )
