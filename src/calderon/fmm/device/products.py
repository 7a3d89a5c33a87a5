"""Fast multipole products on a device, where blocks, moments of functions, lists and tables stay.

Near blocks, moments of leaves from coefficients, passes between boxes and sums with functions run there
(products/device/near.c, p2m_l2p.c, passes.c). Blocks and moments of functions are made there, too
(products/device/near_filling.py, moments.c); trees are made by the processor and sent once.
"""

from calderon.backends import Device
from calderon.fmm.device.p2m_l2p import DeviceLine
from calderon.fmm.device.passes import DevicePasses
from calderon.fmm.product import MultipoleProduct
from calderon.operators.tree import Term
from calderon.products.device.near import DeviceRegion, require_room, sums_of
from calderon.products.device.sums import DeviceOperator, DeviceSum
from calderon.products.device.tables import indices
from calderon.products.device.vectors import Vectors


class DeviceProduct(DeviceOperator):
    """A table of operators on a device. product: its parts, blocks of which may be on the device already; host: that
    product if the processor still needs it, else None. layout, promise: as of `MultipoleProduct`."""

    def __init__(self, device: Device, product: MultipoleProduct, host: MultipoleProduct | None) -> None:
        super().__init__(dtype=product.dtype, shape=product.shape)
        far = product.far
        self.layout, self.promise = product.layout, product.promise
        self.device, self.host, self._scale, passes = device, host, far.scale, far.passes
        # memory of the device: real and imaginary parts
        sums = max(map(sums_of, product.near), default=0)
        self.nbytes = product.nbytes + 2 * (passes.size + sums) * passes.real.itemsize
        require_room(device, self.nbytes, product.near, passes.real, "a fast multipole operator", "far fields")
        # passes, and both sides of the table, once where they are the same
        leaves, self._has_far = far.layout.lists.leaves, len(passes.far.source) > 0
        self._passes = DevicePasses.of(device, passes, far.transposed.passes)
        own = self._passes, leaves, indices(device, leaves)
        sent = {id(line): DeviceLine(*own, line, far.run) for line in [*far.rows, *far.columns]}
        self._rows, self._columns = ([sent[id(line)] for line in lines] for lines in (far.rows, far.columns))
        known = {id(line.pieces.whole): sent[id(line)].places for line in [*far.rows, *far.columns]}
        places = (((each.top, each.left), 1.0) for each in product.terms)
        stores = zip(places, product.near, strict=True)
        self._near = [DeviceRegion(device, [region], near, False, passes.real, known) for region, near in stores]

    def forget(self) -> None:
        """Free what products of another order do not need, and let blocks go."""
        del self._near, self._passes, self._rows, self._columns
        if self.host is not None:
            self.host.forget()

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool, conjugated: bool = False) -> None:
        """See `DeviceOperator`; entries are real."""
        given, wanted = (self._rows, self._columns) if transposed else (self._columns, self._rows)
        for near in self._near:
            near.add(x, y, factor, transposed, False)
        if self._has_far:
            parts = x.planes
            moments = self._passes.empty(parts)
            for number, line in enumerate(given):
                line.enter(x, number > 0, moments)
            given[0].move_origin(moments, parts, given[0].values)
            expansions = self._passes.run(moments, parts, transposed)
            wanted[0].move_origin(expansions, parts, not wanted[0].values)
            for line in wanted:
                line.add(expansions, parts, self._scale * factor, y)

    def _transpose(self) -> DeviceSum:
        return DeviceSum(self.device, [(Term(1.0, None, True), self)], self.shape[::-1], self.dtype)
