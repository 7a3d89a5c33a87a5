"""Nastran decks: a brick of 1 x 2 x 3 in every way in which its cards may be written, or a refusal with the place."""

import re
import warnings

import numpy as np
import pytest

from calderon.mesh import MeshError, MeshWarning, read

CORNERS = np.array([[x, y, z] for z in (0, 3) for y in (0, 2) for x in (0, 1)], float)
QUADS = [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [2, 4, 8, 6], [4, 3, 7, 8], [3, 1, 5, 7]]
HEXA = [1, 2, 4, 3, 5, 6, 8, 7]


def small(*fields):
    """A line of small fields."""
    return "".join(f"{field!s:8.8}" for field in fields).rstrip()


def grids(first=1, last=8, system="", points=CORNERS):
    return [small("GRID", n, system, *points[n - 1]) for n in range(first, last + 1)]


def quads(*numbers, name="CQUAD4", pid=7, more=()):
    return [small(name, n, pid, *QUADS[n - 1], *more) for n in numbers or range(1, 7)]


def deck(*lines, control=("SOL 101", "CEND", "TITLE = CTRIA3, 1, 2", "BEGIN BULK"), end="ENDDATA"):
    """A text of lines and lists of them."""
    flat = [each for line in lines for each in ([line] if isinstance(line, str) else line)]
    return "\n".join([*control, *flat, end, ""])


def turned(points, kind):
    """Coordinates of a cylindrical or spherical system with the axis z, angles in degrees."""
    x, y, z = points.T
    if kind == "C":
        return np.column_stack([np.hypot(x, y), np.degrees(np.arctan2(y, x)), z])
    r = np.linalg.norm(points, axis=1)
    theta = np.degrees(np.arccos(np.divide(z, r, out=np.ones_like(r), where=r > 0)))
    return np.column_stack([r, theta, np.degrees(np.arctan2(y, x))])


def frame(kind, number, parent, a, b, c):
    return [small(f"CORD2{kind}", number, parent, *a, *b, "+A"), small("+A", *c)]


Z, X, O = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
"""Points on axes."""
CYCLIC = np.roll(CORNERS, -1, axis=1)
"""Coordinates along y, z, x."""
TRIA = [[q[i], q[j], q[k]] for q in QUADS for i, j, k in ((0, 1, 2), (0, 2, 3))]
MIDDLES = {}
for q in QUADS:
    for pair in zip(q, np.roll(q, -1).tolist(), strict=True):
        MIDDLES.setdefault(frozenset(pair), 9 + len(MIDDLES))
MIDDLE_GRIDS = [
    small("GRID", number, "", *CORNERS[[n - 1 for n in pair]].mean(axis=0)) for pair, number in MIDDLES.items()
]


def middles(q):
    return [MIDDLES[frozenset(pair)] for pair in zip(q, np.roll(q, -1).tolist(), strict=True)]


def quads8(n):
    q = QUADS[n - 1]
    m = middles(q)
    return [small("CQUAD8", n, 7, *q, *m[:2], "+B"), small("+B", *m[2:], "", "", "", "", "30.", "0.")]


TETRAHEDRA = [[1, 2, 4, 8], [1, 2, 8, 6], [1, 4, 3, 8], [1, 3, 7, 8], [1, 7, 5, 8], [1, 5, 6, 8]]

RIGHT = {
    "plain": deck(grids(), quads()),
    "bulk data alone": deck(grids(), quads(), control=()),
    "neither BEGIN BULK nor ENDDATA": deck(grids(), quads(), control=(), end=""),
    "lower case": deck(grids(), quads()).lower(),
    "CR LF": deck(grids(), quads()).replace("\n", "\r\n"),
    "CR": deck(grids(), quads()).replace("\n", "\r"),
    "byte order mark": "\ufeff" + deck(grids(), quads()),
    "free fields": deck(
        *[f"GRID,{n},,{x},{y},{z}" for n, (x, y, z) in enumerate(CORNERS, 1)],
        *[f"cquad4 , {n} , 7, {', '.join(map(str, q))} ,, $ comment, with commas" for n, q in enumerate(QUADS, 1)],
    ),
    "free fields over lines": deck(
        *[f"GRID*,{n},,{x},{y}\n*,{z}" for n, (x, y, z) in enumerate(CORNERS, 1)],
        *[f"CQUAD4,{n},7,{q[0]},{q[1]},{q[2]},{q[3]},,,+C{n}\n+C{n},,,.1,.1,.1,.1" for n, q in enumerate(QUADS, 1)],
    ),
    "large fields": deck(
        *[
            f"{'GRID*':8}{n:<16}{'':16}{x:<16.9E}{y:<16.9E}*G{n}\n*G{n:<6}{z:<16.9E}{0:<16}"
            for n, (x, y, z) in enumerate(CORNERS, 1)
        ],
        *[
            f"{'CQUAD4*':8}{n:<16}{7:<16}{q[0]:<16}{q[1]:<16}\n{'*':8}{q[2]:<16}{q[3]:<16}"
            for n, q in enumerate(QUADS, 1)
        ],
    ),
    "tabs": deck(
        *[f"GRID\t{n}\t\t{x}\t{y}\t{z}" for n, (x, y, z) in enumerate(CORNERS, 1)],
        *["CQUAD4\t" + "\t".join(map(str, (n, 7, *q))) for n, q in enumerate(QUADS, 1)],
    ),
    "numbers": deck(
        "GRID    1               0.      -0.0    0.0-5   ",
        "GRID    2               1.0     0.      .0D0    ",
        "GRID    3               0.      2.+0    0.",
        "GRID    4               +1.     20.-1   0.E0",
        "GRID    5               .0      0.      3.",
        "GRID    6               .1+1    0.      .3E+1",
        "GRID    7               0.      2.0D+0  30D-1",
        "GRID    8               10.0-1  2.e0    3.0d0",
        quads(),
    ),
    "fields at both ends": deck([line.replace("0.0     ", "     0.0") for line in grids()], quads()),
    "THETA, MCID, ZOFFS": deck(grids(), quads(1, 2, more=("45.",)), quads(3, 4, more=(3, 0.0)), quads(5, 6)),
    "the property of the element's number": deck(
        grids(), [small("CQUAD4", 7, "", *QUADS[0])], quads(2, 3, 4, 5, 6), "PSHELL,7,1,.1"
    ),
    "marks whose first character differs": deck(
        f"{'CORD2C':8}{5:<8}{'':48}{1.0:<8}CORD1",
        f"{'+ORD1':8}{1.0:<8}",
        f"{'CORD2C':8}{6:<8}{'':48}{1.0:<8}+ORD2",
        f"{'+ORD2':8}{'':8}{1.0:<8}",
        grids(system=5, points=turned(CORNERS, "C").round(4)),
        quads(),
    ),
    "systems in large fields": deck(
        f"{'CORD2C*':8}{5:<16}{'':16}{0.0:<16}{0.0:<16}*",
        "$ between",
        f"{'*':8}{0.0:<16}{0.0:<16}{0.0:<16}{1.0:<16}*",
        f"{'*':8}{1.0:<16}{0.0:<16}{0.0:<16}{'':16}*",
        grids(system=5, points=turned(CORNERS, "C").round(4)),
        quads(),
    ),
    "CQUADR, CSHEAR and triangles": deck(
        grids(),
        quads(1, name="CQUADR"),
        quads(2, name="CSHEAR"),
        quads(3, 4),
        [small("CTRIA3", 20 + n, 7, *TRIA[n], "", ".0") for n in (8, 9)],
        [small("CTRIAR", 20 + n, 7, *TRIA[n]) for n in (10, 11)],
    ),
    "CQUAD8": deck(grids(), MIDDLE_GRIDS, *map(quads8, range(1, 7))),
    "CQUAD8 without some middles": deck(
        grids(), MIDDLE_GRIDS, *[quads8(n) for n in (1, 2, 3)], quads(4, 5, 6, name="CQUAD8")
    ),
    "CTRIA6": deck(
        grids(),
        [small("CTRIA6", n, 7, *t, "", "", "", "10.", "+T") + f"\n{small('+T', '.1')}" for n, t in enumerate(TRIA, 1)],
    ),
    "replication": deck(
        "GRID    1               0.      0.      0.",
        "=       *1      =       *1.     ==",
        "GRID,3,,0.,2.,0.,,,",
        "=,*(1),=,*(1.),==",
        "GRID    5               0.      0.      3.",
        "=       *(1)    =       *(1.0)  ==",
        "GRID    7               0.      2.      3.",
        "=       *1      =       *1.     ==",
        "CQUAD4  1       7       1       3       4       2",
        "=       *1      =       5       6       8       7",
        quads(3, 4, 5, 6),
    ),
    "replication n times": deck(
        "GRID    13              0.      0.      9.",
        "=       *(-4)   =       =       =       *(-3.0) ==",
        "=(2)",
        grids(2, 4),
        grids(6, 8),
        "CTRIA3,9,7,1,2,3",
        "=,*(1),==\n=2",
        quads(1),
        *(each.replace("CQUAD4  ", "=       ") for each in quads(2, 3, 4, 5, 6)),
    ).replace("CTRIA3,9,7,1,2,3\n=,*(1),==\n=2\n", ""),
    "continuations elsewhere": deck(
        f"{small('CQUAD4*', 1):24}{7:<16}{1:<16}{3:<16}*Q1",
        grids(),
        "$ between",
        f"{'*Q2':8}{'':16}",
        f"{'*Q1':8}{4:<16}{2:<16}",
        quads(2, 3, 4, 5, 6),
        f"{small('CTRIA3', 90, 7, 1, 2, 4):72}+Q2",
    )
    .replace(f"{small('CTRIA3', 90, 7, 1, 2, 4):72}+Q2\n", "")
    .replace(f"{'*Q2':8}{'':16}\n", ""),
    "given twice alike": deck(grids(), grids(3, 5), quads(), quads(2)),
    "CP of a rectangular system": deck(
        frame("R", 5, "", (10.0, 0.0, 0.0), (11.0, 0.0, 0.0), (10.0, 1.0, 0.0)), grids(system=5, points=CYCLIC), quads()
    ),
    "CP of a cylindrical system": deck(
        frame("C", 5, 0, O, Z, X), grids(system=5, points=turned(CORNERS, "C").round(4)), quads()
    ),
    "CP of a spherical system": deck(
        grids(system=12, points=turned(CORNERS, "S").round(4)), quads(), frame("S", 12, "", O, Z, X)
    ),
    "GRDSET behind the grids, zero overrides": deck(
        grids(1, 4, "", turned(CORNERS, "C").round(4)),
        grids(5, 8, 0),
        small("GRDSET", "", 5),
        quads(),
        frame("C", 5, 0, O, Z, X),
    ),
    "a chain of systems": deck(
        frame("R", 3, 2, (0.0, 90.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
        frame("C", 2, 1, O, Z, X),
        frame("R", 1, 0, (5.0, 6.0, 7.0), (5.0, 6.0, 8.0), (6.0, 6.0, 7.0)),
        grids(system=3),
        quads(),
    ),
    "systems by grids": deck(
        grids(21, 23, points=np.array([*CORNERS, *np.zeros((12, 3)), [4, 5, 6], [4, 5, 8], [9, 5, 6]], float)),
        frame("C", 30, 40, O, Z, X),
        small("CORD1R", 40, 21, 22, 23, 41, 23, 22, 21),
        grids(system=30, points=turned(CORNERS, "C").round(4)),
        quads(),
    ),
    "a system by grids in another system": deck(
        small("CORD1S", 40, 21, 22, 23),
        small("GRID", 21, 5, 2.0, 90.0, 1.0),
        small("GRID", 22, 5, 2.0, 90.0, 4.0),
        small("GRID", 23, 0, 1.0, 2.0, 1.0),
        frame("C", 5, 0, O, Z, X),
        grids(system=40, points=turned(CORNERS, "S").round(4)),
        quads(),
    ),
    "a system that is not used": deck(small("CORD2R", 1, 1, *O, *O, "+"), small("+", *O), grids(), quads()),
    "CHEXA": deck(grids(), [small("CHEXA", 1, 7, *HEXA[:6], "+H"), small("+H", *HEXA[6:])]),
    "CPENTA": deck(
        grids(), small("CPENTA", 1, 7, 1, 2, 4, 5, 6, 8), small("CPENTA", 2, 7, 1, 4, 3, 5, 8, 7), small("PSOLID", 7, 1)
    ),
    "CTETRA with four and ten fields": deck(
        grids(), [small("CTETRA", n, 7, *t, "", "", "+Z") + "\n+Z" for n, t in enumerate(TETRAHEDRA, 1)]
    ),
    "pyramids around a point": deck(
        grids(),
        "GRID    9               .5      1.      1.5",
        [small("CPYRAM", n, 7, *q, 9) for n, q in enumerate(QUADS, 1)],
    ),
    "a collapsed CHEXA": deck(
        grids(),
        [small("CHEXA", 1, 7, 1, 2, 4, 4, 5, 6, "+"), small("+", 8, 8)],
        [small("CHEXA", 2, 7, 1, 4, 3, 3, 5, 8, "+"), small("+", 7, 7)],
    ),
    "cards that are no surfaces": deck(
        "PARAM,POST,-1",
        "PSHELL  7       1       .1      1               1",
        "MAT1    1       2.1+11          .3      7850.",
        grids(),
        "RBE2,50,1,123456,2,3,4,5,6,+\n+,7,8",
        "CBAR    60      9       1       2       0.      0.      1.",
        "FORCE   1       1               1.      0.      0.      1.",
        "DMIG,X,0,6,1,0\nDMIG*,X,1,1,,+\n*,1,1,1.0",
        "SET1,4,1,THRU,8",
        "DESVAR  1       CTRIA3  1.",
        "TABLED1 3\n        0.      0.      1.      1.      ENDT",
        "CONM2,70,1,,1.",
        "SPC1    1       123456  1       THRU    8",
        quads(),
        "BCPROPS,1,CTRIA3",
    ),
    "OptiStruct": deck(
        "# comment",
        "// GRID,1,,9.,9.,9.",
        "GRID    1               0       0       0",
        grids(2),
        quads(more=("", "TOP")),
        "SKIPOFF",
        control=("SUBCASE 1", "  SPC = 1", "$ BEGIN BULK", "ANALYSIS STATICS", "BEGIN BULK"),
    ),
    "much control": deck(
        grids(),
        quads(),
        control=(
            "NASTRAN SYSTEM(151)=1 $ CEND",
            "ID A,B",
            "SOL SEMODES",
            "TIME 5",
            "CEND",
            "TITLE=GRID,1,,5.,5.,5.",
            "GRID    1               9.      9.      9.",
            "SET 1 = 1,2,3,",
            "4 THRU 8",
            "SUBCASE 1",
            "  LABEL=ENDDATA",
            "begin bulk $ now",
        ),
    ),
    "after ENDDATA": deck(grids(), quads()) + "GRID,1,,9.,9.,9.\n",
}


@pytest.mark.parametrize("name", RIGHT)
def test_every_way_of_writing_gives_the_brick(tmp_path, name):
    path = tmp_path / "brick.bdf"
    path.write_text(RIGHT[name], encoding="utf-8", newline="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mesh = read(path)
    assert mesh.is_closed and mesh.number_of_vertices == 8
    assert mesh.volume == pytest.approx(6.0, rel=2e-4) and mesh.area == pytest.approx(22.0, rel=2e-4)
    assert set(mesh.tags.tolist()) == {7}


BRICK = grids() + quads()
WRONG = {
    "an unknown system": (
        deck(grids(1, 7), grids(8, 8, 9), quads()),
        r"line 12: GRID 8 .* system 9, which the deck does",
    ),
    "a system of another kind": (deck("CORD3G,9,E,313,1,1,1", grids(system=9), quads()), "GRID 1 .* system 9"),
    "systems in a ring": (
        deck(frame("R", 3, 4, O, Z, X), frame("C", 4, 5, O, Z, X), frame("S", 5, 3, O, Z, X), grids(system=4), quads()),
        r"line \d+: CORD2.: coordinate system \d is defined by itself",
    ),
    "a system by its own grid": (
        deck("CORD1R,3,1,2,3", grids(1, 1, 3), grids(2), quads()),
        "line 5: CORD1R: coordinate system 3 is defined by its",
    ),
    "a system by missing grids": (deck("CORD1R,3,1,2,33", grids(1, 1, 3), grids(2), quads()), "line 5.*GRID 33, which"),
    "a system on a line": (
        deck(frame("R", 3, 0, O, Z, Z), grids(system=3), quads()),
        "line 5: CORD2R: its three points",
    ),
    "a system of one line": (
        deck(frame("R", 3, 0, O, Z, Z)[:1], grids(system=3), quads()),
        "line 5.*third point is mis",
    ),
    "a system given twice": (
        deck(frame("R", 3, 0, O, Z, X), frame("C", 3, 0, O, Z, X), BRICK),
        "line 7: CORD2C: system 3 is given before with other values, on line 5",
    ),
    "a grid given twice": (
        deck(BRICK, "GRID,3,,0.,0.,9."),
        "line 19: GRID: 3 is given before with other values, on line 7",
    ),
    "an element given twice": (deck(BRICK, small("CTRIA3", 3, 7, 1, 2, 3)), "line 19: CTRIA3: 3 is given .*on line 15"),
    "GRDSET given twice": (deck(BRICK, "GRDSET,,1", "GRDSET,,2"), "line 20: GRDSET: is given before"),
    "a missing grid": (deck(grids(1, 7), quads()), r"line 13: CQUAD4 2 refers to GRID 8, which the deck does not have"),
    "a missing middle": (deck(grids(), small("CTRIA6", 1, 7, 1, 2, 3, 99)), "CTRIA6 1 refers to GRID 99"),
    "a missing corner": (
        deck(grids(), quads(1, 2), "CQUAD4,5,7,1,2,3"),
        r"line 15: CQUAD4: field 7 is '', not a whole",
    ),
    "a corner that is a real": (deck(grids(), "CTRIA3,5,7,1,2.0,3"), r"CTRIA3: field 5 is '2.0', not a whole"),
    "a number below one": (deck(grids(), "CTRIA3,0,7,1,2,3"), r"field 2 is '0', not a whole number from 1 on"),
    "a word for a coordinate": (deck("GRID,1,,one,2.,3.", BRICK), r"line 5: GRID: field 4 is 'one', not a number"),
    "two numbers in a field": (
        deck("GRID    9               1.0 2.0 3.0     1.", BRICK),
        "field 4 is '1.0 2.0', not a number",
    ),
    "an infinite number": (deck("GRID,9,,1.+999,2.,3.", BRICK), r"field 4 is '1.\+999'"),
    "blanks between fields": (deck("GRID 9 0 1.0 2.0 3.0", BRICK), r"line 5: 'GRID 9 0' in the first eight columns"),
    "too many free fields": (deck(BRICK, "CQUAD8,9,7,1,2,4,3,9,9,9,9"), "line 19: CQUAD8: 11 fields in one line"),
    "z behind the last large field": (deck("GRID*,9,,1.,2.,3.", BRICK), "line 5: GRID: the line with its third"),
    "half a grid": (
        deck(f"{'GRID*':8}{9:<16}{'':16}{1.0:<16}{2.0:<16}*", BRICK),
        "line 5: GRID: the line with its third",
    ),
    "a line of another card": (deck(grids(), small("", "", 0.1), quads()), "line 12: GRID: has more than 8 fields"),
    "a line of numbers": (
        deck(grids(), "CTRIA6,1,7,1,2,3,,", "4,5"),
        "line 14: '4' is no name of a card: lines that go",
    ),
    "a line of another card first": (deck("        1.0", BRICK), "line 5: goes on with a card, but none precedes it"),
    "two lines for one mark": (
        deck(grids(), f"{small('CQUAD4*', 9):24}{7:<16}{1:<16}{3:<16}*Q", "SPC,1", "*Q,4,2", "SPC,2", "*Q,4,2"),
        r"line 13: CQUAD4: goes on in several lines",
    ),
    "superelements": (deck(BRICK, "BEGIN SUPER=1", BRICK), "line 19: 'BEGIN SUPER=1' begins another model"),
    "generated grids": (deck(BRICK, "GRIDG,100,,1"), "line 19: GRIDG: generates grids or elements"),
    "cards deleted": (deck(BRICK, "/,4,10"), "line 19: '/' deletes cards"),
    "replication without numbers": (deck("GRID,1,,a,b,c", "=,*1,=,*.5,=="), "line 5: GRID: field 4|adds '.5' to 'a'"),
    "replication of half": (deck("GRID*,1,,0.,0.\n*,0.", "=,*1,=="), "line 7.*replication of GRID over several lines"),
    "replication of nothing": (
        deck("GRID,1,,0.,0.,0.", "=(5)"),
        r"line 6: =\(5\): =\(n\) repeats the steps of the line",
    ),
    "replication without end": (deck("GRID,1,,0.,0.,0.", "=,*1,==", "=(900000000)"), r"line 7: .*up to 1000000 times"),
    "control without bulk data": ("SOL 101\nCEND\nTITLE = A\n", "CEND without BEGIN BULK"),
    "no surfaces": (deck(grids(), "CBAR,1,1,1,2"), "no surface elements such as CTRIA3 or CQUAD4: mesh the surface"),
    "axisymmetric": (deck(grids(), "CTRIAX6,1,1,1,2,3"), "no surface elements .* only 1 CTRIAX6: mesh"),
    "another file": ("*NODE\n1, 0, 0, 0\n", "line 1: goes on with a card"),
    "text": ("Dear reader,\nthis is a letter.\n", "no GRID cards: it is no Nastran deck"),
    "bytes": ("\x00\x01\x02GRID\x00" * 50, "no GRID cards"),
    "solids that do not fit": (
        deck(
            grids(),
            "GRID,9,,.5,1.,9.",
            small("CHEXA", 1, 7, *HEXA[:6], "+"),
            small("+", *HEXA[6:]),
            "CTETRA,2,7,5,6,8,9",
            "CTETRA,3,7,5,8,7,9",
        ),
        "2 triangles lie on halves of quadrilaterals",
    ),
    "a solid given three times": (
        deck(grids(), *[small("CTETRA", n, 7, 1, 2, 3, 5) for n in (1, 2, 3)]),
        "4 faces belong to three solids",
    ),
    "a solid given twice": (deck(grids(), *[small("CTETRA", n, 7, 1, 2, 3, 5) for n in (1, 2)]), "have no boundary"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, name):
    text, message = WRONG[name]
    (tmp_path / "a.nas").write_text(text)
    with pytest.raises(MeshError, match=f"a.nas: .*{message}|a.nas: {message}"):
        read(tmp_path / "a.nas")


NAMED = {
    "HyperMesh components": (
        ['$HMNAME COMP                   7"skin, left"', "$HWCOLOR COMP                  7       3"],
        "skin, left",
    ),
    "HyperMesh component of a property": (
        ['$HMNAME COMP   12"skin" 7 "PSHELL_7" 4', '$HMNAME PROP 7"PSHELL_7" 4'],
        "skin",
    ),
    "HyperMesh properties": (['$HMNAME PROP                   7"wall" 4'], "wall"),
    "ANSA": (["$ANSA_NAME_COMMENT;7;PSHELL;front wall;;NO;NO;NO;NO;"], "front wall"),
    "ANSA of old": (["$ANSA_NAME;7;PSHELL;~", "$front wall", "PSHELL,7,1,.1"], "front wall"),
    "Femap": (["$ Femap with NX Nastran Property 7 : PLATE Property", "PSHELL,7,1,.1"], "PLATE Property"),
    "Simcenter": (["$ Simcenter Femap Property 7 : plate", "PSHELL,7,1,.1"], "plate"),
    "Patran": (["$ Elements and Element Properties for region : hull", "PSHELL,7,1,.1"], "hull"),
    "Patran's sets": (['$ Pset: "hull" will be imported as: "pshell.7"'], "hull"),
    "numbers and names": (["$* Property: 7 name: left wall"], "left wall"),
    "NX": (["$*  Property: PSHELL1", "$*", "PSHELL         7       1  2.0000"], "PSHELL1"),
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("behind", [False, True])
def test_names_of_preprocessors(tmp_path, name, behind):
    lines, expected = NAMED[name]
    other = quads(6, pid=3)
    body = [grids(), quads(1, 2, 3, 4, 5), other]
    (tmp_path / "a.fem").write_text(deck(*([*body, lines] if behind else [lines, *body])))
    with pytest.warns(MeshWarning, match="quadrilaterals split"):
        mesh = read(tmp_path / "a.fem")
    assert mesh.names == {expected: 7} and sorted(set(mesh.tags)) == [3, 7]
    assert mesh.restricted(expected).area == pytest.approx(22 - 2 * 3)


def test_elements_that_were_moved_to_components(tmp_path):
    """Two components share a property; elements in none keep their property, whose number a component has."""
    lines = [
        '$HMNAME COMP                   1"low"',
        '$HMNAME COMP                   7"high"',
        "$HMMOVE        1",
        "$              1",
        "$HMMOVE        7",
        "$              2THRU           3       5",
        '$HMNAME PROP 7"shell" 4',
    ]
    (tmp_path / "a.fem").write_text(deck(grids(), quads(), lines))
    with pytest.warns(MeshWarning, match="quadrilaterals split"):
        mesh = read(tmp_path / "a.fem")
    assert mesh.names == {"low": 1, "high": 7} and np.bincount(mesh.tags).tolist() == [0, 2, 0, 0, 0, 0, 0, 10]
    (tmp_path / "a.fem").write_text(deck(grids(), quads(pid=9), lines[:-1], '$HMNAME PROP 9"shell" 4'))
    with pytest.warns(MeshWarning, match="quadrilaterals split"):
        mesh = read(tmp_path / "a.fem")
    assert mesh.names == {"low": 1, "high": 7, "shell": 9} and np.bincount(mesh.tags)[[1, 7, 9]].tolist() == [2, 6, 4]


def test_elements_that_stand_below_a_component(tmp_path):
    """$HMCOMP ID: two components of one property, one of which has no name; $HMMOVE has the last word."""
    lines = [
        grids(),
        "$HMCOMP ID                     4",
        quads(1, 2),
        "$HMCOMP ID                     5",
        quads(3, 4, 5, 6),
    ]
    (tmp_path / "a.bdf").write_text(deck(*lines, '$HMNAME COMP 4"low"', '$HMNAME PROP 7"shell" 4'))
    with pytest.warns(MeshWarning, match="quadrilaterals split"):
        mesh = read(tmp_path / "a.bdf")
    assert mesh.names == {"low": 4, "shell": 5} and np.bincount(mesh.tags).tolist() == [0, 0, 0, 0, 4, 8]
    (tmp_path / "a.bdf").write_text(
        deck(*lines, '$HMNAME COMP 4"low"', "$HMMOVE        4", "$              1THRU           6")
    )
    with pytest.warns(MeshWarning, match="quadrilaterals split"):
        mesh = read(tmp_path / "a.bdf")
    assert mesh.names == {"low": 7} and set(mesh.tags) == {7}


def test_elements_without_a_property_have_the_tag_zero(tmp_path):
    (tmp_path / "a.nas").write_text(deck(grids(), quads(1, 2, 3, pid=""), quads(4, 5, pid=0), quads(6)))
    with pytest.warns(MeshWarning, match="quadrilaterals split"):
        assert np.bincount(read(tmp_path / "a.nas").tags).tolist() == [10, 0, 0, 0, 0, 0, 0, 2]


def test_two_properties_of_one_name_stay_two(tmp_path):
    lines = ['$HMNAME COMP 3"a"', '$HMNAME COMP 7"a"', '$HMNAME COMP 9"empty"']
    (tmp_path / "a.dat").write_text(deck(grids(), quads(1, 2), quads(3, 4, 5, 6, pid=3), lines))
    with pytest.warns(MeshWarning, match="quadrilaterals split"):
        assert read(tmp_path / "a.dat").names == {"a": 3, "a (7)": 7}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (quads8(1) + quads(2, 3, 4, 5, 6), r"1 curved elements \(quad8\) replaced by flat"),
        (quads(more=("", 0.1)), "6 elements have an offset ZOFFS, which is ignored"),
        ([*quads(), small("CTETRA", 9, 7, 1, 2, 3, 5)], "1 CTETRA ignored: the surface elements are used"),
        ([*quads(), small("CTRIAX6", 9, 7, 1, 2, 3)], "elements ignored, .* not supported: 1 CTRIAX6"),
        ([small("CTETRA", 9, 7, 1, 2, 3, 5)], "no surface elements but 1 CTETRA; their 4 boundary faces are used"),
    ],
)
def test_what_is_left_out_is_reported(tmp_path, lines, message):
    (tmp_path / "a.bdf").write_text(deck(grids(), MIDDLE_GRIDS, lines))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        read(tmp_path / "a.bdf")
    assert any(re.search(message, str(each.message)) for each in warned)


def test_included_files(tmp_path):
    """In the folder of the deck, by names in quotes over lines, with backslashes, one inside the other."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "grids.inc").write_text("\n".join(grids(1, 4)) + "\nINCLUDE 'more.inc'\n")
    (tmp_path / "sub" / "more.inc").write_text("\n".join(grids(5, 8)))
    (tmp_path / "quads.inc").write_text("\n".join(quads()) + "\n$ INCLUDE nothing\n")
    (tmp_path / "control.inc").write_text("SUBCASE 1\n")
    control = ("include 'control.inc'", "CEND", "BEGIN BULK")
    (tmp_path / "a.dat").write_text(
        deck("INCLUDE 'sub\\", "grids.inc'", "include quads.inc $ and no more", control=control)
    )
    with pytest.warns(MeshWarning, match="quadrilaterals split"):
        assert read(tmp_path / "a.dat").volume == pytest.approx(6.0)
    (tmp_path / "quads.inc").write_text("\n".join([*quads(), "GRID,1,,1.,1.,1."]))
    with pytest.raises(MeshError, match="line 7 of quads.inc: GRID: 1 is given before .* on line 1 of grids.inc"):
        read(tmp_path / "a.dat")


def test_files_that_must_not_be_included(tmp_path):
    home = tmp_path / "case"
    home.mkdir()
    (tmp_path / "secret.inc").write_text("GRID,1,,0.,0.,0.\n")
    (home / "link.inc").symlink_to(tmp_path / "secret.inc")
    (home / "ring.inc").write_text("INCLUDE 'ring2.inc'\n")
    (home / "ring2.inc").write_text("INCLUDE './ring.inc'\n")
    for i in range(30):
        (home / f"n{i}.inc").write_text(f"INCLUDE n{i + 1}.inc\n")
    cases = {
        "'../secret.inc'": "line 5: the included file '../secret.inc' is outside of the folder",
        f"'{tmp_path}/secret.inc'": "is outside of the folder of the mesh file: copy it into that folder",
        "link.inc": "'link.inc' is outside of the folder",
        "'..\\case\\..\\secret.inc'": "is outside of the folder",
        "absent.inc": "'absent.inc' is not in the folder",
        "'absent.inc": "line 5: the name of an included file does not end",
        "a.bdf": "line 5: the included file 'a.bdf' includes itself",
        "ring.inc": r"line 1 of ring2.inc: the included file './ring.inc' includes itself",
        "n0.inc": "more than 20 files include one another",
        "'a\0b'": "that is no name of a file",
    }
    for name, message in cases.items():
        (home / "a.bdf").write_text(deck(f"INCLUDE {name}", BRICK))
        with pytest.raises(MeshError, match=message):
            read(home / "a.bdf")
    (home / "a.inp").write_text("*NODE\n1,0,0,0\n*INCLUDE, INPUT=../secret.inc\n")
    with pytest.raises(MeshError, match="'../secret.inc' is outside of the folder"):
        read(home / "a.inp")


def test_many_files_and_wide_trees_are_refused(tmp_path):
    (tmp_path / "none.inc").write_text("")
    (tmp_path / "a.bdf").write_text(deck(["INCLUDE none.inc"] * 1001, BRICK))
    with pytest.raises(MeshError, match="line 1005: more than 1000 files are included"):
        read(tmp_path / "a.bdf")


def test_decks_cut_short_never_give_a_closed_surface(tmp_path):
    whole = deck(BRICK).encode()
    for stop in range(60, len(whole) - 9, 7):
        (tmp_path / "a.bdf").write_bytes(whole[:stop])
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                mesh = read(tmp_path / "a.bdf")
            except MeshError as error:
                assert "a.bdf: " in str(error)
                continue
        assert not mesh.is_closed and any("no ENDDATA at its end" in str(each.message) for each in warned)
