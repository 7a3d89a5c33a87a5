"""Files that a case names are in its folder; columns of its tables have names of their own."""

import csv
from pathlib import Path

import pytest

from calderon.case import CaseError, parse
from calderon.report import run, write
from calderon.report.formatting import frequency_texts, write_csv

CASE = """\
[mesh]
shape = "cube"
size = "1 m"
h = "0.5 m"
[physics]
problem = "sound-hard"
frequency = ["20 Hz", "20.000001 Hz", "21 Hz"]
speed_of_sound = "340 m/s"
[incident]
direction = [1, 0, 0]
[solver]
method = "hmatrix"
[output]
surface = []
far_field = { plane = "xy", count = 3 }
"""
ONE = CASE.replace('["20 Hz", "20.000001 Hz", "21 Hz"]', '"20 Hz"')
REFERENCE = """
[[output.reference]]
curve = "far_field"
file = "{}"
label = "known"
angle = "angle_deg"
level = "dB"
"""


def test_a_sweep_has_one_row_for_each_angle_at_each_frequency(tmp_path):
    write(run(parse(CASE.replace('method = "hmatrix"', ""))), tmp_path / "out")
    with (tmp_path / "out" / "far_field.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    names = ["frequency_Hz", "angle_deg", *list(rows[0])[2:]]
    assert list(rows[0]) == names and len(names) == 5
    assert [float(row["frequency_Hz"]) for row in rows] == [20.0] * 3 + [20.000001] * 3 + [21.0] * 3
    assert [float(row["angle_deg"]) for row in rows] == [0.0, 180.0, 360.0] * 3


def test_texts_of_frequencies_have_as_many_digits_as_tell_them_apart():
    assert frequency_texts([200.0, 3.5e9]) == ["200 Hz", "3.5 GHz"]
    assert frequency_texts([200.0, 200.00001]) == ["200 Hz", "200.00001 Hz"]
    near = [1e9, 1e9 * (1 + 2**-52)]
    assert len(set(frequency_texts(near))) == 2


def test_two_columns_of_one_name_and_two_equal_frequencies_are_refused(tmp_path):
    with pytest.raises(ValueError, match="two columns have the same name: a"):
        write_csv(tmp_path / "a.csv", [("a", [1.0]), ("b", [1.0]), ("a", [2.0])])
    assert not (tmp_path / "a.csv").exists()
    with pytest.raises(CaseError, match="a frequency occurs twice in the list"):
        parse(CASE.replace("21 Hz", "20.0 Hz"))
    sweep = '{ start = "20 Hz", stop = "20 Hz", count = 3 }'
    with pytest.raises(CaseError, match="3 frequencies between start and stop are not all different"):
        parse(ONE.replace('"20 Hz"', sweep))


@pytest.mark.parametrize("place", ["../{}", "{folder}/{}", "link/{}", "inner/../../{}"])
def test_a_file_outside_of_the_folder_of_a_case_is_refused_and_not_shown(tmp_path, place):
    home = tmp_path / "home"
    (home / "inner").mkdir(parents=True)
    (home / "link").symlink_to(tmp_path)
    (tmp_path / "secret.csv").write_text("secret,line\n1,2\n")
    named = Path(place.format("secret.csv", folder=tmp_path)).as_posix()
    for text in (
        ONE + REFERENCE.format(named),
        ONE.replace('method = "hmatrix"', f'method = "hmatrix"\nmatrix_file = "{named[:-3]}h5"'),
    ):
        with pytest.raises(CaseError, match="it leads out of .*home, the folder of the case") as caught:
            run(parse(text, "case.toml", home))
        assert "line'" not in str(caught.value) and "1,2" not in str(caught.value)
    assert not (tmp_path / "secret.h5").exists()


def test_what_is_no_number_in_a_reference_is_not_quoted(tmp_path):
    (tmp_path / "known.csv").write_text("angle_deg,dB\n0,private words\n")
    with pytest.raises(CaseError, match="not all angles and levels are numbers") as caught:
        run(parse(ONE + REFERENCE.format("known.csv"), "case.toml", tmp_path))
    assert "private" not in str(caught.value)
