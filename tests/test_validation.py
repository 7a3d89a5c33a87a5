"""Input that would be misread is refused: masked arrays, which lose their mask, and degrees where radians are meant."""

import numpy as np
import pytest

import calderon as cal

MESH = cal.mesh.cube(1.0, 1.0)
P0 = cal.P0(MESH)


def hidden(values):
    """The values as a masked array without its last entry."""
    array = np.ma.array(values, mask=False)
    array[(-1,) * array.ndim] = np.ma.masked
    return array


VECTOR, MATRIX = hidden(np.ones(P0.dimension)), hidden(np.eye(P0.dimension))
POINTS = hidden([[2.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
INPUTS = {
    "vertices": lambda: cal.TriangleMesh(hidden(MESH.vertices), MESH.triangles),
    "triangles": lambda: cal.TriangleMesh(MESH.vertices, hidden(MESH.triangles)),
    "tags": lambda: cal.TriangleMesh(MESH.vertices, MESH.triangles, hidden(MESH.tags)),
    "a vector of translation": lambda: MESH.translated(hidden([1.0, 0.0, 0.0])),
    "points": lambda: MESH.contains(POINTS),
    "a list of points": lambda: MESH.contains(list(POINTS)),
    "directions": lambda: cal.exact.unit_directions(POINTS),
    "angles": lambda: cal.exact.unit_directions(hidden([0.1, 0.2]), 0.0),
    "the direction of a wave": lambda: cal.PlaneWave(hidden([0.0, 0.0, 1.0]), 1.0),
    "coefficients": lambda: cal.Function(P0, VECTOR),
    "data of a space": lambda: P0.interpolation(lambda x: hidden(x[:, 0])),
    "a right-hand side": lambda: cal.gmres(np.eye(P0.dimension), VECTOR),
    "a matrix of gmres": lambda: cal.gmres(MATRIX, np.ones(P0.dimension)),
    "a matrix of lu": lambda: cal.lu(MATRIX),
    "an admittance": lambda: cal.ImpedanceScattering(MESH, 0.5, admittance=VECTOR),
    "a curve": lambda: cal.plots.polar([0.0, 1.0], {"a": hidden([1.0, 2.0])}, "dB"),
}


@pytest.mark.parametrize("given", INPUTS.values(), ids=list(INPUTS))
def test_masked_entries_are_refused(given):
    with pytest.raises(ValueError, match="masked entries, whose values are not to be used: choose the valid ones"):
        given()


def test_masked_arrays_without_a_masked_entry_are_arrays():
    whole = np.ma.array(np.arange(float(P0.dimension)), mask=False)
    assert np.array_equal(cal.Function(P0, whole).coefficients, whole.data)
    assert type(cal.exact.unit_directions(np.ma.array([0.1, 0.2]), 0.0)) is np.ndarray


@pytest.mark.parametrize(
    "theta, phi, message",
    [
        (90.0, 0.0, r"theta = 90: angles are in radians, .* np.radians\(theta\)"),
        ([0.0, -3.15], 0.0, "theta = 3.15: angles are in radians"),
        (0.5, [0.0, 45.0], r"phi = 45: angles are in radians, .* np.radians\(phi\)"),
    ],
)
def test_degrees_are_refused(theta, phi, message):
    with pytest.raises(ValueError, match=message):
        cal.exact.unit_directions(theta, phi)
    with pytest.raises(ValueError, match=message):
        cal.PECScattering(MESH, 0.1, formulation="efie").monostatic_rcs(theta, phi)
    with pytest.raises(ValueError, match=message):
        cal.exact.mie_pec_sphere(1.0, 1.0).rcs(theta, phi)


def test_angles_of_whole_turns_are_accepted_in_single_precision():
    theta = np.array([-np.pi, np.pi], np.float32)
    assert np.allclose(cal.exact.unit_directions(theta, np.float32(4 * np.pi))[:, 2], -1)
