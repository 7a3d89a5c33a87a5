"""Fast multipole products by several backends at once."""

from functools import partial

import numpy as np

from calderon.backends import Execution, runs_of_work
from calderon.fmm.device.products import DeviceProduct
from calderon.fmm.product import MultipoleProduct
from calderon.products.shared import Distributed, SharedProduct


class SharedMultipole(SharedProduct):
    """A table of operators on devices, and on the processor if it is one of the team.

    Each device has the near blocks of the rows of some leaves and the fields in some leaves, the processor near blocks
    alone, as many as it multiplies while the devices are busy. layout, promise: as of `MultipoleProduct`, which `host`
    is.
    """

    def __init__(self, execution: Execution, product: MultipoleProduct) -> None:
        super().__init__(execution, partial(_distributed, execution, product))
        self.layout, self.promise, self.host = product.layout, product.promise, product

    @property
    def nbytes(self) -> int:
        """Bytes of the parts, on devices and here."""
        return sum(each.nbytes for each in self.parts)

    def forget(self) -> None:
        """Free what products of another order do not need, and let blocks go."""
        self.host.forget()
        del self.parts, self.host


def _distributed(execution: Execution, product: MultipoleProduct, share: float | None) -> Distributed:
    near, far = product.work
    count, own = len(execution.devices), [] if share is None else [share]
    runs = runs_of_work(near, [*own, *[(1 - sum(own)) / count] * count])
    fields = [(0, 0)] * len(own) + runs_of_work(far, [1 / count] * count)
    both = list(zip(runs, fields, strict=True))
    parts = [product.part(*each) for each in both]
    there = zip(execution.devices, parts[len(own) :], strict=True)
    work = np.array([near[slice(*a)].sum() + far[slice(*b)].sum() for a, b in both])
    return [*parts[: len(own)], *(DeviceProduct(device, part, None) for device, part in there)], work
