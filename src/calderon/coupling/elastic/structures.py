"""Structures by their matrices, or by their modes, in the form that a fluid around them sees.

At the angular frequency omega a pressure p on the wet surface and forces F cause the displacements u of

    (S - omega^2 M) u = F - N' p,     N = <q, n . u>.

Of these the fluid sees n . u on that surface, coefficients G u of a space of functions that jump between triangles, so
that N = <q, psi> G with its functions psi.

Modes phi with S phi = lambda M phi, phi' M phi = 1, leave out what stiffer ones give way: their static rest
X_0 - Phi (Lambda + s)^-1 Phi' N', X_0 = (S + s M)^-1 N', which holds at all frequencies far below those of the modes
that are left out. R. R. Craig and A. J. Kurdila, Fundamentals of Structural Dynamics (2006), chapter 17.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from calderon.coupling.elimination import COLUMNS
from calderon.mesh import TriangleMesh
from calderon.solvers.sparse_lu import SparseLU
from calderon.spaces import P1, P2, Space
from calderon.validation import describe, instance, real_array, real_number, truth, unmasked, whole_number


class Rest(NamedTuple):
    """The static response of a structure at omega^2 = -shift: normal displacements (functions of n . u, those of p) by
    pressures, G (S + s M)^-1 N'."""

    shift: float
    response: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Structure:
    """An elastic structure as matrices of finite elements of any code.

    stiffness, mass: sparse (n, n), symmetric; stiffness complex with loss, Im <= 0 for exp(-i omega t), in N/m and kg.
    normal: G (space.dimension, n), sparse or an array, from the unknowns to the coefficients of n . u in `space`, DP1
    or DP2 on the wet surface, n out of the structure into the fluid; `normal_displacement(space)` makes that of
    displacements at nodes. rest: what modes leave out, see `from_modes`; None of whole structures. Pressures are
    functions of P1, with DP2 of P2.

    ValueError for matrices of other shapes, and for a gain instead of a loss.

        structure = cal.Structure(K, M, cal.coupling.normal_displacement(space) @ at_surface_nodes, space)
    """

    stiffness: Any
    mass: Any
    normal: Any
    space: Space
    rest: Rest | None = None
    is_modal: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("stiffness", "mass", "normal"):
            object.__setattr__(self, name, _matrix(getattr(self, name), name))
        if not isinstance(self.space, Space) or self.space.is_continuous or self.space.element.degree not in (1, 2):
            raise TypeError(f"n . u is a function of DP1 or DP2 on the wet surface, got {describe(self.space)}")
        n = self.stiffness.shape[0]
        sizes = {"stiffness": (n, n), "mass": (n, n), "normal": (self.space.dimension, n)}
        for name, expected in sizes.items():
            if getattr(self, name).shape != expected:
                raise ValueError(
                    f"{name} has the shape {getattr(self, name).shape}, expected {expected}: stiffness and mass of the "
                    f"same n unknowns, and {self.space.dimension} functions of n . u by these"
                )
        if np.iscomplexobj(self.stiffness) and self.stiffness.diagonal().imag.max(initial=0.0) > 0:
            raise ValueError(
                "the stiffness has a diagonal with positive imaginary parts, which is a gain for exp(-i omega t): take "
                "its complex conjugate"
            )
        truth(self.is_modal, "is_modal")
        if self.rest is not None:
            instance(self.rest, Rest, "the static rest is that of Structure.static_rest(shift)")
            whole = self.space.dimension, self.pressures.dimension
            if np.shape(self.rest.response) != whole:
                raise ValueError(f"the static rest has the shape {np.shape(self.rest.response)}, expected {whole}")

    @property
    def unknowns(self) -> int:
        """Number of unknown displacements, or of modes."""
        return int(self.stiffness.shape[0])

    @property
    def surface(self) -> TriangleMesh:
        """The wet surface."""
        return self.space.mesh

    @cached_property
    def pressures(self) -> Space:
        """The space of pressures on the wet surface."""
        return P2(self.surface) if self.space.element.degree == 2 else P1(self.surface)

    @cached_property
    def pairing(self) -> sp.csr_array:
        """<q, psi> of functions of pressures (rows) and of n . u (columns)."""
        return sp.csr_array(self.space.mass_matrix(self.pressures))

    def loads(self, pressures: NDArray[Any]) -> NDArray[Any]:
        """N' p (n, m) of coefficients (pressures.dimension, m)."""
        return np.asarray(self.normal.T @ (self.pairing.T @ pressures))

    def dynamic(self, square: complex) -> sp.csr_array:
        """S - omega^2 M (n, n) at omega^2 = square."""
        return sp.csr_array(self.stiffness - (square.real if np.imag(square) == 0 else square) * self.mass)

    @cached_property
    def static_factors(self) -> SparseLU:
        """Factors of the modes at the shift of their rest."""
        assert self.rest is not None
        return SparseLU(self.dynamic(-self.rest.shift))

    def static_rest(self, shift: float) -> Rest:
        """The rest at omega^2 = -shift, in 1/s^2: some (2 pi f)^2 of the middle of the frequencies of interest, above 0
        where the structure is free to move."""
        factors, count = SparseLU(self.dynamic(-real_number(shift, "shift"))), self.pressures.dimension
        response = np.empty((self.space.dimension, count), self.stiffness.dtype)
        for first in range(0, count, COLUMNS):
            unit = np.eye(count, min(COLUMNS, count - first), -first)
            response[:, first : first + COLUMNS] = self.normal @ factors.solve(self.loads(unit))
        return Rest(float(shift), response)

    def modes(self, number: int, shift: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The modes nearest to omega^2 = -shift in 1/s^2, without loss: frequencies (number,) in Hz, ascending, and
        shapes (n, number) with phi' M phi = 1, by ARPACK with the factors at the shift."""
        number = whole_number(number, "number", 1, self.unknowns - 1)
        squares, shapes = nearest_modes(self, number, -real_number(shift, "shift"))
        return np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi), shapes

    @classmethod
    def from_modes(
        cls,
        frequencies: ArrayLike,
        shapes: ArrayLike,
        space: Space,
        loss: float | Sequence[float] = 0.0,
        rest: Rest | None = None,
    ) -> Self:
        """The structure of modes in vacuo, such as other codes export them.

        frequencies: (m,) in Hz, 0 of rigid motions. shapes: (m, nodes, 3) displacements at the nodes of P1 (the
        vertices) or, with DP2, of P2 on the wet surface, of modal mass 1: in kg^-1/2. space: DP1 or DP2. loss: loss
        factor, one or of each mode. rest: what other modes give way, `Structure.static_rest(shift)` of the whole;
        without it a heavy fluid is far off, of which solving warns. ValueError for shapes that do not fit.
        """
        hertz = np.atleast_1d(real_array(frequencies, "frequencies", "frequencies of modes in Hz"))
        own = real_array(shapes, "shapes", "displacements of modes")
        if own.ndim == 2:
            own = own.reshape(len(own), -1, 3) if own.shape[1] % 3 == 0 else own
        nodes = (P2 if space.element.degree == 2 else P1)(space.mesh)
        if hertz.ndim != 1 or own.shape != (len(hertz), nodes.dimension, 3):
            raise ValueError(
                f"shapes of {len(hertz)} modes at the {nodes.dimension} nodes of {nodes.name} have the shape "
                f"({len(hertz)}, {nodes.dimension}, 3), got {own.shape}"
            )
        if np.any(hertz < 0):
            raise ValueError(f"frequencies of modes are at least 0 Hz, got {hertz.min():g}")
        factors = np.broadcast_to(real_array(loss, "loss", "loss factors"), hertz.shape)
        if np.any(factors < 0):
            raise ValueError(f"loss factors are at least 0, got {factors.min():g}")
        eigenvalues: Any = (2 * np.pi * hertz) ** 2
        if factors.any():
            eigenvalues = eigenvalues * (1 - 1j * factors)
        normal = normal_displacement(space) @ own.reshape(len(own), -1).T
        return cls(sp.diags_array(eigenvalues), sp.eye_array(len(own)), normal, space, rest, is_modal=True)

    def with_rest(self, rest: Rest) -> Self:
        """This structure with the static rest of the modes that it leaves out."""
        return replace(self, rest=rest)


def nearest_modes(
    structure: Structure, number: int, square: float, factors: SparseLU | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The modes nearest to omega^2 = square, without loss: omega^2 of each (number,), ascending, and shapes (n, number)
    with phi' M phi = 1. factors: those of S - square M where they are available."""
    stiffness, mass = sp.csc_array(structure.stiffness.real), structure.mass
    if structure.unknowns <= 2 * number:  # ARPACK needs room for more vectors
        values, shapes = scipy.linalg.eigh(stiffness.toarray(), mass.toarray())
        order = np.sort(np.argsort(np.abs(values - square))[:number])
        return values[order], shapes[:, order]
    factors = SparseLU(sp.csr_array(stiffness - square * mass)) if factors is None else factors
    size = stiffness.shape
    inverse = sp.linalg.LinearOperator(size, matvec=factors.solve, dtype=np.dtype(np.float64))
    start = np.random.default_rng(0).standard_normal(size[0])
    values, shapes = sp.linalg.eigsh(stiffness, number, mass, square, OPinv=inverse, v0=start)
    order = np.argsort(values)
    return values[order], shapes[:, order]


def normal_displacement(space: Space) -> sp.csr_array:
    """Sparse (space.dimension, 3 nodes): n . u in DP1 or DP2 of displacements at the nodes of P1 or P2 on its mesh, in
    the order x, y, z of the first node, of the second, ..."""
    if not isinstance(space, Space) or space.is_continuous or space.element.degree not in (1, 2):
        raise TypeError(f"n . u is a function of DP1 or DP2, got {describe(space)}")
    nodes = (P2 if space.element.degree == 2 else P1)(space.mesh)
    rows = np.repeat(space.dofs.ravel(), 3)
    columns = (3 * nodes.dofs[space.triangles].ravel()[:, None] + np.arange(3)).ravel()
    normals = np.repeat(space.mesh.normals[space.triangles], space.element.size, axis=0)
    return sp.csr_array((normals.ravel(), (rows, columns)), (space.dimension, 3 * nodes.dimension))


def _matrix(given: Any, name: str) -> Any:
    """A sparse matrix or an array of finite numbers."""
    found = sp.csr_array(given) if sp.issparse(given) else unmasked(given, name)
    if found.ndim != 2 or found.dtype.kind not in "fiuc":
        raise TypeError(f"{name} is a sparse matrix or an array of two dimensions, got {describe(given)}")
    values = found.data if sp.issparse(found) else found
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has entries that are NaN or infinite")
    return found if name == "normal" else sp.csr_array(found)
