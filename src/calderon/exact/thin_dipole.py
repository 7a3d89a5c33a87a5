"""Impedance of a thin straight dipole by the induced electromotive force.

With the current I_m sin(k (l/2 - |z|)) on a wire of length l and radius a << l, the impedance that belongs to the
largest current I_m is, with C Euler's constant, Si and Ci sine and cosine integral and q = kl,
  R_m = eta / (2 pi) { C + ln q - Ci q + sin q (Si 2q - 2 Si q) / 2 + cos q (C + ln(q/2) + Ci 2q - 2 Ci q) / 2 }
  X_m = eta / (4 pi) { 2 Si q + cos q (2 Si q - Si 2q) - sin q (2 Ci q - Ci 2q - Ci(2 k a^2 / l)) }
and that seen by a feed in the middle, where the current is I_m sin(q/2), is Z = (R_m, X_m) / sin^2(q/2).
C. A. Balanis, Antenna Theory, 4th ed. (2016), section 8.5; P. S. Carter, Proc. IRE 20 (1932) 1004.
"""

import numpy as np
import scipy

from calderon.validation import one_of, positive_length


def thin_dipole_impedance(
    k: float, length: float, radius: float | None = None, impedance: float = 1.0, at: str = "feed"
) -> complex:
    """Z = R - iX of a dipole of `length` l and wire `radius` a in m, at the real wavenumber k in 1/m.

    The time factor is exp(-i omega t), so that an inductive reactance X > 0 is a negative imaginary part. The half-wave
    dipole has 0.19398 - 0.11285i of eta; with eta = 120 pi ohm, as textbooks take it, 73.13 - 42.54i, there written
    73.13 + j 42.54.
    radius: needed for the reactance, unless l is a multiple of half a wavelength, where it does not matter.
    impedance: eta of the medium, in ohm (`exact.VACUUM_IMPEDANCE`, 376.73); with 1, Z is a multiple of eta.
    at: "feed" refers Z to the current in the middle, "maximum" to the largest of the sinusoid, I_m; at odd multiples
        of half a wavelength they are the same.

    The current is assumed, not solved for: a few percent at l below 0.6 wavelengths and a below l / 100. At whole
    wavelengths the feed has no current, and Z is refused.
    """
    q = positive_length(k, "k") * positive_length(length, "length")
    eta = positive_length(impedance, "impedance")
    one_of(at, ("feed", "maximum"), "reference of the impedance")
    # resistance and reactance relative to the largest current, in units of eta / (2 pi)
    si, ci = scipy.special.sici(q)
    si2, ci2 = scipy.special.sici(2 * q)
    constant = np.euler_gamma
    resistance = constant + np.log(q) - ci + np.sin(q) * (si2 - 2 * si) / 2
    resistance += np.cos(q) * (constant + np.log(q / 2) + ci2 - 2 * ci) / 2
    reactance = 2 * si + np.cos(q) * (2 * si - si2)
    if abs(np.sin(q)) > 1e-12 * max(q, 1.0):
        if radius is None:
            raise ValueError(
                f"the reactance of a dipole of {q / (2 * np.pi):.6g} wavelengths depends on the wire: give its radius"
            )
        a = positive_length(radius, "radius")
        if a > length / 10:
            raise ValueError(f"a wire of radius {a:g} and length {length:g} is not thin: at most a tenth")
        reactance -= np.sin(q) * (2 * ci - ci2 - scipy.special.sici(2 * k * a**2 / length)[1])
    # the current at the feed is sin(kl/2) of the largest one
    value = eta / (2 * np.pi) * (resistance - 0.5j * reactance)
    if at == "maximum":
        return complex(value)
    feed = np.sin(q / 2)
    if abs(feed) < 1e-6:
        raise ValueError(
            f"a dipole of {q / (2 * np.pi):.6g} wavelengths has no current at its feed in this approximation: "
            "at='maximum' gives its impedance at the largest current"
        )
    return complex(value / feed**2)
