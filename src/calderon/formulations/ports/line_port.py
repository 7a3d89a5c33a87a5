"""Ports at microstrip lines: the waves of the current along them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.mesh import MeshError
from calderon.spaces import EdgeSpace
from calderon.validation import positive_length, real_numbers

CLOSENESS = 1e-6
"""Part of the width by which vertices may lie off a line across."""
SETTLED = 2.0
"""Widths from the gap from where on there are only the two waves."""
FEWEST = 5
"""Lines across, of which the currents are fitted."""
TRIALS = 200
"""Propagation constants that are tried."""
Complex = NDArray[np.complex128]


class LineWaves(NamedTuple):
    """Current waves (excitations,) in A toward and from the circuit at the reference plane, and beta in 1/m."""

    toward: Complex
    back: Complex
    beta: float


@dataclass(frozen=True, eq=False)
class LinePort:
    """A straight microstrip line that is fed by a gap next to its open end, and ends at a circuit.

    end: (x, y) in m of the middle of the open end. toward: (x, y), a vector along the line to the circuit. width: of
    the line in m. length: from the open end to the reference plane in m, which should be a width or two before the
    circuit. name: for reports.

    The mesh needs lines of edges across, as `planar.line_fed_patch` has them. The current through them is fitted by
    A exp(i beta s) - B exp(-i beta s), s from the reference plane, with one beta for all excitations: S = B / A,
    relative to the line's own impedance (`PlanarProblem.line_parameters`), and (beta / k0)^2 is the effective
    permittivity. Next to ports of other kinds, or widths, S is that of the power of the waves.
    """

    end: ArrayLike
    toward: ArrayLike
    width: float
    length: float
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("end", "toward"):
            value = real_numbers(getattr(self, name), (2,), f"{name} of a line port", "(x, y)")
            if name == "toward" and not value.any():
                raise ValueError(f"{name} of a line port is (x, y), got {getattr(self, name)!r}")
        positive_length(self.width, "the width of a line in m")
        if positive_length(self.length, "the length of a line to its reference plane in m") < 4 * self.width:
            raise ValueError(
                f"waves settle along two widths from the gap: a line of {1e3 * self.width:g} mm needs a length of "
                f"{4e3 * self.width:g} mm to the reference plane at least, got {1e3 * self.length:g} mm"
            )

    def crossings(self, space: EdgeSpace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Distances (n,) in m from the open end of the lines of edges across, and the weights (n, dimension) of the
        coefficients in the currents through them toward the circuit; MeshError where the mesh has too few."""
        along = np.asarray(self.toward, dtype=float) / np.linalg.norm(np.asarray(self.toward, dtype=float))
        offset = space.mesh.vertices[space.mesh.edges[space.edges]][..., :2] - np.asarray(self.end, dtype=float)
        s, t = offset @ along, offset @ np.array([-along[1], along[0]])
        close = CLOSENESS * self.width
        inside = (np.abs(s[:, 0] - s[:, 1]) < close) & (np.abs(t).max(axis=1) < self.width / 2 + close)
        inside &= (s[:, 0] > close) & (s[:, 0] < self.length + close) & (space.pairs[:, 1] >= 0)
        chosen = np.flatnonzero(inside)
        _, which = np.unique(np.round(s[chosen, 0] / (10 * close)), return_inverse=True)
        lengths = space.mesh.edge_lengths[space.edges[chosen]]
        whole = np.bincount(which, lengths) > self.width * (1 - 1e-4) if len(chosen) else np.zeros(0, bool)
        plus, minus = space.pairs[chosen].T
        sign = np.sign((space.mesh.centroids[minus] - space.mesh.centroids[plus])[:, :2] @ along)
        weights = np.zeros((len(whole), space.dimension))
        weights[which, chosen] = sign * lengths
        places = np.bincount(which, s[chosen, 0]) / np.maximum(np.bincount(which), 1) if len(chosen) else np.zeros(0)
        places, weights = places[whole], weights[whole]
        if np.count_nonzero(places > places.min(initial=0.0) + SETTLED * self.width) < FEWEST:
            raise MeshError(
                f"a line port at ({1e3 * np.asarray(self.end)[0]:g}, {1e3 * np.asarray(self.end)[1]:g}) mm found "
                f"{len(places)} lines of edges across its width of {1e3 * self.width:g} mm: the mesh needs some between"
                " its open end and the reference plane, or end, toward and width are wrong"
            )
        return places, weights

    def weights(self, space: EdgeSpace) -> NDArray[np.float64]:
        """(dimension,) of the gap: the first line of edges half a width from the open end."""
        places, weights = self.crossings(space)
        return np.asarray(weights[np.abs(places - 0.5 * self.width).argmin()])

    def height(self, space: EdgeSpace) -> float:
        """z in m of the line."""
        edges = space.mesh.edges[space.edges[np.flatnonzero(self.weights(space))]]
        return float(space.mesh.vertices[edges, 2].mean())

    def waves(self, space: EdgeSpace, coefficients: Complex, limits: tuple[float, float]) -> LineWaves:
        """Waves of coefficients (dimension, excitations); limits: between which beta lies, in 1/m."""
        places, weights = self.crossings(space)
        gap = places[np.abs(places - 0.5 * self.width).argmin()]
        settled = places > gap + SETTLED * self.width
        s, currents = places[settled] - self.length, weights[settled] @ coefficients
        scaled = currents / np.linalg.norm(currents, axis=0)

        def residual(beta: float) -> float:
            basis = np.exp(1j * beta * np.outer(s, [1, -1]))
            return float(np.linalg.norm(scaled - basis @ np.linalg.lstsq(basis, scaled, rcond=None)[0]))

        trials = np.linspace(*limits, TRIALS)
        best = int(np.argmin([residual(each) for each in trials]))
        found = scipy.optimize.minimize_scalar(
            residual, bounds=(trials[max(best - 1, 0)], trials[min(best + 1, TRIALS - 1)])
        )
        basis = np.exp(1j * found.x * np.outer(s, [1, -1]))
        toward, back = np.linalg.lstsq(basis, currents, rcond=None)[0]
        return LineWaves(toward, -back, float(found.x))
