"""Traces that ranks send each other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.boundary import FacesOf
from calderon.dg.operator.element_blocks import Arrangement
from calderon.mesh.partition import CUT, Part
from calderon.parallel import Communicator


class Halo:
    """The faces where a part of a mesh meets those of other ranks.

    faces: where, those of one rank after the other; numbers (f,): these in the part's mesh. shape (f, 2, m): of traces.
    """

    def __init__(self, part: Part, arrangement: Arrangement, conditions: NDArray[np.str_], communicator: Communicator):
        faces = FacesOf.of(arrangement, conditions, CUT)
        order = np.argsort(faces.numbers)
        self.faces = FacesOf(arrangement, faces.elements[order], faces.sides[order], faces.numbers[order])
        self.numbers = self.faces.numbers
        begin = part.first - part.first[0]
        self._runs = {rank: slice(*begin[n : n + 2]) for n, rank in enumerate(part.others)}
        self._communicator = communicator
        self.shape = len(self.numbers), 2, arrangement.reference.face_size
        self._sent, self._received = (np.zeros((2, *self.shape), arrangement.real) for _ in range(2))
        self._pending: list[Any] = [None, None]

    def begin(self, which: int, field: NDArray[np.floating]) -> None:
        """Send the own traces of a flat field, E (0) or H (1), and begin to receive the others'."""
        self.send(which, self.faces.traces(field))

    def send(self, which: int, traces: NDArray[np.floating]) -> None:
        """The same with traces (f, 2, m) that are known already."""
        self._sent[which] = traces
        sent = {rank: self._sent[which, run] for rank, run in self._runs.items()}
        received = {rank: self._received[which, run] for rank, run in self._runs.items()}
        self._pending[which] = self._communicator.exchange(sent, received)

    def finish(self, which: int) -> NDArray[np.floating]:
        """(f, 2, m) the others' traces."""
        self._communicator.finish(self._pending[which])
        return np.asarray(self._received[which])

    def across(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(f,) of the elements on the other side, from values (elements,) of the own ones."""
        own = np.ascontiguousarray(values[self.faces.elements])
        result = np.empty_like(own)
        sent = {rank: own[run] for rank, run in self._runs.items()}
        received = {rank: result[run] for rank, run in self._runs.items()}
        self._communicator.finish(self._communicator.exchange(sent, received))
        return result

    @property
    def sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Elements and their faces."""
        return self.faces.elements, self.faces.sides
