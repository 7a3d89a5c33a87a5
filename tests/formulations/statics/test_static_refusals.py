"""Static problems that cannot be right are refused with what came, what is allowed, what to try; units are noticed."""

import numpy as np
import pytest

import calderon as cal
from calderon.case import CaseError, parse
from calderon.mesh.errors import AccuracyWarning
from calderon.report import run

SHELLS = cal.mesh.joined({"in": cal.mesh.sphere(1.0, 0.6), "out": cal.mesh.sphere(1.5, 0.9)})
BALL = cal.mesh.sphere(1.0, 0.6)
TORUS = cal.mesh.torus(1.0, 0.3, 0.36)
OIL = cal.Region(["in", "out"], permittivity=2.0)


def pair(shift, second=None):
    """Two bodies, the second one moved along x."""
    first = cal.mesh.cuboid((1.0, 1.0, 1.0), h=0.5)
    return cal.mesh.joined({"a": first, "b": (second or first).translated([shift, 0.0, 0.0])})


def two(mesh):
    return cal.StaticProblem(mesh, {"a": cal.Region("a", permittivity=2.0), "b": cal.Region("b", permittivity=3.0)})


def oil(**electrodes):
    return cal.StaticProblem(SHELLS, {"oil": OIL}, electrodes, outside=None)


def nerve():
    return cal.StaticProblem(BALL, {"nerve": cal.Region("all", conductivity=1.0)}, outside=None)


POSED = {
    "a region with a hole": (
        lambda: cal.StaticProblem(cal.TriangleMesh(BALL.vertices, BALL.triangles[3:]), {"ball": cal.Region("all")}),
        r"region 'ball' is not closed: 7 edges .*the first from \[.*cal.mesh.joined",
    ),
    "bodies that cross": (lambda: two(pair(0.8)), r"surfaces cross.*tag 'a' and .* tag 'b' at \[.*cal.mesh.solids"),
    "a wall on another one": (
        lambda: two(pair(1.0, cal.mesh.cuboid((1.0, 1.0, 1.0), h=0.34))),
        "touch without common vertices.* is 0.236 from",
    ),
    "a body in another one": (
        lambda: two(cal.mesh.joined({"a": BALL.scaled(0.5), "b": BALL})), "the tag 'a' lies in region 'b'.*add it",
    ),
    "a conductor in another one": (
        lambda: cal.StaticProblem(
            SHELLS, {"a": cal.Region("in", conductivity=1.0), "b": cal.Region("out", conductivity=2.0)}, outside=None
        ),
        "the tag 'in' lies in region 'b'",
    ),
    "one part of space twice": (
        lambda: cal.StaticProblem(SHELLS, {"oil": OIL, "more": OIL}), "two regions overlap.*triangle 0 .*'in'",
    ),
    "a tag nowhere": (lambda: cal.StaticProblem(SHELLS, {"ball": cal.Region("in")}), "the tag 'out' bounds no region"),
    "an electrode twice": (lambda: oil(a="in", b="in"), "'a' and 'b' have a tag in common"),
    "an electrode without tags": (lambda: oil(a=()), "tags of electrode 'a' are .*got none"),
    "an electrode of nothing": (lambda: oil(a=None), "tags of electrode 'a' are .*got none"),
    "materials of two kinds": (
        lambda: cal.StaticProblem(SHELLS, {"oil": OIL, "core": cal.Region("in", conductivity=1.0)}), "one kind",
    ),
    "ions in a conductor": (lambda: cal.Region("all", conductivity=1.0, debye_length=1.0), "got it with conductivity"),
    "ions in nothing": (lambda: cal.Region("all", debye_length=1.0), "got it with no material: give permittivity="),
    "a negative constant": (lambda: cal.Region("all", permittivity=-2.0), "permittivity must be a positive number"),
}  # fmt: skip


@pytest.mark.parametrize("what", POSED)
def test_problems_that_are_refused(what):
    build, message = POSED[what]
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        build()


AMPERE = cal.PointCharge([0, 0, 0.2], 1.0)
SOLVED = {
    "a potential and a charge": (lambda: oil(a="in").solve({"a": 1.0}, {"a": 1.0}), "a potential and a charge"),
    "neither": (lambda: oil(a="in", b="out").solve({"a": 1.0}), "'b' has neither"),
    "no potential anywhere": (lambda: oil(a="in", b="out").solve(charges={"a": 1.0, "b": -1.0}), "give one of them"),
    "nothing": (lambda: cal.StaticProblem(BALL, {"ball": cal.Region("all")}).solve(), "nothing excites the field"),
    "no source": (lambda: nerve().solve(sources=[3.0]), "sources are PointCharge, .*number 0 is 3.0"),
    "currents that stay": (lambda: nerve().solve(sources=[AMPERE]), "sum to 1 A .* have to sum to 0"),
    "a dipole on a wall": (
        lambda: nerve().solve(sources=[cal.StaticDipole(BALL.centroids[7], [0, 0, 1.0])]), "on triangle 7 of a wall",
    ),
    "a dipole where nothing is": (
        lambda: nerve().solve(sources=[cal.StaticDipole([0, 0, 2.0], [0, 0, 1.0])]), "where no region is: move it",
    ),
    "a coil through iron": (
        lambda: cal.StaticProblem(TORUS, {"iron": cal.Region("all", permeability=9.0)}).solve(
            sources=[cal.CurrentPath.loop(0.6, 1.0, centre=[1, 0, 0], axis=[0, 1, 0])]
        ),
        "passes through a loop of iron",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SOLVED)
def test_data_that_are_refused(what):
    solve, message = SOLVED[what]
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        solve()


def test_contrasts_beyond_what_fields_hold_are_noticed():
    with pytest.warns(AccuracyWarning, match=r"factor of 1e\+09: .* about 0.2 of them"):
        cal.StaticProblem(BALL, {"ball": cal.Region("all", permittivity=1e9)})


def test_meshes_in_angstrom_are_noticed():
    water = cal.Region(permittivity=80.0, debye_length=8e-10)
    with pytest.warns(UserWarning, match="diameter of 3.5 m .* 8e-10 m: check the units"):
        cal.StaticProblem(BALL, {"ball": cal.Region("all", permittivity=4.0)}, outside=water)
    solution = cal.StaticProblem(BALL, {"ball": cal.Region("all", permittivity=4.0)}).solve(
        sources=[cal.PointCharge([0, 0, 0.1], 1.6e-19)]
    )
    with pytest.warns(UserWarning, match="1.6e-19 C in a body of 3.5 m: check the units"):
        assert np.isfinite(solution.solvation_energy)


CASE = """\
[[surface]]
name = "in"
shape = "sphere"
radius = 1
h = 0.6
[[surface]]
name = "out"
shape = "sphere"
radius = 1.5
h = 0.9
[statics]
[[region]]
name = "oil"
tags = ["in", "out"]
permittivity = 2.2
[[electrode]]
name = "core"
tags = "in"
voltage = 1.0
[output]
capacitance = true
"""
CHANGES = [
    ('["in", "out"]', '["in"]', "line 14: region.tags.*the tag 'out' bounds no region"),
    ('["in", "out"]', '["in", "x"]', r"line 14: region.tags.*unknown tags \['x'\]"),
    ("radius = 1.5", "radius = 1.5\ntranslation = [1, 0, 0]", "surfaces cross"),
    ("voltage = 1.0", "voltage = 1.0\ncharge = 0", "line 16: electrode: voltage and charge"),
    ("voltage = 1.0", "current = 1.0", "regions have permittivity, give electrodes a voltage"),
    (
        "capacitance = true",
        "lead_field = { electrodes = [[0, 0, 1]], places = [[0, 0, 0.2]] }",
        "lead_field.places.*metal",
    ),
    ("permittivity = 2.2", "permittivity = 2.2\ndebye_length = 0", "debye_length"),
    ("permittivity = 2.2", "conductivity = 2.2\ndebye_length = 1", "line 12: region: debye_length"),
    ("[statics]", "[statics]\nclosed = true\n[statics.outside]\npermittivity = 2", "closed and outside"),
]


@pytest.mark.parametrize("old, new, message", CHANGES)
def test_cases_that_are_refused(old, new, message):
    assert old in CASE
    with pytest.raises(CaseError, match=f"(?s){message}"):
        run(parse(CASE.replace(old, new, 1)))
