"""Collection of garbage, which looks at everything that exists."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

FRESH = 100_000
"""Objects that a program has about when it begins, with its own imports."""


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Imports for the rest of the process: no collection during the block, and none looks later at what exists then.

    Modules are not garbage: looking at them again and again takes a third of the time of a program that imports this
    package and ends. In a program that has more than FRESH objects before, which may become garbage, later collections
    look at all.
    """
    collects, fresh = gc.isenabled(), len(gc.get_objects()) < FRESH
    gc.disable()
    try:
        yield
        if fresh:
            gc.freeze()
    finally:
        if collects:
            gc.enable()
