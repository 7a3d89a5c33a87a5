"""The parts of a Nastran deck that surfaces need: grids, coordinate systems, elements, names."""

from collections import Counter
from typing import NamedTuple

from calderon.mesh.files.formats.nastran.cards import Card
from calderon.mesh.files.formats.nastran.lines import Line
from calderon.mesh.files.formats.nastran.names import PROPERTIES, Names
from calderon.mesh.files.formats.nastran.numbers import real
from calderon.mesh.files.formats.nastran.systems import BY_GRIDS, BY_POINTS, System, systems_of


class ElementCard(NamedTuple):
    """meshio's name of an element, its number of corners, that of nodes with those on edges, which may be left out, and
    the place of ZOFFS, the offset of the middle of a shell from its grids, None without one."""

    kind: str
    corners: int
    nodes: int
    offset: int | None = None


ELEMENTS = {
    "CTRIA3": ElementCard("triangle", 3, 3, 6),
    "CTRIAR": ElementCard("triangle", 3, 3, 6),
    "CTRIA6": ElementCard("triangle6", 3, 6, 9),
    "CQUAD4": ElementCard("quad", 4, 4, 7),
    "CQUADR": ElementCard("quad", 4, 4, 7),
    "CSHEAR": ElementCard("quad", 4, 4),
    "CQUAD8": ElementCard("quad8", 4, 8, 15),
    "CQUAD": ElementCard("quad9", 4, 9),
    "CTETRA": ElementCard("tetra", 4, 10),
    "CPYRAM": ElementCard("pyramid", 5, 13),
    "CPYRA": ElementCard("pyramid", 5, 13),
    "CPENTA": ElementCard("wedge", 6, 15),
    "CHEXA": ElementCard("hexahedron", 8, 20),
}
SOLIDS = {"CTETRA", "CPYRAM", "CPYRA", "CPENTA", "CHEXA"}
SURFACES = {*ELEMENTS} - SOLIDS
BLANK = -1
"""Stands for the coordinate system of GRDSET, or for no property."""
MAKERS = {"GRIDG", "EGRID", "GRIDD", "GRIDMOD", "CGEN"}
"""Cards of MSGMESH, which generate grids and elements."""
PASSED = {
    *("CTRIAX", "CTRIAX6", "CTRAX3", "CTRAX6", "CQUADX", "CQUADX4", "CQUADX8"),
    *("CPLSTN3", "CPLSTN4", "CPLSTN6", "CPLSTN8", "CPLSTS3", "CPLSTS4", "CPLSTS6", "CPLSTS8"),
    *("CTRIA1", "CTRIA2", "CQUAD1", "CQUAD2", "CHBDYG", "CHACAB", "CHACBR", "CAABSF", "CIFHEX", "CIFPENT", "CIFQUAD"),
}
"""Elements with an area or a volume that are ignored with a message: axisymmetric, plane, old ones, absorbers."""
WANTED = {*ELEMENTS, *BY_GRIDS, *BY_POINTS, *PROPERTIES, *MAKERS, "GRID", "GRDSET"}


Grid = tuple[int, float, float, float]
"""The coordinate system, BLANK for that of GRDSET, and the coordinates there."""
Element = tuple[str, int, tuple[int, ...]]
"""The name of the card, the property or BLANK, and the nodes; 0 for one that is left out."""


class Deck:
    """Grids, elements and coordinate systems by number, with their lines, taken from the cards one after the other.

    Raises MeshError with the place for cards that cannot be read, for numbers given twice with different values, and
    for cards that generate others.
    """

    def __init__(self) -> None:
        self.grids: dict[int, Grid] = {}
        self.elements: dict[int, Element] = {}
        self.systems: dict[int, System] = {}
        self.default: Card | None = None
        self.components: dict[int, int] = {}
        self.properties: set[int] = set()
        self.names = Names()
        self.ends = False
        self.offsets = 0
        self.passed: Counter[str] = Counter()
        self.grid_lines: dict[int, Line] = {}
        self.element_lines: dict[int, Line] = {}

    def take(self, card: Card) -> None:
        """Keep what surfaces need; the rest is passed over."""
        self.names.see(card)
        name = card.name
        # grids, elements, coordinate systems, properties
        if name == "GRID":
            self._grid(card)
        elif name in ELEMENTS:
            self._element(card)
        elif name in BY_GRIDS or name in BY_POINTS:
            for number, system in systems_of(card).items():
                if self.systems.setdefault(number, system) != system:
                    card.refuse(
                        f"system {number} is given before with other values, on {self.systems[number].card.line}"
                    )
        elif name in PROPERTIES:
            self.properties.add(card.integer(0))
        elif name in MAKERS:
            card.refuse("generates grids or elements, which is not supported: write them all")
        elif name == "GRDSET":
            if self.default is not None and self.default.fields != card.fields:
                card.refuse(f"is given before with other values, on {self.default.line}")
            self.default = card
        elif name in PASSED:
            self.passed[name] += 1
        elif name.startswith("ENDDATA"):
            self.ends = True

    def _grid(self, card: Card) -> None:
        if card.is_half:
            card.refuse("the line with its third coordinate is missing")
        if any(card.fields[8:]):
            card.refuse("has more than 8 fields: a line that goes on with another card follows it")
        number = card.integer(0)
        grid = card.integer(1, BLANK, 0), card.real(2), card.real(3), card.real(4)
        if self.grids.setdefault(number, grid) != grid:
            card.refuse(f"{number} is given before with other values, on {self.grid_lines[number]}")
        self.grid_lines[number] = card.line

    def _element(self, card: Card) -> None:
        _, corners, nodes, place = ELEMENTS[card.name]
        number = card.integer(0)
        on_edges = (card.integer(2 + i, 0, 0) for i in range(corners, nodes))
        element = (
            card.name,
            card.integer(1, BLANK, 0),
            (*(card.integer(2 + i) for i in range(corners)), *on_edges),
        )
        if self.elements.setdefault(number, element) != element:
            card.refuse(f"{number} is given before with other values, on {self.element_lines[number]}")
        self.element_lines[number] = card.line
        self.components[number] = self.names.current
        offset = "" if place is None else card.text(place)
        self.offsets += bool(offset) and real(offset) != 0
