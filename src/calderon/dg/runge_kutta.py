"""A low-storage Runge-Kutta method of fourth order with five stages.

Stage i: r = A_i r + dt f(t + C_i dt, q), then q = q + B_i r. Source: M. Carpenter and C. Kennedy, NASA TM
109112 (1994).
"""

A = (
    0.0,
    -567301805773 / 1357537059087,
    -2404267990393 / 2016746695238,
    -3550918686646 / 2091501179385,
    -1275806237668 / 842570457699,
)
B = (
    1432997174477 / 9575080441755,
    5161836677717 / 13612068292357,
    1720146321549 / 2090206949498,
    3134564353537 / 4481467310338,
    2277821191437 / 14882151754819,
)
C = (
    0.0,
    1432997174477 / 9575080441755,
    2526269341429 / 6820363962896,
    2006345519317 / 3224310063776,
    2802321613138 / 2924317926251,
)
STAGES = tuple(zip(A, B, C, strict=True))


def amplification(z: complex) -> complex:
    """Growth of q in one step of q' = lambda q, z = lambda dt: stable where its modulus is at most 1."""
    q, r = 1.0 + 0j, 0j
    for a, b, _ in STAGES:
        r = a * r + z * q
        q += b * r
    return q
