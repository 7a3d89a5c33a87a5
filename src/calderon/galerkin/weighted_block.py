"""Any block of rows and columns of a Galerkin matrix of a user's form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.galerkin.block import Block
from calderon.galerkin.forms.form import Form
from calderon.galerkin.forms.weighted import weighted_form
from calderon.integrands import Components, Integrand
from calderon.validation import describe

Weight = float | Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike]
"""A number, or a function of centroids (n, 3) and normals (n, 3) that gives one of each triangle, (n,)."""


@dataclass(frozen=True)
class WeightedIntegrand(Integrand):
    """The components of a user's form, and the weights of each on the test and on the trial side."""

    components: Components = ()
    test: tuple[Weight, ...] = ()
    trial: tuple[Weight, ...] = ()


class WeightedBlock(Block):
    """A block of a weighted sum of components between scalar functions."""

    integrand: WeightedIntegrand

    @property
    def form(self) -> Form:
        """The form of the components of the integrand."""
        sizes = self.test_space.element.size, self.trial_space.element.size
        return weighted_form(self.integrand.components, *sizes)

    def _coarse(self) -> bool:
        """Whether special pairs need fewer digits: never."""
        return False

    @property
    def mirrored(self) -> bool:  # type: ignore[override]
        """Whether the form is a principal value."""
        return self.form.power(self.radial) > 1

    def _form_data(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The weights of the components, (n, components) for the triangles of each side."""
        sides = (self.test_space, self.test, self.integrand.test), (self.trial_space, self.trial, self.integrand.trial)
        test, trial = (_weights(space.mesh, space.triangles[chosen.triangles], own) for space, chosen, own in sides)
        return test, trial


def _weights(mesh: Any, which: NDArray[np.int64], weights: tuple[Weight, ...]) -> NDArray[np.float64]:
    """(n, components); ValueError for functions that do not give a finite real number for each triangle."""
    found = np.ones((len(which), len(weights)))
    for column, weight in enumerate(weights):
        if not callable(weight):
            found[:, column] = weight
            continue
        values = np.asarray(weight(mesh.centroids[which], mesh.normals[which]))
        if values.shape != (len(which),) or values.dtype.kind not in "fiu" or not np.isfinite(values).all():
            raise ValueError(
                f"the weight {describe(weight)} of a form has to give one finite real number for each of the "
                f"{len(which)} triangles, from centroids (n, 3) and normals (n, 3)"
            )
        found[:, column] = values
    return found
