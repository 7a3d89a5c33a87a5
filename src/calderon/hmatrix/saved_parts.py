"""The H-matrices of an assembly in a file that grows with every one that is ready, so that an interrupted one goes on.

Each matrix is kept with the identity of what it belongs to, a few named texts. A file of another mesh, wavenumber or
tolerance is refused with the names that differ; it is never taken, and never overwritten.
"""

import json
import os
from pathlib import Path
from typing import Any

from calderon.backends import require_memory
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.saving import PARTS, check_ending, get_hmatrix, new_file, put_hmatrix, saved_file

Identity = dict[str, str]


class SavedParts:
    """A file of H-matrices in the order in which they were requested.

    path: ends in .h5 or .hdf5, in a folder that exists; the file need not. ValueError for another ending, or for a file
    of another kind or version.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        check_ending(path)
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"the folder {self.path.parent} does not exist; create it first")
        self.identities: list[Identity] = []
        if self.path.exists():
            with saved_file(self.path, PARTS) as file:
                self.identities = [json.loads(text) for text in file["identities"].asstr()[()]]

    def holds(self, number: int, identity: Identity) -> bool:
        """Whether the HMatrix with this number is there. ValueError if it belongs to something else."""
        if number >= len(self.identities):
            return False
        there = self.identities[number]
        if there != identity:
            names = [name for name in identity if there.get(name) != identity[name]]
            differences = "; ".join(f"{name} {there.get(name)} instead of {identity[name]}" for name in names)
            raise ValueError(
                f"{str(self.path)!r} holds the matrix of another problem: {differences}. "
                "Name another file, or remove this one"
            )
        return True

    def find(self, number: int, identity: Identity) -> dict[str, Any] | None:
        """The arguments of the HMatrix with this number; None if it is missing. Errors as for `holds`."""
        if not self.holds(number, identity):
            return None
        require_memory(self.path.stat().st_size, f"the matrix in {str(self.path)!r}", "close what takes memory")
        with saved_file(self.path, PARTS) as file:
            return get_hmatrix(file[f"parts/{number}"])

    def keep(self, parts: list[HMatrix], identity: Identity) -> None:
        """Write all matrices so far, the last of which is new; the file is replaced as a whole."""
        self.identities = [*self.identities[: len(parts) - 1], identity]
        with new_file(self.path, PARTS) as file:
            file.create_dataset("identities", data=[json.dumps(each) for each in self.identities])
            for number, part in enumerate(parts):
                put_hmatrix(file.create_group(f"parts/{number}"), part)
