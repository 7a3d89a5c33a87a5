"""Memory of a dense assembly in addition to the matrix."""

import pytest

import calderon as cal
from calderon.operators.memory_estimate import preparation_bytes
from calderon.operators.tree import temporary_bytes
from calderon.pairs.rules import forget_rules


@pytest.mark.parametrize(
    "kind, precision",
    [
        (cal.single_layer, "double"),
        pytest.param(cal.double_layer, "single", marks=pytest.mark.variant),
        (cal.adjoint_double_layer, "double"),
        (cal.hypersingular, "double"),
    ],
)
def test_assembly_takes_less_than_a_seventh_more_than_the_matrix(kind, precision, peak_of):
    green = cal.Laplace()  # with waves the matrix is twice as large
    kind(green, cal.P1(cal.mesh.sphere(1.0, 0.5))).assemble(precision=precision)  # what compiling takes is not meant
    mesh = cal.mesh.sphere(1.0, 0.06)
    operator = kind(green, cal.P1(mesh))
    assert 7500 < mesh.number_of_triangles < 8500
    matrix, peak = peak_of(operator, precision=precision)
    assert matrix.nbytes < peak < 1.15 * matrix.nbytes
    assert peak < matrix.nbytes + preparation_bytes(operator)


def test_memory_of_rules_is_bounded_for_waves_and_needles(peak_of):
    """Triangles in many shapes, three radians along the longest edge: the tables of their rules are the largest."""
    sphere = cal.mesh.sphere(1.0, 0.7)
    mesh = cal.TriangleMesh(sphere.vertices * [1.0, 3.0, 9.0], sphere.triangles)
    operator = cal.double_layer(cal.Helmholtz(3.0 / mesh.diameters.max()), cal.P1(mesh))
    operator.assemble()  # what compiling takes is not meant
    matrix, peak = peak_of(operator)
    assert peak - matrix.nbytes < preparation_bytes(operator) < 12 * (peak - matrix.nbytes)


@pytest.mark.parametrize(
    "space, size, h, wavenumber",
    [
        pytest.param(cal.P2, (1.0, 1.3, 0.7), 0.5, 2.0, marks=pytest.mark.variant),
        pytest.param(cal.P1, (1.0, 1.3, 0.7), 0.25, 4.0, marks=pytest.mark.variant),
        pytest.param(cal.P2, (1.0, 1.0, 1.0), 0.5, 2.0, marks=pytest.mark.variant),
        pytest.param(cal.P2, (1.0, 1.0, 1.0), 0.25, 8.0, marks=pytest.mark.variant),
        (cal.P1, (1.0, 1.0, 1.0), 0.25, 4.0),
        pytest.param(cal.P1, (1.0, 1.0, 1.0), 0.25, 8.0, marks=pytest.mark.variant),
    ],
)
def test_planned_bytes_of_regular_grids_are_those_that_are_taken(space, size, h, wavenumber, peak_of):
    """Pairs of faces that meet at right angles have rules of their own, though all triangles have one shape."""
    green = cal.Helmholtz(wavenumber)
    cal.single_layer(green, space(cal.mesh.cuboid((1.0, 1.0, 1.0), 1.0))).assemble()  # what compiling takes
    forget_rules()
    operator = cal.single_layer(green, space(cal.mesh.cuboid(size, h)))
    planned, peak = operator.plan("dense").nbytes, peak_of(operator)[1]
    assert planned / 1.5 < peak < planned


def test_planned_bytes_of_several_wavenumbers_have_the_rules_of_all_that_stay(peak_of):
    """Rules of both wavenumbers and of both powers of the kernels stay: half of what a thin box takes."""
    bodies = [cal.DielectricScattering(cal.mesh.cuboid((1.0, 1.0, size), 0.3), 1.5, 4.0) for size in (1.0, 0.1)]
    cube, box = (each.system.operator for each in bodies)
    cube.assemble()  # what compiling takes is not meant
    forget_rules()
    planned, peak = box.plan("dense").nbytes, peak_of(box)[1]
    assert planned / 1.5 < peak < planned
    # fields of J and of M are the same but for the factor: those inside are added from a temporary matrix
    assert temporary_bytes(box, "double") == 16 * (box.shape[0] // 2) ** 2
