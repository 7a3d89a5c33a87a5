"""Every variant of the device sources that operators request, found by a request: a device that only takes notes."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Execution, Source
from calderon.backends.devices.fourier import DeviceFourier
from calderon.galerkin.device.nodes import Nodes
from calderon.galerkin.regular.distant import Zones
from calderon.galerkin.rows.device import row_defines
from calderon.galerkin.rows.special_pairs import SpecialPairs
from calderon.hmatrix import Admissibility, Choices, assemble_hmatrix
from calderon.hmatrix.device.batches import source_of
from calderon.mlfmm import medium, sums
from calderon.products.check import Check
from calderon.products.device.octree import DeviceOctree
from catalogue import CURRENT_POTENTIALS, FORMS, GREENS, LAYER_POTENTIALS, LAYERS, NODAL_SPACES


class NoteTaker:
    """A device of zeros. `sources` are those that it was asked to build, `launched` the kernels that it was to run, as
    (path, kernel); only the probe gives numbers, and the search for pairs of triangles, which has some of one rule."""

    label, is_gpu, has_double = "takes notes", True, True

    def __init__(self, name: str = "cuda:0") -> None:
        self.name, self.large = name, threading.RLock()
        self.sources: list[Source] = []
        self.launched: set[tuple[str, str]] = set()

    def memory(self) -> int:
        return 1 << 30

    def array(self, host: Any) -> Any:
        return np.array(host)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.zeros(shape, dtype)

    def to_host(self, array: Any) -> Any:
        return array

    def fetch(self, array: Any) -> Any:
        return lambda: array

    def put(self, host: Any, array: Any, first: int = 0) -> None:
        pass

    def build(self, source: Source) -> Source:
        if source not in self.sources:
            self.sources.append(source)
        return source

    def launch(self, program: Source, kernel: str, threads: Any, group: Any, *arguments: Any) -> None:
        self.launched.add((program.path, kernel))
        blocks = [-(-number // size) for number, size in zip(threads, group, strict=True)]
        assert blocks[0] < 2**31 and max(blocks[1:], default=1) <= 65_535, f"{kernel}: CUDA has no {blocks} groups"
        assert np.prod(group) <= 1024
        if kernel == "probe":
            x, y, _ = arguments
            y[:] = 1 / np.sqrt(x) + 2 * np.exp(-x)
        if kernel in ("find_rules", "count_pairs"):
            *_, found = arguments
            found[0] = 1

    def synchronize(self) -> None:
        pass


Case = Callable[[str, str], Any]
"""Something to compute, given a backend and a precision."""


def every_operator(mesh: Any) -> dict[str, Any]:
    """Every Green's function and form by name, and with one function the layers on every space of values."""
    operators: dict[str, Any] = {}
    for name, green in GREENS.items():
        for form, (build, trial, _, waves) in FORMS.items():
            if form in LAYERS and form != "hypersingular":
                for space in ("P0", "P1", "P2") if name == "helmholtz" else ("P1",):
                    operators[f"{name} {form} {space}"] = build(green, NODAL_SPACES[space](mesh))
            elif green.is_complex or not waves:
                operators[f"{name} {form} {trial}"] = FORMS[form].on(green, mesh)
    return operators


def dense_cases() -> dict[str, Case]:
    """Matrices by name: every Green's function and form; all spaces and other quadrature rules with one of them."""
    mesh = cal.mesh.cube(size=1.0, h=1.0)
    spaces = {"P0": cal.P0(mesh), "P1": cal.P1(mesh), "P2": cal.P2(mesh)}
    operators = every_operator(mesh)
    wave, linear = GREENS["helmholtz"], spaces["P1"]
    for trial, test in (("P1", "P0"), ("P0", "P1"), ("P0", "P2"), ("P2", "P1")):
        operators[f"single_layer {trial} {test}"] = cal.single_layer(wave, spaces[trial], spaces[test])
    for degree in (1, 8):
        rule = cal.Quadrature(regular=degree)
        operators[f"degree {degree}"] = cal.single_layer(wave, linear, quadrature=rule)
    zones = cal.Quadrature(accuracy=0.1)  # waves have distant pairs, too
    for form in ("single_layer", "hypersingular"):
        for name, green in GREENS.items():
            operators[f"{name} {form} with zones"] = getattr(cal, form)(green, linear, quadrature=zones)
    operators["constants with zones"] = cal.single_layer(GREENS["laplace"], spaces["P0"])
    operators["currents with zones"] = cal.electric_field(wave, cal.RWG(mesh), quadrature=zones)
    operators["elastic"] = cal.adjoint_double_layer(cal.Elastostatic(2.5, 0.3), cal.P1(mesh, components=3))
    operators["complex factor"] = (1 + 1j) * cal.single_layer(GREENS["laplace"], linear)
    return {name: partial(_matrix, operator) for name, operator in operators.items()}


def product_cases() -> dict[str, Case]:
    """Products without a matrix by name: of the parts that differ, real, complex, symmetric and of edge functions."""
    mesh = cal.mesh.cube(size=1.0, h=1.0)
    linear, wave = cal.P1(mesh), GREENS["helmholtz"]
    operators: dict[str, Any] = {
        "laplace single_layer": cal.single_layer(GREENS["laplace"], linear),
        "laplace double_layer": cal.double_layer(GREENS["laplace"], linear),
        "helmholtz single_layer": cal.single_layer(wave, linear),
        "helmholtz double_layer": cal.double_layer(wave, linear),
        "electric_field": cal.electric_field(wave, cal.RWG(mesh)),
        "magnetic_field": cal.magnetic_field(wave, cal.RWG(mesh)),
    }
    return {f"product {name}": partial(_products, operator) for name, operator in operators.items()}


def solve_cases() -> dict[str, Case]:
    """Matrices that stay on the device, by name: real and complex, made of all that is put together there."""
    mesh = cal.mesh.cube(size=1.0, h=1.0)
    linear = cal.P1(mesh)
    static, mass = cal.single_layer(GREENS["laplace"], linear), cal.identity(linear)
    wave = cal.double_layer(GREENS["helmholtz"], linear)
    impedance = cal.ImpedanceScattering(mesh, 0.5, lambda x, n: 1.5 + x[:, 2])
    operators = {"real": static + mass, "complex": 1j * mass - wave.T, "scaled": impedance.system.operator}
    return {f"solution {name}": partial(_solution, operator) for name, operator in operators.items()}


def field_cases() -> dict[str, Case]:
    """Potentials by name: values, gradients and, without loss, far fields of layers and of currents."""
    mesh = cal.mesh.cube(size=1.0, h=1.0)
    linear, edges = cal.P1(mesh), cal.RWG(mesh)
    density = cal.Function(linear, np.ones(linear.dimension))
    current = cal.VectorFunction(edges, np.ones(edges.dimension))
    cases: dict[str, Case] = {}
    for name, green in GREENS.items():
        potentials = {layer: build(green, density) for layer, build in LAYER_POTENTIALS.items()}
        if green.is_complex:
            potentials |= {field: build(green, current) for field, build in CURRENT_POTENTIALS.items()}
        for layer, potential in potentials.items():
            for quantity in ("evaluate", "gradient", "far_field"):
                radiates = name == "helmholtz"
                if hasattr(potential, quantity) and (radiates or quantity != "far_field"):
                    cases[f"{name} {layer} {quantity}"] = partial(_values, getattr(potential, quantity))
    return cases


def hmatrix_cases() -> dict[str, Case]:
    """H-matrices by name: the crosses of every Green's function and form; all spaces and other quadrature rules with
    one of them; one matrix as a whole."""
    mesh = cal.mesh.sphere(radius=1.0, h=0.3)
    spaces = {"P0": cal.P0(mesh), "P1": cal.P1(mesh), "P2": cal.P2(mesh)}
    edges = cal.RWG(mesh)
    operators = every_operator(mesh)
    operators["single_layer P1 P0"] = cal.single_layer(GREENS["helmholtz"], spaces["P1"], spaces["P0"])
    for degree in (1, 8):
        rule = cal.Quadrature(regular=degree)
        operators[f"degree {degree}"] = cal.single_layer(GREENS["laplace"], spaces["P1"], quadrature=rule)
        operators[f"magnetic_field degree {degree}"] = cal.magnetic_field(GREENS["helmholtz"], edges, quadrature=rule)
    zones = cal.Quadrature(accuracy=0.1)
    operators["zones of waves"] = cal.hypersingular(GREENS["helmholtz"], spaces["P1"], quadrature=zones)
    operators["zones of currents"] = cal.electric_field(GREENS["helmholtz"], edges, quadrature=zones)
    cases = {f"hmatrix {name}": partial(_approximation, operator) for name, operator in operators.items()}
    return cases | {"hmatrix": partial(_hmatrix, operators["laplace single_layer P1"])}


def fast_cases() -> dict[str, Case]:
    """Fast multipole products by name: one, three and four harmonic sums, in every precision that devices compute in,
    and a sum with a sparse matrix. A thin body has separated leaves."""
    mesh = cal.mesh.ellipsoid([4.0, 0.15, 0.15], 0.15)
    functions, nodes, laplace = cal.P1(mesh), cal.P1(mesh, components=3), GREENS["laplace"]
    elastic = cal.double_layer(cal.Elastostatic(2.5, 0.3), nodes)
    operators = {
        "single_layer": cal.single_layer(laplace, functions) + cal.identity(functions),
        "double_layer": cal.double_layer(laplace, functions),
        "hypersingular": cal.hypersingular(laplace, functions),
        "elastic": elastic,
        "single_layer 4": cal.single_layer(laplace, functions),
    }
    rtols = {"single_layer 4": 1e-4, "elastic": 1e-2, "hypersingular": 1e-3}
    return {f"fmm {name}": partial(_fast, each, rtols.get(name, 9e-5)) for name, each in operators.items()}


def wave_cases() -> dict[str, Case]:
    """Products by plane waves and by equivalent sources, of scalars and of currents."""
    cases: dict[str, Case] = {}
    for name, k, h in (("plane waves", 8.0, 0.13), ("equivalent sources", 0.5, 0.09)):
        green, nodes = cal.Helmholtz(k), cal.P1(cal.mesh.sphere(radius=1.0, h=h))
        edges = cal.RWG(cal.mesh.sphere(radius=1.0, h=0.13))
        layers = cal.double_layer(green, nodes) + 1j * cal.hypersingular(green, nodes)
        fields = cal.electric_field(green, edges) - cal.magnetic_field(green, edges)
        cases |= {f"{name} of {kind}": partial(_waves, each, k == 0.5)
                  for kind, each in (("scalars", layers), ("currents", fields))}  # fmt: skip
    return cases


def sum_cases() -> dict[str, Case]:
    """Sums over points by name: charges, dipoles and both, with gradients; many, so that sums of counts take two
    steps."""
    kinds = {"charges": (True, False, False), "dipoles": (False, True, True), "both": (True, True, True)}
    waves = {
        f"wave sums {name} {k}": partial(_wave_sums, *each, k) for name, each in kinds.items() for k in (9.0, 9 + 1j)
    }
    return {f"point sums {name}": partial(_sums, *each) for name, each in kinds.items()} | waves


def layered_cases() -> dict[str, Case]:
    """The matrix of metal on two interfaces of a stack, and its products by grids, of lengths 2^a 3^b 5^c."""
    plate = cal.mesh.plate((0.4, 0.1), 0.05)
    space = cal.RWG(cal.mesh.merge([plate.translated([0.0, 0.0, z]) for z in (0.03, 0.05)]))
    stack = cal.Stack([cal.Layer(0.03, 2.2), cal.Layer(0.02, 4.0)], below="pec")
    field = cal.layered_electric_field(stack, 3e8, space)
    return {"layered field": partial(_matrix, field), "grids": partial(_grids, field)}


def _grids(operator: Any, backend: str, precision: str) -> None:
    """Products in double precision, or with spectra in single; transforms of passes of all lengths."""
    mixed = "double" if precision == "double" else "mixed"
    device = Execution.of(backend, "double").devices[0]
    DeviceFourier(device, np.float64 if precision == "double" else np.float32, 120)
    operator.assemble("fft", backend=backend, precision=mixed) @ np.ones(operator.shape[1])


def simulation_cases() -> dict[str, Case]:
    """Time stepping of every order that devices take, both fluxes, with open faces, losses, a wave and a current."""
    fluxes = "centred", "upwind"
    return {f"simulation P{n} {flux}": partial(_simulation, n, flux) for n in range(1, 6) for flux in fluxes}


def _simulation(order: int, flux: str, backend: str, precision: str) -> Any:
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1)
    options = {
        "materials": {"vacuum": cal.Material(conductivity=1e-3)},
        "boundaries": {"wall": "absorbing"},
        "sources": [
            cal.CurrentSource("vacuum", [1, 0, 0], np.cos),
            cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], 1e8),
        ],
    }
    simulation = cal.MaxwellDG(mesh, order, flux, backend=backend, precision=precision, **options)
    simulation.run(simulation.time_step)
    return simulation.electric([[0.5, 0.5, 0.5]])


def _approximation(operator: Any, backend: str, precision: str) -> None:
    """The variants alone: tables of singular pairs would take time, too."""
    execution = Execution.of(backend, precision)
    if execution.device is not None:
        pairs = SpecialPairs.search(operator, Execution.of("numba", precision))
        nodes = Nodes.of(pairs, Zones.common([pairs]))
        defines, numbers = row_defines(operator, nodes), execution.dtype(operator.is_complex)
        execution.device.build(source_of("aca", numbers, execution.real, defines))
        for wide in {execution.real, np.dtype(np.float64)}:  # single where a device has no double precision
            execution.device.build(source_of("dense", numbers, wide, defines))
            execution.device.build(source_of("products", numbers, wide))
            execution.device.build(source_of("recompression", numbers, wide))


def _hmatrix(operator: Any, backend: str, precision: str) -> Any:
    choices = Choices(rtol=1e-3, leaf=8, admissibility=Admissibility(eta=8.0))
    matrix = assemble_hmatrix(operator, backend=backend, precision=precision, choices=choices)
    assert matrix.statistics.total.low_rank
    return matrix @ np.linspace(1.0, 2.0, matrix.shape[1])


def _fast(operator: Any, rtol: float, backend: str, precision: str) -> Any:
    """Both ways, with a complex vector."""
    product = operator.assemble("fmm", rtol=rtol, backend=backend, precision=precision)
    assert all(each.levels >= 2 for each in product.info)
    x = np.linspace(1.0, 2.0, product.shape[1])
    return np.stack([product @ (x + 1j), product.rmatvec(x)])


def _waves(operator: Any, small: bool, backend: str, precision: str) -> Any:
    """Both ways, of several columns and of one. small: whether boxes have equivalent sources."""
    rtol = 1e-3 if precision == "single" else 7e-5
    with pytest.MonkeyPatch.context() as patch:
        if small:
            patch.setattr(medium, "LEAVES", medium.LEAVES._replace(factors=()))
        product = operator.assemble("mlfmm", rtol=rtol, backend=backend, precision=precision)
    assert product.levels[0] and (product.levels[0][-1].points > 0) == small
    x = np.linspace(1.0, 2.0, product.shape[1]) + 1j
    return np.stack([*(product @ np.stack([x, x.conj()], axis=1)).T, product.rmatvec(x)])


def _sums(charges: bool, dipoles: bool, gradient: bool, backend: str, precision: str) -> None:
    """By expansions, of an octree of some levels, whose numbers a device that takes notes does not know."""
    points, numbers = np.zeros((70_000, 3)), np.ones(70_000)
    given = numbers if charges else None, np.ones((70_000, 3)) if dipoles else None
    boxes, leaves, lists = [8, 64, 512, 0], [512], [9, 9]
    with pytest.MonkeyPatch.context() as patch:
        found = iter(boxes + leaves + lists)
        patch.setattr(DeviceOctree, "_total", lambda self, places, count: next(found))
        patch.setattr(Check, "errors", lambda *given, **options: np.zeros(2))
        rtol = 1e-3 if precision == "single" else 9e-6
        cal.laplace_sums(points, *given, gradient=gradient, rtol=rtol, backend=backend)


def _wave_sums(charges: bool, dipoles: bool, gradient: bool, k: complex, backend: str, precision: str) -> None:
    """By plane waves, though direct sums would take less time."""
    points = cal.mesh.sphere(radius=1.0, h=0.05).vertices
    given = np.ones(len(points)) if charges else None, k, np.ones((len(points), 3)) if dipoles else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Check, "errors", lambda *given, **options: np.zeros(2))
        patch.setattr(sums, "RULES", sums.RULES._replace(direct=0.0))
        rtol = 1e-3 if precision == "single" else 7e-5
        assert cal.helmholtz_sums(points, *given, gradient=gradient, rtol=rtol, backend=backend).info.levels


def _matrix(operator: Any, backend: str, precision: str) -> Any:
    return operator.assemble("dense", backend=backend, precision=precision).to_array()


def _products(operator: Any, backend: str, precision: str) -> Any:
    """With a vector, from both sides."""
    product = operator.assemble("matrix-free", backend=backend, precision=precision)
    x = np.linspace(1.0, 2.0, product.shape[1])
    return np.stack([product @ x, product.rmatvec(x)])


def _solution(operator: Any, backend: str, precision: str) -> Any:
    """Solution by GMRES with a matrix that stays on a device, and everything else that such a matrix offers."""
    matrix = operator.assemble(backend=backend, precision=precision, keep_on_device=backend != "numba")
    b = np.linspace(1.0, 2.0, matrix.shape[0])
    if backend != "numba":
        matrix.largest_row_sum()
        matrix.taken(np.arange(2), np.arange(2))
    try:
        return cal.gmres(matrix, b, rtol=1e-5, maxiter=1)[0]
    except cal.ConvergenceError as unsolved:  # one step will do
        return np.stack([unsolved.solution, matrix.rmatvec(b)])


def _values(quantity: Any, backend: str, precision: str) -> Any:
    """At points far from the cube, or in directions."""
    directions = np.array([[1.0, 0.0, 0.0], [0.0, -0.6, 0.8]])
    places = directions if quantity.__name__ == "far_field" else 9 * directions
    return quantity(places, backend=backend, precision=precision)
