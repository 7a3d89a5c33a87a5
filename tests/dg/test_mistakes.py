"""Mistakes of users with fields in time raise errors that name what came, what is allowed and what to try."""

import warnings

import numpy as np
import pytest

import calderon as cal

BOX = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2)
SINE = cal.RampedSine(1e8)


def made(mesh=BOX, order=1, **options):
    return cal.MaxwellDG(mesh, order, **options)


def driven(signal=SINE, **options):
    return made(materials={}, sources=[cal.CurrentSource("vacuum", [0, 0, 1], signal)], **options)


def transformed(signal=SINE):
    """The transform of a short run."""
    simulation = driven(signal)
    transform = simulation.add_transform(1e7)
    simulation.run(1e-9)
    return transform


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order=0: choose a whole number from 1 to 6"),
        ({"order": 7}, "order=7: choose a whole number from 1 to 6"),
        ({"courant": True}, "courant=True: a fraction of the stability limit"),
        ({"courant": "0.9"}, "courant='0.9': a fraction of the stability limit"),
        ({"time_step": "1 ps"}, "time_step='1 ps': a positive number is needed"),
        ({"time_step": 0.0}, "time_step=0.0: a positive number is needed, up to the stability limit .* choose courant"),
        ({"boundaries": "pec"}, "boundaries='pec': conditions by name are needed, such as .*'wall': 'pec'"),
        ({"materials": [cal.Material()]}, "materials by name are needed, such as"),
        ({"materials": {"vacuum": 2.0}}, r"materials\['vacuum'\]=2.0: a Material\(permittivity"),
        ({"materials": {"glass": cal.Material(2.0)}}, "the mesh has no part 'glass': choose 'vacuum'"),
        ({"sources": None}, "sources=None: a list of TransientPlaneWave, CurrentSource or CurrentDipole"),
        ({"sources": "wave"}, "sources='wave': a list of"),
        ({"communicator": 2}, "communicator=2: omit it"),
        ({"progress": "yes"}, "progress='yes': True, False or a function"),
    ],
)
def test_choices_of_a_simulation(options, message):
    with pytest.raises(ValueError, match=message):
        made(**options)


def test_one_source_alone_is_a_list_of_one():
    source = cal.CurrentSource("vacuum", [0, 0, 1], SINE)
    assert made(materials={}, sources=source).sources == (source,)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"permittivity": 0.0}, "permittivity=0.0: a finite number, positive, is needed"),
        ({"permittivity": "2"}, "permittivity='2': a finite number, positive"),
        ({"permittivity": 2 + 0.1j}, "loss at one frequency f is conductivity = 2 pi f epsilon_0 Im"),
        ({"permeability": lambda f: 2.0}, "a permittivity alone may be a function of the frequency"),
        ({"permeability": -1.0}, "permeability=-1.0: a finite number, positive"),
        ({"conductivity": np.nan}, "conductivity=nan: a finite number, not negative"),
        ({"density": "1 g/cm^3"}, "density='1 g/cm.3': a positive number in kg/m.3"),
    ],
)
def test_constants_of_a_material(values, message):
    with pytest.raises(ValueError, match=message):
        cal.Material(**values)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: made().run("1 ns"), "until must be a finite number, got '1 ns'"),
        (lambda: made().run(-1.0), "until=-1.0: a time not before the present one, 0.0"),
        (lambda: made(materials={}).run(1.0), "steps of .*, more than 1e.08: is the time in seconds .* mesh in metres"),
        (lambda: driven().run_until_periodic("1 GHz"), "frequency must be a positive number, got '1 GHz'"),
        (
            lambda: made(materials={}).run_until_periodic(1.0),
            "that takes .*e.10 steps of .* use fewer periods",
        ),
        (lambda: driven().run_until_periodic(1e8, "3"), "periods='3': a whole number of at least 2"),
        (lambda: driven().run_until_periodic(1e8, np.inf), "periods=inf: a whole number of at least 2"),
        (lambda: driven().run_until_periodic(2e8), "a source oscillates with 100000000.0 Hz: choose that; .* a pulse"),
        (lambda: driven(lambda t: 1j).run(1e-9), "signal of 'vacuum' gave 1j at t = .*: a finite number"),
        (lambda: driven(lambda t: None).run(1e-9), "signal of 'vacuum' gave None at t"),
        (lambda: driven(lambda t: np.ones(2)).run(1e-9), "signal of 'vacuum' gave .* at t"),
        (lambda: made().add_probe([2.0, 0, 0]), "1 points are outside the mesh, the first is number 0"),
        (lambda: made().electric([1.0, 2.0]), r"points must have shape \(n, 3\), got \(2,\)"),
        (
            lambda: made().run(0.1, checkpoint_seconds=-1.0),
            "checkpoint_seconds=-1.0: a number of seconds, not negative",
        ),
        (lambda: made().add_transform(0.1).fields(0.1), "the transform has recorded no steps yet: call run"),
        (
            lambda: transformed(lambda t: 0.0).fields(1e7),
            r"current of 'vacuum' is almost zero at 1e\+07 Hz \(0.0e",
        ),
        (lambda: transformed().fields(1e7, per=0.0), "per=0.0: a number other than zero, or the name of a port"),
        (lambda: transformed().fields(1e7, per="port"), "per='port': unknown port, choose 'vacuum'"),
        (lambda: cal.dg.PortAmplitudes(0j, 1j).impedance, "no current of this frequency flows through the port"),
        (lambda: made().add_probe([0.1, 0.1, 0.1], stride="2"), "stride='2': a whole number of at least 1"),
        (lambda: made().add_transform([]), "one or several positive numbers in Hz"),
        (lambda: made().add_transform("1 GHz"), "one or several positive numbers in Hz"),
        (
            lambda: made(materials={}).add_transform(1e9, stride=3),
            "stride=3: steps of .* resolve those below .* smaller",
        ),
        (lambda: made().set_fields([1, 0, 0], [0, 0, 0]), r"electric=\[1, 0, 0\]: a function f"),
        (lambda: made().set_fields(lambda x, t: 1j * x, lambda x, t: x), "electric field gave complex128 values: real"),
    ],
)
def test_what_is_asked_of_a_simulation(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_points_are_numbers():
    with pytest.raises(TypeError, match="points must be real numbers, got an array of <U6"):
        made().add_probe("origin")


def test_a_mesh_in_millimetres_is_noticed():
    """Its elements are longer than the waves."""
    mesh = cal.TetrahedralMesh(1e3 * BOX.vertices, BOX.tetrahedra, names={"air": 0})
    wave = cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], 9e8)
    simulation = made(mesh, materials={}, boundaries={"wall": "absorbing"}, sources=[wave])
    with pytest.raises(ValueError, match="far too coarse for such waves, or not in metres; .* scale= when it is read"):
        simulation.run_until_periodic(9e8)


def test_tags_without_names_are_told_to_be_named():
    tagged = cal.TetrahedralMesh(BOX.vertices, BOX.tetrahedra, (BOX.centroids[:, 2] > 0.5).astype(int))
    with pytest.raises(
        ValueError, match="no part 'skin': choose none, or name its tags, names={name: tag} of the mesh"
    ):
        made(tagged, materials={"skin": cal.Material(2.0)})
    with pytest.raises(ValueError, match=r"'tag 1' \(24 tetrahedra\) have none: .*, and names={name: tag} to the mesh"):
        made(cal.TetrahedralMesh(BOX.vertices, BOX.tetrahedra, tagged.tags, {"air": 0}), materials={})


def test_waves_that_the_mesh_does_not_carry_are_told():
    glass = cal.TetrahedralMesh(BOX.vertices, BOX.tetrahedra, names={"glass": 0})
    simulation = made(glass, 2, materials={"glass": cal.Material(4.0)})
    simulation.add_transform(1.7e8)
    with pytest.warns(cal.MeshWarning, match="48 tetrahedra .* at 1.8e.08 Hz, the worst 1.9 .edge 0.866 m, .*0.833 m"):
        simulation.add_transform([1e7, 1.8e8])


def test_waves_that_enter_through_matter_are_told():
    tagged = cal.TetrahedralMesh(BOX.vertices, BOX.tetrahedra, BOX.centroids[:, 2] > 0.5, {"air": 0, "glass": 1})
    wave = cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], 1e8)
    options = {"boundaries": {"wall": "absorbing"}, "sources": [wave]}
    made(tagged, materials={"glass": cal.Material()}, **options)
    with pytest.warns(cal.MeshWarning, match="18 tetrahedra of 'glass' have absorbing faces, .* put air between"):
        made(tagged, materials={"glass": cal.Material(2.0)}, **options)


def test_files_that_are_no_checkpoints_are_left_alone(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    for path, message in (
        (notes, "notes.txt' is not a checkpoint: name another file"),
        (tmp_path, "is a folder: name a file in it, such as run.h5"),
        (tmp_path / "none" / "run.h5", "there is no folder .*none': create it first"),
    ):
        with pytest.raises(ValueError, match=message):
            made().run(0.1, checkpoint=path)
    with pytest.raises(TypeError, match="a checkpoint is stored in a file, got 3: give a path such as 'run.h5'"):
        made().run(0.1, checkpoint=3)
    with pytest.raises(ValueError, match="notes.txt' is a file: name a folder"):
        made().add_snapshots(notes, 1)
    assert notes.read_text() == "mine"


def test_meshes_that_fall_apart_are_refused():
    pieces = BOX.vertices[BOX.tetrahedra].reshape(-1, 3), np.arange(4 * BOX.number_of_tetrahedra).reshape(-1, 4)
    with pytest.raises(cal.MeshError, match="144 faces of 'wall' lie inside the mesh: .*non-conforming; merge"):
        made(cal.TetrahedralMesh(*pieces))
    with pytest.warns(cal.MeshWarning, match="they are treated as a thin 'pec' sheet; .* merge the vertices"):
        made(cal.TetrahedralMesh(*pieces), boundaries={"wall": "pec"})
    vertices = BOX.vertices.copy()
    vertices[13] = 2.0
    with pytest.raises(cal.MeshError, match="inverted tetrahedra: check the vertex order"):
        made(cal.TetrahedralMesh(vertices, BOX.tetrahedra))


def test_a_mesh_in_pieces_is_told():
    """Two boxes side by side: each has the field that it would have alone."""
    apart = cal.TetrahedralMesh(
        np.vstack([BOX.vertices, BOX.vertices + 2]), np.vstack([BOX.tetrahedra, BOX.tetrahedra[::-1] + 27])
    )
    with pytest.warns(cal.MeshWarning, match="in 2 pieces, of 48, 48 tetrahedra, that share no faces: no field passes"):
        both = made(apart, time_step=0.05)
    alone, mode = made(time_step=0.05), cal.exact.cubic_cavity((1, 1, 1))
    for each in (both, alone):
        each.set_fields(lambda x, t: np.where(x < 1.5, mode.electric(x, t), 0), mode.magnetic)
    for each in (both, alone):
        each.run(0.2)
    point = [[0.3, 0.6, 0.2]]
    assert np.allclose(both.electric(point), alone.electric(point), rtol=1e-12)


def test_waves_faster_than_light_are_warned_of():
    thin = cal.TetrahedralMesh(BOX.vertices, BOX.tetrahedra, BOX.centroids[:, 2] > 0.5, {"air": 0, "foam": 1})
    with pytest.warns(
        cal.MeshWarning, match="in 24 tetrahedra of 'foam' permittivity times permeability is 0.5, below 1"
    ):
        made(thin, materials={"foam": cal.Material(0.25, 2.0)})


def test_a_skin_depth_below_half_an_element_is_warned_of():
    metal = cal.TetrahedralMesh(BOX.vertices, BOX.tetrahedra, BOX.centroids[:, 2] > 0.5, {"air": 0, "metal": 1})
    for conductivity, frequency in ((5.0, 1e6), (0.003, 1e7)):
        simulation = made(metal, materials={"metal": cal.Material(conductivity=conductivity)})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            simulation.add_transform(frequency / 10)
    simulation = made(metal, materials={"metal": cal.Material(conductivity=5.0)})
    with pytest.warns(
        cal.MeshWarning, match="24 tetrahedra of conductors .* 1e.07 Hz, the worst 12.2 .*skin depth 0.0712 m"
    ):
        simulation.add_transform(1e7)
