"""Set-ups whose kernels are cut short, for sizes that the kernels of a processor do not end at.

What the host does is entire: every launch, list, transfer, and as many steps of GMRES as a card took. Results are
wrong: kernels of CUT compute their first group of threads alone, and all else that they would write are the same random
numbers each time. Checks that would see this are computed, and what they find is dropped.
"""

import importlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from unittest.mock import patch

import numpy as np

from calderon.backends.devices.device import Device
from calderon.formulations.elastic.system import accuracy, equation
from calderon.products.check import Check
from calderon.solvers.arnoldi import KrylovSpace

solver = importlib.import_module("calderon.solvers.gmres")  # the package has a function of that name
CUT = frozenset((
    "moments", "regular", "distant", "entries", "gather_blocks", "store_blocks", "basis_moments", "combine",
    "translate_boxes", "shift_boxes", "moments_of_pieces", "test_pieces", "multiply_strips", "gather_strips", "place",
))  # fmt: skip
"""Kernels that take most of the time, none of which decides how many of anything there are."""
STEPS = 20
"""Steps of GMRES for the bracket with 85,026 unknowns (history.md)."""
NOISE = 1e-2 * np.random.default_rng(0).standard_normal(1 << 20)
EXPONENT = -19
"""Numbers in 16 bits are integers times two to this power."""


def noise(shape: tuple[int, ...], kind: np.dtype[Any]) -> np.ndarray:
    """The numbers that an array begins with: a kernel of CUT would fill it, unless they are integers of 32 bits."""
    if kind.kind == "f":
        return np.resize(NOISE.astype(kind), shape)
    if kind.itemsize == 2:
        return np.resize((NOISE * 2.0**-EXPONENT).astype(kind), shape)
    return np.full(shape, EXPONENT if kind == np.int8 else 0, kind)


@contextmanager
def shortened(device: Device) -> Iterator[None]:
    """Kernels of a device are cut short meanwhile."""
    launch, empty = device.launch, device.empty

    def first_group(program: Any, kernel: str, threads: Any, group: Any, *arguments: Any) -> None:
        launch(program, kernel, group if kernel in CUT and 0 not in threads else threads, group, *arguments)

    def filled(shape: tuple[int, ...], dtype: Any) -> Any:
        made = empty(shape, dtype)
        device.put(noise(shape, np.dtype(dtype)), made)
        return made

    def extended(space: KrylovSpace, image: Any) -> float:
        extend(space, image)
        return 0.0 if space.steps >= STEPS else np.inf

    def content(iteration: Any, due: list[Any], steps: int) -> None:
        for column in due:
            column.goal = np.inf
        check(iteration, due, steps)

    extend, check = KrylovSpace.extend, solver._GMRES._check
    replaced = (
        (device, "launch", first_group),
        (device, "empty", filled),
        (KrylovSpace, "extend", extended),
        (solver._GMRES, "_check", content),
        (accuracy, "LIMITS", accuracy.LIMITS._replace(slender=np.inf)),  # a bracket of sound numbers is below it
        (Check, "errors", dropped(Check.errors, np.zeros(1))),
        (accuracy.Criterion, "__call__", dropped(accuracy.Criterion.__call__, 1.0)),
        (accuracy.FinerMatrices, "__call__", dropped(accuracy.FinerMatrices.__call__, None)),
        (equation.LazyEquation, "_refuse_defects", dropped(equation.LazyEquation._refuse_defects, None)),
    )
    with ExitStack() as stack:
        for owner, name, other in replaced:
            stack.enter_context(patch.object(owner, name, other))
        yield


def dropped(run: Any, instead: Any) -> Any:
    """A function that does what another one does, and returns something else, whatever it finds."""

    def found(*arguments: Any, **named: Any) -> Any:
        with suppress(ValueError):
            run(*arguments, **named)
        return instead

    return found
