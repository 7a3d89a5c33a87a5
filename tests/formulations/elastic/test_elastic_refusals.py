"""Refusals of elastic solids, with their messages."""

import numpy as np
import pytest

import calderon as cal

STEEL = cal.ElasticMaterial(210e9, 0.3, density=7850.0)
PLAIN = cal.ElasticMaterial(210e9, 0.3)


@pytest.fixture(scope="module")
def cube():
    mesh = cal.mesh.cube(1.0, 0.5)
    tags = np.where(mesh.normals[:, 2] > 0.5, 1, np.where(mesh.normals[:, 2] < -0.5, 2, 0))
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"side": 0, "top": 1, "bottom": 2})


def solid(mesh, supports=None, loads=None, body=(), material=STEEL):
    return cal.ElasticSolid(mesh, material, supports, loads, body)


def test_unbalanced_loads_of_a_free_body(cube):
    words = r"unbalanced force \(0, 0, 2e\+04\), moment \(1e\+04, -1e\+04, 0\) about .*translation along x.*rotation"
    with pytest.raises(ValueError, match=words + r".*supports=\{tag: Fixed\(\)\} for one of the tags \['side', 'top'"):
        moved = cube.translated([0.0, 0.0, 0.0])
        load = cal.Traction(lambda x, n: np.outer(1e4 * (1 + 0 * x[:, 0]), [0.0, 0.0, 2.0]))
        turned = cal.Traction(lambda x, n: np.outer(12e4 * (x[:, 0] + x[:, 1] - 1), [0.0, 0.0, 1.0]))
        middle = moved.bounds.mean(axis=0)
        shifted = moved.translated([0.5, 0.5, 0.5] - middle)
        solid(shifted, loads={"top": [load, turned]}).solve()


def test_a_support_that_leaves_motions(cube):
    held = {"bottom": cal.elastic.Roller()}
    with pytest.raises(ValueError, match="motions: translation along x, translation along y, rotation about z"):
        solid(cube, held, {"top": cal.Traction([1e6, 0, -1e6])}).solve()


def test_nothing_that_acts_is_warned_of(cube):
    with pytest.warns(cal.MeshWarning, match="nothing acts on this solid"):
        assert not solid(cube, {"bottom": cal.elastic.Fixed()}).solve().displacement.coefficients.any()


@pytest.mark.parametrize("constants", [(0.0, 0.3), (210e9, 0.5), (210e9, -1.0), (np.nan, 0.3)])
def test_materials(constants):
    with pytest.raises(ValueError, match="must be"):
        cal.ElasticMaterial(*constants)


@pytest.mark.parametrize("name", ["density", "yield_strength"])
def test_negative_constants(name):
    with pytest.raises(ValueError, match=f"{name} must be a positive number"):
        cal.ElasticMaterial(210e9, 0.3, **{name: -1.0})


def test_displacement_and_traction_on_one_component(cube):
    for support in (cal.elastic.Fixed(), cal.elastic.Prescribed([None, None, 0.001]), cal.elastic.Roller()):
        with pytest.raises(ValueError, match="tag 'top' has a traction of 1e.*give either of them"):
            solid(cube, {"top": support}, {"top": cal.Pressure(1e6)}).solve()
    solid(cube, {"top": cal.elastic.Roller(), "bottom": cal.elastic.Fixed()}, {"top": cal.Traction([1e6, 0, 0])}).plan()


def test_supports_that_disagree(cube):
    supports = {"top": cal.elastic.Prescribed([0.0, 0.0, 0.001]), "side": cal.elastic.Fixed()}
    with pytest.raises(ValueError, match="'top' and 'side' prescribe different displacements"):
        solid(cube, supports).solve()


def test_unknown_and_empty_tags(cube):
    named = cal.TriangleMesh(cube.vertices, cube.triangles, cube.tags, {**cube.names, "empty": 7})
    for tag in ("wall", 5, "empty", ()):
        with pytest.raises(cal.MeshError, match="unknown tags"):
            solid(named, {tag: cal.elastic.Fixed()})
    with pytest.raises(ValueError, match=r"loads\['top'\] is empty: leave the tag out"):
        solid(cube, loads={"top": []})


def test_tags_without_a_condition_are_free_and_named(cube):
    solution = solid(cube, {"bottom": cal.elastic.Fixed()}, {"top": cal.Pressure(1e6)}).solve()
    assert solution.info.free_tags == ("side",)
    assert "tags without a condition are free: side" in str(solution.info)
    assert repr(solution).startswith(f"ElasticSolution({solution.info.unknowns} unknowns, relative residual ")
    for place in ([0.0, 0.0, 0.5], [0.5, 0.5, 0.1], cube.vertices[0], [0.6, 0.0, 0.0]):  # face, edge, corner, outside
        with pytest.raises(ValueError, match="1 of 1 points are not inside the material"):
            solution.stress([place])


def test_an_inside_out_mesh_is_turned(cube):
    with pytest.warns(cal.MeshWarning, match="48 of 48 triangles flipped"):
        turned = cal.TriangleMesh(cube.vertices, cube.triangles[:, ::-1], cube.tags, cube.names)
    assert solid(turned, {"top": cal.elastic.Fixed()}).mesh.volume == pytest.approx(1.0)


def test_numbers_in_another_system_of_units(cube):
    """100 m with 2e5 Pa are 100 mm with 2e5 MPa."""
    soft = cal.ElasticMaterial(2e5, 0.3)
    with pytest.warns(cal.MeshWarning, match='look like mm, N and MPa; say units="mm-N-MPa"'):
        solid(cube.scaled(100.0), {"top": cal.elastic.Fixed()}, material=soft)
    labelled = cal.ElasticSolid(cube.scaled(100.0), soft, {"top": cal.elastic.Fixed()}, units="mm-N-MPa")
    with pytest.raises(ValueError, match="unknown units 'inches'"):
        cal.ElasticSolid(cube, STEEL, units="inches")
    assert labelled.units == "mm-N-MPa"


def test_conditions_of_a_wrong_kind(cube):
    with pytest.raises(TypeError, match=r"supports\['top'\] is no support: got Traction, try Fixed"):
        solid(cube, {"top": cal.Traction([0, 0, 1])})
    with pytest.raises(TypeError, match="loads are given by tag"):
        solid(cube, loads=[cal.Pressure(1.0)])
    with pytest.raises(TypeError, match="body holds loads of the volume"):
        solid(cube, body=[cal.Pressure(1.0)])
    with pytest.raises(ValueError, match="name one tag twice"):
        solid(cube, {"top": cal.elastic.Fixed(), 1: cal.elastic.Fixed()})


def test_loads_of_the_volume_need_constants(cube):
    with pytest.raises(ValueError, match="gravity needs the density"):
        solid(cube, {"top": cal.elastic.Fixed()}, body=[cal.elastic.Gravity([0, 0, -9.81])], material=PLAIN)
    with pytest.raises(ValueError, match="temperature needs the expansion"):
        solid(cube, {"top": cal.elastic.Fixed()}, body=[cal.elastic.TemperatureChange(10.0)])


def test_remote_stress_is_for_solids_without_end(cube):
    with pytest.raises(ValueError, match="RemoteStress goes with exterior=True"):
        solid(cube, body=[cal.elastic.RemoteStress(np.eye(3))])
    with pytest.raises(ValueError, match="Gravity is no load of a solid without an outer surface"):
        cal.ElasticSolid(cube, STEEL, body=[cal.elastic.Gravity([0, 0, -9.81])], exterior=True)
    with pytest.raises(ValueError, match="a remote stress is symmetric"):
        cal.elastic.RemoteStress([[0, 1, 0], [0, 0, 0], [0, 0, 0]])


def test_surfaces_of_no_single_body(cube):
    with pytest.raises(ValueError, match="needs a closed surface"):
        solid(cal.mesh.plate([1.0, 1.0], 0.5), {0: cal.elastic.Fixed()})
    along_an_edge = cal.mesh.merge([cube, cube.translated([1.0, 1.0, 0.0])]).merged_vertices()
    with pytest.raises(ValueError, match="touches itself along 2 edges"):
        solid(along_an_edge, {"top": cal.elastic.Fixed()})
    with pytest.raises(cal.MeshError, match="pairs of triangles pass through or lie on each other"):
        solid(cal.mesh.merge([cube, cube.translated([0.3, 0.4, 0.2])]), {"top": cal.elastic.Fixed()}).solve()
    two = cal.mesh.merge([cube, cube.translated([3.0, 0.0, 0.0])])
    with pytest.raises(ValueError, match="one body, and this mesh has 2 separate outer surfaces"):
        solid(two, {"top": cal.elastic.Fixed()})


def test_numbers_that_are_none(cube):
    for wrong in (lambda: cal.Traction([0, 0, np.nan]), lambda: cal.Pressure(np.nan), lambda: cal.elastic.Force([1, 2]),
                  lambda: cal.elastic.Gravity([0, 0]), lambda: cal.elastic.Spin(np.inf),
                  lambda: cal.elastic.ElasticSupport(-1.0), lambda: cal.elastic.Prescribed([None] * 3),
                  lambda: cal.elastic.RigidMotion(rotation=[0, 0, np.nan]),
                  lambda: cal.elastic.TemperatureChange(1j)):  # fmt: skip
        with pytest.raises(ValueError):
            wrong()
    load = cal.Traction(lambda x: np.full_like(x, np.nan))
    with pytest.raises(ValueError, match="values are NaN or infinite"):
        solid(cube, {"bottom": cal.elastic.Fixed()}, {"top": load}).solve()


def test_a_curved_face_is_no_plane():
    sphere = cal.mesh.sphere(1.0, 0.6)
    with pytest.raises(ValueError, match="SymmetryPlane needs a plane face"):
        solid(sphere, {0: cal.elastic.SymmetryPlane()}).plan()


def test_other_choices(cube):
    with pytest.raises(ValueError, match="unknown method 'fem'"):
        solid(cube, {"top": cal.elastic.Fixed()}).solve(method="fem")
    with pytest.raises(cal.MeshError, match="finite"):
        cal.TriangleMesh(np.where(cube.vertices > 0.4, np.nan, cube.vertices), cube.triangles)
    with pytest.raises(ValueError, match="unknown space 'P3'"):
        cal.ElasticSolid(cube, STEEL, space="P3")
    with pytest.raises(TypeError, match="needs an ElasticMaterial"):
        cal.ElasticSolid(cube, 210e9)
