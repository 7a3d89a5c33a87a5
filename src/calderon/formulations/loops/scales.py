"""Scales of loops and charges: equations of currents on bodies much smaller than the wavelength.

Of a body of size d with kappa = k d << 1, currents without charges (loops) are of order 1 and those with charges of
order kappa, while fields tested with loops are of order kappa and those tested with charging currents of order 1. A
residual in the plain norm does not see an error of the loops, and the far field, in which both parts have the same
weight, is wrong although it is small. Here residuals get a weight 1 / kappa for each loop, and below kappa = STATIC the
equations are those of k' = STATIC / d with loops and charges scaled by s = k / k': the quasi-static limit, of which
they differ by a part kappa' of what couples electric and magnetic polarisation.

J. S. Zhao and W. C. Chew, IEEE Trans. Antennas Propag. 48 (2000) 1635 (scales of loops and trees); F. P. Andriulli et
al., ibid. 61 (2013) 2077.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.linear_system import Scaling
from calderon.operators.methods import Method
from calderon.solvers.system import Apply, applied
from calderon.spaces import EdgeSpace
from calderon.spaces.edge.loops import FlowGraph

STATIC = 1e-3
"""k times diameter below which the equations are those of this value. What they differ by is 1e-3 of the coupling of
electric and magnetic polarisation; integration of the magnetic field, to 1e-6 between touching triangles, and rounding
cost less than that from here on."""
Factors = Callable[[NDArray[np.float64]], tuple[Any, Any]]
COMPRESSION = 1e-2
"""Accuracy of compressed entries, over (k times diameter)^2, above which loops get more than 1e-3 from the entries of
charges: an H-matrix of a torus, 1e-4 at 0.01 gives 8 %, 1e-6 at 0.01 gives 2e-4 and at 0.001 gives 1.7 %."""


def static_ratio(k: float, spaces: Sequence[EdgeSpace], inner: Sequence[complex] = ()) -> float:
    """s = k / k' of surfaces with these spaces and with these wavenumbers within: at k' none of the limits is passed;
    1 where k is above one."""
    largest = max(float(part_diameters(FlowGraph.of(space)).max()) for space in spaces)
    corners = np.concatenate([space.mesh.bounds for space in spaces])
    extent = float(np.linalg.norm(np.ptp(corners, axis=0)))
    # within bodies the field that they respond with is that of the static limit to the square of k times the extent
    return min(1.0, max(k * largest / STATIC, max([k, *map(abs, inner)]) * extent / 1e-2))


@dataclass(frozen=True, eq=False)
class LoopScales(Scaling):
    """Factors of loops and charges in equations A x = b with unknown currents on several surfaces.

    graphs, sizes: for each block of unknowns its graph, and kappa (dimension,) of the part of the surface that each
    function is on, at most 1. ratio: s.

    `tested` gives L b, which A' x' = L b has on its right-hand side, L = 1 / s for loops and 1 for charges, `found` x =
    R x', R = 1 for loops and s for charges, `weighted` W r, W = 1 / kappa for loops.
    """

    graphs: tuple[FlowGraph, ...]
    sizes: tuple[NDArray[np.float64], ...]
    ratio: float = 1.0

    @classmethod
    def of(cls, spaces: Sequence[EdgeSpace], wavenumber: float, ratio: float = 1.0) -> Scaling | None:
        """For currents in these spaces (the blocks of the unknowns, of which several may be one), in equations of this
        wavenumber around the bodies, k'; none where every part of the surfaces is of the size of the wavelength."""
        known = {id(space): space for space in spaces}
        graphs = {key: FlowGraph.of(space) for key, space in known.items()}
        sizes = {key: wavenumber * part_diameters(each) for key, each in graphs.items()}
        if ratio == 1 and all(each.min() >= 1 for each in sizes.values()):
            return None
        largest = max(float(each.max()) for each in sizes.values())
        found = [np.clip(sizes[id(space)], min(STATIC, largest), 1.0) for space in spaces]
        return cls(tuple(graphs[id(space)] for space in spaces), tuple(found), ratio)

    def check(self, method: Method, rtol: float | None) -> None:
        """ValueError where a method of that accuracy, None of an exact one, loses the loops."""
        # integration and rounding cost 4e-8 over k times diameter, measured on spheres of 236 triangles
        size, smallest = max(float(each.max()) for each in self.sizes), 5e-5
        if size < smallest:
            raise ValueError(
                f"k times diameter of the largest body is {size:.2g}, and the static limit does not stand for its "
                f"equations: below {smallest:g} integration and rounding lose the fields; take method='dense' or "
                "'hmatrix' for conductors, np.inf as permittivity of good ones, or one body at a time"
            )
        # from `separate` on methods that keep near entries keep them in double precision, charges and currents apart
        separate = 1e-6
        if rtol is None or (method.stores_near and rtol <= 1.01 * separate):
            return
        if rtol > (least := COMPRESSION * size**2):
            raise ValueError(
                f"method={method.name!r} to {rtol:g} at k times diameter = {size:.2g}: fields of charges are that "
                f"much larger than those of loops that these lose more than 1e-3; take compression_rtol={least:.0e} or "
                f"less, method='dense', or method='mlfmm' with rtol={10 * separate:g} or less"
            )

    def holding(self, rtol: float) -> float:
        """The accuracy of compressed entries, at most `rtol`, that keeps the loops; `rtol` where that is too small."""
        needed = min(rtol, 0.99 * COMPRESSION * max(float(each.max()) for each in self.sizes) ** 2)
        return needed if needed >= 2e-6 else rtol  # none is finer without a request

    def tested(self, rhs: NDArray[Any]) -> NDArray[Any]:
        """L b of right-hand sides b (n, m)."""
        return rhs if self.ratio == 1 else self._tested(rhs, lambda kappa: (1 / self.ratio, 1.0))

    def found(self, solution: NDArray[Any]) -> NDArray[Any]:
        """R x' of solutions x' (n, m)."""
        return solution if self.ratio == 1 else self._currents(solution, lambda kappa: (1.0, self.ratio))

    def weighted(self, residuals: NDArray[Any]) -> NDArray[Any]:
        """W r of residuals r (n, m)."""
        return self._tested(residuals, lambda kappa: (1 / kappa, 1.0))

    def matrix(self, matrix: Any) -> LinearOperator:
        """W A."""
        return _product(len(self), lambda x: self.weighted(np.asarray(matrix @ x)))

    def preconditioner(self, inverse: Any, mass: bool) -> LinearOperator:
        """M W^-1 for an approximate inverse M of A. mass: whether M is that of the identity, which is no inverse of
        loops and charges at once, and becomes B M B^T with B = kappa^-1/2 for loops and kappa^1/2 for charges."""
        inverse = applied(inverse, np.dtype(np.complex128), "the preconditioner")
        if not mass:
            return _product(len(self), lambda x: inverse(self._tested(x, lambda kappa: (kappa, 1.0))))

        def balanced(x: NDArray[Any]) -> NDArray[Any]:
            root = self._tested(x, lambda kappa: (kappa**0.5, kappa**0.5))
            return self._currents(inverse(root), lambda kappa: (kappa**-0.5, kappa**0.5))

        return _product(len(self), balanced)

    def __len__(self) -> int:
        return sum(len(graph.ends) for graph in self.graphs)

    def _tested(self, values: NDArray[Any], factors: Factors) -> NDArray[Any]:
        """Integrals (n, m) against the functions, times factors(kappa) of loops and of charges."""
        return self._each(values, factors, lambda graph, part: graph.charging_transposed(part))

    def _currents(self, values: NDArray[Any], factors: Factors) -> NDArray[Any]:
        """Coefficients (n, m) of currents, times factors(kappa) of loops and of charges."""
        return self._each(values, factors, lambda graph, part: graph.charging(part))

    def _each(self, values: NDArray[Any], factors: Factors, charging: Callable[..., NDArray[Any]]) -> NDArray[Any]:
        cuts, found = np.cumsum([len(graph.ends) for graph in self.graphs])[:-1], []
        for graph, kappa, part in zip(self.graphs, self.sizes, np.split(values, cuts), strict=True):
            loops, charges = factors(kappa[:, None])
            charged = charging(graph, part)
            found.append(loops * (part - charged) + charges * charged)
        return np.concatenate(found)


def part_diameters(graph: FlowGraph) -> NDArray[np.float64]:
    """(dimension,) diagonal in m of the box around the part of the surface that each function is on."""
    space = graph.space
    corners = space.mesh.vertices[space.mesh.triangles[space.support]]
    parts = graph.parts[: len(corners)]
    number = int(graph.parts.max()) + 1
    low, high = np.full((number, 3), np.inf), np.full((number, 3), -np.inf)
    np.minimum.at(low, parts, corners.min(axis=1))
    np.maximum.at(high, parts, corners.max(axis=1))
    return np.asarray(np.linalg.norm(high - low, axis=1)[graph.parts[graph.ends[:, 0]]])


def _product(size: int, of: Apply) -> LinearOperator:
    """The product x -> of(x) of columns (size, m)."""
    column = lambda x: of(np.reshape(x, (size, 1)))[:, 0]  # noqa: E731
    return LinearOperator((size, size), matvec=column, matmat=of, dtype=np.dtype(np.complex128))
