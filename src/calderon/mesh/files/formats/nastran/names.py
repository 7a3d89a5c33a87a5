"""Names of properties and components in the comments of preprocessors: HyperMesh, ANSA, Femap, Patran, NX."""

import re
from collections.abc import Iterable

from calderon.mesh.files.formats.nastran.cards import Card

PROPERTIES = {"PSHELL", "PSOLID", "PCOMP", "PCOMPG", "PCOMPP", "PSHEAR", "PLPLANE", "PLSOLID", "PSHLN1", "PSLDN1"}
"""Cards of surfaces and solids that a name before them is meant for."""
_COMPONENT = re.compile(r'\$HMNAME\s+COMPS?\s+(\d{1,18})\s*"(.*?)"(?:\s*(\d{1,18})\s*")?', re.IGNORECASE)
_NUMBERED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r'\$HMNAME\s+PROPS?\s+(?P<id>\d{1,18})\s*"(?P<name>.*?)"',
        r"\$\*\s*Property\s*:\s*(?P<id>\d{1,18})\s+name\s*:\s*(?P<name>.*)",
        r"\$ANSA_NAME_COMMENT;(?P<id>\d{1,18});P\w+;(?P<name>[^;]*)",
        r"\$.*?\bFemap\b.*?\bProperty\s+(?P<id>\d{1,18})\s*:\s*(?P<name>.*)",
        r'\$\s*Pset:\s*"(?P<name>.*?)"\s*will be imported as:\s*"P?\w+\.(?P<id>\d{1,18})"',
    )
]
_NEXT = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\$\s*Elements and Element Properties for region\s*:\s*(.*)",
        r"\$\*\s+Property(?: Name)?\s*:\s*(.*)",
    )
]
_ANSA_NEXT = re.compile(r"\$ANSA_NAME;(\d{1,18});P\w+;~?\s*$", re.IGNORECASE)
_CURRENT = re.compile(r"\$HMCOMP\s+ID\s+(\d{1,18})", re.IGNORECASE)
_MOVED = re.compile(r"\$HMMOVE\s+(\d{1,18})", re.IGNORECASE)


class Names:
    """Names that comments give: of properties, of components with or without a property, and which elements were moved
    to a component, as pairs (first, last) of element numbers. current: the component of the elements that follow."""

    def __init__(self) -> None:
        self.properties: dict[int, str] = {}
        self.components: dict[int, tuple[str, int | None]] = {}
        self.moved: dict[int, list[tuple[int, int]]] = {}
        self.current = 0
        self._next = ""
        self._list: list[tuple[int, int]] | None = None
        self._ansa: int | None = None

    def see(self, card: Card) -> None:
        """Take the names from the comments before a card, and give the last one to it."""
        self._read(card.remarks)
        if card.remarks:
            self._list = None
        if self._next and card.name in PROPERTIES:
            self.properties.setdefault(card.integer(0), self._next)
            self._next = ""

    def component_of(self, number: int) -> int | None:
        """The component of a property: the only one that names it, or the one of its number that names none."""
        owners = [each for each, (_, own) in self.components.items() if own == number]
        if owners:
            return owners[0] if len(owners) == 1 else None
        return number if self.components.get(number, ("", number))[1] is None else None

    def _read(self, remarks: Iterable[str]) -> None:
        for text in remarks:
            if self._ansa is not None:
                self.properties[self._ansa], self._ansa = text[1:].strip(), None
            elif self._list is not None and (ranges := _ranges(text)):
                self._list += ranges
            else:
                self._list = None
                self._statement(text)

    def _statement(self, text: str) -> None:
        text = text[:300]  # the patterns take time by the square of its length
        if found := _COMPONENT.match(text):
            self.components[int(found[1])] = found[2].strip(), int(found[3]) if found[3] else None
        elif found := _CURRENT.match(text):
            self.current = int(found[1])
        elif found := _MOVED.match(text):
            self._list = self.moved.setdefault(int(found[1]), [])
        elif found := _ANSA_NEXT.match(text):
            self._ansa = int(found[1])
        elif found := next(filter(None, (each.match(text) for each in _NUMBERED)), None):
            self.properties[int(found["id"])] = found["name"].strip()
        elif found := next(filter(None, (each.match(text) for each in _NEXT)), None):
            self._next = found[1].strip()


def _ranges(text: str) -> list[tuple[int, int]]:
    """The numbers of a line of a list, in columns of eight: "$       1THRU           120", as (first, last)."""
    words = [text[i : i + 8].strip().upper() for i in range(8, len(text), 8)]
    found: list[tuple[int, int]] = []
    through = False
    for word in filter(None, words):
        if word.endswith("THRU") and (word == "THRU" or word[:-4].strip().isdecimal()):
            word, through = word[:-4].strip(), True
            if word:
                found.append((int(word), int(word)))
        elif not (word.isascii() and word.isdecimal()) or text[1:8].strip():
            return []
        elif through and found:
            found[-1], through = (found[-1][0], int(word)), False
        else:
            found.append((int(word), int(word)))
    return found
