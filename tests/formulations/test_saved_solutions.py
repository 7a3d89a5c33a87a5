"""Solutions are saved and read back: the same to the last bit, or refused."""

import hashlib
import json
import shutil
from dataclasses import fields, replace

import numpy as np
import pytest

import calderon as cal
from calderon.files import put, put_texts
from calderon.files.hdf5_contents import DIGEST, file_digest
from calderon.formulations import ElasticSolution, PlanarSolution
from calderon.formulations.saving.encoding import decoded
from calderon.formulations.saving.loading import RESTORED, SOLUTIONS
from calderon.formulations.saving.solution_file import KIND
from calderon.formulations.solution_info import SolutionInfo
from catalogue import cases

BALL = cal.mesh.sphere(radius=0.5, h=0.35)
FAR = np.array([[2.0, 0.3, 0.1], [0.0, 1.5, -1.0]])
DIRECTIONS = np.array([[1.0, 0, 0], [0.0, 0.6, 0.8]])


def strip():
    return cal.mesh.plate(lengths=[0.06, 0.48], h=0.06)


def hard():
    wave = 2 * cal.PlaneWave([1, 2, 0.3]) + 1j * cal.PointSource([3.0, 0, 0])
    return cal.SoundHardScattering(BALL, frequency=400.0, speed_of_sound=1500.0).solve(wave)


def fluid():
    problem = cal.FluidTransmission(BALL, frequency=400.0, speed_of_sound=1500.0, interior_speed_of_sound=900.0,
                                    density_ratio=1.2)  # fmt: skip
    return problem.solve(cal.PlaneWave([0, 0, 1]))


def charged():
    return cal.LaplaceDirichlet(BALL).solve(1.0)


def flux():
    return cal.LaplaceNeumann(BALL).solve(lambda x: x[:, 0])


def conductor():
    return cal.PECScattering(BALL, 1.5).solve(cal.PlaneWave([0, 1, 1], polarization=[1, 0, 0]))


def glass():
    wave = cal.PlaneWave([0, 1, 1], polarization=[1, 0, 0])
    inner = cal.mesh.sphere(radius=0.25, h=0.2)
    return cal.DielectricScattering([BALL, inner], 1.0, [2.0 + 0.1j, np.inf]).solve(wave)


def antenna():
    return cal.PECAntenna(strip(), 6.0, cal.DeltaGap(line=[[-0.03, 0, 0], [0.03, 0, 0]], name="centre")).solve(1 + 2j)


def tagged_cube():
    mesh = cal.mesh.cube(size=1.0, h=0.5)
    names = {"bottom": -3, "top": 3}
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, np.rint(mesh.normals @ [1, 2, 3]).astype(int), names)


def cube():
    steel, body = cal.ElasticMaterial(2e11, 0.3, density=7800.0), [cal.elastic.Gravity([0, 0, -9.81])]
    loads = {"top": [cal.Pressure(1e6), cal.Traction([0, 1e5, 0])]}
    return cal.ElasticSolid(tagged_cube(), steel, {"bottom": cal.elastic.Fixed()}, loads, body).solve()


EVERY = [hard, fluid, charged, flux, conductor, glass, antenna, cube]


@pytest.mark.parametrize("solve", cases(EVERY, [hard, charged, antenna, cube]))
def test_fields_and_far_fields_are_the_same_to_the_last_bit(solve, tmp_path):
    solution = solve()
    solution.save(tmp_path / "s.h5")
    again = cal.load(tmp_path / "s.h5")
    assert type(again) is type(solution)
    points = np.array([[0.1, 0.05, 0.02]]) if solve is cube else FAR
    assert np.array_equal(again.field(points), solution.field(points))
    if hasattr(solution, "far_field"):
        assert np.array_equal(again.far_field(DIRECTIONS), solution.far_field(DIRECTIONS))
    assert str(again.info) == str(solution.info)
    again.save(tmp_path / "again.h5")
    assert (tmp_path / "again.h5").read_bytes() == (tmp_path / "s.h5").read_bytes()


def test_bonded_solids_are_one_file_with_fields_in_all_parts(tmp_path):
    steel, lower = cal.ElasticMaterial(2e11, 0.3), tagged_cube()
    lower = lower.translated([0, 0, -lower.bounds[1, 2]])
    upper = cal.TriangleMesh(lower.vertices * [1, 1, -1], lower.triangles[:, ::-1], lower.tags, lower.names)
    parts = {
        "below": cal.ElasticSolid(lower, steel, {"bottom": cal.elastic.Fixed()}),
        2: cal.ElasticSolid(upper, steel, loads={"bottom": cal.Pressure(1e6)}),
    }
    solution = cal.BondedSolids(parts).solve()
    solution.save(tmp_path / "s.h5")
    again = cal.load(tmp_path / "s.h5")
    assert [*again] == ["below", 2] and str(again[2].info) == str(solution[2].info)
    middle = lower.bounds.mean(axis=0)
    points = np.array([middle, middle * [1, 1, -1], middle + 3.0])
    found = [each.at_points(points).arrays["displacement"] for each in (solution, again)]
    assert np.array_equal(*found, equal_nan=True) and np.isnan(found[0][2]).all()
    assert np.array_equal(found[0][0], solution["below"].field(points[:1])[0])
    assert np.array_equal(found[0][1], solution[2].field(points[1:2])[0])


def test_solutions_of_another_version_are_refused_in_words(tmp_path):
    """A solution without a value that this release reads is not read with a value that it need not have."""
    import h5py

    path = tmp_path / "s.h5"
    charged().save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 2
        file.attrs[DIGEST] = file_digest(file)
    with pytest.raises(ValueError, match="of version 2, and this release reads version 3: solve the problem again"):
        cal.load(path)


def test_other_values_of_solutions_are_another_version():
    """A value that is added, removed or renamed needs a new KIND.version: raise it, and note both here."""
    classes = {*RESTORED, *(one for each in SOLUTIONS.values() for one in each.classes), SolutionInfo}
    found = sorted(f"{each.__name__}: {', '.join(one.name for one in fields(each))}" for each in classes)
    assert (KIND.version, hashlib.sha256("\n".join(found).encode()).hexdigest()[:12]) == (3, "87ef9bc15d17")


@pytest.mark.parametrize(
    "space",
    [
        lambda mesh: cal.P1(mesh, tags="top"),
        lambda mesh: cal.P2(mesh, tags=["top", -3], boundary=False),
        lambda mesh: cal.P0(mesh, tags=1),
        lambda mesh: cal.RWG(mesh, tags="top"),
    ],
)
def test_functions_on_parts_of_a_surface_are_saved(space, tmp_path):
    """The unknowns of regions that meet: same triangles, functions and values, in the same file again."""
    part = space(tagged_cube())
    values, one = np.random.default_rng(0).standard_normal(part.dimension), np.ones(1, complex)
    if part.name == "RWG":
        info = SolutionInfo("", "LU", "", part.dimension, 0, np.zeros(0), 0.0, True, 1, 0.0, 0.0, 0.0)
        given = {
            "sections": BOARD.at(1e9),
            "frequency": 1e9,
            "height": 3e-3,
            "info": info,
            "probes": [((0.0, 0.0), 1j)],
        }
        surface = cal.VectorFunction(part, values)
        solution = PlanarSolution(**given, surface=surface, voltages=one, feed_currents=one)
    else:
        solution = replace(charged(), surface=cal.Function(part, values, "part", "V"))
    solution.save(tmp_path / "s.h5")
    again = cal.load(tmp_path / "s.h5")
    found = again.surface.space
    assert np.array_equal(found.triangles, part.triangles) and np.array_equal(found.dofs, part.dofs)
    assert np.array_equal(again.surface.coefficients, values) and repr(found) == repr(part)
    again.save(tmp_path / "again.h5")
    assert (tmp_path / "again.h5").read_bytes() == (tmp_path / "s.h5").read_bytes()


def test_tables_of_nodal_functions_that_someone_made_up_are_refused(tmp_path):
    import h5py

    space = cal.P1(tagged_cube(), tags="top")
    path, other = tmp_path / "s.h5", tmp_path / "other.h5"
    replace(charged(), surface=cal.Function(space, np.ones(space.dimension))).save(path)
    for name, array in (("triangles", space.triangles + 10**6), ("dofs", np.where(space.dofs == 1, 0, space.dofs))):
        shutil.copyfile(path, other)
        with h5py.File(other, "r+", libver=("v110", "v110")) as file:
            del file["functions/0"][name]
            put(file["functions/0"], name, array)
            file.attrs[DIGEST] = file_digest(file)
        with pytest.raises(cal.DamagedFile, match="a table of functions that does not fit"):
            cal.load(other)


BOARD = cal.Stack(cal.Layer(3e-3, 2.33), below="pec")
PATCH = cal.planar.patch(57e-3, 38e-3, h=15e-3, z=3e-3)


def probe():
    return cal.PlanarProblem(BOARD, PATCH, ports=[cal.ProbePort((-8e-3, 0), radius=5e-4)]).solve(2.3e9)


def post():
    return cal.PlanarProblem(BOARD, cal.planar.via(PATCH, (-8e-3, 0), 5e-4, (0, 3e-3))).scatter(2.3e9, 0.3, 0.2)


def cell():
    square = cal.planar.patch(7e-3, 7e-3, h=3.5e-3, z=3e-3)
    return cal.PeriodicCell(square, period=7e-3, stack=BOARD).solve(12e9)


@pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")
@pytest.mark.parametrize("solve", cases([probe, post, cell], [probe]))
def test_currents_between_layers_are_the_same_to_the_last_bit(solve, tmp_path):
    """Their functions are tables: contacts of probes, feet on the ground, borders of cells."""
    solution = solve()
    solution.save(tmp_path / "s.h5")
    again = cal.load(tmp_path / "s.h5")
    assert type(again) is type(solution) and str(again) == str(solution)
    if solve is cell:
        assert np.array_equal(again.current("TE").coefficients, solution.current("TE").coefficients)
    else:
        assert np.array_equal(again.far_field([0.2, 0.5], 0.3), solution.far_field([0.2, 0.5], 0.3))
        assert again.power == solution.power
    again.save(tmp_path / "again.h5")
    assert (tmp_path / "again.h5").read_bytes() == (tmp_path / "s.h5").read_bytes()


@pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")
@pytest.mark.parametrize("number", ["-1", "1", "true", "0.0", "null", '"0"', "[0]"])
def test_functions_that_a_file_does_not_have_are_refused(number):
    """Values name functions by their places in a list; a negative place is none, and neither is a truth value."""
    functions = [cal.P0(BALL).interpolation(1.0)]
    assert decoded('{"function": 0}', (), functions) is functions[0]
    with pytest.raises((ValueError, TypeError)):
        decoded('{"function": ' + number + "}", (), functions)


def test_tables_of_functions_and_layers_that_someone_made_up_are_refused(tmp_path):
    import h5py

    space = cal.PlanarProblem(BOARD, PATCH, ports=[cal.ProbePort((-8e-3, 0), radius=5e-4)]).function_space
    surface, one = cal.VectorFunction(space, np.zeros(space.dimension, complex)), np.ones(1, complex)
    info = SolutionInfo("", "LU", "", space.dimension, 0, np.zeros(0), 0.0, True, 1, 0.0, 0.0, 0.0)
    given = {"sections": BOARD.at(1e9), "frequency": 1e9, "surface": surface, "height": 3e-3, "info": info}
    solution = PlanarSolution(**given, probes=[((0.0, 0.0), 1 + 0j)], voltages=one, feed_currents=one)
    path = tmp_path / "s.h5"
    solution.save(path)
    assert cal.load(path).surface.space.dimension == space.dimension
    for name, array, text in (
        ("triangles", space.triangles + 1, "does not fit a mesh"),
        ("dofs", space.dofs + 1, "does not fit a mesh"),
        ("sides", 3 * space.sides, "does not fit a mesh"),
        ("signs", space.signs[1:], "shape"),
    ):
        shutil.copyfile(path, tmp_path / "other.h5")
        with h5py.File(tmp_path / "other.h5", "r+", libver=("v110", "v110")) as file:
            del file["functions/0"][name]
            put(file["functions/0"], name, array)
            file.attrs[DIGEST] = file_digest(file)
        with pytest.raises(cal.DamagedFile, match=text):
            cal.load(tmp_path / "other.h5")
    bad = replace(BOARD.at(1e9), ends=np.array([0, 7]))
    replace(solution, sections=bad).save(path)
    with pytest.raises(cal.DamagedFile, match="layers that are not those of one stack"):
        cal.load(path)


def test_a_changed_byte_is_refused_or_does_not_matter(tmp_path):
    solution = charged()
    solution.save(tmp_path / "s.h5")
    whole, refused, random = (tmp_path / "s.h5").read_bytes(), 0, np.random.default_rng(1)
    for place in random.integers(0, len(whole), 150):
        data = bytearray(whole)
        data[place] ^= 1 << int(random.integers(8))
        (tmp_path / "broken.h5").write_bytes(data)
        try:
            copy = cal.load(tmp_path / "broken.h5")
        except ValueError:
            refused += 1
            continue
        assert np.array_equal(copy.surface.coefficients, solution.surface.coefficients)
        assert np.array_equal(copy.surface.space.mesh.vertices, BALL.vertices)
    assert refused > 50
    (tmp_path / "short.h5").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(cal.DamagedFile):
        cal.load(tmp_path / "short.h5")


@pytest.mark.parametrize(
    "group, changes",
    [
        ("functions/0", {"mesh": 7}),
        ("functions/0", {"space": "P1"}),
        ("functions/0", {"space": "P9"}),
        ("functions/0", {"components": 2**40}),
        ("/", {"solution": "os.system"}),
    ],
)
def test_a_file_that_someone_made_up_is_refused(group, changes, tmp_path):
    """Its checksums are right, what it holds is not."""
    import h5py

    charged().save(tmp_path / "s.h5")
    shutil.copyfile(tmp_path / "s.h5", tmp_path / "other.h5")
    with h5py.File(tmp_path / "other.h5", "r+", libver=("v110", "v110")) as file:
        file[group].attrs.update(changes)
        file.attrs[DIGEST] = file_digest(file)
    with pytest.raises(cal.DamagedFile, match="solve the problem again"):
        cal.load(tmp_path / "other.h5")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"side": "exterior"', '"side": "above"').replace('"exterior"', '"above"'),
        lambda text: text.replace("SolutionInfo", "Popen"),
        lambda text: text.replace('"tuple"', '"set"'),
        lambda text: text.replace('"converged": true', '"converged": "yes"'),
        lambda text: "[" * 100_000,
        lambda text: text.replace('"table": [', '"table": [1, '),
    ],
)
def test_values_that_someone_made_up_are_refused(change, tmp_path):
    import h5py

    path = tmp_path / "s.h5"
    charged().save(path)
    with h5py.File(path, "r+", libver=("v110", "v110")) as file:
        text = json.loads(file["values"][()].tobytes())[0]
        assert change(text) != text
        del file["values"]
        put_texts(file, "values", [change(text)])
        file.attrs[DIGEST] = file_digest(file)
    with pytest.raises(cal.DamagedFile, match="does not fit together"):
        cal.load(path)


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    with pytest.raises(ValueError, match="end in .h5"):
        charged().save(tmp_path / "s.txt")
    loads = {"top": cal.Traction(lambda x: 0 * x)}
    solid = cal.ElasticSolid(tagged_cube(), cal.ElasticMaterial(2e11, 0.3), {"bottom": cal.elastic.Fixed()}, loads)
    functions = (cal.Function(space, np.zeros(space.dimension)) for space in solid._whole_spaces)
    with pytest.raises(ValueError, match="given by a function"):
        ElasticSolution(solid, *functions, None).save(tmp_path / "s.h5")
    assert not (tmp_path / "s.h5").exists()
