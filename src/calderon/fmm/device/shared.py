"""Fast multipole products by several backends at once."""

from functools import partial
from typing import Any

from calderon.backends import Execution
from calderon.backends.devices.sharing import Distribution
from calderon.fmm.device.products import DeviceProduct
from calderon.fmm.product import MultipoleProduct
from calderon.products.shared import SharedProduct, Shares, distributed_leaves


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


def _distributed(execution: Execution, product: MultipoleProduct, shares: Shares) -> Distribution:
    here = execution.uses_processor
    work, parts_of = distributed_leaves(product.near, product.far.cost, shares, here, product.part)

    def make() -> list[Any]:
        parts = parts_of()
        there = zip(execution.devices, parts[here:], strict=True)
        return [*parts[:here], *(DeviceProduct(device, part, None) for device, part in there)]

    return work, make
