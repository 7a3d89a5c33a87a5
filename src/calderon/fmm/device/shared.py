"""Fast multipole products by several backends at once."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution, at_the_same_time, balanced_share, runs_of_work
from calderon.fmm.device.products import DeviceProduct
from calderon.fmm.product import MultipoleProduct
from calderon.products.operator import RealProducts


class SharedProduct(RealProducts):
    """A table of operators on devices, and on the processor if it is one of the team.

    Each device has the near blocks of the rows of some leaves and the fields in some leaves, the processor near blocks
    alone, as many as it multiplies while the devices are busy; the processor adds what all find, in their order.
    """

    def __init__(self, execution: Execution, product: MultipoleProduct) -> None:
        """Distribute a product to a team, by measured seconds where the processor is one of it."""
        super().__init__(dtype=product.dtype, shape=product.shape)
        self.layout, self.promise, self.host = product.layout, product.promise, product
        self._devices, self._uses_processor, self._whole = execution.devices, execution.uses_processor, product
        x = np.ones((product.shape[1], 1), product.dtype)

        def products(share: float) -> list[Any]:
            self.parts = self._distributed(share)
            return [partial(each._products, x, False) for each in self.parts]

        share = balanced_share(products) if execution.uses_processor else 0.0
        self.parts = self._distributed(share)
        execution.parts.append(self._work)

    def _distributed(self, share: float) -> Sequence[RealProducts]:
        """The parts of the team, with this part of the near blocks for the processor."""
        near, far = self._whole.work
        count = len(self._devices)
        own = [share] * self._uses_processor
        runs = runs_of_work(near, [*own, *[(1 - share) / count] * count])
        fields = [(0, 0)] * len(own) + runs_of_work(far, [1 / count] * count)
        self._work = np.array([near[slice(*a)].sum() + far[slice(*b)].sum() for a, b in zip(runs, fields, strict=True)])
        parts = [self._whole.part(*each) for each in zip(runs, fields, strict=True)]
        given = zip(self._devices, parts[len(own) :], strict=True)
        return [*parts[: len(own)], *(DeviceProduct(device, part, None) for device, part in given)]

    @property
    def nbytes(self) -> int:
        """Bytes of the parts, on devices and here."""
        return sum(each.nbytes for each in self.parts)

    def forget(self) -> None:
        """Free what products of another order do not need, and let blocks go."""
        self._whole.forget()
        del self.parts, self.host

    def _products(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x, or A^T x if transposed, for x (n, k) of real columns."""
        found, _ = at_the_same_time([partial(each._products, x, transposed) for each in self.parts])
        return np.asarray(sum(found[1:], found[0]))
