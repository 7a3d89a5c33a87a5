"""Static fields of bodies whose permittivity or permeability varies from place to place."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from calderon.coupling.coefficients import Coefficient, at_points
from calderon.coupling.elimination import EliminatedSystem, Elimination
from calderon.coupling.finite_elements import DEGREES, FiniteElements
from calderon.coupling.magnetic import MagneticMaterial, MagneticState, Material, NewtonStep, newton
from calderon.exact import VACUUM_PERMITTIVITY
from calderon.formulations.acoustic.sound_equation import of_slopes, of_values
from calderon.formulations.checks import closed_surface
from calderon.formulations.laplace.volume_potential import VolumePotentialSolution
from calderon.formulations.mirrors import SYMMETRIC, Mirrors
from calderon.formulations.options import SolveChoices, SolveOptions, named_options
from calderon.formulations.problem import Problem
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn_of_accuracy
from calderon.operators import blocks
from calderon.operators.blocks import transformed
from calderon.potentials import double_layer_potential, single_layer_potential
from calderon.spaces import Function, Space
from calderon.spaces.space import Tags
from calderon.validation import one_of, real_number
from calderon.waves import CurrentPath, PointCharge, StaticDipole


class Charged(NamedTuple):
    """A source outside, or None, with the charges of electrodes in C; alone: without those in the volume."""

    data: Any
    charges: NDArray[np.float64]
    alone: bool = False


@dataclass(frozen=True, eq=False, init=False)
class InhomogeneousPotential(Problem[VolumePotentialSolution]):
    """The static potential u of a body of varying permittivity, or permeability, in free space: finite elements inside,
    boundary elements outside,

        -div(eps grad u) = rho / eps0 inside,      u and eps du/dn continuous,      eps = 1 outside.

    With T the values on the boundary, A the matrix of the volume, M that of the pairing <v, lambda>, lambda = du/dn on
    the outside, n the normal out of the body and eta half the diameter over the largest eps, at least 1,

        A u - T' M lambda = F,
        (I/2 - K + eta D) T u + (V + eta (I/2 + K')) lambda = u_0 + eta du_0/dn.

    volume: a `TetrahedralMesh` in m, a `MeshTet` of scikit-fem, or (points, tetrahedra). permittivity: relative, or
    permeability=: a number, a table {tag or name of a material: number}, or f(x) of points (n, 3) with values (n,) or
    tensors (n, 3, 3); of iron that saturates a `MagnetizationCurve` instead of a number. charge_density: rho in
    C/m^3 inside, likewise. remanence: B_r in T of permanent magnets, B = mu0 mu H + B_r, a vector, a table or f(x)
    with vectors (n, 3), with permeability=. electrodes: {name:
    tags} of the boundary, of the body or of holes in it, that is metal, at one potential each; with permittivity=.
    space: "P1" or "P2"; linear functions in magnetic shields need far finer meshes. mirrors: planes of coordinates
    in which u is "even" (as where a field is along the plane) or "odd" (across it), {"z": "odd"}: the volume is the
    part on one side, charge_density is as even or odd, and so is a potential whose gradient remanence is; solutions
    are those of the whole; without electrodes.

    Curves are solved for by Newton's iteration: each step is a linear material, whose volume is eliminated anew next to
    the same boundary operators.

    Data: a `UniformField`, or another source outside with `potential(x)` and `gradient(x)`: u_0; of a permeability
    also a `CurrentPath` of field H_0 outside of the body, where u is the reduced potential, H = H_0 - grad u, with
    u_0 = 0 and F = int (mu - 1) H_0 . grad v; None for charges or magnets alone.
    """

    volume: Any = None
    permittivity: Any = None
    permeability: Any = None
    charge_density: Any = None
    remanence: Any = None
    electrodes: Any = None
    space: Literal["P1", "P2"] = "P2"
    mirrors: Mirrors = None

    elements: ClassVar[FiniteElements]
    state: ClassVar[MagneticState]
    title: ClassVar[str] = "static potential of an inhomogeneous body"
    pair_bytes: ClassVar[int] = 16  # real entries and factors

    def __init__(
        self,
        volume: Any,
        permittivity: Coefficient | None = None,
        *,
        permeability: Material | None = None,
        charge_density: Coefficient | None = None,
        remanence: ArrayLike | Mapping[int | str, ArrayLike] | Callable[[NDArray[np.float64]], Any] | None = None,
        electrodes: Mapping[str, Tags] | None = None,
        space: Literal["P1", "P2"] = "P2",
        mirrors: Mirrors = None,
    ) -> None:
        elements = FiniteElements.of(volume, DEGREES[one_of(space, tuple(DEGREES), "space")], mirrors)
        elements.surface.require_planes("InhomogeneousPotential")
        if (permittivity is None) == (permeability is None):
            raise ValueError("give either permittivity= or permeability=, relative to those around")
        if electrodes is not None and not isinstance(electrodes, Mapping):
            raise TypeError(f"electrodes is a table {{name: tags}} of metal, got {electrodes!r}")
        if electrodes and mirrors:
            raise ValueError("electrodes= have no mirrors here: give the whole volume")
        if permeability is not None and (charge_density is not None or electrodes):
            raise ValueError("charge_density= and electrodes= belong to permittivity=: magnetic charges do not exist")
        if permittivity is not None and remanence is not None:
            raise ValueError("remanence= belongs to permeability=: it is that of permanent magnets")
        given = {
            "volume": elements.volume, "permittivity": permittivity, "permeability": permeability,
            "charge_density": charge_density, "remanence": remanence, "electrodes": dict(electrodes or {}),
            "space": space, "elements": elements, "mirrors": mirrors,
        }  # fmt: skip
        self.__dict__.update(given)
        closed_surface(elements.surface.whole, "InhomogeneousPotential")
        self.__dict__["state"] = self.material.initial
        _ = self._joined, self.system

    @property
    def mesh(self) -> TriangleMesh:
        """The boundary of the volume, with mirrors the part that is given."""
        return self.elements.surface.part

    @property
    def function_space(self) -> Space:
        """The functions on the boundary."""
        return self.elements.space

    @property
    def kind(self) -> str:
        """ "electric" or "magnetic"."""
        return "electric" if self.permeability is None else "magnetic"

    @cached_property
    def eta(self) -> float:
        """The coupling of both rows in m: half the diameter over the largest constant of the material, at least 1. In
        shields the row of du/dn, whose normal jumps between triangles, is the less accurate one; in bodies of low
        permeability in a medium of a higher one it is the better one."""
        constant = self.material.initial.slope
        largest = constant if constant.ndim == 2 else np.linalg.eigvalsh(constant)
        return float(self.elements.surface.whole.diameter / 2 / max(1.0, largest.max()))

    @cached_property
    def material(self) -> MagneticMaterial:
        """The material at the points of quadrature."""
        name = ("permittivity", "permeability")[self.permittivity is None]
        return MagneticMaterial(getattr(self, name), self.remanence, self.volume, self.elements.points, name)

    @cached_property
    def elimination(self) -> Elimination:
        """The volume, whose factors are made when they are first needed."""
        elements, robin, joined = self.elements, self.elements.robin(self.eta), self._joined
        matrix = sp.csr_array(joined.T @ elements.stiffness(self.state.slope) @ joined)
        return Elimination(matrix, elements.trace @ joined, elements.pairing, lambda: robin, robin)

    @cached_property
    def _joined(self) -> sp.csr_array:
        """(N, unknowns) functions of the unknowns in the volume: those that no electrode has, then the sum of those of
        each electrode."""
        elements, mesh, space = self.elements, self.mesh, self.function_space
        owner = np.full(elements.dimension, -1)
        for number, (name, tags) in enumerate(self.electrodes.items()):
            on_surface = np.unique(space.dofs[np.isin(mesh.tags[space.triangles], mesh.tag_numbers(tags))])
            nodes = elements.trace.indices[elements.trace.indptr[on_surface]]
            if (owner[nodes] >= 0).any():
                other = list(self.electrodes)[owner[nodes].max()]
                raise ValueError(f"electrodes {other!r} and {name!r} touch: they are one piece of metal, name it once")
            owner[nodes] = number
        free = (owner < 0) & elements.free()
        columns = np.where(free, np.cumsum(free) - 1, free.sum() + owner)
        size = int(free.sum()) + len(self.electrodes)
        kept = np.flatnonzero((owner >= 0) | free)
        return sp.csr_array((np.ones(len(kept)), (kept, columns[kept])), (len(owner), size))

    def _build_system(self) -> EliminatedSystem:
        green, eta, values, derivatives = Laplace(), self.eta, self.elements.values, self.elements.derivatives
        value = of_values(green, values.space, derivatives.part, eta)
        slope = of_slopes(green, derivatives.space, derivatives.part, eta)
        rows = blocks([[transformed(value, right=values.images), transformed(slope, right=derivatives.images)]])
        text = (
            "A u = F + T' M lambda, (I/2 - K + eta D) T u + (V + eta (I/2 + K')) lambda = u_0 + eta du_0/dn, "
            f"eta = {eta:.4g} m"
        )
        return EliminatedSystem(text, rows, (derivatives,), elimination=self.elimination)

    @named_options
    def solve(
        self,
        data: Any = None,
        voltages: Mapping[str, float] | None = None,
        charges: Mapping[str, float] | None = None,
        **options: Unpack[SolveChoices],
    ) -> VolumePotentialSolution:
        """Solve for a source outside, or None, and electrodes. voltages: {electrode: potential in V} against 0 far
        away; charges: {electrode: charge in C} of floating metal, 0 by default. Options as in `Problem.solve`.
        ValueError for unknown electrodes, and for those with both."""
        held, floating = (self._values(given, name) for given, name in ((voltages, "voltages"), (charges, "charges")))
        if both := sorted(set(held) & set(floating)):
            raise ValueError(f"electrodes {both} have a voltage and a charge: one determines the other")
        total = np.zeros(len(self.electrodes))
        total[list(floating)] = list(floating.values())
        if held:
            rows = list(held)
            left = np.array(list(held.values()))
            if data is not None or self.charge_density is not None or total.any():
                left = left - self._potentials([Charged(data, total)], options)[rows, 0]
            total[rows] = np.linalg.solve(self._responses(options)[np.ix_(rows, rows)], left)
        return self.solve_all([Charged(data, total)], **options)[0]

    @named_options
    def capacitance_matrix(self, **options: Unpack[SolveChoices]) -> NDArray[np.float64]:
        """C (electrodes, electrodes) in F, Q_i = sum_j C_ij U_j (Maxwell's form), of potentials against 0 far away.
        Options as in `solve`. ValueError without electrodes."""
        if not self.electrodes:
            raise ValueError("the problem has no electrodes: give electrodes={name: tags}")
        return np.asarray(np.linalg.inv(self._responses(options)))

    def _responses(self, options: Any) -> NDArray[np.float64]:
        """(electrodes, electrodes) potentials by charges of 1 C on one electrode each, without other charges."""
        units = [Charged(None, row, alone=True) for row in np.eye(len(self.electrodes))]
        return self._potentials(units, options)

    def _potentials(self, data: list[Any], options: Any) -> NDArray[np.float64]:
        """(electrodes, m) potentials of electrodes."""
        return np.array([list(each.voltages.values()) for each in self.solve_all(data, **options)]).T

    def _values(self, given: Mapping[str, float] | None, name: str) -> dict[int, float]:
        """{number of an electrode: value} of a table by name."""
        names = list(self.electrodes)
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{name} is a table {{electrode: value}}, got {given!r}")
        return {names.index(one_of(key, names, "electrode")): real_number(value, name)
                for key, value in (given or {}).items()}  # fmt: skip

    def _checked(self, data: Any) -> Any:
        given = data if isinstance(data, Charged) else Charged(data, np.zeros(len(self.electrodes)))
        data = given.data
        if data is None and self.charge_density is None and self.remanence is None and not given.charges.any():
            raise ValueError(
                "nothing excites the field: give a UniformField, a CurrentPath, charge_density=, remanence=, or "
                "electrodes= with voltages= or charges="
            )
        if isinstance(data, CurrentPath):
            if self.kind == "electric":
                raise ValueError("a CurrentPath makes a magnetic field: give permeability=")
        elif isinstance(data, PointCharge | StaticDipole):
            raise TypeError(
                f"a {type(data).__name__} next to a body of varying material is not provided: see StaticProblem"
            )
        elif data is not None and not (hasattr(data, "potential") and hasattr(data, "gradient")):
            raise TypeError(f"a static potential is excited by a UniformField or a CurrentPath, got {data!r}")
        return given

    def _load(self, given: "Charged") -> NDArray[np.float64]:
        """F (unknowns,) in the volume."""
        elements, load, own = self.elements, np.zeros(self.elements.dimension), self._own_field(given.data)
        if own.any() or self.state.offset.any():
            load = load + elements.flux_load(self.state.flux_density(own) - own)
        if self.charge_density is not None and not given.alone:
            density = at_points(self.charge_density, self.volume, elements.points, "charge_density")
            load = load + elements.load(np.real(density)) / VACUUM_PERMITTIVITY
        joined = self._joined.T @ load
        joined[len(joined) - len(given.charges) :] += given.charges / VACUUM_PERMITTIVITY
        return np.asarray(joined)

    def _own_field(self, data: Any) -> NDArray[np.float64]:
        """H_0 (nt, q, 3) of a current path at the points of quadrature, 0 of other data."""
        points = self.elements.points
        if not isinstance(data, CurrentPath):
            return np.zeros(points.shape)
        self._require_symmetry(data)
        return data.magnetic_field(points.reshape(-1, 3)).reshape(points.shape)

    def _require_symmetry(self, path: CurrentPath) -> None:
        """ValueError for a current path whose field is not as even or odd as mirrors say."""
        surface, points = self.elements.surface, self.elements.volume.centroids
        if surface.mirrored is None:
            return
        own = path.magnetic_field(points)
        for signs, parity in zip(surface.mirrored.signs, surface.parities, strict=True):
            difference = np.abs(path.magnetic_field(points * signs) - parity * signs * own).max()
            if difference > SYMMETRIC * np.abs(own).max():
                raise ValueError(
                    f"the field of the current path is not as even or odd as mirrors={self.mirrors} say: give its "
                    "images as well, or the whole volume"
                )

    def _prepare(self, options: SolveOptions) -> float:
        return self.system.assemble(options)  # whose products right-hand sides of sources inside need

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        functions, given = self.elements.derivatives, data
        data, found = given.data, np.zeros(functions.dimension)
        if data is not None and not isinstance(data, CurrentPath):
            loads = functions.space.loads()
            derivative = np.einsum("ni,ni->n", data.gradient(loads.points), loads.normals)
            tested = np.asarray(loads @ data.potential(loads.points) + self.eta * (loads @ derivative))
            self.elements.surface.require_symmetry(functions, tested, self.mirrors)
            found = tested[functions.functions]
        load = self._load(given)
        if load.any():
            found = found - self.system.assembled @ self.elimination.of_load(load)
        return np.asarray(found)

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> VolumePotentialSolution:
        elements, elimination, unit = self.elements, self.elimination, {"electric": "V", "magnetic": "A"}[self.kind]
        inside = elimination.volume(coefficients[:, None], self._load(data)[:, None])[:, 0]
        value, metal = elimination.trace @ inside, inside[len(inside) - len(self.electrodes) :]
        voltages, charges = (dict(zip(self.electrodes, map(float, x), strict=True)) for x in (metal, data.charges))
        slope = elimination.primary(coefficients, value)
        surface = Function(elements.space, elements.values.extended(value), "potential", unit)
        slope, slopes = elements.derivatives.extended(slope), elements.slopes
        derivative = Function(slopes, slope, "normal derivative of the potential", f"{unit}/m")
        negative = Function(slopes, -slope, derivative.label, derivative.unit)
        layers = double_layer_potential(Laplace(), surface), single_layer_potential(Laplace(), negative)
        interior = elements.function(self._joined @ inside, "potential", unit)
        return VolumePotentialSolution(
            data.data, self.kind, info, surface, derivative, layers, interior, voltages, charges
        )

    def _solve(self, data: list[Any], options: SolveOptions) -> list[VolumePotentialSolution]:
        if not self.material.curves:
            return super()._solve(data, options)
        return [self._saturated(self._checked(one), options) for one in data]

    def _saturated(self, data: Any, options: SolveOptions) -> VolumePotentialSolution:
        """The solution with curves, by Newton's iteration over linear materials."""
        own, scale, last = self._own_field(data.data), self.elimination.matrix.diagonal(), self

        def step(state: MagneticState) -> NewtonStep:
            nonlocal last
            last = self._linear(state)
            seconds = last._prepare(options)
            x, (info,) = last.system.solve(last._right_hand_side(data)[:, None], options)
            inside = last.elimination.volume(x, last._load(data)[:, None])[:, 0]
            slope = last.elimination.primary(x[:, 0], last.elimination.trace @ inside)
            return NewtonStep(inside, slope, x[:, 0], replace(info, assembly_seconds=info.assembly_seconds + seconds))

        def field(inside: NDArray[np.float64]) -> NDArray[np.float64]:
            return own - self.elements.gradients(self._joined @ inside)

        def imbalance(inside: NDArray[np.float64], slope: NDArray[np.float64]) -> tuple[float, float]:
            """The norms of int (B / mu0 - H_0) . grad v + <v, lambda>, which is 0, and of its second part."""
            flux = self.elements.flux_load(self.material.flux_density(field(inside)) - own)
            through = self.elimination.trace.T @ (self.elements.pairing @ slope)
            total = self._joined.T @ flux + through
            return float(np.sqrt((total**2 / scale).sum())), float(np.sqrt((through**2 / scale).sum()))

        found = newton(self.material, step, field, imbalance, options.rtol)
        if (share := self.material.beyond(field(found.inside))) > 1:
            warn_of_accuracy(
                f"H is {share:.3g} times as large as the last point of a curve that still rises there: add points up "
                "to saturation, where B grows by mu0 H alone"
            )
        return last._solution(data, found.unknowns, found.info)

    def _linear(self, state: MagneticState) -> "InhomogeneousPotential":
        """The problem with a linear material, and the boundary operators of this one."""
        if state is self.state:
            return self
        found = copy(self)
        found.__dict__.pop("elimination", None)
        found.__dict__.pop("system", None)
        found.__dict__["state"] = state
        system: Any = self.system
        found.__dict__["system"] = system.with_volume(found.elimination)
        return found

    @property
    def _details(self) -> tuple[str, ...]:
        return (self.elements.description,)
