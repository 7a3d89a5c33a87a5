"""Names of tags, with the colours and the solids that a CAD model gives them."""

from collections.abc import Mapping

PAIR = "|"
"""Between the names of the solids on both sides of a wall, in names of tags."""


class TagNames(dict[str, int]):
    """{name: tag}. colours: {tag: "#rrggbb"}; solids: {name of a solid: the tags of its faces}. All meshes that are
    made from a mesh keep them with its names."""

    colours: Mapping[int, str]
    solids: Mapping[str, tuple[int, ...]]

    def __init__(
        self,
        names: Mapping[str, int] | None = None,
        colours: Mapping[int, str] | None = None,
        solids: Mapping[str, tuple[int, ...]] | None = None,
    ) -> None:
        super().__init__(names or {})
        self.colours = dict(getattr(names, "colours", {}) if colours is None else colours)
        self.solids = dict(getattr(names, "solids", {}) if solids is None else solids)

    def tags_of(self, tag: int | str) -> tuple[int, ...]:
        """The tags that a name means, those of a solid ("a" also means "a|b", a wall between two), or the number
        itself; none for an unknown name."""
        if not isinstance(tag, str):
            return (int(tag),)
        if tag in self or tag in self.solids:
            return (self[tag],) if tag in self else tuple(self.solids[tag])
        return tuple(number for pair, number in self.items() if PAIR in pair and tag in pair.split(PAIR))
