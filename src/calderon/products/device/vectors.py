"""Vectors on a device, as pairs of real and imaginary parts."""

from typing import Any, NamedTuple


class Vectors(NamedTuple):
    """`columns` vectors of pairs (n, 2) in an array of the device: the first from element `first` on, others `pitch`
    elements apart; conjugated: whether their conjugates are meant."""

    array: Any
    first: int
    pitch: int
    columns: int
    conjugated: bool = False

    @property
    def sign(self) -> float:
        """Sign of imaginary parts: -1 where they are conjugated."""
        return -1.0 if self.conjugated else 1.0
