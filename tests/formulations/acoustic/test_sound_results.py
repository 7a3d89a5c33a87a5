"""Results of sound in files, views and labelled data, with mirrors, half spaces and baffles; powers that balance."""

import numpy as np
import pytest

import calderon as cal
from catalogue import cases

AIR = cal.Fluid(1.2, 343.0)
FAR = np.array([[2.0, 0.3, 0.4], [0.2, 1.5, 1.0]])
INSIDE = np.array([[0.1, 0.05, 0.2], [-0.2, 0.1, 0.1]])


def tagged(mesh):
    return cal.TriangleMesh(
        mesh.vertices, mesh.triangles, (mesh.centroids[:, 0] > 0.1).astype(int), {"left": 0, "right": 1}
    )


BALL = tagged(cal.mesh.sphere(0.5, 0.3))
HALF = tagged(cal.mesh.hemisphere(0.5, 0.3))
LINED = {
    "left": [cal.Velocity(lambda x: 1 + x[:, 1]), cal.Impedance.relative(2 - 1j)],
    "right": cal.Velocity([0, 1j, 1]),
}


def sound(mesh, conditions=LINED, sources=None, k=2.0, **given):
    return cal.AcousticProblem(mesh, k, fluid=AIR, conditions=conditions, **given).solve(sources, rtol=1e-8)


def lined():
    return sound(BALL)


def lossy():
    return cal.AcousticProblem(BALL, 2.0, fluid=cal.Fluid(1000.0, 1500.0, loss=0.01), conditions=LINED).solve()


def held():
    return sound(BALL, {"left": cal.SoundPressure(1.0), "right": cal.Impedance(300.0)}, cal.PointSource([2.0, 0, 2.0]))


def room():
    monopole = cal.Multipole([0.05, 0.1, 0.02], [1.0])
    return sound(BALL, LINED, monopole, side="interior")


def even():
    return sound(HALF, mirrors={"z": "even"})


def odd():
    return sound(HALF, mirrors={"z": "odd"})


def split():
    problem = cal.AcousticProblem(HALF, 2.0, fluid=AIR, mirrors={"z": "even"})
    return problem.solve(cal.PlaneWave([0, 0.6, 0.8]), decompose=True)


def floor():
    return sound(HALF, sources=cal.PointSource([0, 2.0, 1.0]), mirrors=cal.HalfSpace("z"))


def sea():
    low = BALL.translated([0, 0, -1.0])
    return cal.AcousticProblem(
        low, 2.0, fluid=cal.Fluid.water(), conditions=LINED, mirrors=cal.HalfSpace("z", rigid=False)
    ).solve()


def plate():
    return sound(tagged(cal.mesh.disc(0.5, 0.2)), mirrors=cal.Baffle())


EVERY = [lined, lossy, held, room, even, odd, split, floor, sea, plate]


def places(solve):
    return {room: INSIDE, sea: FAR * [1, 1, -1]}.get(solve, FAR)


@pytest.mark.parametrize("solve", cases(EVERY, [lined, held, room, sea, plate]))
def test_sound_is_read_back_to_the_last_bit_and_shown(solve, tmp_path):
    solution = solve()
    solution.save(tmp_path / "s.h5")
    again = cal.load(tmp_path / "s.h5")
    assert type(again) is type(solution) and str(again) == str(solution)
    points = places(solve)
    for each in ("field", "gradient", "intensity", "spl"):
        assert np.array_equal(getattr(again, each)(points), getattr(solution, each)(points))
    if solve not in (room, lossy):
        assert np.array_equal(again.far_field(FAR), solution.far_field(FAR))
    assert again.absorbed_power("left") == solution.absorbed_power("left")
    if solution.moving is not None:
        assert again.complex_power == solution.complex_power
        assert again.radiation_impedance("right") == solution.radiation_impedance("right")
    again.save(tmp_path / "again.h5")
    assert (tmp_path / "again.h5").read_bytes() == (tmp_path / "s.h5").read_bytes()
    # views and data
    page = solution.to_html(tmp_path / "view.html", solution.on_plane(normal=[0, 1, 0], size=2.0, points=7))
    assert page.stat().st_size > 10_000
    table = solution.at_points(points).data
    assert table.pressure.attrs["units"] == "Pa" and table.attrs["frequency_Hz"] == solution.frequency
    assert np.array_equal(table.pressure.values, solution.field(points))
    numbers = solution.to_xarray()
    assert numbers.attrs["frequency_Hz"] == solution.frequency
    if solution.moving is not None:
        assert numbers.sound_power.attrs["units"] == "W" and float(numbers.sound_power) == solution.sound_power
        assert numbers.sound_power_level.attrs["units"] == "dB re 1 pW"
        assert repr(solution.arrays()).startswith("LabelledArrays(sound_power [W], ")
        assert " by " not in repr(solution.arrays())


@pytest.mark.parametrize("solve", [even, odd, floor, sea, plate])
def test_there_is_no_sound_beyond_a_plane_that_is_there(solve):
    solution = solve()
    beyond = places(solve) * [1, 1, -1]
    nothing = np.isnan(solution.at_points(beyond).arrays["pressure"])
    assert nothing.all() if solve in (floor, sea, plate) else not nothing.any()


@pytest.mark.parametrize("solve", [lined, even, odd, sea, plate])
def test_powers_by_surface_and_by_far_field_agree_and_their_difference_is_printed(solve):
    solution = solve()
    assert solution.power_error < 0.02
    assert f"differ by {solution.power_error:.1e}" in str(solution)
    given = solution.complex_power.real - solution.absorbed_power()
    assert given == pytest.approx(solution.radiated_power, rel=0.02)
    by_parts = sum(solution.absorbed_power(each) for each in ("left", "right"))
    assert by_parts == pytest.approx(solution.absorbed_power())


def test_a_sweep_has_figures_with_units():
    problem = cal.AcousticProblem(BALL, 1.0, fluid=AIR, conditions=LINED)
    sweep = problem.sweep([50.0, 60.0])
    table = sweep.to_xarray()
    assert table.sound_power.dims == ("frequency",) and table.frequency.attrs["units"] == "Hz"
    units = {name: table[name].attrs.get("units") for name in ("sound_power", "absorbed_power", "sound_power_level")}
    assert units == {"sound_power": "W", "absorbed_power": "W", "sound_power_level": "dB re 1 pW"}
    assert table.sound_power.values == pytest.approx([each.sound_power for each in sweep])
    assert table.power_error.values == pytest.approx([each.power_error for each in sweep])
    far = sweep.far_field_data([0.1, 0.2], [0.0])
    assert far.amplitude.attrs["units"] == "Pa m" and far.directivity.attrs["units"] == "dB"
