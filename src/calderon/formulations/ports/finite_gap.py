"""Generators in gaps of finite width between metal that lies between unlike media."""

from dataclasses import dataclass

from calderon.formulations.ports.gaps import Tags
from calderon.validation import describe


@dataclass(frozen=True, eq=False)
class FiniteGap:
    """A generator in a gap of finite width, across which its current flows from one piece of metal into another.

    cells: the tag of the triangles of the gap, or several, which are an interface of two media; they reach from one
    piece of metal to the other. between: tags of the metal at both ends; positive current flows from the first to the
    second through the gap. name: for reports.

    The current of 1 A has the density j of least int |j|^2, and the voltage is U = -int j . E. At a slot of no width
    (`DeltaGap`) metal between unlike media would need a magnetic current that is infinite there.
    """

    cells: Tags
    between: tuple[Tags, Tags]
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.between, tuple | list) or len(self.between) != 2:
            raise ValueError(f"between is a pair of tags of metal, such as ('strip', 'ground'), got "
                             f"{describe(self.between)}")  # fmt: skip
        object.__setattr__(self, "between", tuple(self.between))
