"""Components of the fields E and H of currents in a stack: even functions of the distance rho.

With the vector potential A = int G J and phi = int K div J, E = i k0 (A + grad phi / k0^2), H = curl A / mu for
eta0 = 1. For the offset d of the observer from a horizontal current J and its charge c = div J

  A_t = xx J,  A_z = zx d . J,  grad phi = (slope d + rise e_z) c,
  grad A_z = zx J + zx_slope d (d . J),  d/dz A_t = xx_rise J,  curl_z A_t = xx_slope (d_x J_y - d_y J_x),

and for a vertical one A_t = xz d J, A_z = zz J, H = turn (e_z x d) J. By the equations of the lines
  d/dz G_xx = -mu I_i^h,  d/dz K = k0^2 G_zx / k_rho - I_i^e / eps,  turn / rho: i k_rho I_v^e / (k0 eps').
"""

from calderon.backends.numba import jitable_part
from calderon.layers.bessel import bessel
from calderon.layers.lines import components_of, line_functions

HORIZONTAL = ("xx", "xx_slope", "xx_rise", "slope", "rise", "zx", "zx_slope")
VERTICAL = ("xz", "zz", "turn")
FIELDS = len(HORIZONTAL) + len(VERTICAL)


@jitable_part
def add_field_components(total, k, weight, rho, place):
    """Add the integrands at one point k_rho to the sums `total` (FIELDS or more,), in the order of HORIZONTAL and
    VERTICAL.

    k: k_rho; weight: of the point, times dk_rho; rho: distance in m; place: (`Sections.data`, z, layer, source_z,
    source_layer).
    """
    sections, z, layer, source_z, source_layer = place
    line = line_functions(k, sections, z, layer, source_z, source_layer)
    xx, K, zx, xz, zz = components_of(line, k, sections, layer, source_layer)
    k0, eps, mu = sections[0], sections[1], sections[2]
    j0, j1 = bessel(k * rho)
    even, odd = j0 * k * weight, j1 * k * k * weight / rho
    total[0] += xx * even
    total[1] -= xx * odd
    total[2] -= mu[layer] * line[5] * even
    total[3] -= K * odd
    total[4] += (k0 * k0 * zx - line[1] / eps[layer]) * even
    total[5] += zx * odd
    total[6] -= zx * k * k * k * (2.0 * j1 / (k * rho) - j0) / (rho * rho) * weight
    total[7] += xz * odd
    total[8] += zz * even
    total[9] += 1j / (k0 * eps[source_layer]) * line[3] * odd
