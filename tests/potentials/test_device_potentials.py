"""Potentials and far fields on an OpenCL device against those of the processor."""

import functools
import warnings

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Execution, get
from calderon.potentials import device as device_field
from calderon.potentials.device import device_sums
from calderon.potentials.sources.point_sources import LAYER_FIELDS
from calderon.quadrature import triangle_rule
from calderon.spaces.element import barycentric
from catalogue import CURRENT_POTENTIALS, GREENS, LAYER_POTENTIALS

PRECISIONS = [("double", 1e-12, np.complex128), ("single", 1e-5, np.complex64)]
CENTRE = np.array([0.3, -0.2, 0.5])


@functools.lru_cache(maxsize=1)
def mesh():
    """An egg off the origin: triangles on its sharp end are eight times smaller than on the blunt one."""
    sphere = cal.mesh.sphere(radius=1.0, h=0.4)
    return cal.TriangleMesh(sphere.vertices * (1.3 + sphere.vertices[:, 2:]) + CENTRE, sphere.triangles)


@functools.lru_cache(maxsize=1)
def points():
    """From the quadrature points of triangles by 1e-3 to 1 of their size to both sides, and anywhere."""
    rng, rule = np.random.default_rng(1), triangle_rule(cal.Quadrature().regular)
    chosen = rng.choice(mesh().number_of_triangles, 90)
    inside = barycentric(rule.points).T[rng.choice(rule.number_of_points, 90)]
    feet = np.einsum("nb,nbc->nc", inside, mesh().vertices[mesh().triangles[chosen]])
    away = np.geomspace(1e-3, 1, 90) * rng.choice([-1, 1], 90) * mesh().diameters[chosen]
    return np.concatenate([feet + away[:, None] * mesh().normals[chosen], 3 * rng.normal(size=(60, 3))])


@functools.lru_cache(maxsize=1)
def directions():
    return np.random.default_rng(2).normal(size=(37, 3))


@functools.lru_cache(maxsize=16)
def layer(name, green):
    density = cal.Function.project(cal.P1(mesh()), lambda x: 1 + x[:, 0] - 1j * x[:, 1] * x[:, 2])
    return LAYER_POTENTIALS[name](GREENS[green], density)


@functools.lru_cache(maxsize=4)
def current(name, wavenumber):
    space, rng = cal.RWG(mesh()), np.random.default_rng(3)
    coefficients = rng.normal(size=space.dimension) + 1j * rng.normal(size=space.dimension)
    return CURRENT_POTENTIALS[name](wavenumber, cal.VectorFunction(space, coefficients))


@functools.lru_cache(maxsize=64)
def of_the_processor(quantity):
    return quantity(directions() if quantity.__name__ == "far_field" else points())


def check(quantity, opencl, precision, bound, kind):
    if precision == "double" and not opencl.has_double:
        pytest.skip(f"{opencl.label} has no double precision")
    expected = of_the_processor(quantity)
    given = directions() if quantity.__name__ == "far_field" else points()
    values = quantity(given, backend="opencl", precision=precision)
    assert values.dtype == kind
    assert np.abs(values - expected).max() < bound * np.abs(expected).max()


WAVES = [("helmholtz", name, quantity) for name in LAYER_POTENTIALS for quantity in ("evaluate", "gradient")]
IN_SINGLE = [("helmholtz", "double", "evaluate"), ("helmholtz", "single", "gradient")]
OTHERS = [(green, "double", "gradient") for green in GREENS if green != "helmholtz"]


@pytest.mark.parametrize(
    ("green", "name", "quantity", "precision", "bound", "kind"),
    [(*each, *PRECISIONS[0]) for each in WAVES + OTHERS] + [(*each, *PRECISIONS[1]) for each in IN_SINGLE],
)
def test_layers_agree_with_the_processor(opencl, green, name, quantity, precision, bound, kind):
    check(getattr(layer(name, green), quantity), opencl, precision, bound, kind)


@pytest.mark.parametrize(("precision", "bound", "kind"), PRECISIONS)
@pytest.mark.parametrize(("name", "wavenumber"), [("electric", 2.0), ("magnetic", 2.0)])
def test_currents_agree_with_the_processor(opencl, name, wavenumber, precision, bound, kind):
    check(current(name, wavenumber).evaluate, opencl, precision, bound, kind)


@pytest.mark.parametrize(
    ("name", "precision", "bound", "kind"),
    [(name, *PRECISIONS[0]) for name in [*LAYER_POTENTIALS, *CURRENT_POTENTIALS]]
    + [(name, *PRECISIONS[1]) for name in ("double", "magnetic")],
)
def test_far_fields_agree_with_the_processor(opencl, name, precision, bound, kind):
    potential = layer(name, "helmholtz") if name in LAYER_POTENTIALS else current(name, 2.0)
    check(potential.far_field, opencl, precision, bound, kind)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_double_layer_of_one_is_minus_one_inside_however_near(opencl, precision):
    """The single precision of the device does not spoil points that are near to triangles of any size."""
    if precision == "double" and not opencl.has_double:
        pytest.skip(f"{opencl.label} has no double precision")
    one = cal.Function(cal.P1(mesh()), np.ones(cal.P1(mesh()).dimension))
    values = cal.double_layer_potential(cal.Laplace(), one).evaluate(points(), "opencl", precision)
    assert values.dtype == (np.float64 if precision == "double" else np.float32)
    assert np.abs(values + mesh().contains(points())).max() < 2e-6


class SmallDevice:
    """A device with little memory that notes what is taken."""

    def __init__(self, device, memory):
        self._device, self._memory, self.taken, self.launches = device, memory, [], 0

    def __getattr__(self, name):
        return getattr(self._device, name)

    def memory(self):
        return self._memory

    def array(self, host):
        self.taken.append(host.nbytes)
        return self._device.array(host)

    def empty(self, shape, dtype):
        self.taken.append(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        return self._device.empty(shape, dtype)

    def launch(self, *arguments):
        self.launches += 1
        self._device.launch(*arguments)


def random_sums(device, size=1.0):
    """2000 monopoles at 700 targets in single precision, by NumPy and by the device, divided by the size of charges."""
    rng = np.random.default_rng(4)
    sources, targets, floors = rng.normal(size=(400, 5, 8)), rng.normal(size=(700, 3)), rng.uniform(0.01, 0.1, 400)
    square = ((targets[:, None] - sources.reshape(-1, 8)[:, :3]) ** 2).sum(axis=2)
    expected = 1 / np.sqrt(np.maximum(square, np.repeat(floors, 5))) @ sources.reshape(-1, 8)[:, 6:]
    sources[..., 6:] *= size
    given = targets, sources, floors, np.zeros(4)
    execution, emission = Execution(np.dtype(np.float32), device), LAYER_FIELDS[False, False]
    return expected @ [1, 1j], device_sums(execution, emission, cal.Laplace(), *given)[:, 0] / size


@pytest.mark.parametrize("memory", [1 << 17, 1 << 18, 1 << 30])
def test_sums_do_not_depend_on_parts_and_fit_the_memory(opencl, memory):
    """In parts of the sources and of the targets as memory allows."""
    device = SmallDevice(opencl, memory)
    expected, values = random_sums(device)
    assert np.abs(values - expected).max() < 1e-5 * np.abs(expected).max()
    assert max(device.taken) <= memory / device_field.LAUNCHES.share
    assert (device.launches > 1) == (memory < 1 << 30)


@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_charges_of_any_size_fit_single_precision(opencl, size):
    expected, values = random_sums(opencl, size)
    assert np.abs(values - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("threads", [1, 1 << 10, 1 << 20])
def test_sources_are_shared_out_among_threads_without_a_change(opencl, monkeypatch, threads):
    monkeypatch.setattr(device_field, "LAUNCHES", device_field.LAUNCHES._replace(threads=threads))
    check(current("electric", 2.0).evaluate, opencl, "single", *PRECISIONS[1][1:])


def test_no_charge_gives_no_field(opencl):
    space = layer("single", "laplace").density.space
    nothing = cal.single_layer_potential(cal.Laplace(), cal.Function(space, np.zeros(space.dimension)))
    assert not nothing.evaluate(points(), "opencl", "single").any()


def test_no_points_give_no_values(opencl):
    assert layer("double", "helmholtz").gradient(np.zeros((0, 3)), "opencl", "single").shape == (0, 3)
    assert current("magnetic", 2.0).far_field(np.zeros((0, 3)), backend="opencl", precision="single").shape == (0, 3)


def test_unresolved_phases_are_reported_in_single_precision_alone(opencl):
    potential, x = layer("single", "helmholtz"), 1e3 * directions()
    with pytest.warns(cal.AccuracyWarning, match="k r reaches .* single precision keeps its phase to"):
        potential.evaluate(x, "opencl", "single")
    dense = cal.single_layer_potential(cal.Helmholtz(100.0), potential.density)
    with pytest.warns(cal.AccuracyWarning, match='use precision="double"') as warned:
        dense.far_field(directions(), backend="opencl", precision="single")
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        potential.evaluate(x, "numba", "single")
        if opencl.has_double:
            potential.evaluate(x, "opencl", "double")


def test_the_processor_computes_in_double_precision_and_returns_the_requested_type():
    for quantity in (layer("double", "helmholtz").gradient, current("electric", 2.0).evaluate):
        values = quantity(points(), precision="single")
        assert values.dtype == np.complex64
        assert (values == of_the_processor(quantity).astype(np.complex64)).all()
    assert layer("single", "helmholtz").far_field(directions(), precision="single").dtype == np.complex64


def test_points_on_the_surface_warn_and_name_the_line(opencl):
    x = np.stack([mesh().centroids[7], 2 * CENTRE])
    with pytest.warns(cal.AccuracyWarning, match="1 of 2 points lie on the surface") as warned:
        layer("double", "laplace").evaluate(x, "opencl", "single")
    assert warned[0].filename == __file__


@pytest.mark.parametrize("potential", [lambda: layer("single", "helmholtz"), lambda: current("electric", 2.0)])
@pytest.mark.parametrize("quantity", ["evaluate", "far_field"])
def test_bad_requests_are_refused(potential, quantity):
    ask = getattr(potential(), quantity)
    with pytest.raises(ValueError, match="unknown backend 'gpu': choose 'numba'"):
        ask(points(), backend="gpu")
    with pytest.raises(ValueError, match="unknown precision 'half': choose 'double' or 'single'"):
        ask(points(), precision="half")
    with pytest.raises(ValueError, match="shape"):
        ask(np.zeros((4, 2)), backend="numba", precision="single")


def test_bad_points_are_refused_on_devices_too(opencl):
    with pytest.raises(ValueError, match="NaN or infinite, the first is number 1"):
        layer("single", "laplace").gradient([[0, 0, 0], [np.nan, 0, 0]], "opencl", "single")
    with pytest.raises(ValueError, match="far field exists for a real wavenumber"):
        layer("single", "laplace").far_field([[0, 0, 1]], backend="opencl", precision="single")


def test_a_device_without_double_precision_says_what_to_do(opencl, monkeypatch):
    monkeypatch.setattr(get("opencl"), "has_double", False)
    with pytest.raises(RuntimeError, match=r"single precision only: choose precision='single', or backend='numba'"):
        layer("single", "laplace").evaluate(points(), backend="opencl")
    assert np.isfinite(layer("single", "laplace").evaluate(points(), backend="opencl", precision="single")).all()
