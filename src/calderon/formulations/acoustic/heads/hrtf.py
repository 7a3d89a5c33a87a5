"""Head-related transfer functions of a body by the sound of its ears."""

import os
from collections.abc import Iterable, Mapping
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from calderon.formulations.acoustic.acoustic_problem import AcousticProblem
from calderon.formulations.acoustic.heads.ears import SpeakingEars, ear_at
from calderon.formulations.acoustic.heads.head_transfer import HeadTransfer
from calderon.formulations.options import SolveChoices, named_options
from calderon.formulations.sweep import values_of
from calderon.formulations.swept_values import Measured
from calderon.validation import describe, instance, one_or_more_points, one_point, unit_vectors


@named_options
def hrtf(
    head: AcousticProblem,
    ears: Mapping[str, ArrayLike],
    frequencies: Iterable[float],
    points: ArrayLike | None = None,
    directions: ArrayLike | None = None,
    *,
    centre: ArrayLike = (0.0, 0.0, 0.0),
    interpolate: float | None = None,
    sweep_file: str | os.PathLike[str] | None = None,
    **options: Unpack[SolveChoices],
) -> HeadTransfer:
    """The transfer functions of a head: pressures at its ears over that of the free field at the centre, of point
    sources or of plane waves. Each ear speaks once at a frequency, to all places.

    head: the problem outside of it, rigid or with impedances; its wavenumber does not matter. ears: {"left": (3,),
    "right": (3,)} in m, points of the surface, of which the nearest ones are taken. frequencies: in Hz. points: (n, 3)
    of sources in m, or directions: (n, 3) toward far ones, of any length; one of the two. centre: of the head in m.
    interpolate, sweep_file: as in `AcousticProblem.sweep`: few solved frequencies with rational functions between, and
    a file from which an interrupted sweep goes on. Options as in `solve`.

    TypeError for what is no problem of sound, ValueError for one inside of a surface, with mirrors, or with walls that
    move or have a given pressure, for ears off the surface and for sources in the head.

        ears = {"left": [0, 0.07, 0], "right": [0, -0.07, 0]}
        head = cal.AcousticProblem(mesh, frequency=1e3, fluid=cal.Fluid.air())
        transfer = cal.hrtf(head, ears, 100.0 * np.arange(1, 101), points)
        transfer.levels, transfer.impulse_response(44100), transfer.write_sofa("head.sofa")
    """
    _require_head(head, ears)
    if (points is None) == (directions is None):
        raise ValueError("give points= (n, 3) of sources, or directions= (n, 3) toward far ones, one of the two")
    found = tuple(ear_at(head.mesh, name, place) for name, place in ears.items())
    middle = one_point(centre, "centre")
    if directions is not None:
        toward = unit_vectors(directions, "directions")
    else:
        toward = one_or_more_points(points, "points")  # type: ignore[arg-type]
        inside = np.flatnonzero(head.mesh.contains(toward))
        if len(inside) or not (np.linalg.norm(toward - middle, axis=1) > 0).all():
            first = f"{len(inside)} of {len(toward)} sources are in the head, the first is number {inside[:1].tolist()}"
            raise ValueError(f"{first}, or at its centre: place them outside")
    speaking = SpeakingEars(head, found, toward, directions is not None, middle)
    measured = Measured(None, lambda values: values, "transfer", "")
    speed = head.fluid.speed_of_sound
    swept = values_of(speaking, frequencies, None, speed, measured, interpolate, sweep_file, **options)
    return HeadTransfer(
        frequencies=swept.frequencies,
        values=swept.values,
        ears=tuple(each.name for each in found),
        ear_points=np.array([each.point for each in found]),
        sources=toward,
        far=directions is not None,
        centre=middle,
        speed_of_sound=speed,
        solves=swept.solves,
        error=swept.error,
    )


def _require_head(head: AcousticProblem, ears: Mapping[str, ArrayLike]) -> None:
    """Errors for what is no problem around a head that is silent, and for ears without names."""
    instance(head, AcousticProblem, "a transfer function is that of an AcousticProblem around the head")
    if head.side != "exterior" or head.mirrors is not None:
        raise ValueError("a head has its sound outside, and is whole: leave side='exterior' and mirrors=None")
    if any(each.velocity is not None or each.pressure is not None for each in head.walls):
        raise ValueError(
            "walls of a head that move, or have a given pressure, are no part of its transfer function: "
            "give Impedance conditions only, the ears are added"
        )
    if not isinstance(ears, Mapping) or not ears or not all(isinstance(name, str) for name in ears):
        raise TypeError(f'ears are points by name, {{"left": (3,), "right": (3,)}}, got {describe(ears)}')
