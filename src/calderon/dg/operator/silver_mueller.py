"""Absorbing faces in leap-frog: the outgoing field is part of the step that damps it.

Outside of an open face the centred flux sees H_inc - Y n x (E_inc - E) or E_inc + Z n x (H_inc - H), in which the own
field is the mean of its values before and after the step: second order, and no limit on the step. The mean is known
only after the step, but it couples the unknowns of one element alone, so small systems give it. Source: L. Fezoui, S.
Lanteri, S. Lohrengel, S. Piperno, ESAIM: M2AN 39 (2005), 1149 (there the value before the step is taken).
"""

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.boundary import FacesOf
from calderon.dg.operator.reference import EDGES_TO_CURL


class SilverMueller:
    """One field's absorbing faces, for steps of one length.

    factors (f,): Y for E, -Z for H; times n x the own field they give the ghost trace, that outside of the face. gains
    (elements,): what multiplies the curl in a step.

    turn (f, 2, 2): factor times n x. raised (f, 3, 2): what a lifted trace adds to the covariant components. groups:
    faces (e, count) of the elements that have `count` open ones, and inverses (e, D, D), D = count 2 m, see `_group`.
    """

    def __init__(self, faces: FacesOf, factors: NDArray[np.float64], gains: NDArray[np.float64]) -> None:
        element_blocks = faces.element_blocks
        self._faces, reference = faces, element_blocks.reference
        self.turn = factors[:, None, None] * faces.turn
        frames = element_blocks.frames[faces.elements]
        metric = np.einsum("fik,fjk->fij", frames, frames)
        metric *= (gains / element_blocks.determinants)[faces.elements][:, None, None]
        # covariant components (f, 3, n) that ghost traces (2, m) add: raised (f, 3, 2) times half the lift
        self.raised = metric @ EDGES_TO_CURL[faces.sides]
        self._lift = reference.lift / 2
        self.groups = [self._group(count) for count in np.unique(np.bincount(faces.elements)) if count]

    def _group(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Faces of the elements that have `count` open ones, and the inverses that turn the ghost traces
        without the new own field into those with it."""
        # elements with so many open faces, and these
        faces, reference = self._faces, self._faces.element_blocks.reference
        numbers = np.bincount(faces.elements)
        order = np.argsort(faces.elements, kind="stable")
        chosen = order[numbers[faces.elements[order]] == count].reshape(-1, count)
        size = 2 * reference.face_size
        # the effect of each face's ghost traces on the own traces of each, of which half enters the ghost traces
        system = np.zeros((len(chosen), count, size, count, size))
        for row in range(count):
            target = chosen[:, row]
            nodes = reference.face_nodes[faces.sides[target]]
            for column in range(count):
                source = chosen[:, column]
                lifted = self._lift[faces.sides[source][:, None], nodes]  # (e, m of row, m of column)
                components = faces.own_components[target] @ self.raised[source]  # (e, 2, 2)
                effect = self.turn[target] @ components / 2
                block = np.einsum("eab,emn->eambn", effect, lifted)
                system[:, row, :, column] = -block.reshape(len(chosen), size, size)
        # the matrix 1 - effect, inverted
        diagonal = np.arange(count * size)
        flat = system.reshape(len(chosen), count * size, count * size)
        flat[:, diagonal, diagonal] += 1
        return chosen, np.asarray(np.linalg.inv(flat), np.float64)

    def finish(
        self, field: NDArray[np.floating], before: NDArray[np.floating], incident: NDArray[np.floating] | float
    ) -> None:
        """Add to a flat field, which was advanced with ghost traces of zero, what the open faces contribute.

        before (f, 2, m): its traces before the step. incident (f, 2, m): the incident field's part of the ghost traces.
        """
        ghost = incident + self.turn @ (before + self._faces.traces(field)) / 2
        for chosen, inverse in self.groups:
            values = ghost[chosen].reshape(len(chosen), -1, 1)
            solved = (inverse @ values).reshape(*chosen.shape, *ghost.shape[1:])
            for slot in range(chosen.shape[1]):
                faces = chosen[:, slot]
                lifted = np.einsum("enm,eam->ean", self._lift[self._faces.sides[faces]], solved[:, slot])
                field[self._faces.element_places[faces]] += self.raised[faces] @ lifted
