"""Several devices at work, and their memory: `python -m benchmarks devices`.

Each method that takes several backends, on two halves of one processor that OpenCL divides, and on Numba with one
thread next to one half: the same products, and how much longer the slowest member takes than all would if they ended
together, by the work and the seconds of each: of set-ups those of the run itself, since shares follow speeds; of
products the least of some runs of each part alone. Memory: what was requested before it was taken, over the most that
arrays of one device took, in a set-up with one product. `--only "Laplace memory"` chooses rows by words.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from benchmarks.common import results
from benchmarks.common.machine import Floor, best_of
from benchmarks.gpu.rows import chosen, conductor, crosses, double_layer, laplace, sound
from benchmarks.problems import lens
from calderon.backends import backend, survey
from calderon.backends.devices import opencl
from calderon.backends.devices import sharing as shared_tasks
from calderon.backends.devices.counters import Counters

TEAMS = "opencl:0+opencl:1", "numba+opencl:0"


class Method(NamedTuple):
    """A method on a problem of about so many unknowns. shared: the product of several backends in its matrix, None
    where they share the set-up. divisible: whether two devices may have any part of it: a grid is of one, and far
    fields of no processor."""

    name: str
    unknowns: int
    build: Callable[[int], Any]
    options: dict[str, Any]
    shared: Callable[[Any], Any] | None = None
    divisible: bool = True


METHODS = (
    Method("dense", 2_048, double_layer, {"method": "dense"}),
    Method("hmatrix", 4_098, laplace, {"method": "hmatrix", "rtol": 1e-4}),
    Method("fmm Laplace", 16_386, laplace, {"method": "fmm", "rtol": 1e-4}, lambda matrix: matrix.product),
    Method("mlfmm sound", 4_098, sound, {"method": "mlfmm", "rtol": 1e-3}, lambda matrix: matrix.media[0].there),
    Method("mlfmm currents", 3_072, conductor, {"method": "mlfmm", "rtol": 1e-3}, lambda matrix: matrix.media[0].there),
    Method("fft", 1_328, crosses, {"method": "fft", "spacing": lens.PITCH / 12, "near": lens.PITCH / 2},
           lambda matrix: matrix.shared, divisible=False),
)  # fmt: skip


@contextmanager
def halves() -> Iterator[list[Any]]:
    """Two devices that OpenCL makes of the units of one; the same one twice where that has one unit."""
    import pyopencl as cl

    whole = opencl.devices()[0]._device
    units = max(1, whole.max_compute_units // 2)
    both = [whole] * 2
    if whole.max_compute_units > 1:
        both = whole.create_sub_devices([cl.device_partition_property.EQUALLY, units])[:2]
    made, known = [opencl.OpenCLDevice(each, number) for number, each in enumerate(both)], backend._DRIVERS["opencl"]
    backend._DRIVERS["opencl"] = lambda: made
    survey.cache_clear()
    try:
        yield made
    finally:
        backend._DRIVERS["opencl"] = known
        survey.cache_clear()


@contextmanager
def speeds_kept() -> Iterator[list[shared_tasks.Speeds]]:
    """The speeds of all work that members of a team share meanwhile."""
    kept, known = list[shared_tasks.Speeds](), shared_tasks.Speeds

    class Kept(known):  # type: ignore[misc,valid-type]
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            kept.append(self)

    shared_tasks.Speeds = Kept  # type: ignore[assignment,misc]
    try:
        yield kept
    finally:
        shared_tasks.Speeds = known  # type: ignore[misc]


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """All methods, as tables and as a record that is written after each."""
    record, only = options.record, options.only
    record.write(sharing=[], memory=[])
    shares = results.table("shared by two", ["", "unknowns", "backends", "difference", "shares", "optimum", "off by"])
    memory = results.table("memory of one device", ["", "unknowns", "requested", "taken", "ratio"])
    with halves() as devices:
        for method in METHODS:
            operator = method.build(options.unknowns or method.unknowns)
            size = f"{operator.shape[1]:,}"
            for team in TEAMS if chosen(f"{method.name} sharing", only) else ():
                found = sharing(method, operator, team, options.repeat)
                both = (" : ".join(f"{100 * each:.0f}" for each in found[key]) for key in ("shares", "optimum"))
                off = "" if found["off"] is None else f"{100 * found['off']:.0f} %"
                shares.add_row(method.name, size, team, f"{found['difference']:.1e}", *both, off)
                record.content["sharing"].append(found)
            if chosen(f"{method.name} memory", only):
                found = memory_of(method, operator, devices[0])
                both = (f"{found[key] / 1e6:.1f} MB" for key in ("requested", "taken"))
                memory.add_row(method.name, size, *both, f"{found['requested'] / found['taken']:.2f}")
                record.content["memory"].append(found)
            record.write()
    screen.print(shares)
    screen.print(memory)
    return {}


def sharing(method: Method, operator: Any, team: str, repeat: int) -> dict[str, Any]:
    """The difference of products from those of Numba; the shares of the members, and those with which all would end
    together; off: how much longer the slowest one takes than that, None where work cannot be shared in this way."""
    x = np.random.default_rng(0).standard_normal(operator.shape[1])
    exact = operator.assemble(**method.options) @ x
    operator.assemble(**method.options, backend=team)  # compiles
    with speeds_kept() as kept:
        shared = operator.assemble(**method.options, backend=team)
    difference = float(np.linalg.norm(shared @ x - exact) / np.linalg.norm(exact))
    if method.shared is None:
        work, seconds = kept[-1].work, kept[-1].seconds
    else:
        product, work = method.shared(shared), shares_of(shared)
        ones = np.ones((operator.shape[1], 1), product.dtype)
        seconds = np.array([best_of(5 * repeat, lambda each=each: each.matmat(ones)) for each in product.parts])
    given, speeds = work / work.sum(), work / seconds
    optimum, off = speeds / speeds.sum(), float(seconds.max() * speeds.sum() / work.sum()) - 1
    free = method.shared is None or (method.divisible and "numba" not in team)
    return {"method": method.name, "team": team, "unknowns": operator.shape[1], "difference": difference,
            "off": off if free else None, "shares": given.tolist(), "optimum": optimum.tolist(),
            "seconds": seconds.tolist()}  # fmt: skip


def shares_of(matrix: Any) -> np.ndarray:
    """The parts of the work of a team, by the text that says them."""
    return np.array([float(each.split("%")[0]) / 100 for each in matrix.backend.split("(")[1:]])


def memory_of(method: Method, operator: Any, device: Any) -> dict[str, Any]:
    """Bytes requested and taken on one device, by a set-up with one product; a dense matrix stays there."""
    options = method.options | ({"keep_on_device": True} if method.name == "dense" else {})
    with Counters(device) as counted:
        matrix = operator.assemble(**options, backend=device.name)
        matrix @ np.ones(operator.shape[1])
        del matrix
    return {"method": method.name, "unknowns": operator.shape[1], "requested": counted.requested, "taken": counted.most}
