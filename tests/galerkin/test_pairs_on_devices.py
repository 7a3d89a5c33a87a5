"""Touching and near pairs that a device finds, lists and integrates are those of the processor."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Execution
from calderon.galerkin.device.special_pairs import DeviceSpecialPairs
from calderon.galerkin.rows.special_pairs import SpecialPairs

GREEN = cal.Laplace()
SPHERE = cal.mesh.sphere(radius=1.0, h=0.3)
LINEAR, CONSTANT = cal.P1(SPHERE), cal.P0(SPHERE)


def merged(*parts):
    return cal.P1(cal.mesh.merge([mesh.translated([0.0, 0.0, z]) for mesh, z in parts]))


PLATE = cal.mesh.plate((1.0, 1.0), h=0.2)
LAYERS = merged((PLATE, 0.0), (PLATE, 0.03), (PLATE, 0.0301))
"""Pairs that are cut into parts, and close ones."""
SIZES = merged((PLATE, 0.0), (cal.mesh.plate((0.02, 0.02), h=0.002), 0.001), (cal.mesh.plate((0.9, 0.9), h=0.05), 0.1))
"""Triangles that reach many cells of others."""
NEEDLES = cal.P1(cal.mesh.cylinder(0.02, 1.0, 0.02))
STRETCHED = cal.BC(cal.mesh.cube(size=1.0, h=1.0)).base
"""Triangles whose touching pairs have numbers of points in coarse steps."""
CASES = {
    "one space": (cal.single_layer(GREEN, LINEAR), "double"),
    "idle pairs": (cal.double_layer(GREEN, LINEAR), "double"),
    "two spaces": (cal.double_layer(GREEN, LINEAR, CONSTANT), "double"),
    "parts": (cal.single_layer(GREEN, LAYERS), "double"),
    "sizes": (cal.single_layer(GREEN, SIZES), "double"),
    "long body": (cal.single_layer(GREEN, NEEDLES), "double"),
    "coarse steps": (cal.electric_field(1.0, STRETCHED), "double"),
    "long waves": (cal.single_layer(cal.Helmholtz(9.0), LINEAR), "double"),
    "single precision": (cal.single_layer(GREEN, SIZES), "single"),
}
BOUNDS = {"double": 1e-12, "single": 1e-5}


def local_matrices(numbers, real, imaginary):
    """(n, A, B) of layers (layers, A, B, count)."""
    found = real if real.shape != imaginary.shape else real + 1j * imaginary
    return found.transpose(0, 3, 1, 2).reshape(-1, *found.shape[1:3])[numbers]


def lists(pairs):
    """Skips and numbers of pairs in the order of triangles."""
    sides = (np.arange(len(side.triangles)) for side in (pairs.test, pairs.trial))
    return [pairs.device.to_host(each) for each in pairs.there.listed(*sides)]


@pytest.mark.parametrize("name", CASES)
def test_lists_and_local_matrices(opencl, name):
    """Each pair of the processor, in both orders where one stands for both, and no other one."""
    form, precision = CASES[name]
    execution = Execution.of("numba", precision)
    here = SpecialPairs.of(form, execution)
    there = DeviceSpecialPairs.on(opencl, form, execution, None, 1.0, execution.dtype(form.is_complex))
    count = len(there.test.triangles)
    skips, numbers = lists(there)
    first, second = np.repeat(np.arange(count), np.diff(skips[: count + 1])), skips[count + 1 :]
    assert np.all((np.diff(second) > 0) | (np.diff(first) > 0))  # increasing for each triangle
    # those of the processor, by first and second triangle
    pairs, matrices = here.triangles(here.batches).astype(np.int64), here.values(here.batches)
    if here.in_one_order:
        other = pairs[:, 0] != pairs[:, 1]
        pairs = np.concatenate([pairs, pairs[other, ::-1]])
        matrices = np.concatenate([matrices, matrices[other].swapaxes(1, 2)])
    keys, place = np.unique(pairs @ [count, 1], return_inverse=True)
    expected = np.zeros((len(keys), *matrices.shape[1:]), matrices.dtype)
    np.add.at(expected, place, matrices)  # parts of a pair add up
    # those of the device, but for idle ones
    own = np.where(numbers < 0, -1 - numbers, numbers)
    acts = own < there.specials
    assert np.count_nonzero(~acts) == len(here.idle)
    assert np.array_equal((first * count + second)[acts], keys)
    found = local_matrices(own[acts], *map(opencl.to_host, there.matrices))
    found = np.where(numbers[acts, None, None] < 0, found.swapaxes(1, 2), found)
    assert np.abs(found - expected).max() < BOUNDS[precision] * np.abs(expected).max()


def test_a_search_serves_other_forms_on_the_same_triangles(opencl):
    """A search for a form with half of the pairs, whose triangles have no order, serves no form with all of them."""
    execution = Execution.of("numba", "double")

    def pairs(name, found):
        return DeviceSpecialPairs.on(opencl, CASES[name][0], execution, found, 1.0, execution.dtype(False))

    half = pairs("one space", None)
    whole = pairs("idle pairs", half.found)
    assert whole.found is not half.found
    again = pairs("idle pairs", whole.found)
    assert again.found is whole.found
    assert np.array_equal(*(lists(each)[0] for each in (again, whole)))


CROSSED = cal.TriangleMesh(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, -0.5], [0.3, 0.4, 0.5], [0.4, 0.3, 0.5]], [[0, 1, 2], [3, 4, 5]]
)


@pytest.mark.parametrize("mesh", [cal.mesh.merge([PLATE, PLATE]), CROSSED])
def test_overlapping_triangles_are_refused(opencl, mesh):
    """Triangles that lie on each other, and triangles that pass through each other."""
    execution, form = Execution.of("numba", "double"), cal.single_layer(GREEN, cal.P0(mesh))
    with pytest.raises(cal.mesh.MeshError, match="pass through or lie on each other"):
        DeviceSpecialPairs.on(opencl, form, execution, None, 1.0, execution.dtype(False))
