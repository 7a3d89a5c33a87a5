"""Collection of garbage, which looks at everything that exists."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Imports for the rest of the process: no collection during the block, and none looks later at what exists then.

    Modules are not garbage: looking at them again and again takes a third of the time of a program that imports this
    package and ends. In a program that has more than about 100,000 objects before, which may become garbage, later
    collections look at all. A program begins with fewer, and an imported module adds about 150 (137 for names of waves,
    156 and 160 for operators and problems). Objects are counted afterwards, and where something was imported: counting
    a million takes 20 ms.
    """
    collects, before = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
        added = len(sys.modules) - before
        if added and len(gc.get_objects()) < 100_000 + 150 * added:
            gc.freeze()
    finally:
        if collects:
            gc.enable()
