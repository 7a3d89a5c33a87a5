"""Case files of static fields in several materials: capacitances, currents, magnetic fields, mistakes."""

import json

import numpy as np
import pytest

import calderon as cal
from calderon.case import CaseError, parse
from calderon.report import headlines, plan, run, write

CAPACITOR = """\
title = "spherical capacitor"
[[surface]]
name = "inner"
shape = "sphere"
radius = "1 mm"
h = "0.5 mm"
[[surface]]
name = "outer"
shape = "sphere"
radius = "2 mm"
h = "1 mm"
[statics]
closed = true
[[region]]
name = "oil"
tags = ["inner", "outer"]
permittivity = 2.2
[[electrode]]
name = "ball"
tags = "inner"
charge = "5 pC"
[[electrode]]
name = "case"
tags = ["outer"]
voltage = 0
[output]
capacitance = true
forces = true
"""
BAR = """\
[mesh]
shape = "layered_cuboid"
lengths = [1.0, 1.0]
thicknesses = [0.7, 1.3]
h = 0.7
[statics]
closed = true
[[face]]
name = "low"
normal = [0, 0, -1]
high = [1, 1, -1]
[[face]]
name = "high"
low = [-1, -1, 1]
[[region]]
name = "lead"
tags = ["layer 1", "joint 1", "low"]
conductivity = "1 S/m"
[[region]]
name = "copper"
tags = ["layer 2", "joint 1", "high"]
conductivity = "4 S/m"
[[electrode]]
name = "a"
tags = "low"
voltage = "1 V"
[[electrode]]
name = "b"
tags = "high"
current = "-1 A"
[output]
capacitance = true
"""


def test_a_capacitor_its_report_and_its_plan(tmp_path):
    file = parse(CAPACITOR + 'slice = { plane = "xz", points = 20 }\n')
    results = run(file)
    exact = 4 * np.pi * cal.exact.VACUUM_PERMITTIVITY * 2.2 * 2e-3
    assert results.matrix.values[0, 0] == pytest.approx(exact, rel=0.01)
    assert results.solution.potentials["ball"] == pytest.approx(5e-12 / exact, rel=0.01)
    shown = {name: (value, unit) for name, value, unit in headlines(results, {})}
    value, unit = shown["mutual capacitance of ball and case"]
    assert float(value) == pytest.approx(1e15 * exact, rel=0.01) and unit == "fF"
    assert shown["charge of case"][0].startswith("−5") and shown["energy"][1] == "pJ"
    strength = results.solution.largest_strengths
    assert strength["ball"] == pytest.approx(5e-12 / (exact / 2e-3) / 1e-6, rel=0.1)
    r = np.linalg.norm(results.plane.places.points, axis=-1)
    blank = np.isnan(results.plane.arrays["potential"])
    assert blank[r < 0.8e-3].all() and not blank[(r > 1.2e-3) & (r < 1.7e-3)].any()  # metal has no field
    written = write(results, tmp_path / "out")
    assert not written.failures
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["capacitance_F"]["ball"]["case"] == results.matrix.values[0, 1]
    assert {"slice.png", "surface_density.png", "capacitance.csv", "surface_strength.vtu"} <= set(summary["files"])
    assert ("regions", "oil", "") in plan(file)


def test_forces_on_walls_and_point_charges(tmp_path):
    """Each has a row; by symmetry none acts within concentric shells, which no ratio of forces describes."""
    charge = '[[source]]\nkind = "point-charge"\nposition = ["1.5 mm", 0, 0]\ncharge = "1 pC"\n[output]\n'
    results = run(parse(CAPACITOR.replace("[output]\ncapacitance = true\n", charge)))
    assert 0 < results.forces.imbalance < 0.2
    arm, force = np.array([1.5e-3, 0, 0]), results.forces.forces["charge 1"]
    assert results.forces.torques["charge 1"] == pytest.approx(np.cross(arm, force)) and force[0] > 0
    assert not write(results, tmp_path / "out").failures
    shown = json.loads((tmp_path / "out" / "summary.json").read_text())["forces_N"]
    assert shown["charge 1"] == force.tolist()
    assert run(parse(CAPACITOR)).forces.imbalance is None


def test_currents_have_their_resistance():
    results = run(parse(BAR + "estimate = true\n"))
    assert (
        results.second_mesh.ratio == pytest.approx(0.5, abs=0.01) and results.second_mesh.error < 1e-4
    )  # faces stay where they are
    assert results.solution.potentials["b"] == pytest.approx(1 - (0.7 + 1.3 / 4), rel=1e-5)
    shown = {name: (float(value), unit) for name, value, unit in headlines(results, {})[:1]}
    assert shown["resistance between a and b"][0] == pytest.approx(1.025, rel=1e-3)


def test_iron_in_a_uniform_field():
    iron = """\
[mesh]
shape = "sphere"
radius = "1 m"
h = "0.5 m"
[statics]
[[region]]
name = "iron"
tags = "all"
permeability = 100
[[source]]
kind = "uniform-field"
magnetic_field = ["2 A/m", 0, 0]
[output]
near_field = [{ name = "middle", points = [[0, 0, 0.1]] }]
estimate = true
"""
    loop = '[[source]]\nkind = "loop"\nposition = [0, 0, 5]\nradius = "1 m"\ncurrent = "3 A"\n[output]\n'
    (coil,) = parse(iron.replace("[output]\n", loop)).case.excitation["sources"][1:]
    assert coil.magnetic_field([[0, 0, 5.0]])[0, 2] == pytest.approx(1.5, rel=1e-3)
    results = run(parse(iron))
    inside = results.near_fields["middle"].arrays["H"][0]
    assert inside == pytest.approx([3 / 102 * 2, 0, 0], rel=0.01, abs=1e-4)
    assert 0 < results.second_mesh.error < 0.05


MISTAKES = [
    ('charge = "5 pC"', "current = 1.0", "line 18: the case: electrode.current: regions have permittivity"),
    ("permittivity = 2.2", "permittivity = 2.2\nconductivity = 1.0", "a region has one material"),
    ("permittivity = 2.2", "permittivity = -1", "greater than 0"),
    ('tags = ["inner", "outer"]', 'tags = ["inner", "out"]', "line 16: region.tags"),
    ('tags = ["inner", "outer"]', 'tags = ["inner"]', "bounds no region|outside=None"),
    ('charge = "5 pC"\n', "", "'ball' has no value"),
    ('charge = "5 pC"', "voltage = 1\ncharge = 0", "an electrode has one of them"),
    ("closed = true", "closed = true\noutside = { permittivity = 3 }", "leave one out"),
    ('name = "case"', 'name = "ball"', "electrode.name: 'ball' is given twice"),
    ("[output]", '[[source]]\nkind = "dipole"\nposition = [0, 0, 0.0015]\n[output]', "also needs moment"),
    ("[output]", '[[source]]\nkind = "point-charge"\nposition = [0, 0, 0]\ncharge = 1\n[output]', "lies in metal"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_are_told_with_their_line(old, new, message):
    assert old in CAPACITOR
    with pytest.raises(CaseError, match=message):
        plan(parse(CAPACITOR.replace(old, new)))
