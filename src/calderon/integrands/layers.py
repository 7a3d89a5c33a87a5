"""What stands under the double integral, given G and h = G'/r at d = x - y (x on the test side, y on the trial side).

grad_x G = h d, so dG/dn_x = h d.n_x and dG/dn_y = -h d.n_y. All functions have one signature, so that a kernel takes
any of them; what an integrand does not use is not computed.
"""

from calderon.backends.vectors import jitable


@jitable
def value(g_re, g_im, h_re, h_im, d0, d1, d2, m0, m1, m2, n0, n1, n2):  # type: ignore[no-untyped-def]
    """G: single layer, and the two parts of the hypersingular operator after integration by parts."""
    return g_re, g_im


@jitable
def trial_normal_derivative(g_re, g_im, h_re, h_im, d0, d1, d2, m0, m1, m2, n0, n1, n2):  # type: ignore[no-untyped-def]
    """dG/dn_y, n the trial normal: double layer."""
    s = -(d0 * n0 + d1 * n1 + d2 * n2)
    return h_re * s, h_im * s


@jitable
def test_normal_derivative(g_re, g_im, h_re, h_im, d0, d1, d2, m0, m1, m2, n0, n1, n2):  # type: ignore[no-untyped-def]
    """dG/dn_x, m the test normal: adjoint double layer."""
    s = d0 * m0 + d1 * m1 + d2 * m2
    return h_re * s, h_im * s
