"""Fields that stay without sources: equations at complex wavenumbers, and modes made of their null vectors."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveOptions
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn_of_accuracy
from calderon.quadrature.sphere import sphere_rule
from calderon.solvers.contour import Ellipse, eigenpairs
from calderon.view import Described, Scene, Viewable

ACCEPTED = 1e-4
"""|A(k) x| of a mode over that at a place on the contour; above, a warning."""
SPURIOUS = 1e-2
"""That ratio above which a number is no eigenvalue."""
LEAKS = 0.1
"""Field outside over that inside above which a null vector is a resonance of the outside."""


@dataclass(frozen=True, eq=False)
class Mode(Viewable, Described):
    """A field that stays without sources, exp(-i omega t).

    wavenumber: k in 1/m, with Im k < 0 where it decays. frequency: omega / (2 pi) in Hz, complex. surface: on the
    walls, its largest coefficient 1.
    """

    wavenumber: complex
    frequency: complex
    surface: Any

    @property
    def quality(self) -> float:
        """Q = -Re f / (2 Im f): 2 pi times the energy over what is lost in a period; infinite where nothing decays."""
        return float(self.frequency.real / (-2 * self.frequency.imag)) if self.frequency.imag < 0 else np.inf

    @property
    def decay_time(self) -> float:
        """The time in s in which the level falls by 60 dB, 3 ln 10 / (-2 pi Im f)."""
        return float(3 * np.log(10) / (-2 * np.pi * self.frequency.imag)) if self.frequency.imag < 0 else np.inf

    def scene(self) -> Scene:
        """The field on the walls."""
        return replace(self.surface.scene(), subtitle=f"mode at {self.frequency.real:.5g} Hz")

    @property
    def brief(self) -> str:
        """Frequency and quality."""
        return f"{self.frequency.real:.6g} Hz, Q {self.quality:.4g}"

    def __str__(self) -> str:
        return self.brief


M = TypeVar("M", bound=Mode)


class SourceFree(ABC, Generic[M]):
    """The equation of the inside of a surface without sources, at complex wavenumbers.

    mesh: the whole surface. images: of how many images in mirrors it consists, 1 without. unknowns: their number.
    speed: of the waves in m/s. absorbs: whether walls do. degree: of the functions. options: of matrices, set
    before they are made.
    """

    mesh: TriangleMesh
    images: int
    unknowns: int
    speed: float
    absorbs = False
    degree = 1
    options: SolveOptions

    @abstractmethod
    def system(self, wavenumber: complex) -> LinearSystem:
        """The discrete equation at a wavenumber."""

    @abstractmethod
    def mode(self, wavenumber: complex, coefficients: NDArray[Any]) -> M:
        """The mode of a null vector (n,)."""

    @abstractmethod
    def sizes(self, mode: M, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The size (m,) of the field of a mode at points (m, 3)."""

    @abstractmethod
    def expected(self, wavenumber: float) -> float:
        """The number of modes of the whole up to a wavenumber by Weyl's law."""

    def modes(self, contour: Ellipse) -> list[M]:
        """The modes within a contour, without numbers that solve no equation, and resonances of the outside.

        AccuracyWarning where a mode does not solve its equation to ACCEPTED."""
        # more than there are, with multiplicities; of those of the whole each choice of even and odd has its share
        columns = int(np.ceil(self.expected(contour.high) / self.images)) + 10
        found, vectors = eigenpairs(self._solved, self.unknowns, contour, columns)
        modes, worst = list[M](), 0.0
        if not len(found):
            return modes
        top = contour.centre + 1j * contour.height * contour.half_width
        usual = np.linalg.norm(self._product(top, vectors), axis=0)
        for k, x, size in zip(found.tolist(), vectors.T, usual, strict=True):
            error = float(np.linalg.norm(self._product(k, x)) / size)
            if error > SPURIOUS or self._is_outside(mode := self.mode(k, x)):
                continue
            worst = max(worst, error)
            modes.append(mode)
        if worst > ACCEPTED:
            warn_of_accuracy(
                f"of {len(modes)} modes one solves its equation to {worst:.1e} only: divide the band, or change its "
                "ends a little"
            )
        return modes

    def _solved(self, wavenumber: complex, sides: NDArray[Any]) -> NDArray[Any]:
        """Solutions (n, m) for right-hand sides (n, m)."""
        return self.system(wavenumber).solve(sides, self.options)[0]

    def _product(self, wavenumber: complex, vectors: NDArray[Any]) -> NDArray[Any]:
        """The matrix times vectors (n, m)."""
        system = self.system(wavenumber)
        system.assemble(self.options)
        return np.asarray(system.matrix @ vectors)

    def _is_outside(self, mode: M) -> bool:
        """Whether a mode is a resonance of the outside: its field does not vanish on a sphere around the surface."""
        inside, outside = self._largest_sizes(mode)
        return outside > LEAKS * inside

    def _largest_sizes(self, mode: M) -> tuple[float, float]:
        """The largest field of a mode an edge below the surface, and on a sphere around it."""
        mesh = self.mesh
        corners = mesh.vertices[mesh.used_vertices]
        centre = corners.mean(axis=0)
        radius = 1.2 * np.linalg.norm(corners - centre, axis=1).max()
        inward = mesh.centroids - mesh.mean_edge_length * mesh.normals
        inside = self.sizes(mode, inward[mesh.contains(inward)]).max(initial=0.0)
        return float(inside), float(self.sizes(mode, centre + radius * sphere_rule(5)[0]).max())
