"""Ports at microstrip lines: the waves of the current along them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.floquet import voltages
from calderon.layers import Sections, Stack
from calderon.layers.sections import WALL
from calderon.mesh import MeshError
from calderon.quadrature import gauss
from calderon.spaces import EdgeSpace
from calderon.validation import instance, positive_length, real_number, real_numbers

Complex = NDArray[np.complex128]


class LineWave(NamedTuple):
    """beta in 1/m, with a positive imaginary part for losses, Z_c in ohm, and the effective permittivity."""

    beta: complex
    impedance: complex
    permittivity: complex

    def __str__(self) -> str:
        return f"Z_c = {self.impedance:.5g} ohm, effective permittivity {self.permittivity:.5g}"


def line_parameters(stack: Stack, width: float, frequency: float, z: float | None = None) -> LineWave:
    """The fundamental wave of a strip of a width in m at the height z in m (the top of the stack, unless given).

    frequency: in Hz. Z_c is that of power and current. Raises ValueError without a conductor below or above.
    """
    instance(stack, Stack, "the layers must be a Stack")
    sections, w = stack.at(frequency), positive_length(width, "the width of a line in m")
    height = stack.top if z is None else real_number(z, "z")
    if WALL not in sections.ends:
        raise ValueError("a line needs a conductor below or above, and this stack has none: give Stack(below='pec')")
    low, high = sections.k0, float(np.sqrt((sections.eps * sections.mu).real.max())) * sections.k0
    trials = np.linspace(1.02 * high, max(low * (1 - 1e-6), 0.2 * high), 60)  # a zero lies between two
    values = np.array([_impedance(sections, height, w, complex(each)) for each in trials])
    change = np.flatnonzero((values.imag[:-1] * values.imag[1:] < 0) & (np.abs(np.diff(values)) < np.abs(values).max()))
    if not len(change):
        raise ValueError(
            f"no wave of a strip of {1e3 * w:g} mm at z = {1e3 * height:g} mm was found at {frequency:g} Hz: check the "
            "height, the layers and the frequency"
        )
    a, b = complex(trials[change[0]]), complex(trials[change[0] + 1])
    one, two = complex(values[change[0]]), complex(values[change[0] + 1])
    for _ in range(30):
        if abs(b - a) < 1e-12 * abs(b) or two == one:
            break
        a, b, one = b, b - two * (b - a) / (two - one), two
        two = _impedance(sections, height, w, b)
    step = 1e-4 * abs(b)
    slope = (_impedance(sections, height, w, b + step) - _impedance(sections, height, w, b - step)) / (2 * step)
    impedance = VACUUM_IMPEDANCE * slope / 2j
    return LineWave(b, impedance if impedance.real > 0 else -impedance, (b / sections.k0) ** 2)


def _impedance(sections: Sections, z: float, w: float, beta: complex) -> complex:
    """z(beta) in 1/m for eta0 = 1."""
    functions, panels, farthest = 3, 300, 1000.0  # along, and across; of k_y w / 2, beyond whose end means stand
    rule = gauss(8)
    edges = farthest * np.linspace(0, 1, panels + 1) ** 1.5
    x = (edges[:-1, None] + np.diff(edges)[:, None] * rule.points).ravel()
    weights = (np.diff(edges)[:, None] * rule.weights).ravel() * 4 / w / (2 * np.pi)
    ky = 2 * x / w
    k = np.sqrt(beta**2 + ky**2)
    e, h = voltages(sections, k, z, z)
    bessel = np.array([(-1) ** n * scipy.special.jv(2 * n, x) for n in range(functions + 1)])
    along, across = bessel[:functions], 1j * bessel[1:] / x
    ss, st, tt = (e * beta**2 + h * ky**2) / k**2, (e - h) * beta * ky / k**2, (e * ky**2 + h * beta**2) / k**2
    first = (along * weights * ss) @ along.T
    # beyond, products of J_2n with their signs have the mean 1 / (pi x), and the voltages fall as 1 / x
    first += ss[-1] * 4 / w / (2 * np.pi) / np.pi * np.ones_like(first) * x[-1] / farthest
    mixed = (along * weights * st) @ across.T
    last = (across.conj() * weights * tt) @ across.T
    matrix = np.block([[first, mixed], [-mixed.T, last]])
    column = np.eye(len(matrix))[0]
    return complex(1 / np.linalg.solve(matrix, column)[0])


SETTLED = 2.0
"""Widths from the gap from where on there are only the two waves."""


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
        close = 1e-6 * self.width  # by which vertices may lie off a line across
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
        if np.count_nonzero(places > places.min(initial=0.0) + SETTLED * self.width) < 5:  # which the fit needs
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

        trials = np.linspace(*limits, 200)
        best = int(np.argmin([residual(each) for each in trials]))
        found = scipy.optimize.minimize_scalar(
            residual, bounds=(trials[max(best - 1, 0)], trials[min(best + 1, len(trials) - 1)])
        )
        basis = np.exp(1j * found.x * np.outer(s, [1, -1]))
        toward, back = np.linalg.lstsq(basis, currents, rcond=None)[0]
        return LineWaves(toward, -back, float(found.x))
