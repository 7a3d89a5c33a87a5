"""The loop of attempts: settings are tried in turn until a product holds its tolerance.

What a setting leaves for the next one, such as trees and near blocks, belongs to the functions that are given.
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from calderon.products.check import Acceptance
from calderon.solvers.iteration import ToleranceError

Setting = TypeVar("Setting")
Product = TypeVar("Product")


class Held(NamedTuple, Generic[Setting, Product]):
    """A product that holds its tolerance, its setting and its estimated error."""

    setting: Setting
    product: Product
    error: float


def first_that_holds(
    settings: Iterable[Setting],
    prepare: Callable[[Setting], Product | None],
    error_of: Callable[[Product], float],
    rtol: float,
    accept: Acceptance,
    refusal: Callable[[float], str],
    better: Callable[[Product, float], Product | None] | None = None,
) -> Held[Setting, Product]:
    """The product of the first setting whose error, after improvements, is at most accept.allowed * rtol.

    settings: may be a generator, which then decides by what the last attempt has found. prepare(setting): a product,
    None where the setting cannot hold the tolerance. error_of(product): its estimated error. better: as in `improved`.
    Raises ToleranceError with refusal(the last error, infinite without a product) where no setting holds.
    """
    error = float("inf")
    for setting in settings:
        product, found = improved(prepare(setting), error_of, rtol, accept, better)
        error = error if product is None else found
        if product is not None and error <= accept.allowed * rtol:
            return Held(setting, product, error)
        del product  # its memory is free for the next attempt
    raise ToleranceError(refusal(error))


def improved(
    product: Any,
    error_of: Callable[[Product], float],
    rtol: float,
    accept: Acceptance,
    better: Callable[[Product, float], Product | None] | None,
) -> tuple[Any, float]:
    """A product whose error is at most accept.wished * rtol, or else the last one that could be had, and its error;
    None and infinity for None.

    product: one of the type that is returned, or None. better(product, error): another product, or the same one with
    other parts, whose error is expected to be smaller; None where there is none. It is called accept.improvements times
    at most.
    """
    error = float("inf") if product is None else error_of(product)
    for _ in range(accept.improvements):
        if product is None or better is None or error <= accept.wished * rtol:
            break
        following = better(product, error)
        if following is None:
            break
        product, error = following, error_of(following)
    return product, error
