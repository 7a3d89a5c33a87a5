"""Resonances of rooms and of cavities in conductors, by contour integrals."""

from typing import Any, Unpack

import numpy as np

from calderon.formulations.acoustic.acoustic_problem import AcousticProblem
from calderon.formulations.acoustic.room_modes import SilentRoom
from calderon.formulations.checks import elements_per_wavelength, warn_coarse
from calderon.formulations.electromagnetic.cavity_modes import EmptyCavity
from calderon.formulations.electromagnetic.pec import PECScattering
from calderon.formulations.options import SolveChoices, SolveOptions, checked_choices, largest_dense, named_options
from calderon.formulations.source_free import SourceFree
from calderon.operators.methods import AUTO
from calderon.solvers.contour import Ellipse
from calderon.validation import describe, positive_length

FLAT, TALL = 0.2, 0.5
"""Half height over half width of contours: around real eigenvalues, and around those of rooms that absorb."""
FEWEST = 2.0
"""Elements per wavelength below which a mesh has no such mode."""


@named_options
def resonances(
    problem: Any, low: float, high: float, *, height: float | None = None, **options: Unpack[SolveChoices]
) -> list[Any]:
    """The modes of a room, a cavity or a structure in a fluid with frequencies from low to high in Hz, by real part;
    those of a multiple one follow each other.

    problem: an `AcousticProblem` with side="interior", whose walls may absorb, which makes frequencies complex; its
    wavenumber does not matter, velocities and pressures count as 0. Or a `PECScattering` with a closed surface, for the
    vacuum inside. Or an `ElasticScattering`: resonances of the structure in its fluid, which radiate, without those
    that do not move it; modes in vacuo are `problem.modes(number)`. With mirrors the modes are those that are as even
    or odd. height: half the height over half the width of the ellipse in the plane of complex wavenumbers in which they
    are sought, by default 0.2, and 0.5 where walls absorb. Options as in `solve`; "auto" is "dense" for as many
    unknowns as there, above "hmatrix", and other methods are refused.

    Resonances of the outside, which the equations have as well, are left out. TypeError for other problems, ValueError
    for the outside, an open surface, bands that reach 0 Hz, meshes without two elements per wavelength, and tables of
    impedances; AccuracyWarning below six, and where a mode does not solve its equation to 1e-4.

        room = cal.AcousticProblem(box, frequency=100.0, fluid=cal.Fluid.air(), side="interior")
        [mode.frequency.real for mode in cal.resonances(room, 100.0, 300.0)]
    """
    inside: SourceFree[Any]
    if isinstance(problem, AcousticProblem):
        inside = SilentRoom(problem)
    elif isinstance(problem, PECScattering):
        inside = EmptyCavity(problem)
    elif callable(getattr(problem, "source_free", None)):  # problems of packages above this one
        inside = problem.source_free()
    else:
        raise TypeError(
            f"resonances are those of an AcousticProblem, a PECScattering or an ElasticScattering, got "
            f"{describe(problem)}"
        )
    contour = _contour(inside, positive_length(low, "low"), positive_length(high, "high"), height)
    given = checked_choices(options)
    method = given.pop("method", AUTO)
    if method == AUTO:
        method = "dense" if inside.unknowns <= largest_dense() else "hmatrix"
    if method not in ("dense", "hmatrix"):
        raise ValueError(f"method={method!r} has no growing waves, which a contour needs: take 'dense' or 'hmatrix'")
    usual = {"rtol": 1e-8, "solver": "lu" if method == "dense" else "gmres"}
    inside.options = SolveOptions(**{**usual, **given, "method": method})
    return inside.modes(contour)


def _contour(inside: SourceFree[Any], low: float, high: float, height: float | None) -> Ellipse:
    """The contour in the plane of wavenumbers around frequencies from low to high in Hz; ValueError for one that holds
    no modes."""
    if not low < high:
        raise ValueError(f"resonances lie between a lower and a higher frequency in Hz, got {low:g} to {high:g}")
    tall = (TALL if inside.absorbs else FLAT) if height is None else positive_length(height, "height")
    if not 0.01 <= tall <= 2:
        raise ValueError(f"height is that of an ellipse over its width, from 0.01 to 2, got {height!r}")
    wavenumber = 2 * np.pi / inside.speed
    contour = Ellipse(low * wavenumber, high * wavenumber, tall)
    if contour.centre <= contour.half_width:
        raise ValueError(
            f"the ellipse about {low:g} to {high:g} Hz reaches 0 Hz: divide the band, such as from {low:g} to "
            f"{10 * low:g} Hz first"
        )
    if elements_per_wavelength(inside.mesh, contour.high / inside.degree) < FEWEST:
        raise ValueError(f"the mesh has less than {FEWEST:g} elements per wavelength at {high:g} Hz: refine it")
    warn_coarse(inside.mesh, contour.high / inside.degree)
    return contour
