"""The ranks that share a simulation."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from calderon.dg.run.run_key import mesh_digest
from calderon.mesh import TetrahedralMesh
from calderon.parallel import Communicator, end_together, require_same, world


def ranks_of(communicator: Communicator | None, mesh: TetrahedralMesh, **choices: Any) -> Communicator:
    """Those given, or all that mpiexec started; from now on an error that one meets alone ends all.

    ValueError for what is no communicator, and where the mesh or one of the choices, which are compared by their texts,
    is not the same on all ranks.
    """
    ranks = world() if communicator is None else communicator
    if not isinstance(ranks, Communicator):
        raise ValueError(f"communicator={communicator!r}: leave it out, or take calderon.parallel.world()")
    if ranks.size > 1:
        end_together(ranks)
        require_same(ranks, choices | {"digest of the mesh": mesh_digest(mesh)})
    return ranks


@contextmanager
def spoken_once(ranks: Communicator) -> Iterator[None]:
    """Warnings that all ranks meet alike are told by the first of them alone."""
    if ranks.rank == 0:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
