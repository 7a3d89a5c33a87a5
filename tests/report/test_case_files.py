"""A mistake in a case file is reported with line, key, value and what is allowed."""

from pathlib import Path

import numpy as np
import pytest

from calderon.case import CaseError, parse, read, surface_mesh
from calderon.kinds.surface.computing import announcement
from calderon.mesh import cube
from calderon.report import Stages, example, examples, run

GOOD = """\
title = "sphere"
[mesh]
shape = "sphere"
radius = "1 m"
h = 0.3
[physics]
problem = "sound-hard"
frequency = "1.2 kHz"
speed_of_sound = 1500.0
[incident]
azimuth = "30 deg"
[output]
far_field = { plane = "xy", start = "0 deg", stop = "180 deg", count = 3 }
"""


def mistakes(text: str) -> str:
    with pytest.raises(CaseError) as caught:
        parse(text, "case.toml")
    return str(caught.value)


def test_a_good_case_is_in_si_units():
    case = parse(GOOD).case
    assert case.physics.frequency == (1200.0,)
    assert case.physics.wavenumbers == pytest.approx([2 * np.pi * 1200 / 1500])
    assert case.incident.unit_direction == pytest.approx([np.sqrt(3) / 2, 0.5, 0])
    assert case.output.far_field.directions == pytest.approx(np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0]]), abs=1e-15)
    assert case.incident.sound(2.0).wavenumber == 2.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"1.2 kHz"', '"1.2 kHx"', 'line 8: physics.frequency = "1.2 kHx": a frequency is written like "10 Hz"'),
        ("1500.0", "-3", "line 9: physics.speed_of_sound = -3: a speed here must be greater than zero"),
        ("1500.0", "nan", "line 9: physics.speed_of_sound = nan: a speed must be finite"),
        (
            "speed_of_sound",
            "speed_of_sond",
            "line 9: physics.speed_of_sond: unknown key; did you mean 'speed_of_sound'?",
        ),
        (
            "[incident]",
            "[incidence]",
            "line 10: incidence: unknown key; did you mean 'incident'? the file accepts title, mesh",
        ),
        ('"30 deg"', "30", 'line 11: incident.azimuth = 30: give the unit of an angle: "30 deg" or "30 rad"'),
        ('"sound-hard"', '"sound-hart"', "choose 'sound-hard', 'sound-soft', 'impedance'"),
        ('"sound-hard"', '"sound-hart"', "did you mean 'sound-hard'?"),
        ('"sphere"\nradius', '"cube"\nradius', "line 2: mesh: the shape 'cube' also needs size"),
        ("h = 0.3", "h = 0.3\nsize = 2", "size is not supported by shape = 'sphere': it accepts h, radius"),
        ("h = 0.3", 'h = 0.3\nfile = "a.msh"', "give exactly one of file, sample or shape: got file and shape"),
        ("count = 3", "count = 0", "line 13: output.far_field.count = 0"),
        ("count = 3", "counts = 3", "line 13: output.far_field.counts: unknown key; did you mean 'count'?"),
        ('azimuth = "30 deg"', "direction = [0, 0, 0]", "is not a direction"),
        ('azimuth = "30 deg"', 'kind = "point-source"', "a point source needs position"),
        ("[output]", "[[wave]]\nazimuth = 3\n[output]", "line 13: wave.azimuth = 3: give the unit of an angle"),
        ("[output]", "[[wave]]\n[output]", "line 12: wave: a plane wave needs either direction"),
        (
            "[output]",
            '[[wave]]\ndirection = [1, 0, 0]\npolarization = "V"\n[output]',
            "polarization is not supported for sound",
        ),
        ("speed_of_sound = 1500.0", "", "the problem 'sound-hard' also needs speed_of_sound"),
        ('frequency = "1.2 kHz"', "wavenumber = 3.0", "speed_of_sound is not supported by the problem 'sound-hard'"),
        ('frequency = "1.2 kHz"', "", "give either frequency (with speed_of_sound) or wavenumber"),
        (
            "[output]",
            '[solver]\nmethod = "densse"\n[output]',
            'line 13: solver.method = "densse": unknown method',
        ),
        ("[output]", "[solver]\nrtol = 2.0\n[output]", "line 13: solver.rtol = 2.0: it should be less than 1"),
        (
            "[output]",
            '[solver]\nmethod = "dense"\ncompression_rtol = 1e-6\n[output]',
            "compression_rtol= is supported by method='hmatrix' or method='fmm' or method='mlfmm' only: method",
        ),
        (
            "[output]",
            '[solver]\nmethod = "hmatrix"\nsolver = "lu"\n[output]',
            "solver='lu' is supported by method='dense' only",
        ),
        ("[output]", '[solver]\npreconditioner = "ilu"\n[output]', "choose 'mass', 'osrc'"),
        ("[output]", '[solver]\nprecision = "half"\n[output]', "choose 'double', 'single'"),
        ('[mesh]\nshape = "sphere"\nradius = "1 m"\nh = 0.3\n', "", "the file needs the [mesh] table"),
        ("[mesh]", "[mesh", "not valid TOML"),
        ("[physics]", "[[physics]]", "line 6: physics is a list of tables: write [physics] once"),
        ("[incident]", "[[incident]]", "line 10: incident is a list of tables: write [incident] once"),
        ('title = "sphere"', "solver = 3", "line 1: solver = 3 is no table: write [solver] once"),
        (
            "[output]",
            "[output]\nreference = {}",
            "output.reference is one table, but a list of tables is needed: write [[output",
        ),
        (
            '"1.2 kHz"',
            '{ start = "1 Hz", stop = "2 Hz", count = 1000000000 }',
            "line 8: physics.frequency: count = 1000000000: a whole number from 2 to 10000 is needed",
        ),
        ('"30 deg"', '"30 deg"\namplitude = 0', "line 12: incident.amplitude = 0: a pressure here must not be zero"),
        (
            '"30 deg"',
            '"30 deg"\namplitude = "0 kPa"',
            'line 12: incident.amplitude = "0 kPa": a pressure here must not',
        ),
        ('"30 deg"', '"30 deg"\nelectric_field = 0.0', "line 12: incident.electric_field = 0.0: a field strength here"),
        (
            '"sound-hard"',
            '"antenna"\nfeed = { between = [1, 2], voltage = 0 }',
            "line 8: physics.feed.voltage = 0: a voltage here must not be zero",
        ),
        ('"sound-hard"', '"impedance"\nadmittance = {}', "line 8: physics.admittance: the table by tag is empty"),
        (
            '"sound-hard"',
            '"impedance"\nadmittance = -1',
            "line 8: physics.admittance = -1: the real part -1 is negative",
        ),
        (
            '"sound-hard"',
            '"impedance"\nadmittance = { 1 = 0.5, 2 = [-0.5, 1.0] }',
            "line 8: physics.admittance: the real part -0.5 is negative",
        ),
    ],
)
def test_a_mistake_is_named(old, new, message):
    assert old in GOOD
    assert message in mistakes(GOOD.replace(old, new, 1))


def test_all_mistakes_are_told_at_once_in_the_order_of_lines():
    text = mistakes(GOOD.replace('"1.2 kHz"', '"fast"').replace("h = 0.3", "h = -1").replace("count = 3", "count = -3"))
    lines = [int(line.split("line ")[1].split(":")[0]) for line in text.splitlines()]
    assert lines == sorted(lines) and len(lines) == 3


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e200])
def test_vectors_of_any_length_point_somewhere(size):
    """Squares of the first are 0, those of the last infinite."""
    vectors = f"direction = [{size}, {size}, 0]\npolarization = [0, 0, {size}]"
    text = GOOD.replace('azimuth = "30 deg"', vectors).replace("speed_of_sound = 1500.0", "")
    incident = parse(text.replace('"sound-hard"', '"conductor"')).case.incident
    assert incident.unit_direction == pytest.approx([np.sqrt(0.5), np.sqrt(0.5), 0])
    assert incident.vector == pytest.approx([0, 0, 1])


def test_sweeps_and_complex_numbers():
    swept = parse(GOOD.replace('"1.2 kHz"', '{ start = "100 Hz", stop = "300 Hz", count = 3 }')).case
    assert swept.physics.frequency == (100.0, 200.0, 300.0)
    assert parse(GOOD.replace('"1.2 kHz"', '[50, "0.1 kHz"]')).case.physics.frequency == (50.0, 100.0)
    lossy = GOOD.replace('"sound-hard"', '"impedance"\nadmittance = [0.5, -0.1]')
    assert parse(lossy).case.physics.admittance == 0.5 - 0.1j
    patched = parse(GOOD.replace('"sound-hard"', '"impedance"\nadmittance = { hull = 0.2, 7 = [0.1, 0.3] }')).case
    assert patched.physics.admittance == {"hull": 0.2, 7: 0.1 + 0.3j}
    assert "{ start = ..., stop" in mistakes(GOOD.replace('"1.2 kHz"', '{ start = "100 Hz", end = 3 }'))


def test_compressed_methods_and_preconditioners_reach_the_solver():
    keys = 'method = "auto"\ncompression_rtol = 1e-5\npreconditioner = "mass"'
    chosen = parse(GOOD.replace("[output]", f"[solver]\n{keys}\n[output]")).case.solver.options
    assert (chosen["method"], chosen["compression_rtol"], chosen["preconditioner"]) == ("auto", 1e-5, "mass")
    assert "preconditioner" not in parse(GOOD).case.solver.options  # the problem has its usual one
    case = example("submarine").case
    assert case.solver.method == "auto" and "1626 unknowns, matrix 42" in announcement(case, 1626, "")
    assert announcement(case, 12000, "") == "12000 unknowns"  # whose method is chosen with the matrix
    fine = example("submarine-1000").case
    assert announcement(fine, 12000, "") == "12000 unknowns, H-matrix"
    assert fine.mesh.resolution == "fine" and fine.solver.method == "hmatrix"


def test_a_file_is_looked_for_beside_its_case_and_scaled(tmp_path):
    cube(1000.0, 500.0).write(tmp_path / "cube.msh")
    text = GOOD.replace('shape = "sphere"\nradius = "1 m"\nh = 0.3', 'file = "cube.msh"\nunit = "mm"')
    (tmp_path / "case.toml").write_text(text)
    assert surface_mesh(read(tmp_path / "case.toml")).volume == pytest.approx(1.0)


@pytest.mark.parametrize(("content", "message"), [(None, "no such file in "), (b"junk", "cannot be read")])
def test_a_mesh_file_that_cannot_be_used_is_told_with_its_key(tmp_path, content, message):
    if content is not None:
        (tmp_path / "hull.msh").write_bytes(content)
    text = GOOD.replace('shape = "sphere"\nradius = "1 m"\nh = 0.3', 'file = "hull.msh"')
    (tmp_path / "case.toml").write_text(text)
    with pytest.raises(CaseError, match='case.toml, line 3: mesh.file = "hull.msh": ') as caught:
        surface_mesh(read(tmp_path / "case.toml"))
    assert message in str(caught.value)


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    (tmp_path / "case.toml").write_text(GOOD, encoding="utf-8-sig")
    assert read(tmp_path / "case.toml").text == GOOD


def test_a_file_in_another_language_is_named(tmp_path):
    (tmp_path / "case.yaml").write_text("mesh:\n  shape: sphere\n")
    with pytest.raises(CaseError, match="not valid TOML: .*; a case is a .toml file, not .yaml"):
        read(tmp_path / "case.yaml")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.toml", "no such file"),
        (".", "this is a folder"),
        ("n" * 300, "cannot be read: File name too long"),
        ("/dev/zero", "no file on a disk"),
        (f"{Path(__file__).name}/case.toml", "cannot be read: Not a directory"),
    ],
)
def test_a_case_that_is_not_there(tmp_path, name, message):
    (tmp_path / Path(__file__).name).write_text("")
    with pytest.raises(CaseError, match=message):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#" * 1_000_001, "it has 1000001 bytes, and a case has at most 1000000"),
        ("a = " + 100_000 * "[", "not valid TOML: lists or tables lie too deep"),
        ("mesh:\n  shape: sphere", "line 1: not valid TOML: .*column 5 of 'mesh:'$"),
        (GOOD + "".join(f"[table{n}]\n" for n in range(400)), r"table0: unknown key(.|\n)*and 300 more mistakes"),
    ],
)
def test_what_is_too_large_for_a_case(tmp_path, text, message):
    (tmp_path / "case.toml").write_text(text)
    with pytest.raises(CaseError, match=message):
        read(tmp_path / "case.toml")


@pytest.mark.parametrize(
    ("given", "name"), [("structur", "structure"), ("static", "statics"), ("Acoustics", "acoustics")]
)
def test_a_misspelt_kind_is_told_with_the_tables_of_that_kind(given, name):
    with pytest.raises(ValueError, match=f"{given}: unknown key; did you mean '{name}'.* accepts .*{name}"):
        parse(f"[{given}]\n[mesh]\nfile = 'a.msh'\n")


def test_every_example_is_a_valid_case_and_unknown_names_are_answered():
    assert {"submarine", "rigid-sphere"} <= set(examples())
    submarine = example("submarine").case
    assert submarine.physics.frequency == (150.0,) and submarine.physics.speed_of_sound == 1500.0
    assert submarine.incident.azimuth == pytest.approx(np.radians(10)) and submarine.output.far_field.count == 361
    with pytest.raises(ValueError, match="did you mean 'submarine'"):
        example("submarin")
    with pytest.raises(ValueError, match="no example"):
        example("../cases/submarine")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"sound-hard"', '"impedance"\nadmittance = { a = 1 }', "line 8: physics.admittance = { a = 1 }: unknown tags"),
        (
            '"sound-hard"',
            '"dielectric"\npermittivity = { a = [2, 1] }',
            "physics.permittivity = { a = [2, 1] }: unknown",
        ),
        (
            '"sound-hard"',
            '"dielectric"\npermittivity = { 0 = 2 }\npermeability = { 7 = 1 }',
            "line 9: physics.permeability = { 7 = 1 }: unknown tags [7]",
        ),
        (
            '"sound-hard"',
            '"antenna"\nfeed = { between = ["a", "b"] }',
            'line 8: physics.feed.between = ["a", "b"]: unknown tags',
        ),
        (
            'azimuth = "30 deg"',
            'kind = "point-source"\nposition = [0, 0, 0]',
            "line 12: incident.position = [0.0, 0.0, 0.0]: the point source at [0.0, 0.0, 0.0] lies inside the body",
        ),
        (
            "[output]",
            '[[wave]]\nkind = "point-source"\nposition = [0, 0, 0]\n[output]',
            "line 14: wave.position = [0.0, 0.0, 0.0]: the point source at [0.0, 0.0, 0.0] lies inside the body",
        ),
        (
            'shape = "sphere"\nradius = "1 m"',
            'shape = "plate"\nlengths = [1, 1]',
            'line 7: physics.problem = "sound-hard": SoundHardScattering needs a closed surface',
        ),
        (
            "[output]",
            '[solver]\nmethod = "hmatrix"\nmatrix_file = "none/x.h5"\n[output]',
            'line 14: solver.matrix_file = "none/x.h5": the folder',
        ),
        (
            "[output]",
            '[solver]\nmethod = "hmatrix"\nmatrix_file = "junk.h5"\n[output]',
            'line 14: solver.matrix_file = "junk.h5": ',
        ),
    ],
)
def test_what_the_mesh_or_a_file_does_not_fit_is_told_with_its_key(tmp_path, old, new, message):
    (tmp_path / "junk.h5").write_text("hello")
    text = GOOD.replace(old, new, 1)
    if "dielectric" in new or "antenna" in new:
        text = text.replace("speed_of_sound = 1500.0\n", "").replace("30 deg", '30 deg"\npolarization = "V')
    if "antenna" in new:
        text = text.replace('[incident]\nazimuth = "30 deg"\npolarization = "V"\n', "")
    begun = []
    with pytest.raises(CaseError) as caught:
        run(parse(text, "case.toml", tmp_path), Stages(lambda name, seconds: begun.append(name)))
    assert message in str(caught.value) and begun == ["make the mesh"]
