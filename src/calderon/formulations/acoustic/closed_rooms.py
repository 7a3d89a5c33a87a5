"""Closed rooms much smaller than the wavelength, whose pressure is nearly constant.

(I/2 + K) 1 is 0 for Laplace's K and -k^2 int G dV for that of sound, of the size of (k V / S)^2. A quadrature of K to
1e-6 is then an error of 1 % for a box of 0.2 m at 5 Hz, and of 100 % at 1 Hz. The same quadrature of Laplace's K tells
that error, which is taken off.
"""

from typing import Any

import numpy as np

from calderon.formulations.acoustic.results.acoustic_solution import AcousticSolution
from calderon.formulations.linear_system import ThinTerm
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.mesh.containment import nested_components
from calderon.mesh.errors import warn_of_accuracy
from calderon.operators import double_layer, identity
from calderon.spaces import Function, Space
from calderon.spaces.mirror_images import MirroredFunctions

SINGULAR = 1e8
"""Condition number above which half of the digits of double precision are lost: a room at a resonance."""
HELD = 30.0
"""Condition number by "osrc", or slope of the pressure over k times the pressure, from which a room with given
pressures is taken to be near a resonance: 3 and 1 elsewhere, 27 at 2 % from a resonance of a box, where the field is
wrong by 20 % with 7 elements per wavelength."""
ACCEPTED = 1e-2
"""Relative error of a nearly constant pressure above which a warning is given."""


def error_of_constants(functions: MirroredFunctions) -> ThinTerm:
    """-e m^T, with the error e of (I/2 + K) 1 = 0 by the rules of quadrature, tested with functions on a closed
    surface, and m p the mean of a pressure p; of each room, if there are several next to each other."""
    space: Space = functions.space
    mesh, members = space.mesh, np.ones((space.dimension, 1))
    if mesh.number_of_components > 1 and not len(nested_components(mesh.vertices, mesh.triangles, mesh.components)):
        members = np.zeros((space.dimension, mesh.number_of_components))
        members[space.dofs.ravel(), np.repeat(mesh.components, space.dofs.shape[1])] = 1
    operator = 0.5 * identity(space, functions.part) + double_layer(Laplace(), space, functions.part)
    weights = space.load_vector(1.0)[:, None] * members
    error = -(operator.assemble("matrix-free") @ members)
    return ThinTerm("what the rules make of constants", error, functions.summed(weights / weights.sum(axis=0)))


def warn_of_small_room(mesh: TriangleMesh, wavenumber: complex, error: float) -> None:
    """AccuracyWarning where an error of entries is not small compared with (I/2 + K) 1, which is 3 (k V / S)^2 in a
    ball."""
    strength = 3 * (abs(wavenumber) * abs(mesh.volume) / mesh.area) ** 2
    if error > ACCEPTED * strength:
        warn_of_accuracy(
            f"in a closed room much smaller than the wavelength a nearly constant pressure is uncertain by "
            f"{min(error / strength, 1.0):.1g}, since entries are accurate to {error:.0e}: take method='dense' in "
            "double precision, or a smaller compression_rtol"
        )


def warn_of_resonance(solution: AcousticSolution, held: bool, preconditioned: float | None) -> None:
    """AccuracyWarning where the equation of a room is nearly singular, with the mode that it has.

    held: whether the pressure is given on all walls; the equation is of the first kind then, and nothing absorbs.
    preconditioned: the condition number with "osrc", some 3 away from resonances, where the pressure is given there.
    """
    condition, hertz = solution.info.condition, f"{solution.frequency:.6g} Hz"
    if condition is not None and condition > SINGULAR:
        found = solution.surface if solution.released is None else solution.released
        warn_of_accuracy(
            f"the equation of this room has the condition number {condition:.1e}: {hertz} is at the resonance of "
            f"{_mode(found)}, and the sound is as uncertain as its distance from it; let a wall absorb (Impedance), "
            "give the fluid a loss, or take another frequency"
        )
    elif held and solution.released is not None:
        raised = max(_raised_slope(solution), preconditioned or 0.0)
        if raised > HELD:
            warn_of_accuracy(
                f"the pressure is given on all walls, and {hertz} is near a resonance of a room with p = 0 there, at "
                "which there is no sound of these pressures, or no single one: errors of the mesh count "
                f"{raised:.2g} times; give a velocity or an impedance on a wall, or take another frequency"
            )


def _raised_slope(solution: AcousticSolution) -> float:
    """The slope of the pressure on walls where it is given over the pressure there with that of the sources, and over
    k, or area over volume where that is more."""
    mesh, space = solution.mesh, solution.surface.space
    given, slopes = solution.surface.coefficients, solution.released.coefficients  # type: ignore[union-attr]
    if solution.sources is not None:
        given = given - solution.sources(np.asarray(space.nodes))
    usual = max(abs(solution.wavenumber), mesh.area / abs(mesh.volume))
    return float(np.linalg.norm(slopes) / np.linalg.norm(given) / usual)


def _mode(found: Function) -> str:
    """The name of a mode, from its function on the walls."""
    space: Any = found.space
    values, weights = found.coefficients, space.load_vector(1.0)
    mean, square = weights @ values / weights.sum(), weights @ np.abs(values) ** 2 / weights.sum()
    if abs(mean) ** 2 > 0.99 * square:
        return "the constant pressure of a closed room, 0 Hz"
    return f"a mode that is largest at {space.nodes[np.abs(values).argmax()].round(4).tolist()} on the walls"
