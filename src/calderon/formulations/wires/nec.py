"""Decks of NEC-2: wires, feeds, loads, ground and frequencies of a file of cards.

G. J. Burke and A. J. Poggio, Numerical Electromagnetics Code (NEC) - Method of Moments, Part III: User's Guide (1981).
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.files.whole_file import file_path
from calderon.formulations.ports.board_slots import Lumped
from calderon.formulations.ports.circuits import Circuit, Line
from calderon.formulations.ports.gaps import WireGap
from calderon.formulations.wires.antenna import WireAntenna
from calderon.formulations.wires.solution import WireSolution
from calderon.formulations.wires.wire import MOST_SEGMENTS, Wire
from calderon.layers import Conductor
from calderon.mesh import Material
from calderon.validation import describe

LARGEST_FILE = 10_000_000
"""Bytes that a deck has at most."""
WITHOUT_MEANING = ("EK", "RP", "XQ", "PQ", "PT", "NE", "NH", "CP", "GD", "KH", "PL")
"""Cards of outputs and of approximations, which have no counterpart here."""


@dataclass(frozen=True, eq=False)
class NecModel:
    """A deck of NEC-2. wires: one for each card; ports with their voltages in V; loads; ground: "pec",
    the medium below z = 0, or None; frequencies (n,) in Hz; circuits: lines and networks between segments.

        model = cal.read_nec("yagi.nec")
        model.antenna().solve(model.voltages).gain(np.pi / 2, 0.0, decibels=True)
    """

    wires: tuple[Wire, ...]
    ports: tuple[WireGap, ...]
    voltages: NDArray[np.complex128]
    loads: tuple[Lumped, ...]
    ground: str | Material | None
    frequencies: NDArray[np.float64]
    circuits: tuple[Circuit, ...] = ()

    def antenna(self, frequency: float | None = None) -> WireAntenna:
        """The wires with their ports and loads at a frequency in Hz, by default the first one of the deck."""
        hertz = float(self.frequencies[0]) if frequency is None else frequency
        given: Any = {"loads": self.loads, "ground": self.ground, "circuits": self.circuits}
        return WireAntenna(self.wires, self.ports, hertz, **given)

    def solve(self, frequency: float | None = None) -> WireSolution:
        """The solution for the voltages of the deck."""
        return self.antenna(frequency).solve(self.voltages)


@dataclass
class _Part:
    """A wire of the deck: its tag, the ends (n + 1, 3) of its segments and its radius."""

    tag: int
    ends: NDArray[np.float64]
    radius: float
    conductor: Conductor | None = None

    def wire(self) -> Wire:
        points, numbers = self.ends, (1,) * (len(self.ends) - 1)
        straight = np.diff(self.ends, axis=0)
        if np.allclose(straight, straight[0], rtol=1e-9, atol=1e-12 * np.abs(self.ends).max()):
            points, numbers = self.ends[[0, -1]], (len(self.ends) - 1,)
        return Wire(points, self.radius, numbers, self.conductor)


@dataclass
class _Deck:
    """A deck while it is read."""

    parts: list[_Part] = field(default_factory=list)
    count: int = 0
    ports: list[WireGap] = field(default_factory=list)
    voltages: list[complex] = field(default_factory=list)
    loads: list[Lumped] = field(default_factory=list)
    circuits: list[Circuit] = field(default_factory=list)
    ground: str | Material | None = None
    frequencies: NDArray[np.float64] = field(default_factory=lambda: np.array([299.8e6]))

    def added(self, part: _Part) -> None:
        """Add a wire, unless there are too many segments."""
        self.count += len(part.ends) - 1
        if self.count > MOST_SEGMENTS:
            raise ValueError(f"a deck has {MOST_SEGMENTS:,} segments at most")
        self.parts.append(part)

    def segments(self, tag: int) -> list[tuple[int, int]]:
        """(wire, number on it) of the segments with a tag in their order; 0: of all."""
        parts = [(n, each) for n, each in enumerate(self.parts) if tag in (0, each.tag)]
        if not parts:
            known = sorted({each.tag for each in self.parts})
            raise ValueError(f"no wire has the tag {tag}: the deck has {', '.join(map(str, known)) or 'no wires'}")
        return [(n, k) for n, each in parts for k in range(len(each.ends) - 1)]

    def gap(self, place: tuple[int, int]) -> WireGap:
        """A gap in the middle of a segment."""
        begin, end = self.parts[place[0]].ends[place[1] : place[1] + 2]
        return WireGap((begin + end) / 2, end - begin)


Numbers = list[float]


def _whole(values: Numbers, place: int) -> int:
    if values[place] != int(values[place]):
        raise ValueError(f"field {place + 1} is a whole number, got {values[place]:g}")
    return int(values[place])


def _count(value: int, least: int = 1) -> int:
    if not least <= value <= MOST_SEGMENTS:
        raise ValueError(f"a number between {least} and {MOST_SEGMENTS:,} is needed, got {value}")
    return value


def _straight(deck: _Deck, v: Numbers) -> None:
    """GW tag segments x y z x y z radius."""
    if v[8] == 0:
        raise ValueError("radius 0 stands for a tapered wire (GC), which is not supported: give wires of one radius")
    ends = np.linspace(v[2:5], v[5:8], _count(_whole(v, 1)) + 1)
    deck.added(_Part(_whole(v, 0), ends, v[8]))


def _arc(deck: _Deck, v: Numbers) -> None:
    """GA tag segments radius begin end radius-of-wire: an arc about the y axis, angles in degrees from x towards z."""
    angle = np.radians(np.linspace(v[3], v[4], _count(_whole(v, 1)) + 1))
    ends = v[2] * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    deck.added(_Part(_whole(v, 0), ends, v[5]))


def _helix(deck: _Deck, v: Numbers) -> None:
    """GH tag segments spacing length x-radius y-radius (at 0) x-radius y-radius (at the length) radius-of-wire; a
    negative length turns to the left."""
    if v[2] == 0 or v[3] == 0:
        raise ValueError("a helix needs a spacing of turns and a length")
    z = np.linspace(0, abs(v[3]), _count(_whole(v, 1)) + 1)
    part, angle = z / z[-1], 2 * np.pi * z / abs(v[2])
    x = (v[4] + (v[6] - v[4]) * part) * np.cos(angle)
    y = (v[5] + (v[7] - v[5]) * part) * np.sin(angle)
    ends = np.stack([x, y, z] if v[3] > 0 else [y, x, z], axis=1)
    deck.added(_Part(_whole(v, 0), ends, v[8]))


def _moved(deck: _Deck, v: Numbers) -> None:
    """GM tag-step copies x-turn y-turn z-turn x y z first-tag: turn about x, y, z in degrees and move, once or as
    copies of copies."""
    a, b, c = np.radians(v[2:5])
    about_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    about_y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    about_z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    turn, shift = about_z @ about_y @ about_x, np.array(v[5:8])
    first = int(v[8])
    begin = 0 if first == 0 else next((n for n, each in enumerate(deck.parts) if each.tag == first), -1)
    if begin < 0:
        raise ValueError(f"no wire has the tag {first}")
    step, copies, old = _whole(v, 0), _count(_whole(v, 1), 0), deck.parts[begin:]
    if copies == 0:
        del deck.parts[begin:]
    for _ in range(max(1, copies)):
        old = [replace(each, tag=each.tag and each.tag + step, ends=each.ends @ turn.T + shift) for each in old]
        for each in old:
            deck.added(each)


def _mirrored(deck: _Deck, v: Numbers) -> None:
    """GX tag-step xyz: add images in z = 0, y = 0 and x = 0, in this order, where the digit of that axis is 1."""
    step, digits = _whole(v, 0), f"{_whole(v, 1):03d}"
    if len(digits) != 3 or set(digits) - {"0", "1"}:
        raise ValueError(f"the planes are three digits 0 or 1, got {digits}")
    for axis in (2, 1, 0):
        if digits[axis] == "1":
            for each in list(deck.parts):
                ends = each.ends.copy()
                ends[:, axis] *= -1
                deck.added(replace(each, tag=each.tag and each.tag + step, ends=ends))
            step *= 2


def _turned(deck: _Deck, v: Numbers) -> None:
    """GR tag-step number: so many equal structures in all about the z axis."""
    step, number, old = _whole(v, 0), _count(_whole(v, 1)), list(deck.parts)
    for n in range(1, number):
        c, s = np.cos(2 * np.pi * n / number), np.sin(2 * np.pi * n / number)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        for each in old:
            deck.added(replace(each, tag=each.tag and each.tag + n * step, ends=each.ends @ turn.T))


def _scaled(deck: _Deck, v: Numbers) -> None:
    """GS 0 0 factor: lengths and radii times a factor."""
    for each in deck.parts:
        each.ends, each.radius = each.ends * v[2], each.radius * v[2]


def _excitation(deck: _Deck, v: Numbers) -> None:
    """EX 0 tag segment 0 real imaginary: a voltage across a segment, for exp(+j omega t); 1 V where none is given, as
    in NEC-2."""
    if _whole(v, 0) != 0:
        raise ValueError(f"kind {v[0]:g} is not supported: voltages (EX 0) are; give waves to solve() instead")
    places, number = deck.segments(_whole(v, 1)), _count(_whole(v, 2))
    if number > len(places):
        raise ValueError(f"segment {number} of {len(places)}")
    deck.ports.append(deck.gap(places[number - 1]))
    deck.voltages.append(complex(v[4], -v[5]) or 1.0)


def _two_gaps(deck: _Deck, v: Numbers) -> list[WireGap]:
    """The gaps of tag segment tag segment, with which a card begins."""
    found = []
    for place in (0, 2):
        segments, number = deck.segments(_whole(v, place)), _count(_whole(v, place + 1))
        if number > len(segments):
            raise ValueError(f"segment {number} of {len(segments)}")
        found.append(deck.gap(segments[number - 1]))
    return found


def _line(deck: _Deck, v: Numbers) -> None:
    """TL tag segment tag segment impedance length G B G B: a line without loss, crossed for a negative impedance, as
    long as its ends are apart for the length 0; with the admittances G + jB of both ends across it."""
    gaps = _two_gaps(deck, v)
    length = v[5] or float(np.linalg.norm(np.subtract(*(np.asarray(each.at) for each in gaps))))
    deck.circuits.append(Circuit(Line(abs(v[4]), length, crossed=v[4] < 0), tuple(gaps)))
    for gap, shunt in zip(gaps, (complex(v[6], -v[7]), complex(v[8], -v[9])), strict=True):
        if shunt:
            deck.circuits.append(Circuit([[shunt]], (gap,)))


def _network(deck: _Deck, v: Numbers) -> None:
    """NT tag segment tag segment G11 B11 G12 B12 G22 B22: admittances G + jB in S, for exp(+j omega t)."""
    own, mutual, other = (complex(v[n], -v[n + 1]) for n in (4, 6, 8))
    deck.circuits.append(Circuit([[own, mutual], [mutual, other]], tuple(_two_gaps(deck, v))))


def _load(deck: _Deck, v: Numbers) -> None:
    """LD kind tag from to values: 0 series and 1 parallel R, L, C on each segment, 4 R, 5 conductivity; -1 none."""
    kind, places = _whole(v, 0), deck.segments(_whole(v, 1)) if v[0] >= 0 else []
    low = _count(_whole(v, 2)) if v[2] else 1
    high = _whole(v, 3) if v[3] else low if v[2] else len(places)
    if kind == -1:
        deck.loads.clear()
        for each in deck.parts:
            each.conductor = None
    elif not low <= high <= len(places):
        raise ValueError(f"segments {low} to {high} of {len(places)}")
    elif kind in (0, 1, 4):
        if kind == 4 and v[5] != 0:
            raise ValueError("a reactance that does not depend on the frequency is not supported: give L or C by LD 0")
        r, inductance, capacitance = (each or None for each in (v[4:7] if kind != 4 else [v[4], 0.0, 0.0]))
        for segment in places[low - 1 : high]:
            deck.loads.append(Lumped(deck.gap(segment), r, inductance, capacitance, parallel=kind == 1))
    elif kind == 5:
        chosen = {n for n, _ in places[low - 1 : high]}
        if len([n for n, _ in places if n in chosen]) != high - low + 1:
            raise ValueError("a conductivity of a part of a wire is not supported: give whole wires")
        for n in chosen:
            deck.parts[n].conductor = Conductor(v[4])
    else:
        raise ValueError(f"kind {kind} is not supported: 0, 1, 4 and 5 are")


def _frequencies(deck: _Deck, v: Numbers) -> None:
    """FR kind number 0 0 first step: in MHz, added (0) or multiplied (1)."""
    n = np.arange(_count(max(1, _whole(v, 1))))
    steps = np.asarray(v[4] + n * v[5] if _whole(v, 0) == 0 else v[4] * v[5] ** n, np.float64)
    if not (np.isfinite(steps).all() and steps.min() > 0):
        raise ValueError(f"frequencies are positive, got {steps.min():g} MHz")
    deck.frequencies = 1e6 * steps


def _ground(deck: _Deck, v: Numbers) -> None:
    """GN -1 none, GN 1 perfect, GN 2 radials 0 0 permittivity conductivity: earth, by Sommerfeld's integrals."""
    kind = _whole(v, 0)
    if kind not in (-1, 1, 2):
        raise ValueError(f"kind {kind} is not supported: GN 2 is a ground of finite conductivity, GN 1 a perfect one")
    if kind == 2 and v[1] != 0:
        raise ValueError("a screen of radials is not supported: give radial wires above the ground")
    deck.ground = Material(v[4], conductivity=v[5]) if kind == 2 else "pec" if kind == 1 else None


CARDS: dict[str, tuple[int, Callable[[_Deck, Numbers], None]]] = {
    "GW": (9, _straight), "GA": (6, _arc), "GH": (9, _helix), "GM": (9, _moved), "GX": (2, _mirrored),
    "GR": (2, _turned), "GS": (3, _scaled), "EX": (6, _excitation), "LD": (7, _load), "TL": (10, _line),
    "NT": (10, _network), "FR": (6, _frequencies), "GN": (6, _ground), "GE": (1, lambda deck, values: None),
}  # fmt: skip
"""Numbers that a card has, missing ones at its end being 0, and what it does."""


def read_nec(path: str | os.PathLike[str]) -> NecModel:
    """Read a deck of NEC-2: GW, GA, GH, GM, GX, GR, GS, GE, EX 0, LD -1, 0, 1, 4 (R) and 5, TL, NT, FR, GN -1, 1 and 2;
    outputs and approximations (RP, EK, ...) are left out. Lengths in m, voltages conjugated to exp(-i omega t).

    Raises ValueError with the line and the card for all others, and for numbers that do not fit; FileNotFoundError.
    """
    place = file_path(path, "a deck", "dipole.nec")
    if not place.is_file():
        raise FileNotFoundError(f"{place}: no such file")
    if place.stat().st_size > LARGEST_FILE:
        raise ValueError(f"{place.name} has {place.stat().st_size:,} bytes, a deck {LARGEST_FILE:,} at most")
    deck = _Deck()
    for number, line in enumerate(place.read_text(encoding="latin-1").splitlines(), 1):
        name, given = line[:2].upper(), line[2:].split("!")[0].replace(",", " ").replace("\t", " ").split()
        if name == "EN":
            break
        if not line.strip() or name in ("CM", "CE", *WITHOUT_MEANING) or line[0] in "'#!":
            continue
        try:
            if name not in CARDS:
                raise ValueError(f"unknown card {describe(name)}: supported are {', '.join(CARDS)}")
            needed, work = CARDS[name]
            values = [float(each) for each in given[:needed]]
            if not np.isfinite(values).all():
                raise ValueError("numbers are finite")
            work(deck, values + [0.0] * (needed - len(values)))
        except ValueError as error:
            raise ValueError(f"{place.name}, line {number}, {name}: {error}") from None
    if not deck.parts:
        raise ValueError(f"{place.name} has no wires (GW)")
    wires = tuple(each.wire() for each in deck.parts)
    voltages = np.array(deck.voltages, np.complex128)
    return NecModel(
        wires, tuple(deck.ports), voltages, tuple(deck.loads), deck.ground, deck.frequencies, tuple(deck.circuits)
    )
