"""Equal requests for a space of one mesh give one object, which lives as long as it is in use."""

import gc
import weakref

import numpy as np
import pytest

import calderon as cal
from catalogue import NODAL_SPACES, SPACES


@pytest.fixture
def halves():
    mesh = cal.mesh.sphere(1.0, 0.6)
    return cal.TriangleMesh(
        mesh.vertices, mesh.triangles, (mesh.centroids[:, 2] > 0).astype(int), {"low": 0, "high": 1}
    )


@pytest.mark.parametrize("make", SPACES.values())
def test_spaces_of_one_mesh_are_one_object_and_those_of_another_are_not(make, halves):
    space = make(halves)
    assert make(halves) is space
    assert make(cal.TriangleMesh(halves.vertices, halves.triangles, halves.tags)) is not space


@pytest.mark.parametrize("make", [*NODAL_SPACES.values(), cal.RWG, cal.SNC])
def test_the_support_counts_and_not_how_it_is_named(make, halves):
    part = make(halves, "low")
    assert make(halves, 0) is part
    assert make(halves, ["low"]) is part
    assert make(halves, [0, "low"]) is part
    assert make(halves, "high") is not part
    assert make(halves) is not part
    assert make(halves, ["high", 0]) is make(halves)


@pytest.mark.parametrize("make", [cal.P1, cal.P2])
def test_functions_on_the_boundary_distinguish_spaces_where_there_is_one(make, halves):
    open_surface = cal.mesh.plate([1.0, 1.0], 0.4)
    inside, everywhere = make(open_surface, boundary=False), make(open_surface)
    assert inside.dimension < everywhere.dimension
    assert make(open_surface, boundary=False) is inside
    assert make(halves, boundary=False) is make(halves, boundary=True)
    assert make(halves, "low", boundary=False) is not make(halves, "low")


def test_rotated_and_refined_spaces_are_found_again(halves):
    rwg, dual = cal.RWG(halves), cal.BC(halves)
    rotated, rotated_dual = cal.SNC(halves), cal.RBC(halves)
    assert rwg.perpendicular() is rotated
    assert rotated.perpendicular() is rwg
    assert dual.perpendicular() is rotated_dual
    assert rotated_dual.perpendicular() is dual
    refined = rwg.refined()
    assert rwg.refined() is refined
    assert rotated.refined().perpendicular() is refined
    assert refined.base is dual.base  # a closed surface: no half functions on its boundary


def test_open_dual_spaces_have_half_functions_that_refined_ones_lack():
    plate = cal.mesh.plate([1.0, 1.0], 0.4)
    rwg, dual = cal.RWG(plate), cal.BC(plate)
    refined = rwg.refined()
    assert dual.base is not refined.base
    assert dual.base.dimension > refined.base.dimension


def test_operators_on_spaces_asked_for_twice_add_and_are_symmetric(halves):
    green = cal.Helmholtz(1.0)
    total = (cal.identity(cal.P1(halves)) + cal.single_layer(green, cal.P1(halves))).assemble().to_array()
    space = cal.P1(halves)
    once = (cal.identity(space) + cal.single_layer(green, space)).assemble().to_array()
    np.testing.assert_allclose(total, once, rtol=1e-13, atol=1e-15)
    assert cal.single_layer(green, cal.P1(halves), cal.P1(halves)).is_symmetric
    assert cal.electric_field(green, cal.RWG(halves), cal.RWG(halves)).is_symmetric
    assert cal.magnetic_field(green, cal.RWG(halves), cal.SNC(halves)).is_symmetric
    both = cal.magnetic_field(green, cal.RWG(halves), cal.SNC(halves))
    assert both.shape == (2.0 * both + cal.identity(cal.RWG(halves), cal.SNC(halves))).shape


def test_spaces_and_meshes_out_of_use_are_freed(halves):
    """All kinds at once. What was there before is not searched: a process with many kernels has much of it."""
    gc.freeze()
    meshes = [cal.TriangleMesh(halves.vertices, halves.triangles) for _ in SPACES]
    spaces = [make(mesh) for make, mesh in zip(SPACES.values(), meshes, strict=True)]
    for each in spaces:
        each.solve_mass(np.ones(each.dimension)) if not isinstance(each, cal.spaces.DualTests) else each.pairing
    seen = [[weakref.ref(each) for each in some] for some in (spaces, meshes)]
    del spaces, each
    gc.collect()
    assert not any(each() for each in seen[0])
    assert all(make(mesh).dimension > 0 for make, mesh in zip(SPACES.values(), meshes, strict=True))
    del meshes
    gc.collect()
    gc.unfreeze()
    assert not any(each() for each in seen[1])
