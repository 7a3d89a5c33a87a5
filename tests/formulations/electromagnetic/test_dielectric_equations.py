"""Matrices of penetrable bodies: shared blocks, rotation."""

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.checks import enclosing_surfaces
from calderon.formulations.electromagnetic.dielectric_equations import Rotation, mueller, pmchwt
from calderon.formulations.electromagnetic.dielectric_regions import regions_between
from calderon.spaces.mirror_images import MirroredFunctions


@pytest.fixture(scope="module")
def coated():
    meshes = [cal.mesh.sphere(radius=radius, h=0.5) for radius in (1.0, 0.6)]
    return [cal.RWG(mesh) for mesh in meshes], regions_between(enclosing_surfaces(meshes), 0.7, [2 - 0.1j, 4.0], [1, 2])


def test_shared_operators_make_the_same_matrix(coated):
    """The matrix is that of blocks computed one by one; symmetric for PMCHWT."""
    spaces, regions = coated
    functions = [MirroredFunctions.of(space, None, np.zeros(0, np.int64)) for space in spaces]
    shared = pmchwt([*functions, *functions], regions)  # of J, and of M
    plain = np.block([[block.assemble().to_array() for block in row] for row in shared.table])
    matrix = shared.assemble().to_array()
    assert np.abs(matrix - plain).max() < 1e-12 * np.abs(plain).max()
    assert np.abs(matrix - matrix.T).max() < 1e-9 * np.abs(matrix).max()


def test_rotated_matrix_multiplies_as_its_entries(coated):
    spaces, regions = coated
    operator, _ = mueller(spaces, regions, [Rotation(space) for space in spaces])
    matrix = operator.assemble()
    x = np.random.default_rng(0).standard_normal((operator.shape[1], 2))
    full = matrix.to_array()
    assert np.abs(matrix @ x - full @ x).max() < 1e-12 * np.abs(full @ x).max()
    assert np.abs(matrix @ x[:, 0] - full @ x[:, 0]).max() < 1e-12 * np.abs(full @ x).max()


def test_rotation_turns_smooth_fields():
    """n x of a tangential field, from its tested values, with an error that falls like h."""
    errors = []
    for h in (0.3, 0.15):
        space = cal.RWG(cal.mesh.sphere(radius=1.0, h=h))
        rotation = Rotation(space)

        def turned(x, n):
            return np.cross(n, x[:, [1, 2, 0]])

        for tested in (
            rotation.apply(space.load_vector(lambda x: x[:, [1, 2, 0]])[:, None]),
            rotation.tested(lambda loads: (loads @ loads.points[:, [1, 2, 0]])[:, None]),
        ):
            found = cal.VectorFunction(space, space.solve_mass(tested[:, 0]))
            errors.append(found.l2_error(turned))
    assert errors[2] < 0.6 * errors[0] and errors[3] < 0.6 * errors[1], errors
    assert errors[2] < 0.2
