"""Real earth below wires: what it reflects of their currents, at wires, at points, and far away.

With A = int G I t ds and the potential of charges int K I' ds, d the horizontal offset of a point from its source,

    E = i k eta (A + grad(int K I' ds) / k^2),     H = curl A,
    A_t = G_xx t_t - g d t_z,     A_z = g d . t_t + G_zz t_z,     g = G_zx / |d|,                                 (1)

to be added to the field in free space: G and K are those of `layers.reflected`. They are smooth at wires above the
ground, so that Gauss points on segments suffice, if these are cut to parts not longer than the distance of the image.

K. A. Michalski and D. Zheng, IEEE Trans. Antennas Propag. 38 (1990) 335 (formulation C).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.exact import VACUUM_IMPEDANCE
from calderon.exact.vacuum import permittivity_of
from calderon.layers import Layer, Sections, Stack
from calderon.layers.plane_wave import plane_wave
from calderon.layers.reflected import Reflected, ReflectedTable, reflected_table, reflections
from calderon.mesh import Material
from calderon.quadrature.segment import gauss
from calderon.validation import describe
from calderon.waves import ElectromagneticPlaneWave

Complex = NDArray[np.complex128]
Real = NDArray[np.float64]
POINTS = 3
"""Gauss points on a part of a segment."""
MOST_PARTS = 32
"""Parts into which segments next to the ground are cut at most."""
CHUNK = 200_000
"""Pairs of points that are computed together."""


@dataclass(frozen=True, eq=False)
class Earth:
    """A stack at one frequency below wires; the face of the vacuum above it is in z = `face` in m."""

    sections: Sections

    def require_consistent(self) -> None:
        """ValueError for arrays, read from somewhere, that are not those of one stack below vacuum."""
        self.sections.require_consistent()
        if not (self.sections.eps[-1] == self.sections.mu[-1] == 1):
            raise ValueError("earth that reaches above the wires")

    @property
    def face(self) -> float:
        return float(self.sections.low[-1])

    def table(self, points: Real, sources: Real) -> ReflectedTable:
        """For points (m, 3) and sources (n, 3)."""
        corners = [np.array([x.min(axis=0), x.max(axis=0)]) for x in (points, sources)]
        heights = corners[0][:, 2] + corners[1][:, 2] - 2 * self.face
        spans = np.maximum(corners[1][1] - corners[0][0], corners[0][1] - corners[1][0])
        return reflected_table(self.sections, float(heights[0]), float(heights[1]), float(np.hypot(*spans[:2])))

    def _parts(self, segments: Real, height: float) -> int:
        """Parts of segments (n, 8) next to points of that height above the face."""
        low = np.minimum(segments[:, 2], segments[:, 2] + segments[:, 5] * segments[:, 6]) - self.face
        needed = int(np.ceil((segments[:, 6] / (low + height)).max()))
        return min(MOST_PARTS, 2 ** int(np.ceil(np.log2(max(1, needed)))))

    def bytes_of_assembly(self, segments: Real, functions: int) -> int:
        """Bytes that `half_matrix` or its product with functions take, by measurement: 300 for each pair of points of
        those that are computed together and 112 for each pair of segments in order, or the matrix, in both orders, and
        its product; and 1 MB of tables."""
        low = float(np.minimum(segments[:, 2], segments[:, 2] + segments[:, 5] * segments[:, 6]).min())
        n, points = len(segments), (POINTS * self._parts(segments, low - self.face)) ** 2
        computed = 300 * min(CHUNK, points * n * (n + 1) // 2) + 112 * n**2
        return max(computed, 128 * n**2 + 32 * n * functions) + 1_000_000

    def half_matrix(self, segments: Real, k: float) -> Complex:
        """The reflected part of the matrix (2 n, 2 n) over eta of both halves of all segments (n, 8)."""
        ends = np.concatenate([segments[:, :3], segments[:, :3] + segments[:, 3:6] * segments[:, 6:7]])
        table, n = self.table(ends, ends), len(segments)
        first, second = np.triu_indices(n)
        # parts of pairs by the distance from the image
        middle = segments[:, :3] + segments[:, 3:6] * segments[:, 6:7] / 2
        offset = middle[first] - (middle[second] * [1, 1, -1] + [0, 0, 2 * self.face])
        both = segments[first, 6] + segments[second, 6]
        lowest = np.minimum(ends[:n, 2], ends[n:, 2]) - self.face
        away = np.maximum(np.linalg.norm(offset, axis=1) - both / 2, lowest[first] + lowest[second])
        ratio = np.maximum(segments[first, 6], segments[second, 6]) / away
        parts = np.minimum(MOST_PARTS, 2 ** np.ceil(np.log2(np.maximum(1, ratio))).astype(int))
        out = np.empty((n, 2, n, 2), complex)
        for count in np.unique(parts):
            chosen = np.flatnonzero(parts == count)
            step = max(1, CHUNK // (POINTS * count) ** 2)
            for low in range(0, len(chosen), step):
                i, j = (each[chosen[low : low + step]] for each in (first, second))
                out[i, :, j] = found = self._pairs(segments[i], segments[j], int(count), table, k)
                out[j, :, i] = found.transpose(0, 2, 1)
        return out.reshape(2 * n, 2 * n)

    def _pairs(self, first: Real, second: Real, parts: int, table: ReflectedTable, k: float) -> Complex:
        """(p, 2, 2) entries of both halves of pairs of segments (p, 8)."""
        t, weights = _rule(parts)
        x, y = (each[:, None, :3] + t[:, None] * (each[:, 3:6] * each[:, 6:7])[:, None] for each in (first, second))
        d = x[:, :, None, :2] - y[:, None, :, :2]
        s = x[:, :, None, 2] + y[:, None, :, 2] - 2 * self.face
        found = Reflected(*(each.reshape(s.shape) for each in table(np.hypot(d[..., 0], d[..., 1]).ravel(), s.ravel())))
        a, b = first[:, 3:6], second[:, 3:6]
        level, upright = np.einsum("pi,pi->p", a[:, :2], b[:, :2]), a[:, 2] * b[:, 2]
        tilt = np.einsum("pqri,pi->pqr", d, a[:, 2:] * b[:, :2] - b[:, 2:] * a[:, :2])
        along = found.xx * level[:, None, None] + found.zz * upright[:, None, None] + found.tilt * tilt
        halves = np.stack([(1 - t) * weights, t * weights])
        lengths = first[:, 6] * second[:, 6]
        current = np.einsum("aq,pqr,br->pab", halves, along, halves) * lengths[:, None, None]
        charge = np.einsum("q,pqr,r->p", weights, found.K, weights)
        return np.asarray(-1j * (k * current - np.array([[1, -1], [-1, 1]]) * charge[:, None, None] / k))

    def near_fields(self, segments: Real, currents: Complex, k: float, points: Real) -> tuple[Complex, Complex]:
        """The reflected E (m, 3) in V/m and H (m, 3) in A/m at points (m, 3) above the ground, of currents (n, 2)."""
        t, weights = _rule(self._parts(segments, float(points[:, 2].min()) - self.face))
        y = (segments[:, None, :3] + t[:, None] * (segments[:, 3:6] * segments[:, 6:7])[:, None]).reshape(-1, 3)
        slope = (currents[:, 1] - currents[:, 0]) / segments[:, 6]
        along = (currents[:, :1] + (currents[:, 1:] - currents[:, :1]) * t) * segments[:, 6:7] * weights
        jt = along.ravel()[:, None] * np.repeat(segments[:, 3:6], len(t), axis=0)
        charge = (slope[:, None] * segments[:, 6:7] * weights).ravel()
        table = self.table(points, y)
        electric, magnetic = (np.empty((len(points), 3), complex) for _ in range(2))
        step = max(1, CHUNK // len(y))
        for low in range(0, len(points), step):
            x = points[low : low + step]
            d, s = x[:, None, :2] - y[None, :, :2], x[:, None, 2] + y[None, :, 2] - 2 * self.face
            rho = np.hypot(d[..., 0], d[..., 1])
            values = table.with_derivatives(rho.ravel(), s.ravel())
            found, by_rho, by_s = (Reflected(*(each.reshape(s.shape) for each in part)) for part in values)
            toward = d / np.maximum(rho, 1e-12 * s)[..., None]
            fields = _fields(found, by_rho, by_s, (d, toward), jt, charge)
            electric[low : low + step] = 1j * k * VACUUM_IMPEDANCE * (fields[0] + fields[1] / k**2)
            magnetic[low : low + step] = fields[2]
        return electric, magnetic

    def far_fields(self, segments: Real, currents: Complex, k: float, directions: Real) -> Complex:
        """F (m, 3) in V of what is reflected toward unit vectors (m, 3), zero below the ground."""
        t, weights = _rule(2)
        y = segments[:, None, :3] + t[:, None] * (segments[:, 3:6] * segments[:, 6:7])[:, None]
        along = (currents[:, :1] + (currents[:, 1:] - currents[:, :1]) * t) * segments[:, 6:7] * weights
        moments = (along[..., None] * segments[:, None, 3:6]).reshape(-1, 3)
        image = y.reshape(-1, 3) * [1, 1, -1] + [0, 0, 2 * self.face]
        found = np.zeros((len(directions), 3), complex)
        up = directions[:, 2] > 0
        sine = np.hypot(directions[up, 0], directions[up, 1])
        factors = reflections(self.sections, sine)
        toward = directions[up, :2] / np.maximum(sine, 1e-300)[:, None]
        j = np.exp(-1j * k * (directions[up] @ image.T)) @ moments
        found[up, :2] = factors.xx[:, None] * j[:, :2] - (factors.tilt * j[:, 2])[:, None] * toward
        found[up, 2] = factors.tilt * np.einsum("mi,mi->m", toward, j[:, :2]) + factors.zz * j[:, 2]
        found -= np.einsum("mi,mi->m", found, directions)[:, None] * directions
        return np.asarray(1j * k * VACUUM_IMPEDANCE / (4 * np.pi) * found)

    def illumination(self, wave: ElectromagneticPlaneWave, x: Real) -> tuple[Complex, Complex]:
        """E and H (n, 3) of a wave from above, with its reflection, at points (n, 3) above the ground."""
        direction, vector = np.asarray(wave.direction), np.asarray(wave.polarization)
        if not direction[2] < -1e-6:
            raise ValueError(f"a wave comes from above the ground, its direction has z < 0, got {direction.tolist()}")
        electric, magnetic = plane_wave(self.sections, -direction, vector, x)
        return wave.amplitude * electric, wave.amplitude * magnetic / VACUUM_IMPEDANCE


def _rule(parts: int) -> tuple[Real, Real]:
    """Gauss points and weights on [0, 1], cut into equal parts."""
    rule = gauss(POINTS)
    points = (np.arange(parts)[:, None] + rule.points).ravel() / parts
    return points, np.tile(rule.weights, parts) / parts


def _fields(
    found: Reflected, by_rho: Reflected, by_s: Reflected, offsets: tuple[Real, Real], j: Complex, charge: Complex
) -> tuple[Complex, Complex, Complex]:
    """A, the gradient of the potential, and curl A, each (m, 3), of currents j (n, 3) and charges (n,); offsets (m, n,
    2) and their directions. Values and derivatives are (m, n)."""
    d, toward = offsets
    radial = np.einsum("mni,ni->mn", d, j[:, :2])
    level, upright = j[:, :2], j[:, 2]
    gradient = [np.einsum("mn,mni->mi", by_rho.K * charge, toward), by_s.K @ charge]
    a = [found.xx @ level - np.einsum("mn,mni->mi", found.tilt * upright, d),
         (found.tilt * radial).sum(axis=1) + found.zz @ upright]  # fmt: skip
    # derivatives of A_z along the layers, and by z of A_t
    slope = np.einsum("mn,mni->mi", by_rho.tilt * radial + by_rho.zz * upright, toward) + found.tilt @ level
    rise = by_s.xx @ level - np.einsum("mn,mni->mi", by_s.tilt * upright, d)
    turn = np.einsum("mn,mn->m", by_rho.xx, toward[..., 0] * level[:, 1] - toward[..., 1] * level[:, 0])
    curl = [slope[:, 1] - rise[:, 1], rise[:, 0] - slope[:, 0], turn]
    stacked = [np.column_stack([*each]) for each in (a, gradient)]
    return stacked[0], stacked[1], np.column_stack(curl)


def earth_below(ground: Material | Stack, frequency: float) -> Earth:
    """The ground at a frequency in Hz: a `Material` below z = 0, or a `Stack` of which the upper half-space is vacuum.
    TypeError, ValueError for others."""
    if isinstance(ground, Material):
        epsilon = permittivity_of(ground, frequency)
        stack = Stack(below=Layer(eps_r=epsilon, mu_r=ground.permeability))
    elif isinstance(ground, Stack):
        stack = ground
    else:
        raise TypeError(
            f"ground is 'pec', a Material such as cal.material('wet ground'), a Stack or None, got {describe(ground)}"
        )
    above = stack.above
    if not isinstance(above, Layer) or not above.permittivity(frequency) == above.mu_r == 1:
        raise ValueError(f"wires are in vacuum: the stack below them has above=Layer(), got {above}")
    return Earth(stack.at(frequency))
