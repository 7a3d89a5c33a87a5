"""Sound of any sources on a body that is symmetric about planes, as a sum of sounds that are even or odd in them.

With p planes a wave is the sum of 2^p waves, one for each choice of even or odd, u_s = 2^-p sum_k s_k u(R_k x). The
body answers each with sound of the same kind: 2^p problems on the part instead of one on the whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.acoustic.conditions.wall_conditions import SoundPressure, Velocity
from calderon.formulations.acoustic.conditions.walls import Conditions
from calderon.formulations.acoustic.results.acoustic_solution import AcousticSolution
from calderon.formulations.acoustic.sound_equation import SoundEquation
from calderon.formulations.mirrors import Mirrors
from calderon.waves import Wave

ROUNDING = 1e-12
"""Part of a wave below which it is taken for rounding: that of a phase of some hundred wavelengths."""


def parities_of(mirrors: Mirrors) -> list[dict[str, str]]:
    """All choices of even and odd in the planes of mirrors, those given first; ValueError without planes of
    symmetry."""
    if not mirrors or not isinstance(mirrors, Mapping):
        raise ValueError('decompose=True splits sources by planes of symmetry: give mirrors={"z": "even"}')
    choices = [dict(zip(mirrors, each, strict=True)) for each in product(("even", "odd"), repeat=len(mirrors))]
    return sorted(choices, key=lambda each: each != dict(mirrors))


def part_of_wave(wave: Wave, parities: Mapping[str, str], points: NDArray[np.float64]) -> Wave | None:
    """The part of a wave that is even or odd in planes; None where it is no more than rounding at points (n, 3) on the
    whole surface."""
    part = wave
    for plane, parity in parities.items():
        part = 0.5 * part + (0.5 if parity == "even" else -0.5) * part.mirrored(plane)
    return part if np.abs(part(points)).max() > ROUNDING * np.abs(wave(points)).max() else None


def silent(conditions: Conditions) -> Conditions:
    """The conditions of walls that do not move, and have the pressure 0 where it is given."""
    if isinstance(conditions, Mapping):
        return {key: silent(each) for key, each in conditions.items()}
    if isinstance(conditions, list | tuple):
        return [each for each in map(silent, conditions) if each is not None]  # type: ignore[misc]
    if isinstance(conditions, Velocity):
        return None
    return SoundPressure(0.0) if isinstance(conditions, SoundPressure) else conditions


def solved_by_parity(
    problems: Sequence[Any], waves: Sequence[Wave | None], points: NDArray[np.float64], **options: Any
) -> list[AcousticSolution]:
    """The solutions for waves, or for the walls alone where None is given, as sums of even and odd sounds.

    problems: by all choices of even and odd, the first with the walls that move. points (n, 3): on the whole surface.
    options: of `Problem.solve_all`. Parts in which nothing sounds are not solved.
    """
    found: list[list[AcousticSolution]] = [[] for _ in waves]
    for problem in problems:
        parts = [None if wave is None else part_of_wave(wave, problem.mirrors, points) for wave in waves]
        moves = problem.equation.known() is not None
        sounding = [number for number, part in enumerate(parts) if moves or part is not None]
        if sounding:
            solutions = problem.solve_all([parts[number] for number in sounding], **options)
            for number, solution in zip(sounding, solutions, strict=True):
                found[number].append(solution)
    for number, wave in enumerate(waves):  # silence, or nothing that sounds, which is refused
        found[number] = found[number] or [problems[0].solve(wave, **options)]
    return [_summed(problems[0].equation, each, wave) for each, wave in zip(found, waves, strict=True)]


def _summed(equation: SoundEquation, solutions: list[AcousticSolution], sources: Wave | None) -> AcousticSolution:
    """The sum of solutions on one whole surface, the first of which has the walls that move, with the record of the one
    with the largest residual. equation: of one of them. sources: all of them, None without any."""

    def total(name: str) -> Any:
        parts = [each for each in (getattr(one, name) for one in solutions) if each is not None]
        return replace(parts[0], coefficients=np.sum([each.coefficients for each in parts], axis=0)) if parts else None

    fields = {name: total(name) for name in ("surface", "moving", "yielding", "released")}
    layers = equation.layers(fields["surface"], fields["moving"], fields["yielding"], fields["released"])
    worst = max(solutions, key=lambda one: one.info.residual).info
    return replace(solutions[0], **fields, layers=layers, sources=sources, info=worst)
