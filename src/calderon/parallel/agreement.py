"""What all ranks must have in common, so that no rank waits indefinitely for one that has stopped."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from calderon.parallel.communicator import Communicator

T = TypeVar("T")


class RankError(RuntimeError):
    """Something failed on some of the ranks; all raise it and name the first of them."""


def agreed(ranks: Communicator, make: Callable[[], T]) -> T:
    """What `make` returns on this rank if it fails on no rank; make must not wait for other ranks.

    An error that occurs on all ranks is raised as it is, any other as RankError on every rank.
    """
    result, failure = None, None
    try:
        result = make()
    except Exception as error:  # noqa: BLE001 - every error must reach the other ranks
        failure = error
    texts = ranks.gather(None if failure is None else f"{failure}")
    failed = [rank for rank, text in enumerate(texts) if text is not None]
    if not failed:
        return result  # type: ignore[return-value]
    if failure is not None and len(failed) == ranks.size and len(set(texts)) == 1:
        raise failure
    raise RankError(f"rank {failed[0]}: {texts[failed[0]]}") from failure


def require_same(ranks: Communicator, choices: Mapping[str, Any]) -> None:
    """ValueError on every rank where one of the choices, compared by their texts, differs from that of rank 0."""
    own = {name: repr(value) for name, value in choices.items()}
    for rank, others in enumerate(found := ranks.gather(own)):
        for name, value in others.items():
            if value != found[0][name]:
                raise ValueError(
                    f"{name}={found[0][name]} on rank 0, {value} on rank {rank}: all ranks must make the same calls, "
                    "with the same arguments"
                )
