"""The aperture of a coaxial line as a source: a frill of magnetic current around a wire."""

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.errors import warn_of_accuracy

REACH = 10.0
"""Outer radii beyond which the field on the wire is left out: less than 1 % of the voltage."""
LEAST = 0.95
"""Part of the voltage that lies on the wire, below which it is too short, or bent, next to the aperture."""
RETARDED = 0.02
"""Error of the voltage by the static field that is accepted; k b = 0.16 on a line of 50 ohm."""


def aperture_field(
    segments: NDArray[np.float64], chosen: int, part: float, outer: float, is_end: bool, k: complex
) -> NDArray[np.float64]:
    """(2 n,) integrals of the field of 1 V with the linear functions of both ends of each of n segments (n, 8).

    The TEM field of a coaxial aperture of the radii a, of the wire, and b is a magnetic current, whose field on the
    axis of a thin wire, at the distance s << 1 / k from the plane of the aperture, is for a voltage U

        E = U / (2 ln(b / a)) (1 / sqrt(s^2 + a^2) - 1 / sqrt(s^2 + b^2)),        int E ds = U,

    over both sides (L. L. Tsai, IEEE Trans. Antennas Propag. 20, 1972). On metal (`is_end`) the image
    doubles it: its integral over the one side is U. The aperture is at `part` of the length of the segment `chosen`;
    the field counts on segments that lie on the same line, and is scaled so that they hold all of U: by up to 5 % where
    the wire ends or bends. ValueError unless b is above a, and where less than 95 % of U would lie on the wire.

    k: the wavenumber. With exp(ikR) / R instead of 1 / R, R^2 = s^2 + a^2 and s^2 + b^2, the integral is

        int E ds = i pi (H_0(k a) - H_0(k b)) U / (2 ln(b / a)),        H_0 of the first kind,

    and an AccuracyWarning tells by how much it differs from U beyond 2 %.
    """
    begin, along, length = segments[:, :3], segments[:, 3:6], segments[:, 6]
    inner = float(segments[chosen, 7])
    if not outer > inner:
        raise ValueError(f"outer_radius={outer:g} m: the aperture is wider than the wire, whose radius is {inner:g} m")
    axis, at = along[chosen], begin[chosen] + part * length[chosen] * along[chosen]
    sign = along @ axis
    first = (begin - at) @ axis
    off = np.linalg.norm(begin - at - first[:, None] * axis, axis=1)
    used = (np.abs(np.abs(sign) - 1) < 1e-6) & (off < 1e-3 * length[chosen])
    sign = np.sign(sign)
    low, high = np.sort(np.stack([first, first + sign * length]), axis=0).clip(-REACH * outer, REACH * outer)
    total, moment = (of(high) - of(low) for of in (
        lambda s: np.arcsinh(s / inner) - np.arcsinh(s / outer), lambda s: np.hypot(s, inner) - np.hypot(s, outer)
    ))  # fmt: skip
    total, moment = (np.where(used, each, 0.0) / (2 * np.log(outer / inner)) for each in (total, moment))
    if (held := total.sum()) < LEAST * (0.5 if is_end else 1.0):
        raise ValueError(
            f"outer_radius={outer:g} m: {100 * held * (2 if is_end else 1):.0f} % of the voltage of this aperture lies "
            f"on the wire, which is straight for some {REACH:g} outer radii next to it: take a smaller one"
        )
    late = 1j * np.pi * -np.diff(scipy.special.hankel1(0, k * np.array([inner, outer])))[0]
    if (error := abs(late / (2 * np.log(outer / inner)) - 1)) > RETARDED:
        warn_of_accuracy(
            f"outer_radius={outer:g} m: with k b = {abs(k) * outer:.2g}, the voltage of the static field of this "
            f"aperture is wrong by {100 * error:.2g} %: take a narrower line, or a lower frequency"
        )
    # of the linear functions of both ends, with the current along the segment
    ends = sign * (moment - first * total) / length
    return np.column_stack([total * sign - ends * sign, ends * sign]).ravel() / held
