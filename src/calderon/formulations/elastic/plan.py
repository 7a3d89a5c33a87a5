"""What the solution of elastic solids will take, estimated before memory is taken."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calderon.backends import format_bytes, require_memory, thread_count
from calderon.operators import methods

FAST = "fmm"
"""The method whose layers share one traversal."""
STEPS, PRODUCTS = 120, 25
"""Vectors of GMRES and rows of the blocks of its preconditioner, and products, about."""
WHILE_COMPUTED = 3000
"""Bytes of an unknown, in addition to what stays, while near pairs of triangles are integrated for fast products: of
planned 0.8, 2.1 and (P2) 7.5 GB solutions took 1.0, 2.7 and 7.1 GB."""
ENTRY, OPERATION = 8e-8, 5e-11
"""Processor seconds, in estimates, of an entry of a layer and of an operation of a factorisation."""
FAST_UNKNOWN, UNKNOWN, ALONE = 4e-5, 1.4e-3, 5e-5
"""The same of an unknown in the preconditioner and all around it, made from leaves of fast products or by products; and
of what one thread does at a time in the former, however many there are: lists of pairs, sparse matrices, stresses."""
COMPRESSED = 2.5
"""Seconds of an H-matrix of elastostatics over those of a scalar one of as many unknowns."""


@dataclass(frozen=True)
class Plan:
    """What a solution will take: the method, unknowns, bytes of the matrices, wall-clock seconds."""

    method: str
    unknowns: int
    displacements: int
    tractions: int
    nbytes: int
    seconds: float

    @staticmethod
    def of(method: str, unknowns: tuple[int, int], entries: int, layers: methods.Plan | None) -> "Plan":
        """unknowns: displacements and tractions; entries: of the layers; layers: what these take as products, None
        where they are dense or computed anew in each."""
        count, threads = sum(unknowns), thread_count()
        if method == "dense":
            nbytes = 8 * (entries + 2 * count**2)
            seconds = (ENTRY * entries + OPERATION * 2 / 3 * count**3) / threads
        elif layers is None:
            nbytes, seconds = STEPS * 8 * count, PRODUCTS * ENTRY * entries / threads
        else:
            fast, nbytes = method == FAST, STEPS * 8 * count + layers.nbytes
            seconds = (1 if fast else COMPRESSED) * layers.seconds + PRODUCTS * layers.product_seconds
            seconds += (FAST_UNKNOWN / threads + ALONE if fast else UNKNOWN / threads) * count
        return Plan(method, count, *unknowns, nbytes, seconds)

    def after(self, sources: Sequence[tuple[float, int]]) -> "Plan":
        """With what takes processor seconds and bytes before it, one after the other."""
        seconds = self.seconds + sum(each for each, _ in sources) / thread_count()
        return replace(self, seconds=seconds, nbytes=max(self.nbytes, *(each for _, each in sources), 0))

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.unknowns} unknowns ({self.displacements} of displacement, {self.tractions} of "
            f"traction), about {methods.rounded(self.seconds)} s and {format_bytes(self.nbytes)}"
        )

    def require_memory(self) -> None:
        """MemoryError where the solution does not fit into the free memory."""
        if self.method == "dense":
            require_memory(self.nbytes, f"a dense matrix of {self.unknowns} unknowns", "try method='hmatrix'")
        elif self.method == FAST:
            needed = self.nbytes + WHILE_COMPUTED * self.unknowns
            require_memory(needed, f"a solution of {self.unknowns} unknowns", "try a coarser mesh")


def one_after_the_other(layers: Sequence[methods.Plan | None]) -> methods.Plan | None:
    """What the layers of several bodies take together; None where those of one have no plan."""
    found = [each for each in layers if each is not None]
    if len(found) < len(layers):
        return None
    totals = (sum(each) for each in list(zip(*found, strict=True))[1:4])
    return methods.Plan(found[0].method, *totals)
