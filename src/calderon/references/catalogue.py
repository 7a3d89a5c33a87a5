"""All references, in the order of the page "checked against"."""

from collections.abc import Iterable

from calderon.case.table import choices
from calderon.references.fields import CONDUCTING, DIELECTRIC, DIPOLE, STRIPLINE
from calderon.references.peers import NEC_DIPOLE
from calderon.references.python_peers import PEERS
from calderon.references.reference import Reference
from calderon.references.sound import HARD, RADIATING, SOFT, STEEL
from calderon.references.statics import CUBE, HEAD, HOLLOW

REFERENCES = (
    HARD, SOFT, RADIATING, STEEL, CONDUCTING, DIELECTRIC, DIPOLE, STRIPLINE, CUBE, HEAD, HOLLOW, NEC_DIPOLE, *PEERS,
)  # fmt: skip


def chosen(names: Iterable[str]) -> list[Reference]:
    """References by name, all without one; ValueError for an unknown name, with those that may be chosen."""
    known = {each.name: each for each in REFERENCES}
    wanted = list(names) or list(known)
    if unknown := [name for name in wanted if name not in known]:
        raise ValueError(f"unknown reference {unknown[0]!r}: {choices(unknown[0], known)}")
    return [known[name] for name in wanted]
