"""The compiled values of components (integrands/component.py) at vectors of points.

Functions are generated component after component: each closes over its own numbers, so that compiled code has neither
loops nor tables of exponents.
"""

import functools
from collections.abc import Callable
from typing import Any

from calderon.backends.vectors import jitable, lanes, store
from calderon.greens import Radial
from calderon.integrands import Components


def component_values(
    radial: Radial, components: Components, oscillates: bool, together: int, planes_later: int = 0
) -> Callable[..., None]:
    """The compiled put(s, place, d0, d1, d2, square, m, n, parameters, reference), which stores all components for the
    difference d = (d0, d1, d2) of vectors of points.

    The real part of component k goes to s[place + 2 k apart:], the imaginary part, where `oscillates`, to
    s[place + (2 k + 1) apart:], where `apart` are the numbers of `together` vectors: values at so many points stand
    side by side. square: the squared distance; m, n: normals of the test and of the trial triangle, three vectors each;
    parameters, reference: as `Radial` says. planes_later: so many first components, of the trial normal, lack their
    factor -d . n, which depends on the test point alone and is applied to sums over trial points.
    """
    radial_value = radial.value
    put_all = putting_components(components, oscillates, planes_later, 0)

    @jitable
    def put(s, place, d0, d1, d2, square, m, n, parameters, reference):
        """Store the components at one vector of points."""
        values = radial_value(square, parameters, reference)
        of_test, of_trial = d0 * m[0] + d1 * m[1] + d2 * m[2], -(d0 * n[0] + d1 * n[1] + d2 * n[2])
        put_all(s, place, together * lanes(s), values, (d0, d1, d2), of_test, of_trial)

    return put


def trial_planes(components: Components) -> int:
    """The number of first components that have the normal of the trial triangle (`component_values`, planes_later)."""
    others = [number for number, each in enumerate(components) if each.normal != "trial"]
    return min(others, default=len(components))


@functools.lru_cache(maxsize=256)
def putting_components(components: Components, oscillates: bool, planes_later: int, number: int) -> Callable[..., None]:
    """The compiled put(s, place, apart, values, d, of_test, of_trial) of components from the one with that number on:
    values of the radial functions, d . n_x and -d . n_y are given. planes_later: as in `component_values`."""
    first, *others = components
    rest = putting_components(tuple(others), oscillates, planes_later, number + 1) if others else nothing_more
    factor = multiplied(first.coordinates, "none" if number < planes_later else first.normal)
    real = 2 * first.radial
    imaginary = real + 1

    @jitable
    def put(s, place, apart, values, d, of_test, of_trial):
        """Store one component, then the others."""
        here = place + 2 * number * apart
        store(s, here, factor(values[real], d, of_test, of_trial))
        if oscillates:
            store(s, here + apart, factor(values[imaginary], d, of_test, of_trial))
        rest(s, place, apart, values, d, of_test, of_trial)

    return put


@jitable
def nothing_more(s, place, apart, values, d, of_test, of_trial):
    """Store nothing more: the end of `putting_components`, arguments as in `putting_components`."""


@functools.lru_cache(maxsize=256)
def multiplied(coordinates: tuple[int, ...], normal: str) -> Callable[..., Any]:
    """The compiled product (value, d, of_test, of_trial) of a value, the distance from a plane, d . n_x or -d . n_y,
    and coordinates of d, in that order."""
    if coordinates:
        *before, axis = coordinates
        product = multiplied(tuple(before), normal)

        @jitable
        def times_coordinate(value, d, of_test, of_trial):
            """Multiply by one more coordinate of d."""
            return product(value, d, of_test, of_trial) * d[axis]

        return times_coordinate
    return {"none": unchanged, "test": times_test, "trial": times_trial}[normal]


@jitable
def unchanged(value, d, of_test, of_trial):
    """The value without a normal; arguments as in `multiplied`."""
    return value


@jitable
def times_test(value, d, of_test, of_trial):
    """The value times d . n_x; arguments as in `multiplied`."""
    return value * of_test


@jitable
def times_trial(value, d, of_test, of_trial):
    """The value times -d . n_y; arguments as in `multiplied`."""
    return value * of_trial
