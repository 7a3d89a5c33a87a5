"""Fields of dipoles from the five components: Maxwell's equations within a layer, continuity across interfaces."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev

import calderon as cal
from calderon.layers import spatial_greens

SECTIONS = cal.Stack([cal.Layer(4e-3, 2.2 + 0.02j), cal.Layer(3e-3, 5.0, mu_r=1.5)], below="pec").at(12e9)
SOURCE = 1.7e-3
NODES = 13
RHO, HEIGHTS = (6e-3, 10e-3), {0: (2.5e-3, 4e-3), 1: (4e-3, 6e-3), 2: (7e-3, 9e-3)}


def nodes_and_derivative(low, high, count=NODES):
    """Points from low to high, both included, and the matrix of derivatives of polynomials through them."""
    t = np.cos(np.pi * np.arange(count) / (count - 1))[::-1]
    values = chebyshev.chebvander(t, count - 1)
    slopes = np.stack([chebyshev.chebval(t, chebyshev.chebder(each)) for each in np.eye(count)], axis=1)
    return low + (high - low) * (1 + t) / 2, slopes @ np.linalg.inv(values) * 2 / (high - low)


def grid(rho, heights, layer, source):
    """The five components on a grid (rho, z)."""
    parts = [spatial_greens(SECTIONS, rho, z, source, layer, 0) for z in heights]
    return [np.stack(each, axis=1) for each in zip(*parts, strict=True)]


def fields(layer, vertical):
    """rho, both derivatives, and E_rho, E_phi, E_z (rho, z) over i k0: amplitudes of cos phi, -sin phi, cos phi of a
    dipole along x; of one along z E_phi is zero. E = G J + grad Phi / k0^2 with Phi = dK/drho or -dK/dz'."""
    (rho, across), (z, up) = nodes_and_derivative(*RHO), nodes_and_derivative(*HEIGHTS[layer])
    k2 = SECTIONS.k0**2
    xx, K, zx, xz, zz = grid(rho, z, layer, SOURCE)
    if not vertical:
        potential = across @ K
        azimuth = xx + potential / rho[:, None] / k2
        return rho, across, up, xx + across @ potential / k2, azimuth, zx + potential @ up.T / k2
    sources, along = nodes_and_derivative(SOURCE - 0.4e-3, SOURCE + 0.4e-3, 7)
    several = np.stack([grid(rho, z, layer, each)[1] for each in sources])
    potential = -np.tensordot(along[3], several, 1)  # the node in the middle
    return rho, across, up, xz + across @ potential / k2, 0 * xz, zz + potential @ up.T / k2


@pytest.mark.parametrize("vertical", [False, True])
@pytest.mark.parametrize("layer", [0, 1, 2])
def test_maxwell_equations(layer, vertical):
    """div E = 0, and E_z satisfies the Helmholtz equation of its azimuthal order."""
    rho, across, up, radial, azimuth, vertical_field = fields(layer, vertical)
    r, order, inside = rho[:, None], 0 if vertical else 1, slice(2, -2)
    divergence = across @ radial + (radial - azimuth) / r + vertical_field @ up.T
    terms = across @ across @ vertical_field, across @ vertical_field / r, vertical_field @ up.T @ up.T
    k = SECTIONS.wavenumbers[layer]
    helmholtz = sum(terms) + (k**2 - order**2 / r**2) * vertical_field
    size = np.abs(vertical_field).max() + np.abs(radial).max()
    assert np.abs(divergence[inside, inside]).max() < 1e-5 * abs(k) * size
    assert np.abs(helmholtz[inside, inside]).max() < 1e-5 * abs(k) ** 2 * size


@pytest.mark.parametrize("vertical", [False, True])
def test_fields_are_continuous(vertical):
    """E_rho, E_phi and eps E_z at the interface between two layers."""
    _, _, _, *below = fields(0, vertical)
    _, _, _, *above = fields(1, vertical)
    size = max(np.abs(each[:, -1]).max() for each in below)
    for one, two, factors in zip(below, above, ((1, 1), (1, 1), SECTIONS.eps[:2]), strict=True):
        assert np.abs(factors[0] * one[:, -1] - factors[1] * two[:, 0]).max() < 1e-5 * size
