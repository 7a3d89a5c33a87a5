"""Decks of NEC-2: what they describe is solved as NEC-2 solves it, and what is not supported is refused by line and
card."""

import numpy as np
import pytest

import calderon as cal

PAIR = "GW 1 21 0 0 -.25 0 0 .25 1e-3\nGW 2 21 .2 0 -.23 .2 0 .23 1e-3\nGE 0\nEX 0 1 11 0 1 0"
CROSSED = (
    "GW 1 {0} 0 0 -.25 0 0 .25 1e-3\nGW 2 {0} .2 0 -.23 .2 0 .23 1e-3\nGE 0\nEX 0 1 {1} 0 1 0\n"
    "TL 1 {1} 2 {1} -75 .4 0 0 .002 .004"
)
"""The impedance at this line follows the gap, whose length is that of segments: a voltage between linear functions acts
as NEC's on four times longer segments. It is compared with 11, 21 and 41 segments of NEC, between which it moves by 9
%."""
# cards, the impedances R + jX in ohm that nec2c 1.3 prints for 299.792458 MHz, and the part of |Z| that may differ
DECKS = {
    "series load": (
        "GW 1 41 0 0 -.25 0 0 .25 1e-3\nGE 0\nLD 0 1 21 21 100 2.6544e-8 0\nEX 0 1 21 0 1 0", [185.7 + 98.7j], 0.05,
    ),
    "parallel load": (
        "GW 1 41 0 0 -.25 0 0 .25 1e-3\nGE 0\nLD 1 1 10 10 300 1e-7 1e-12\nEX 0 1 21 0 1 0", [235.7 + 69.63j], 0.05,
    ),
    "arc": ("GA 1 40 .16 0 360 1e-3\nGE 0\nEX 0 1 1 0 1 0", [122.6 - 88.85j], 0.05),
    "helix on its ground": (
        "GH 1 80 .25 1 .16 .16 .16 .16 2e-3\nGM 0 0 0 0 0 0 0 .05 0\nGW 2 3 .16 0 0 .16 0 .05 2e-3\nGE 1\nGN 1\n"
        "EX 0 2 1 0 1 0", [232 - 51.49j], 0.05,
    ),
    "image": (
        "GW 1 20 .05 0 0 .05 0 .25 1e-3\nGW 2 5 .05 0 .25 .15 0 .25 1e-3\nGX 10 001\nGE 0\nEX 0 1 1 0 1 0",
        [273.7 + 477.3j], 0.05,
    ),
    "copies, scaled": (
        "GW 1 15 0 0 .1 .2 .1 .15 1e-3\nGM 1 2 0 0 0 .1 .05 .1 0\nGS 0 0 1.1\nGE 1\nGN 1\nEX 0 2 8 0 1 0\n"
        "LD 5 0 0 0 5.8e7", [20.32 - 430.6j], 0.05,
    ),
    "three wires at a point": (
        "GW 1 15 0 0 0 0 0 .15 1e-3\nGW 2 15 0 0 .15 .15 0 .15 1e-3\nGW 3 15 0 0 .15 -.15 0 .15 1e-3\nGE 1\nGN 1\n"
        "EX 0 1 3 0 1 0", [41.21 + 170.5j], 0.05,
    ),
    "line with admittances": (
        f"{PAIR}\nTL 1 11 2 11 75 .3 0 0 .002 .004", [29.546 + 3.976j], 0.05,
    ),
    "line with a load in series": (f"{PAIR}\nTL 1 11 2 11 75 .3\nLD 4 2 11 11 30 0", [23.948 + 2.303j], 0.05),
    "crossed line, 11 segments": (CROSSED.format(43, 22), [142.33 + 4.159j], 0.02),
    "crossed line, 21 segments": (CROSSED.format(83, 42), [141.46 - 3.039j], 0.02),
    "crossed line, 41 segments": (CROSSED.format(163, 82), [140.27 - 7.955j], 0.02),
    "straight line": (f"{PAIR}\nTL 1 11 2 11 100 0", [43.38 - 3.649j], 0.05),
    "network": (f"{PAIR}\nNT 1 11 2 11 .01 .002 -.004 .001 .008 -.003", [62.13 + 6.017j], 0.05),
    "two feeds": (
        "GW 1 21 0 0 -.25 0 0 .25 1e-3\nGR 1 1\nGM 1 1 0 0 0 .2 0 0 1\nGE 0\nEX 0 1 11 0 1 0\nEX 0 2 11 0 0 1",
        None, 0.0,
    ),
}  # fmt: skip


def written(tmp_path, cards):
    path = tmp_path / "deck.nec"
    path.write_text(f"CM a deck\nCE\n{cards}\nFR 0 2 0 0 299.792458 10\nRP 0 37 37 1000 0 0 5 10\nEN\nnot read")
    return path


@pytest.mark.filterwarnings("ignore:a segment of")
@pytest.mark.parametrize("name", DECKS)
def test_decks_have_the_impedances_of_nec(name, tmp_path):
    cards, impedances, tolerance = DECKS[name]
    model = cal.read_nec(written(tmp_path, cards))
    assert model.frequencies == pytest.approx([299.792458e6, 309.792458e6])
    solution = model.solve()
    assert len(solution.voltages) == cards.count("EX 0")
    for found, z in zip(solution.input_impedances.conj(), impedances or [], strict=bool(impedances)):
        assert abs(found - z) < tolerance * abs(z)
    spent = solution.radiated_power() + solution.lost + solution.circuit_power
    assert spent == pytest.approx(solution.input_power, rel=5e-3)


def test_voltages_are_those_of_exp_minus_i_omega_t(tmp_path):
    model = cal.read_nec(written(tmp_path, DECKS["two feeds"][0]))
    assert model.voltages == pytest.approx([1, -1j])
    assert cal.read_nec(written(tmp_path, PAIR.removesuffix(" 1 0"))).voltages == [1.0]  # as in NEC-2
    assert np.ptp([np.asarray(each.points)[0, 0] for each in model.wires]) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ("GW 1 5 0 0 0 0 0 1 1e-3\nGC 0 0 .9 1e-3 2e-3", "line 4, GC: unknown card 'GC'"),
        ("GW 1 5 0 0 0 0 0 1 1e-3\nTL 1 1 1 6 50", "line 4, TL: segment 6 of 5"),
        ("GW 1 5 0 0 0 0 0 1 1e-3\nTL 1 1 1 1 50", "line 4, TL: the length of a line in m"),
        ("GW 1 5 0 0 0 0 0 1 1e-3\nGE 0\nGN 0 0 0 0 13 0.005", "line 5, GN: kind 0 is not supported: GN 2 is"),
        ("GW 1 5 0 0 0 0 0 1 1e-3\nGE 0\nGN 2 8 0 0 13 0.005", "a screen of radials is not supported"),
        ("GW 1 5 0 0 0 0 0 1 1e-3\nEX 0 2 1 0 1 0", "no wire has the tag 2: the deck has 1"),
        ("GW 1 5 0 0 0 0 0 1 1e-3\nEX 0 1 6 0 1 0", "segment 6 of 5"),
        ("GW 1 5 0 0 0 0 0 1 1e-3\nEX 1 1 3 0 1 0", "kind 1 is not supported"),
        ("GW 1 5 0 0 0 0 0 one 1e-3", "line 3, GW: could not convert string to float: 'one'"),
        ("GW 1 5 0 0 0 0 0 nan 1e-3", "numbers are finite"),
        ("GW 1 1e9 0 0 0 0 0 1 1e-3", "a number between 1 and 100,000"),
        ("GW 1 5 0 0 0 0 0 1", "tapered wire"),
        ("GW 1 5 0 0 0 0 0 1 1e-3\nGR 1 90000", "100,000 segments at most"),
        ("GW 1 5 0 0 0 0 0 1 1e-3\nLD 4 1 1 1 50 20", "does not depend on the frequency"),
        ("GH 1 99 0 1 .1 .1 .1 .1 1e-3", "a spacing of turns"),
        ("GE 0", "has no wires"),
    ],
)
def test_what_a_deck_may_not_say_is_refused(cards, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        cal.read_nec(written(tmp_path, cards))
