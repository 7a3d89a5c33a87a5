"""Cards of bulk data: their fields in small, large and free format, over several lines.

Format: MSC Nastran Quick Reference Guide, "Bulk Data Entries"; OptiStruct Reference Guide, "Bulk Data Guidelines".
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from calderon.mesh.files.formats.nastran.lines import Line, without_comment
from calderon.mesh.files.formats.nastran.numbers import integer, real
from calderon.mesh.files.formats.nastran.replication import successor, times


class Columns(NamedTuple):
    """Columns of a line: of the first field, of a small one and of the last one; where the last one begins; how many
    small or large fields lie between."""

    width: int = 8
    last: int = 72
    small: int = 8
    large: int = 4


COLUMNS = Columns()


@dataclass(slots=True, eq=False)
class Card:
    """A card: its name, the place of its first line, the texts of all, and what the last one says of the next line.

    remarks: the comments before it. kept: its fields of data, the second of the card first, once they are split.
    """

    name: str
    line: Line
    texts: list[str]
    marker: str = ""
    remarks: list[str] = field(default_factory=list)
    kept: list[str] | None = None
    before: "Card | None" = None

    def refuse(self, what: str) -> NoReturn:
        """Raise MeshError with the place and the name."""
        self.line.refuse(f"{self.name}: {what}")

    @property
    def fields(self) -> list[str]:
        """The fields of data without blanks around them."""
        if self.kept is None:
            self.kept = []
            for text in self.texts:
                own, large = self._of_line(text)
                if not large and len(self.kept) % COLUMNS.small:
                    self.kept += [""] * COLUMNS.large  # the second half of large fields was left out
                self.kept += own
        return self.kept

    @property
    def is_half(self) -> bool:
        """Whether it says in large fields that another line follows, which does not."""
        return bool(self.marker) and len(self.texts) % 2 == 1 and _is_large(_first(self.texts[-1]))

    def text(self, place: int) -> str:
        """A field of data, counted from 0; blank where the card is shorter."""
        return self.fields[place] if place < len(self.fields) else ""

    def integer(self, place: int, default: int | None = None, least: int = 1) -> int:
        """The whole number in a field of data; of a blank one the default, if there is one."""
        text = self.text(place)
        if not text and default is not None:
            return default
        value = integer(text)
        if value is None or value < least:
            self.refuse(f"field {place + 2} is {text!r}, not a whole number from {least} on")
        return value

    def real(self, place: int) -> float:
        """The number in a field of data; a blank one is zero."""
        text = self.text(place)
        value = real(text) if text else 0.0
        if value is None:
            self.refuse(f"field {place + 2} is {text!r}, not a number")
        return value

    def _of_line(self, text: str) -> tuple[list[str], bool]:
        """The fields of data of a line, eight small or four large ones, and whether they are large."""
        large = _is_large(_first(text))
        count = COLUMNS.large if large else COLUMNS.small
        if "," in text:
            parts = [part.strip() for part in text.split(",")][1:]
            if any(parts[count + 1 :]):
                self.refuse(f"{len(parts) + 1} fields in one line of free format, which holds {count + 2}")
            parts = parts[:count]
        else:
            step = COLUMNS.width * COLUMNS.small // count
            parts = [text[i : i + step].strip() for i in range(COLUMNS.width, min(COLUMNS.last, len(text)), step)]
        return parts + [""] * (count - len(parts)), large


def cards(lines: Iterable[Line], wanted: Collection[str]) -> Iterator[Card]:
    """The cards in the order of the file, those behind them whose lines do not follow each other; comments at the end
    are the remarks of a last card without a name.

    wanted: names of cards of which lines out of format are refused, and replicated cards are made.
    """
    finished, current, remarks = _Finished(wanted), Card("", Line("", 0, ""), []), list[str]()
    for line in lines:
        text = without_comment(line.text)
        if not text or text.isspace():
            if line.text.startswith("$"):
                remarks.append(line.text)
            continue
        text = text.expandtabs(COLUMNS.width) if "\t" in text else text
        first, marker = _first(text), _marker(text)
        if first and first[0] not in "+*":
            yield from finished.cards(current)
            current = Card(_name(first, line, current, wanted), line, [text], marker, remarks)
            remarks = []
        elif not current.texts:
            line.refuse("goes on with a card, but none precedes it: no bulk data of Nastran?")
        elif (own := _mark(first)) and own not in _asked(current.marker):
            yield from finished.cards(current, waits=True)
            current = finished.loose_line(line, text, marker, current)
        else:
            current.texts.append(text)
            current.marker = marker
    yield from finished.cards(current)
    yield from finished.joined()
    yield Card("", Line("", 0, ""), [], remarks=remarks)


class _Finished:
    """Collects finished cards: a card ends when the next one begins."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = wanted
        self._last: Card | None = None
        self._steps: list[str] = []
        self._waiting: list[Card] = []
        self._loose: list[Card] = []

    def cards(self, card: Card, waits: bool = False) -> Iterator[Card]:
        """The card, or those that it makes by replication; one whose last line names the line that goes on waits."""
        if card.name.startswith("="):
            yield from self._repeated(card)
        elif card.name:
            self._last, self._steps = card, []
            if waits or any(_asked(card.marker)):
                self._waiting.append(card)
            else:
                yield card

    def loose_line(self, line: Line, text: str, marker: str, before: Card) -> Card:
        """A line that goes on with another card than the one before it."""
        self._loose.append(Card("", line, [text], marker, before=before))
        return self._loose[-1]

    def joined(self) -> Iterator[Card]:
        """The cards that wait, with the lines that have their marks; lines that no card names belong to the one
        before them."""
        by_mark: dict[str, list[Card]] = {}
        for piece in self._loose:
            by_mark.setdefault(_mark(_first(piece.texts[0])), []).append(piece)
        for card in self._waiting:
            while pieces := next((by_mark.pop(mark) for mark in _asked(card.marker) if mark in by_mark), []):
                if len(pieces) > 1:
                    card.refuse(f"goes on in several lines that begin with {card.marker!r}")
                card.texts += pieces[0].texts
                card.marker = pieces[0].marker
        for piece in (each for pieces in by_mark.values() for each in pieces):
            card = piece
            while card.before is not None:
                card = card.before
            card.texts += piece.texts
            card.marker = piece.marker
        yield from self._waiting

    def _repeated(self, card: Card) -> Iterator[Card]:
        if self._last is None or self._last.name not in self._wanted:
            return
        count = times(card.name, card.refuse)
        if len(card.texts) > 1 or len(self._last.texts) > 1:
            card.refuse(f"replication of {self._last.name} over several lines is not supported: write all cards")
        if not count:
            self._steps = card.fields
        elif not self._steps or any(card.fields):
            card.refuse("=(n) repeats the steps of the line before, and has no fields of its own")
        for _ in range(count or 1):
            made = successor(self._last.fields, self._steps, card.refuse)
            self._last = Card(self._last.name, card.line, [], remarks=card.remarks, kept=made)
            yield self._last


def _first(text: str) -> str:
    """The first field; free format has a comma after it."""
    return (text.partition(",")[0] if "," in text else text[: COLUMNS.width]).strip()


def _is_large(first: str) -> bool:
    return first.startswith("*") or first.endswith("*")


def _marker(text: str) -> str:
    """The last field, which says how the line begins that goes on."""
    if "," in text:
        parts = text.split(",", 11)
        place = 1 + (COLUMNS.large if _is_large(parts[0].strip()) else COLUMNS.small)
        return parts[place].strip() if len(parts) > place else ""
    return text[COLUMNS.last : COLUMNS.last + COLUMNS.width].strip()


def _mark(first: str) -> str:
    """The mark behind + or * that joins the first field of a line to the end of another."""
    return first[1:].strip()


def _asked(marker: str) -> tuple[str, str]:
    """The mark of the line that goes on: the last field without its first character, which may be any, or all of it."""
    return marker[1:].strip(), marker.lstrip("+*").strip()


def _name(first: str, line: Line, before: Card, wanted: Collection[str]) -> str:
    """The name of a card. MeshError for a wanted one that is not in columns, for a line of numbers behind one, and for
    a line that deletes cards."""
    name = first.removesuffix("*").strip().upper()
    if name.split()[0] in wanted and name not in wanted:
        line.refuse(f"{first!r} in the first eight columns: fields have eight or 16 columns, or commas between them")
    if name[0] in "0123456789.-" and before.name in wanted:
        line.refuse(f"{first!r} is no name of a card: lines that go on with one begin with a blank, + or *")
    if name[0] == "/":
        line.refuse("'/' deletes cards of another run: write one deck")
    return name
