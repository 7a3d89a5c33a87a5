"""Images next to thin layers in periodic cells: what spectra have at large wavenumbers, summed in space instead.

The static images (`calderon.layers.limits.images`) of all planes of metal with distances s, factors c of 1 / (4 pi R)
and c' of R / (4 pi), R^2 = rho^2 + s^2, are summed over all cells as

  a_1 exp(-w_1 R) / (4 pi R) + a_2 exp(-w_2 R) / (4 pi R),    a_1 + a_2 = c,    a_1 w_1^2 + a_2 w_2^2 = 2 c',

whose spectra are a exp(-s u) / (2 u), u^2 = k^2 + w^2: the first two terms at large k are those of the layers, and they
vanish two cells away. Integrals are those of metal between layers: 1 / R and R by closed forms, so that images cancel
the source to rounding, the rest, which is smooth, by rules.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.floquet.functions import BlochFunctions
from calderon.floquet.near import decays_of, phased, repeated
from calderon.galerkin.layered.matrix import LayeredMatrix
from calderon.galerkin.layered.metal import CLOSE, NEAR, LayeredMetal
from calderon.layers import Sections
from calderon.layers.limits.images import NO_IMAGES, Images, static_images
from calderon.layers.sommerfeld import NOTHING
from calderon.layers.tables import Table, is_far, tabulated
from calderon.spaces import EdgeSpace

IMAGE_DISTANCE = 0.125
"""Distance, as a fraction of the spacing of cells, below which images are taken out. Others have decayed to exp(-8)
at the 300th wave."""
Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class CellMetal(LayeredMetal):
    """Metal of a cell and its copies, with tables of functions that decay within a cell; found: images of each pair."""

    found: tuple[Images, ...] = ()
    decays: Floats = None  # type: ignore[assignment]

    @cached_property
    def tables(self) -> list[Table]:
        """Tables of all pairs of heights."""
        return [self._table(images, a != b) for images, (a, b) in zip(self.found, self.pairs, strict=True)]

    def _table(self, images: Images, apart: bool) -> Table:
        where, requested = "the planes of a periodic cell", (CLOSE * self.smallest, NEAR * max(self.sizes))

        def left(r: Floats) -> Complex:
            """The rest without 1 / R and R, and all of it far away."""
            distance, far = np.hypot(r[..., None], images.distances), is_far(r, images, requested)
            total = np.zeros((2, *r.shape), complex)
            for w, factors in zip(self.decays, weights(images, self.decays), strict=True):
                wave = np.where(far[:, None, None], np.exp(-w * distance) / distance,
                                np.expm1(-w * distance) / distance - 0.5 * w**2 * distance)  # fmt: skip
                total += np.einsum("...m,cm->c...", wave, factors) / (4 * np.pi)
            return total

        return tabulated(left, self.decays[1], self.reach, where, NOTHING, images, apart, requested)


def weights(images: Images, decays: Floats) -> Complex:
    """(decays, 2, m) factors a of exp(-w R) / (4 pi R) in G_xx and K."""
    static = np.stack([images.xx, images.K])
    square = 2 * np.stack([images.next_xx, images.next_K])
    second = (square - static * decays[0] ** 2) / (decays[1] ** 2 - decays[0] ** 2)
    return np.stack([static - second, second])


@dataclass(frozen=True, eq=False)
class ImageParts:
    """Images between all planes of metal of a cell at one frequency; found: those of each pair of heights a >= b."""

    functions: BlochFunctions
    sections: Sections
    found: tuple[Images, ...]

    @staticmethod
    def of(functions: BlochFunctions, heights: list[float], sections: Sections) -> "ImageParts | None":
        """None where layers and distances of planes are thick enough for sums of waves."""
        size = IMAGE_DISTANCE * functions.lattice.spacing
        pairs = [(z, source) for n, z in enumerate(heights) for source in heights[: n + 1]]
        if all(static_images(sections, *each, size) is NO_IMAGES for each in pairs):
            return None
        return ImageParts(
            functions, sections, tuple(static_images(sections, a, b, size, required=a == b) for a, b in pairs)
        )

    @property
    def decays(self) -> Floats:
        """w_1 and w_2 in 1/m."""
        return decays_of(self.functions.lattice)

    def spectrum(self, a: int, b: int, k: Floats) -> tuple[Complex, Complex]:
        """(n,) of G_xx and K in m between the planes a and b, at wavenumbers k (n,)."""
        images = self.found[max(a, b) * (max(a, b) + 1) // 2 + min(a, b)]
        total = np.zeros((2, len(k)), complex)
        for w, factors in zip(self.decays, weights(images, self.decays), strict=True):
            u = np.sqrt(k**2 + w**2)[:, None]
            total += factors @ (np.exp(-u * images.distances) / (2 * u)).T
        return total[0], total[1]

    def matrix(self, transverse: Floats) -> Complex:
        """(n, n) -<f_i, E> of the currents f_j with the phase k_t, of all whole and half functions; eta0 = 1."""
        parts = self._parts
        shifts = self.functions.copies @ self.functions.lattice.periods
        return phased(parts, shifts @ transverse, bool(np.any(transverse)))

    @cached_property
    def _parts(self) -> Complex:
        """(shifts, n, n) of the cell and its `copies`."""
        halves, count = self.functions.halves, 1 + len(self.functions.copies)
        n = halves.dimension
        require_memory(32 * count * n**2, f"near parts of {n} functions", "use a coarser mesh")
        metal = CellMetal(self.sections, _copied(self.functions), found=self.found, decays=self.decays)
        rows, out = np.arange(n), np.zeros((n, count * n), complex)
        LayeredMatrix(metal, functions=rows).add_to(out, -1.0, rows, np.arange(count * n))
        return np.moveaxis(out.reshape(n, count, n), 1, 0)


def _copied(functions: BlochFunctions) -> EdgeSpace:
    """The functions of the cell, and after them those of each copy."""
    halves, count = functions.halves, 1 + len(functions.copies)
    total, n = halves.mesh.number_of_triangles, halves.dimension

    def numbered(table: NDArray[np.int64], step: int) -> NDArray[np.int64]:
        return np.concatenate([np.where(table >= 0, table + step * number, -1) for number in range(count)])

    return replace(
        halves,
        mesh=repeated(functions, np.full(total, True)),
        triangles=numbered(halves.triangles, total),
        dofs=numbered(halves.dofs, n),
        signs=np.tile(halves.signs, (count, 1)),
        sides=numbered(halves.sides, 3 * total),
    )
