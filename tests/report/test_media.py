"""Media of case files by frequency: rows and CSV files, in dielectrics, fluids and boards, as untrusted input."""

import pytest

import calderon as cal
from calderon.case import CaseError, parse
from calderon.report import run

GLASS = """\
[mesh]
shape = "sphere"
radius = 1
h = 0.8
[physics]
problem = "dielectric"
frequency = ["50 MHz", "60 MHz"]
permittivity = "glass"
[incident]
direction = [1, 0, 0]
polarization = "V"
[media.glass]
frequency = ["40 MHz", "60 MHz"]
permittivity = [2, 3]
tan_delta = [0, 0.1]
"""
ROWS = GLASS[GLASS.index('frequency = ["40') :]
CSV = "# measured\nsample, frequency, permittivity, tan_delta\na, 4e7, 2, 0\nb, 6e7, 3, 0.1\n"
FROM_FILE = GLASS.replace(ROWS, 'file = "glass.csv"\n')


@pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")
@pytest.mark.parametrize("text", [GLASS, FROM_FILE])
def test_a_dielectric_has_the_constants_of_its_frequency(text, tmp_path):
    (tmp_path / "glass.csv").write_text(CSV, encoding="utf-8")
    physics = parse(text, "case.toml", tmp_path).case.physics
    ball = cal.mesh.sphere(1.0, h=0.8)
    found = [physics.build(ball, k).regions[1].permittivity for k in physics.wavenumbers]
    assert found == pytest.approx([2.5 * (1 + 0.05j), 3 * (1 + 0.1j)])
    by_tag = text.replace('"glass"\n', "{ 0 = 'glass' }\n")
    again = parse(by_tag, "case.toml", tmp_path).case.physics
    assert again.constants("permittivity", again.wavenumbers[0]) == {0: pytest.approx(found[0])}


FLUID = """\
[mesh]
shape = "sphere"
radius = 1
h = 0.4
[physics]
problem = "transmission"
frequency = ["200 Hz", "400 Hz"]
speed_of_sound = 1500
density = 1000
interior_speed_of_sound = "mud"
interior_density = "mud"
[incident]
direction = [1, 0, 0]
[media.mud]
frequency = [200, 400]
density = ["1.1 g/cm^3", 1500]
speed_of_sound = [1400, 1900]
[output]
exact = true
far_field = { plane = "xy", count = 19 }
surface = []
"""


def test_a_sweep_of_a_fluid_meets_the_series_of_each_frequency():
    steps = run(parse(FLUID)).steps
    assert [step.exact_error for step in steps] == pytest.approx([0, 0], abs=0.03)
    series = []
    for step, c, rho in zip(steps, (1400, 1900), (1100, 1500), strict=True):
        k = step.wavenumber
        series.append(cal.exact.fluid_sphere(k, 1.0, k * 1500 / c, rho / 1000, direction=[1, 0, 0]))
    far = [step.far_field["far_field", "Pa_m"][0] for step in steps]
    assert far == pytest.approx([each.far_field([[1.0, 0, 0]])[0] for each in series], rel=0.03)


BOARD = """\
[planar]
band = { start = "1 GHz", stop = "2 GHz" }
[metal]
shape = "patch"
length = "38 mm"
width = "57 mm"
h = "20 mm"
[[port]]
kind = "probe"
place = ["-8 mm", 0.0]
radius = "0.5 mm"
[[layer]]
thickness = "1 mm"
permittivity = "fr4"
[media.fr4]
frequency = ["1 GHz", "3 GHz"]
permittivity = [4.4, 4.0]
tan_delta = [0.02, 0.02]
"""


def test_a_board_has_the_constants_of_each_frequency():
    stack = parse(BOARD).case.stack
    assert stack.at(2e9).eps[0] == pytest.approx(4.2 * (1 + 0.02j))
    assert "eps_r of fr4" in str(stack) and stack.surface_waves() == []
    periodic = BOARD[BOARD.index("[[layer]]") :] + (
        '[periodic]\nperiod = "20 mm"\nfrequency = "2 GHz"\n'
        '[element]\nshape = "patch"\nlength = "10 mm"\nwidth = "10 mm"\nh = "5 mm"\n'
    )
    assert parse(periodic).case.stack.at(2e9).eps[0] == pytest.approx(4.2 * (1 + 0.02j))


@pytest.mark.parametrize(
    "text, old, new, message",
    [
        (GLASS, '"glass"\n', '"glas"\n', "line 8: physics.permittivity = \"glas\": no medium has that name: choose"),
        (GLASS, "40 MHz", "55 MHz", "this medium is known from 5.5e+07 to 6e+07 Hz, and the case has 5e+07 Hz"),
        (GLASS, "[2, 3]", "[2]", "line 12: media.glass: columns of one length are needed"),
        (GLASS, "[2, 3]", "[-2, 3]", "line 14: media.glass.permittivity = -2"),
        (GLASS, "40 MHz", "60 MHz", "line 12: media.glass: frequencies of a medium rise"),
        (GLASS, ROWS, "", "line 12: media.glass: a medium needs two rows at least"),
        (GLASS, ROWS, ROWS + 'file = "a.csv"\n', "media.glass: give lists or a file"),
        (GLASS, "permittivity = [2, 3]\ntan_delta = [0, 0.1]", "density = [2, 3]", "this medium has no permittivity"),
        (GLASS, "media.glass", 'media."2 glass"', "the name of a medium has letters, digits"),
        (FLUID, "speed_of_sound = [1400, 1900]\n", "", "physics.interior_speed_of_sound = \"mud\": this medium has no"),
        (BOARD, '"2 GHz"', '"4 GHz"', "line 14: layer.permittivity = \"fr4\": this medium is known from 1e+09"),
        (BOARD, 'permittivity = "fr4"', 'permittivity = "fr4"\ntan_delta = 0.1', "tan_delta is one of the columns"),
        (BOARD, 'permittivity = "fr4"', 'permittivity = "4 F"', "the name of a medium of [media]"),
    ],
)  # fmt: skip
def test_mistakes_are_named(text, old, new, message):
    assert old in text
    with pytest.raises(CaseError) as caught:
        parse(text.replace(old, new), "case.toml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "no such file"),
        (b"\xff\xfe\x00secret", "not a CSV file in UTF-8"),
        (b"", "its first line names columns"),
        (b"frequency,frequency,permittivity\n1,2,3\n2,3,4\n", "its first line names columns"),
        (CSV.replace("a, 4e7, 2, 0", "a, 4e7, 2").encode(), "not every line has 4 values"),
        (CSV.replace("4e7", "secret").encode(), "not every frequency is a number"),
        (CSV.replace("3, 0.1", "nan, 0.1").encode(), "not every permittivity is positive, and finite"),
        (CSV.replace("3, 0.1", "3, -0.1").encode(), "not every tan_delta is 0 or more"),
        (CSV.replace("4e7", "-4e7").encode(), "a frequency here must be greater than zero"),
        (CSV.replace("4e7", "7e7").encode(), "frequencies of a medium rise"),
        (b'frequency,permittivity\n1,"' + b"9" * 200_000 + b"\n", "not a CSV file"),
        (b"frequency,permittivity\n" + b"1,2\n" * 10_001, "up to 10000 rows"),
        (b"#" * 2_000_001, "more than 2000000 bytes"),
    ],
)
def test_a_file_is_not_trusted_and_not_quoted(content, message, tmp_path):
    if content is not None:
        (tmp_path / "glass.csv").write_bytes(content)
    with pytest.raises(CaseError) as caught:
        parse(FROM_FILE, "case.toml", tmp_path)
    assert 'line 13: media.glass.file = "glass.csv"' in str(caught.value) and message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_file_outside_of_the_folder_is_refused(tmp_path):
    (tmp_path / "glass.csv").write_text(CSV, encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    (home / "link.csv").symlink_to(tmp_path / "glass.csv")
    for name in ("../glass.csv", "link.csv", str(tmp_path / "glass.csv")):
        with pytest.raises(CaseError, match="it leads out of"):
            parse(FROM_FILE.replace("glass.csv", name), "case.toml", home)


def test_layers_of_a_function_in_python():
    stack = cal.Stack([cal.Layer(1e-3, lambda f: 4 - f / 1e10)], below="pec")
    assert stack.at(1e9).eps[0] == pytest.approx(3.9)
    with pytest.raises(ValueError, match="goes with a number"):
        cal.Layer(1e-3, lambda f: 4.0, tan_delta=0.1)
    with pytest.raises(ValueError, match="eps_r of a layer at 1e\\+09 Hz must not be zero"):
        cal.Stack([cal.Layer(1e-3, lambda f: 0.0)], below="pec").at(1e9)
