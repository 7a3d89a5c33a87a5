"""Wires that are joined: their segments, the nodes where these meet, and the functions of the current.

The current is linear on each segment. At a node with m segments the currents sum to zero, which leaves m - 1 functions:
each flows in through the first segment and out through another one. A free end has none; on a ground of metal, and on a
foot on other metal, all m segments have their own, since the metal takes the rest.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from calderon.formulations.ports.gaps import WireGap
from calderon.formulations.wires.frill import aperture_field
from calderon.formulations.wires.wire import Wire
from calderon.mesh import AccuracyWarning
from calderon.validation import callers_level

JOINED = 1e-3
"""Part of the shortest segment by which ends that are joined differ at most."""
THICK, SLENDER = 2.0, 8.0
"""Lengths of a segment over its radius: below the first thin-wire theory has no meaning, below the second it warns."""


@dataclass(frozen=True, eq=False)
class WireNetwork:
    """Wires in free space, or above a perfect conductor in z = 0 (`ground`); feet (f, 3): points of other metal, at
    which ends of wires lie."""

    wires: Sequence[Wire]
    ground: bool = False
    feet: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))

    def __post_init__(self) -> None:
        self._require_thin()
        self._require_above_ground()
        self._require_apart()

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """(n,) the wire of each segment."""
        return np.repeat(np.arange(len(self.wires)), [len(each.ends) - 1 for each in self.wires])

    @cached_property
    def segments(self) -> NDArray[np.float64]:
        """(n, 8) beginning, direction, length and radius of each segment."""
        begin = np.concatenate([each.ends[:-1] for each in self.wires])
        along = np.concatenate([np.diff(each.ends, axis=0) for each in self.wires])
        length = np.linalg.norm(along, axis=1)
        radius = np.array([each.effective_radius for each in self.wires])[self.owners]
        return np.column_stack([begin, along / length[:, None], length, radius])

    @cached_property
    def ends(self) -> NDArray[np.float64]:
        """(n, 2, 3) both ends of each segment."""
        begin, along = self.segments[:, :3], self.segments[:, 3:6] * self.segments[:, 6:7]
        return np.stack([begin, begin + along], axis=1)

    @cached_property
    def nodes(self) -> NDArray[np.int64]:
        """(n, 2) the node at each end; ends at one place have one node."""
        ends = self.ends.reshape(-1, 3)
        tolerance = JOINED * self.segments[:, 6].min()
        pairs = cKDTree(ends).query_pairs(tolerance, output_type="ndarray")
        graph = sparse.coo_array((np.ones(len(pairs)), pairs.T), shape=(len(ends), len(ends)))
        return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1].reshape(-1, 2), np.int64)

    @property
    def on_ground(self) -> NDArray[np.bool_]:
        """(2 n,) which ends lie on the ground."""
        return self.ground & (np.abs(self.ends[..., 2].ravel()) <= JOINED * self.segments[:, 6].min())

    @cached_property
    def standing(self) -> NDArray[np.int64]:
        """(2 n,) the foot on which an end lies, -1 for none."""
        found = np.full(2 * len(self.segments), -1)
        if len(self.feet):
            distance, nearest = cKDTree(self.feet).query(self.ends.reshape(-1, 3))
            at = distance <= JOINED * self.segments[:, 6].min()
            found[at] = nearest[at]
        return found

    def losses(self, frequency: float) -> sparse.csr_array:
        """(2 n, 2 n) int Z' of products of both halves of a segment, in ohm, at a frequency in Hz."""
        each = np.array([wire.impedance(frequency) for wire in self.wires])
        scale = each[self.owners] * self.segments[:, 6] / 6
        return sparse.csr_array(sparse.kron(sparse.diags_array(scale), np.array([[2.0, 1.0], [1.0, 2.0]])))

    @cached_property
    def functions(self) -> sparse.csr_array:
        """(2 n, N) the current at both ends of each segment, along it, of each function."""
        order = np.argsort(self.nodes.ravel(), kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(self.nodes.ravel()[order])) + 1)
        rows, columns, values, count = list[int](), list[int](), list[float](), 0
        on_metal = self.on_ground | (self.standing >= 0)
        sign = np.tile([-1.0, 1.0], len(self.nodes))  # of a current that flows into the node
        for group in groups:
            if on_metal[group].any():
                pairs: list[tuple[int, ...]] = [(int(each),) for each in group]
            else:
                pairs = [(int(group[0]), int(each)) for each in group[1:]]
            for pair in pairs:
                for each, into in zip(pair, (1.0, -1.0), strict=False):
                    rows.append(each)
                    columns.append(count)
                    values.append(into * sign[each])
                count += 1
        return sparse.csr_array((values, (rows, columns)), shape=(2 * len(self.nodes), count))

    def distance(self, at: NDArray[np.float64]) -> float:
        """The distance of a point (3,) from the nearest axis, in m."""
        return float(_from_segment(np.broadcast_to(at, (len(self.ends), 3)), self.ends).min())

    def weights(self, gap: WireGap, k: complex) -> NDArray[np.float64]:
        """(N,) the current through a gap of each function; ValueError where there is no wire or where wires branch. k:
        the wavenumber around."""
        at = np.asarray(gap.at)
        along, length = self.segments[:, 3:6], self.segments[:, 6]
        from_begin = at - self.segments[:, :3]
        s = np.clip(np.einsum("ij,ij->i", from_begin, along), 0, length)
        distance = np.linalg.norm(from_begin - s[:, None] * along, axis=1)
        nearest = int(distance.argmin())
        if distance[nearest] > max(self.segments[nearest, 7], JOINED * length[nearest]):
            raise ValueError(
                f"no wire is at the {gap}: the nearest one is {distance[nearest]:g} m away, at "
                f"{(self.segments[nearest, :3] + s[nearest] * along[nearest]).tolist()}"
            )
        part = s[nearest] / length[nearest]
        end, grounded = 0 if part < JOINED else 1 if part > 1 - JOINED else None, False
        if end is not None:
            node = self.nodes[nearest, end]
            touching = np.flatnonzero((self.nodes == node).any(axis=1))
            grounded = bool((self.on_ground | (self.standing >= 0))[2 * nearest + end])
            allowed = 1 if grounded else 2
            if len(touching) != allowed:
                what = "a free end of a wire" if len(touching) == 1 else f"a point where {len(touching)} segments meet"
                raise ValueError(f"the {gap} is at {what}: a gap lies between two segments, or within one")
            nearest = int(touching[0]) if gap.direction is None else nearest
            end = 0 if self.nodes[nearest, 0] == node else 1
            part = float(end)
        if gap.outer_radius is None:
            found = (1 - part) * self.functions[[2 * nearest]] + part * self.functions[[2 * nearest + 1]]
        else:
            at_end = end is not None and grounded
            spread = aperture_field(self.segments, nearest, part, gap.outer_radius, at_end, k)
            found = sparse.csr_array(spread[None]) @ self.functions
        sign = 1.0
        if gap.direction is not None:
            cosine = float(along[nearest] @ np.asarray(gap.direction)) / np.linalg.norm(np.asarray(gap.direction))
            if abs(cosine) < 0.1:
                raise ValueError(
                    f"the direction of the {gap} is across the wire, which goes along {along[nearest].tolist()}"
                )
            sign = float(np.sign(cosine))
        return np.asarray(sign * found.toarray()[0])

    def _require_thin(self) -> None:
        length, radius = self.segments[:, 6], np.array([each.radius for each in self.wires])[self.owners]
        ratio = length / radius
        worst = int(ratio.argmin())
        where = f"segment of {length[worst]:.3g} m on wire {self.owners[worst]}, whose radius is {radius[worst]:.3g} m"
        if ratio[worst] < THICK:
            raise ValueError(f"a {where}, is shorter than {THICK:g} radii: take fewer segments or a thinner wire")
        if ratio[worst] < SLENDER:
            warnings.warn(
                f"a {where}, is {ratio[worst]:.1f} radii long: impedances of wires with segments below {SLENDER:g} "
                "radii are rough",
                AccuracyWarning,
                stacklevel=callers_level(),
            )

    def _require_above_ground(self) -> None:
        if not self.ground:
            return
        z, tolerance = self.ends[..., 2], JOINED * self.segments[:, 6].min()
        if z.min() < -tolerance:
            raise ValueError(f"a wire reaches z = {z.min():g} m, below the ground in z = 0")
        if (flat := np.flatnonzero((np.abs(z) <= tolerance).all(axis=1))).size:
            raise ValueError(f"wire {self.owners[flat[0]]} lies in the ground, z = 0, which short-circuits it: lift it")

    def _require_apart(self) -> None:
        """No two segments are nearer than the sum of their radii, but at a common end."""
        centres, half = self.ends.mean(axis=1), self.segments[:, 6] / 2
        reach = 2 * (half.max() + self.segments[:, 7].max())
        pairs = cKDTree(centres).query_pairs(reach, output_type="ndarray")
        if not len(pairs):
            return
        first, second = pairs.T
        same = self.nodes[first][:, :, None] == self.nodes[second][:, None, :]
        joined = same.any(axis=(1, 2))
        gap = segment_distances(self.ends[first], self.ends[second])
        # of joined ones the distances of the other ends
        ends = [1 - same[joined].any(axis=axis).argmax(axis=1) for axis in (2, 1)]
        others = [self.ends[each[joined], end] for each, end in zip((first, second), ends, strict=True)]
        segments = [self.ends[each[joined]] for each in (first, second)]
        gap[joined] = np.minimum(_from_segment(others[1], segments[0]), _from_segment(others[0], segments[1]))
        near = np.flatnonzero(gap < self.segments[first, 7] + self.segments[second, 7])
        if near.size:
            i, j = first[near[0]], second[near[0]]
            what = "lie on each other" if joined[near[0]] else "touch or cross"
            raise ValueError(
                f"wires {self.owners[i]} and {self.owners[j]} {what} near {centres[i].tolist()} without a common "
                "point at ends of segments there: give both a point, or move them apart"
            )


def segment_distances(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) the distances between segments (m, 2, 3) and (m, 2, 3): between an end and a segment, or where two cross."""
    u, v = first[:, 1] - first[:, 0], second[:, 1] - second[:, 0]
    w = second[:, 0] - first[:, 0]
    uu, vv, uv = (np.einsum("ij,ij->i", a, b) for a, b in ((u, u), (v, v), (u, v)))
    uw, vw = np.einsum("ij,ij->i", u, w), np.einsum("ij,ij->i", v, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = uu * vv - uv**2
        s = np.where(determinant > 1e-12 * uu * vv, (uw * vv - vw * uv) / determinant, 0.0).clip(0, 1)
    t = ((s * uv - vw) / vv).clip(0, 1)
    s = ((t * uv + uw) / uu).clip(0, 1)
    found = np.linalg.norm(first[:, 0] + s[:, None] * u - second[:, 0] - t[:, None] * v, axis=1)
    for end in range(2):
        found = np.minimum(found, _from_segment(second[:, end], first))
        found = np.minimum(found, _from_segment(first[:, end], second))
    return np.asarray(found)


def _from_segment(points: NDArray[np.float64], segments: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) the distances of points (m, 3) from segments (m, 2, 3)."""
    along, offset = segments[:, 1] - segments[:, 0], points - segments[:, 0]
    part = (np.einsum("ij,ij->i", offset, along) / np.einsum("ij,ij->i", along, along)).clip(0, 1)
    return np.asarray(np.linalg.norm(offset - part[:, None] * along, axis=1))
