"""Two solutions of a room with two ports, from which its four-pole follows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.acoustic.conditions.wall_conditions import Impedance, Velocity
from calderon.formulations.acoustic.conditions.walls import numbers_of
from calderon.formulations.acoustic.decomposed import silent
from calderon.formulations.acoustic.ducts.four_pole import FourPole
from calderon.mesh.errors import warn_of_accuracy
from calderon.spaces import Function
from calderon.spaces.space import supported_triangles

PLANE = 0.1
"""Deviation of the pressure from its mean over a port, relative to that, up to which a wave is plane: powers are wrong
by its square."""


def four_pole_of(problem: Any, inlet: Any, outlet: Any, options: Any) -> FourPole:
    """The four-pole of a room, an `AcousticProblem`, between two tags, its walls silent.

    At both ports a wall of rho c moves, at one after the other: the room has no resonances then, however few walls
    absorb. With v its velocity, v - p / (rho c) is that of the fluid.
    """
    if problem.side != "interior" or not problem.surface.is_even or problem.surface.half_space:
        raise ValueError(
            "a four-pole is one of the inside of a duct, side='interior', and of even sound where it has mirrors"
        )
    mesh = problem.surface.part
    ports = [tuple(numbers_of(mesh, each, "ports")) for each in (inlet, outlet)]
    if common := set(ports[0]) & set(ports[1]):
        raise ValueError(f"a four-pole is between two parts of the surface, and both have the tags {sorted(common)}")
    walls = _other_walls(mesh, problem.conditions, {*ports[0], *ports[1]})
    load, found = Impedance.relative(1.0), list[NDArray[np.complex128]]()
    matrix, areas = None, [0.0, 0.0]
    for driven in (0, 1):
        moving = {port: [Velocity(float(n == driven)), load] for n, port in enumerate(ports)}
        loaded: Any = replace(problem, conditions={**walls, **moving}, frequency=None)
        if matrix is not None:  # one matrix: what is known alone differs
            loaded.__dict__["system"] = matrix
        matrix = loaded.system
        solution, values = loaded.solve(**options), []
        for n, port in enumerate(ports):
            mean, areas[n] = _mean_pressure(solution.surface, port, (inlet, outlet)[n])
            flow = areas[n] * (float(n == driven) - mean / problem.fluid.impedance)
            values.append([mean, flow if n == 0 else -flow])
        found.append(np.array(values))
    one, two = (np.stack([each[n] for each in found], axis=1) for n in (0, 1))
    return FourPole(one @ np.linalg.inv(two), problem.frequency, (areas[0], areas[1]), problem.fluid)


def _other_walls(mesh: Any, conditions: Any, ports: set[int]) -> dict[tuple[int, ...], Any]:
    """The conditions of walls that are no ports, without their velocities, by their tags."""
    tags = tuple(map(int, np.unique(mesh.tags)))
    given = conditions if isinstance(conditions, Mapping) else {tags: conditions}
    found = {}
    for key, several in given.items():
        numbers = tuple(each for each in numbers_of(mesh, key, "conditions") if each not in ports)
        if numbers:
            found[numbers] = silent(several)
    return found


def _mean_pressure(pressure: Function, tags: tuple[int, ...], name: Any) -> tuple[complex, float]:
    """The mean pressure over a port in Pa and its area in m^2; AccuracyWarning where the pressure is not even."""
    space: Any = pressure.space
    own = np.isin(space.triangles, supported_triangles(space.mesh, tags))
    port = replace(space, triangles=space.triangles[own], dofs=space.dofs[own])
    weights, mass, values = port.load_vector(1.0), port.mass_matrix(), pressure.coefficients
    area = float(weights.sum())
    mean = complex(weights @ values) / area
    square = float((values.conj() @ (mass @ values)).real) / area
    deviation = np.sqrt(max(square - abs(mean) ** 2, 0.0) / abs(mean) ** 2)
    if deviation > PLANE:
        warn_of_accuracy(
            f"the pressure at the port {name!r} differs from its mean by {100 * deviation:.2g} %, and a four-pole is "
            "for plane waves: make the pipe there longer, or lower the frequency"
        )
    return mean, area
