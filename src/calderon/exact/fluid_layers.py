"""Scattering of sound by a sphere of fluid layers: partial waves from the inside out.

In a layer of wavenumber k and density rho (over that of the surroundings) the partial wave n is that of
`calderon.exact.layers`, with u and v = (1/rho) du/dr continuous. P. M. Morse and K. U. Ingard, Theoretical Acoustics
(1968), chapter 8.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.sphere import FluidShell, SphereScattering, sphere_scattering
from calderon.validation import finite_number, nonzero_wavenumber, one_of, positive_length

CORES = {"fluid": (0, 1), "rigid": (1, 0), "soft": (0, 1)}
"""Value and slope on the core, up to a factor; those of a fluid one follow from its layer."""


def layered_fluid_sphere(
    k: complex,
    radii: Sequence[float],
    wavenumbers: Sequence[complex],
    density_ratios: Sequence[complex],
    direction: ArrayLike | None = None,
    source: ArrayLike | None = None,
    core: str = "fluid",
) -> SphereScattering:
    """Sphere of concentric fluid layers, from the inside out: outer radii in m, increasing; wavenumbers (positive
    imaginary part for loss); densities over that of the surroundings (complex for lossy equivalent fluids).

    core: "fluid"; or "rigid" or "soft", then radii[0] is that of the core, and there is one wavenumber and one density
    less. Other arguments as for `soft_sphere`.
    """
    sizes, inside, densities = _checked(radii, wavenumbers, density_ratios, core)
    faces = sizes.tolist() if core != "fluid" else [0.0, *sizes.tolist()]
    fluids = [FluidShell(*each) for each in zip(faces[:-1], faces[1:], inside, densities, strict=True)]
    return sphere_scattering("layered", k, faces[-1], direction, source, CORES[core], fluids)


def _checked(radii: Any, wavenumbers: Any, density_ratios: Any, core: str) -> tuple[np.ndarray, list[Any], list[Any]]:
    """Radii, and the wavenumber and the density of each layer; ValueError for those that do not fit together."""
    one_of(core, CORES, "core")
    radii, wavenumbers, density_ratios = (
        np.atleast_1d(np.array(each, dtype=object)).tolist() for each in (radii, wavenumbers, density_ratios)
    )
    sizes = np.array([positive_length(each, "a radius") for each in radii])
    count = len(sizes) - (core != "fluid")
    if len(sizes) == 0 or np.any(np.diff(sizes) <= 0):
        raise ValueError(f"radii increase from the inside out, got {radii}")
    if not len(wavenumbers) == len(density_ratios) == count:
        raise ValueError(
            f"{len(sizes)} radii and a {core} core have {count} layers of fluid: got {len(wavenumbers)} wavenumbers "
            f"and {len(density_ratios)} density ratios"
        )
    inside = [nonzero_wavenumber(each, "wavenumbers") for each in wavenumbers]
    densities = [finite_number(each, "density_ratios") for each in density_ratios]
    for density in densities:
        if not np.real(density) > 0:
            raise ValueError(f"density ratios must be positive, got {density!r}")
    return sizes, inside, densities
