"""Metal between the layers of a stack: its ports, loads and functions, at any frequency."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.formulations.checks import warn_long_edges
from calderon.formulations.planar.ends import require_ends
from calderon.formulations.ports.board_slots import EdgePort, Lumped
from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.formulations.ports.gaps import DeltaGap, WireGap
from calderon.formulations.ports.line_port import LinePort
from calderon.formulations.ports.probe import ProbePort, warn_of_planes
from calderon.layers import Conductor, Sections, Stack, SurfaceImpedance
from calderon.layers.parts import FLAT, UPRIGHT, feet_of
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import MeshError
from calderon.quadrature import Quadrature
from calderon.spaces import RWG, EdgeSpace, half_functions
from calderon.validation import describe, instance, list_of
from calderon.view import Described

Port = ProbePort | EdgePort | DeltaGap | LinePort
PORTS = "ports are a list of ProbePort, EdgePort, DeltaGap and LinePort"


@dataclass(frozen=True, eq=False)
class Board(Described):
    """Thin metal in a stack of layers, fed at ports; the fields are those of `PlanarProblem`."""

    stack: Stack
    mesh: TriangleMesh
    ports: Sequence[Port] = ()
    sheet: complex | SurfaceImpedance | Conductor = field(default=0.0, kw_only=True)
    loads: Sequence[Lumped] = field(default=(), kw_only=True)
    quadrature: Quadrature = field(default_factory=Quadrature, kw_only=True)

    def __post_init__(self) -> None:
        instance(self.stack, Stack, "the layers must be a Stack")
        instance(self.mesh, TriangleMesh, "a planar problem needs a TriangleMesh")
        object.__setattr__(self, "ports", list_of(self.ports, Port, PORTS))
        for one, other in itertools.combinations(self.probes, 2):
            if np.hypot(*np.subtract(one.place, other.place)) < one.radius + other.radius:
                raise ValueError(f"probes at {one.place!r} and {other.place!r} m touch: move one of them")
        if not isinstance(self.sheet, SurfaceImpedance | Conductor):
            object.__setattr__(self, "sheet", SurfaceImpedance(self.sheet))
        loads = (self.loads,) if isinstance(self.loads, Lumped) else tuple(self.loads)
        if not all(isinstance(each, Lumped) for each in loads):
            raise TypeError(f"loads are a list of Lumped, got {describe(self.loads)}")
        if any(isinstance(each.gap, WireGap | FiniteGap) for each in loads):
            raise TypeError(
                "a load in a WireGap or FiniteGap is not one of metal on a board: give a DeltaGap or an EdgePort"
            )
        object.__setattr__(self, "loads", loads)
        overlap = np.count_nonzero(np.count_nonzero(np.hstack([self.weights, self.load_weights]), axis=1) > 1)
        if overlap:
            raise ValueError(f"ports and loads share {overlap} edges: each edge belongs to one of them at most")

    @property
    def _is_flat(self) -> bool:
        """Whether no metal is vertical."""
        return bool(np.all(np.abs(self.mesh.normals[:, 2]) >= UPRIGHT))

    @cached_property
    def _sections(self) -> Sections:
        """The layers, for what does not depend on the frequency."""
        return self.stack.at(1e9)

    @property
    def probes(self) -> list[ProbePort]:
        """The ports that are probes."""
        return [port for port in self.ports if isinstance(port, ProbePort)]

    @cached_property
    def height(self) -> float:
        """z in m of the lowest horizontal metal, where probes end; the top of the stack if there is none."""
        flat = self.mesh.triangles[np.abs(self.mesh.normals[:, 2]) >= UPRIGHT]
        if not len(flat):
            return self.stack.top
        z = float(self.mesh.vertices[flat, 2].min())
        faces = self.stack.interfaces
        nearest = float(faces[np.abs(faces - z).argmin()])
        if abs(nearest - z) > FLAT * np.ptp(self.mesh.vertices, axis=0).max():
            heights = ", ".join(f"{1e3 * face:g}" for face in faces)
            raise MeshError(
                f"the lowest metal is at z = {1e3 * z:g} mm, and interfaces of the stack are at {heights} mm: move the "
                f"mesh, for example by z=stack.top, here {self.stack.top:g} m, or split the layer at its height"
            )
        return nearest

    @cached_property
    def metal(self) -> EdgeSpace:
        """RWG functions of the metal, with contacts, and those that flow into walls."""
        mesh = self.mesh
        if self.probes and not self._is_flat:
            raise ValueError(
                "ProbePort is a thin current next to horizontal metal alone: with vertical metal, let the probe be a "
                "planar.via with an EdgePort(around=(x, y, radius))"
            )
        require_ends(self._sections, mesh)
        warn_of_planes(self.probes, mesh, self.stack, self.height)
        for probe in self.probes:
            mesh = probe.inserted(mesh, self.height)
        feet = feet_of(self._sections, mesh)
        return half_functions(mesh, feet) if len(feet) else RWG(mesh)

    @cached_property
    def function_space(self) -> EdgeSpace:
        """RWG functions of the metal, with contacts, those that flow into walls, and the currents of probes."""
        space = self.metal
        for probe in self.probes:
            space = probe.attached(space, self.height)
        return space

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """(dimension, ports): the currents of the ports are weights^T coefficients."""
        whole, dimension = self.metal, self.function_space.dimension
        out = np.zeros((dimension, len(self.ports)))
        probes = iter(range(whole.dimension, dimension))
        for number, port in enumerate(self.ports):
            if isinstance(port, ProbePort):
                out[next(probes), number] = 1
            else:
                out[: whole.dimension, number] = port.weights(whole)
        return out

    @cached_property
    def load_weights(self) -> NDArray[np.float64]:
        """(dimension, loads), as `weights`."""
        whole, out = self.metal, np.zeros((self.function_space.dimension, len(self.loads)))
        for number, load in enumerate(self.loads):
            gap: Any = load.gap
            out[: whole.dimension, number] = gap.weights(whole)
        return out

    def local_part(self, frequency: float) -> sp.csr_array:
        """Terms of the sheet impedance, between functions with common triangles, and of loads, between all functions of
        one gap."""
        sheet: Any = self.sheet
        space = self.function_space
        impedance = sheet.impedance(frequency) / VACUUM_IMPEDANCE
        out = -impedance * space.mass_matrix() if impedance else sp.csr_array((space.dimension,) * 2, dtype=complex)
        for load, weights in zip(self.loads, self.load_weights.T, strict=True):
            across = sp.csr_array(weights[:, None])
            out = out - load.impedance_at(frequency) / VACUUM_IMPEDANCE * (across @ across.T)
        return sp.csr_array(out)

    @cached_property
    def horizontal(self) -> NDArray[np.int64]:
        """Numbers of the functions of horizontal metal alone."""
        space = self.metal
        return np.flatnonzero((space.sides >= 0).all(axis=1) & ~self._is_upright[space.pairs].any(axis=1))

    @cached_property
    def others(self) -> NDArray[np.int64]:
        """Numbers of all others: of vertical metal, and of probes, which are last."""
        return np.setdiff1d(np.arange(self.function_space.dimension), self.horizontal)

    @cached_property
    def _touched(self) -> NDArray[np.int64]:
        """Numbers of the layers next to metal, and those that probes pass."""
        mesh, sections = self.metal.mesh, self._sections
        z = mesh.vertices[mesh.triangles, 2]
        touched = sections.touching(z.min(axis=1), z.max(axis=1), FLAT * float(np.ptp(mesh.vertices, axis=0).max()))
        passed = np.flatnonzero(sections.high <= self.height) if self.probes else touched
        return np.union1d(touched, passed)

    @cached_property
    def _is_upright(self) -> NDArray[np.bool_]:
        """By triangles, those of contacts included."""
        return np.asarray(np.abs(self.metal.mesh.normals[:, 2]) < UPRIGHT)

    def warn_of_coarse_meshes(self, frequency: float) -> None:
        """AccuracyWarning for edges above an eighth of the wavelength in the densest medium next to metal."""
        warn_long_edges(self.mesh, self.stack.at(frequency).densest_of(self._touched))

    @property
    def brief(self) -> str:
        """Numbers of ports and unknowns."""
        return f"{len(self.ports)} port(s), {self.function_space.dimension} unknowns"

    def __str__(self) -> str:
        return f"{self.brief} on\n{self.mesh}\n{self.stack}"
