"""The surface of a Nastran deck, with properties as tags and their names.

A reader of its own, which takes what surfaces need from any deck and refuses what it would have to guess: see
docs/decisions/58-nastran-decks.md.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.format import Format
from calderon.mesh.files.formats.nastran.cards import cards
from calderon.mesh.files.formats.nastran.deck import BLANK, ELEMENTS, SOLIDS, SURFACES, WANTED, Deck
from calderon.mesh.files.formats.nastran.lines import bulk_lines
from calderon.mesh.files.formats.nastran.systems import BASIC, Frames
from calderon.mesh.files.skins import skin
from calderon.mesh.topology import row_numbers

FACE_KINDS = {3: "triangle", 4: "quad"}


def read_nastran(path: Path) -> FileMesh:
    """Triangles and quadrilaterals, or the skin of the solids if there are none; tags are properties, or components of
    HyperMesh where elements were moved to these. `info` of the mesh holds messages for the user.

    Raises MeshError with the place for cards that cannot be read, that refer to missing ones or are given twice with
    different values, for grids and elements that are generated, and for superelements.
    """
    deck = Deck()
    for card in cards(bulk_lines(path), WANTED):
        deck.take(card)
    if not deck.grids:
        raise MeshError("no GRID cards: it is no Nastran deck, or its bulk data are in another file")
    counts = Counter(name for name, _, _ in deck.elements.values())
    if not counts:
        others = f", only {_listed(deck.passed)}" if deck.passed else ""
        raise MeshError(f"no surface elements such as CTRIA3 or CQUAD4{others}: mesh the surface")
    # surface elements, or else solids
    flat = any(name in SURFACES for name in counts)
    blocks = _blocks(deck, SURFACES if flat else SOLIDS)
    used = np.unique(np.concatenate([nodes.ravel() for _, nodes, _ in blocks]))
    blocks = [(kind, np.searchsorted(used, nodes), own) for kind, nodes, own in blocks]
    notes = _notes(deck, counts, flat)
    if not deck.ends:
        notes.append("no ENDDATA at its end: if it is incomplete, elements are missing")
    # the skin of the solids
    if not flat:
        faces = skin([(kind, nodes) for kind, nodes, _ in blocks])
        numbers = np.concatenate([own for _, _, own in blocks])
        blocks = [(FACE_KINDS[corners.shape[1]], corners, numbers[owners]) for corners, owners in faces]
        total = sum(len(corners) for _, corners, _ in blocks)
        notes.append(f"no surface elements but {_listed(counts)}; their {total} boundary faces are used")
    # tags and their names
    tags, names = _tags(deck, [own for _, _, own in blocks])
    fields = {name: np.array([tag, 2]) for tag, name in names.items()}
    cells = [(kind, nodes) for kind, nodes, _ in blocks]
    return FileMesh(_positions(deck, used), cells, cell_data={"tags": tags}, field_data=fields, info=notes)


Block = tuple[str, NDArray[np.int64], NDArray[np.int64]]
"""meshio's kind of elements, their nodes (n, nodes) and their numbers (n,)."""


def _blocks(deck: Deck, chosen: Collection[str]) -> list[Block]:
    """The elements of the chosen cards; those with no node on an edge, and solids, with their corners alone, else a
    missing node is the first corner. MeshError for grids that the deck does not have."""
    rows: dict[str, list[tuple[int, ...]]] = {}
    numbers: dict[str, list[int]] = {}
    for number, (name, _, nodes) in deck.elements.items():
        if name not in chosen:
            continue
        if (missing := next((node for node in nodes if node and node not in deck.grids), 0)) != 0:
            deck.element_lines[number].refuse(f"{name} {number} refers to GRID {missing}, which the deck does not have")
        kind, corners, _, _ = ELEMENTS[name]
        if name in SOLIDS or not any(nodes[corners:]):
            kind, nodes = FACE_KINDS.get(corners, kind) if name in SURFACES else kind, nodes[:corners]
        rows.setdefault(kind, []).append(tuple(node or nodes[0] for node in nodes))
        numbers.setdefault(kind, []).append(number)
    return [(kind, np.array(rows[kind], np.int64), np.array(numbers[kind], np.int64)) for kind in rows]


def _positions(deck: Deck, used: NDArray[np.int64]) -> NDArray[np.float64]:
    """Points (n, 3) of grids in the basic system."""
    default = BASIC if deck.default is None else deck.default.integer(1, BASIC, 0)
    system = {BLANK: default}

    def grid(number: int) -> tuple[int, NDArray[np.float64]] | None:
        found = deck.grids.get(number)
        return None if found is None else (system.get(found[0], found[0]), np.array(found[1:]))

    frames = Frames(deck.systems, grid)
    rows = np.array([deck.grids[number] for number in used.tolist()])
    points, given = rows[:, 1:].copy(), rows[:, 0].astype(np.int64)
    given[given == BLANK] = default
    for number in np.unique(given[given != BASIC]).tolist():
        own = given == number
        first = int(used[np.argmax(own)])
        points[own] = frames.basic(number, points[own], f"{deck.grid_lines[first]}: GRID {first}")
    return points


def _tags(deck: Deck, numbers: list[NDArray[np.int64]]) -> tuple[list[NDArray[np.int64]], dict[int, str]]:
    """Tags of elements by blocks, and their names: properties, or components where one of these has elements of several
    properties, or shares one; then elements without a component keep their property if no component has its number."""
    flat, names = np.concatenate(numbers), deck.names
    properties = np.array([_property(deck, number) for number in flat.tolist()], np.int64)
    pairs, pair = row_numbers(np.column_stack([properties, _components(deck, flat, properties)]))
    used = pairs[pairs[:, 1] > 0, 1]
    one_to_one = len(np.unique(pairs[:, 0])) == len(pairs) and len(np.unique(used)) == len(used)
    free = itertools.count(int(pairs.max()) + 1)
    tags: list[int] = []
    called: dict[int, str] = {}
    for own, component in pairs.tolist():
        tags.append(own if one_to_one else component or (next(free) if own in used else own))
        name = names.components.get(component, ("", None))[0] or names.properties.get(own, "")
        called.setdefault(tags[-1], name)
    unique: dict[int, str] = {}
    for tag, name in called.items():
        if name:
            unique[tag] = name if name not in unique.values() else f"{name} ({tag})"
    return np.split(np.array(tags)[pair], np.cumsum([len(each) for each in numbers])[:-1]), unique


def _components(deck: Deck, elements: NDArray[np.int64], properties: NDArray[np.int64]) -> NDArray[np.int64]:
    """The component of each element: to which it was moved, in which it stands, or that of its property; 0 for none."""
    implied = {each: deck.names.component_of(each) or 0 for each in np.unique(properties).tolist()}
    pairs = zip(elements.tolist(), properties.tolist(), strict=True)
    found = np.array([deck.components[number] or implied[own] for number, own in pairs], np.int64)
    for component, ranges in deck.names.moved.items():
        for first, last in ranges:
            found[(elements >= first) & (elements <= last)] = component
    return found


def _property(deck: Deck, number: int) -> int:
    """The property of an element; a blank one is that of its own number, or none, 0, if the deck does not have it."""
    found = deck.elements[number][1]
    return found if found != BLANK else number if number in deck.properties else 0


def _notes(deck: Deck, counts: Counter[str], flat: bool) -> list[str]:
    """Notes on the cards that are ignored."""
    notes = []
    solids = Counter({name: count for name, count in counts.items() if name in SOLIDS})
    if flat and solids:
        notes.append(f"{_listed(solids)} ignored: the surface elements are used")
    if deck.passed:
        notes.append(f"elements ignored, of types that are not supported: {_listed(deck.passed)}")
    if deck.offsets and flat:
        notes.append(
            f"{deck.offsets} elements have an offset ZOFFS, which is ignored: the surface goes through the grids"
        )
    return notes


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in sorted(counts))


NASTRAN = Format((".bdf", ".nas", ".fem", ".dat"), read_nastran)
