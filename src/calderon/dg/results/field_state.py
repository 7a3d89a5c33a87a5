"""E and H of a simulation at the present time: set, read at points, measured."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.dg.domain import Domain
from calderon.dg.stepping.system import System
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedral.location import as_points
from calderon.quadrature import tetrahedron_rule

Field = Callable[[NDArray[np.float64], float], ArrayLike]


class FieldState:
    """The fields that a system holds, in the user's units; every rank makes the same calls."""

    def __init__(self, system: System, domain: Domain, mesh: TetrahedralMesh) -> None:
        self._system, self._domain, self._mesh = system, domain, mesh
        self._scales = {"electric": 1.0, "magnetic": domain.medium.impedance}

    def set(self, electric: Field, magnetic: Field, time: float) -> None:
        """From functions f(points (n, 3), t) -> (n, 3). ValueError for another shape, NaN or infinity."""
        points = self._domain.element_blocks.points()
        for name, function in (("electric", electric), ("magnetic", magnetic)):
            values = _values(name, function, points.reshape(-1, 3), time)
            if not np.isfinite(values).all():
                raise ValueError(f"the {name} field gave NaN or infinity")
            scaled = self._scales[name] * values.reshape(points.shape)
            getattr(self._system, name)[:] = self._domain.element_blocks.covariant(scaled).ravel()

    def at(self, points: ArrayLike, name: str) -> NDArray[np.float64]:
        """(n, 3) the electric or magnetic field at points (n, 3) of the mesh. ValueError for points outside."""
        x = as_points(points)
        return np.asarray(self._domain.values_at(self._mesh, self._vectors(name), x) / self._scales[name], np.float64)

    def energy(self) -> float:
        """Integral of (epsilon E^2 + mu H^2) / 2; in J with materials."""
        return sum(self._system.energy()) / (self._domain.medium.impedance * self._domain.medium.speed)

    def l2_error(self, electric: Field, magnetic: Field, time: float) -> float:
        """sqrt of the integral of |E - E_exact|^2 + |Z0 (H - H_exact)|^2, by a quadrature of degree 2 order + 2."""
        element_blocks = self._domain.element_blocks
        rule = tetrahedron_rule(2 * element_blocks.reference.order + 2)
        points = element_blocks.at(rule.points)
        interpolation = element_blocks.reference.interpolation(rule.points)
        total = 0.0
        for name, function in (("electric", electric), ("magnetic", magnetic)):
            values = _values(name, function, points.reshape(-1, 3), time)
            exact = self._scales[name] * values.reshape(points.shape)
            got = interpolation @ self._vectors(name)
            squares = ((got - exact) ** 2).sum(axis=2) @ rule.weights
            total += float(squares @ np.abs(element_blocks.determinants))
        return math.sqrt(self._domain.communicator.total(np.float64(total)))

    def _vectors(self, name: str) -> NDArray[np.float64]:
        """(elements, n, 3) E or Z0 H at the nodes."""
        return self._domain.element_blocks.vectors(
            getattr(self._system, name).reshape(self._domain.element_blocks.shape)
        )


def _values(name: str, function: Field, points: NDArray[np.float64], time: float) -> NDArray[np.float64]:
    if not callable(function):
        raise ValueError(f"{name}={function!r}: a function f(points (n, 3), t) -> (n, 3) is needed")
    values = np.asarray(function(points, time))
    if values.dtype.kind not in "fiub":
        raise ValueError(f"the {name} field gave {values.dtype} values: real numbers are needed")
    values = values.astype(np.float64)
    if values.shape != points.shape:
        raise ValueError(f"the {name} field gave shape {values.shape}: {points.shape} is needed")
    return values
