"""Layouts of packed records: one table gives Python the places of the parts, and device sources their definitions."""

import numpy as np
from numpy.typing import NDArray

from calderon.backends.devices.device import Defines


class Record:
    """Numbers of one object, one part after the other: `Record("DATA", normal=3, jacobian=1)`.

    name: what definitions begin with. Sizes of parts in their order; a part of size None may have any size and ends the
    record.
    """

    def __init__(self, name: str, **sizes: int | None) -> None:
        self.name, self.sizes = name, sizes
        self.places: dict[str, int] = {}
        self.length = 0
        for part, size in sizes.items():
            self.places[part] = self.length
            self.length += size or 0

    def __getitem__(self, part: str) -> int:
        return self.places[part]

    def packed(self, **parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, numbers) records of n objects; each part has shape (n, ...)."""
        flat = {part: values.reshape(len(values), -1) for part, values in parts.items()}
        self.checked({part: values.shape[1] for part, values in flat.items()})
        return np.concatenate(list(flat.values()), axis=1)

    def checked(self, widths: dict[str, int]) -> int:
        """How many numbers a record has whose parts have these widths; ValueError for others than its parts."""
        if list(widths) != list(self.sizes):
            raise ValueError(f"parts of {self.name} are {', '.join(self.sizes)} in this order, got {', '.join(widths)}")
        for part, size in self.sizes.items():
            if size is not None and widths[part] != size:
                raise ValueError(f"{self.name}.{part} has {size} numbers, got {widths[part]}")
        return sum(widths.values())

    @property
    def defines(self) -> Defines:
        """NAME_PART: the place of each part, and NAME_LENGTH: numbers of all parts of fixed size."""
        parts = [(f"{self.name}_{part.upper()}", place) for part, place in self.places.items()]
        return *parts, (f"{self.name}_LENGTH", self.length)
