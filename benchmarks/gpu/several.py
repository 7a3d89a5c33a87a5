"""Several devices at work, and their memory: `python -m benchmarks devices`.

Each method that takes several backends, on two halves of one processor that OpenCL divides, and on Numba with one
thread next to one half: the same products, and how much longer the slowest member takes than with the best shares. Of
set-ups these are those with which all would end together, by the work and the seconds of each in the run itself, since
shares follow speeds; of products the best of some shares around the chosen ones, with which the product is made and
timed again, as with those. Memory: memory.py. `--only "Laplace memory"` chooses rows by words.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba
import numpy as np
from rich.console import Console

from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.gpu import memory
from benchmarks.gpu.rows import chosen, conductor, crosses, double_layer, laplace, sound
from benchmarks.problems import lens
from calderon.backends import backend, survey
from calderon.backends.devices import opencl
from calderon.backends.devices import sharing as tasks
from calderon.products import shared as products

TEAMS = "opencl:0+opencl:1", "numba+opencl:0"


class Method(NamedTuple):
    """A method on a problem of about so many unknowns. products: whether backends share its products, else its
    set-up."""

    name: str
    unknowns: int
    build: Callable[[int], Any]
    options: dict[str, Any]
    products: bool = True


METHODS = (
    Method("dense", 2_048, double_layer, {"method": "dense"}, products=False),
    Method("hmatrix", 4_098, laplace, {"method": "hmatrix", "rtol": 1e-4}, products=False),
    Method("fmm Laplace", 16_386, laplace, {"method": "fmm", "rtol": 1e-4}),
    Method("mlfmm sound", 4_098, sound, {"method": "mlfmm", "rtol": 1e-3}),
    Method("mlfmm currents", 3_072, conductor, {"method": "mlfmm", "rtol": 1e-3}),
    Method("fft", 1_328, crosses, {"method": "fft", "spacing": lens.PITCH / 12, "near": lens.PITCH / 2}),
)  # fmt: skip
STEPS = 0.0, -0.25, -0.1, -0.05, 0.05, 0.1, 0.25
"""Changes of the first member's share of all work."""
TURNS = 3
"""Times that each share is tried, in turn."""


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
def kept(module: Any, name: str, keep: Callable[..., Any]) -> Iterator[list[Any]]:
    """A list of records, one for each call of a function of a module meanwhile: keep(known, *arguments) calls it and
    returns its result with the record."""
    found, known = list[Any](), getattr(module, name)

    def called(*given: Any) -> Any:
        result, record = keep(known, *given)
        found.append(record)
        return result

    setattr(module, name, called)
    try:
        yield found
    finally:
        setattr(module, name, known)


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """All methods, as tables and as a record that is written after each."""
    record, only = options.record, options.only
    record.write(sharing=[], memory=[])
    shares = results.table("shared by two", ["", "unknowns", "backends", "difference", "shares", "optimum", "off by"])
    bytes_ = results.table("memory of one device", ["", "unknowns", "requested", "taken", "ratio"])
    with halves() as devices:
        for method in METHODS:
            for team in TEAMS if chosen(f"{method.name} sharing", only) else ():
                found = sharing(method, options.unknowns or method.unknowns, team)
                both = (" : ".join(f"{100 * each:.0f}" for each in found[key]) for key in ("shares", "optimum"))
                last = f"{found['difference']:.1e}", *both, f"{100 * found['off']:.0f} %"
                shares.add_row(method.name, f"{found['unknowns']:,}", team, *last)
                record.content["sharing"].append(found)
                record.write()
        for case in memory.CASES:
            if chosen(f"{case.name} memory", only):
                found = memory.measured(case, options.unknowns or case.unknowns, devices[0])
                both = (f"{found[key] / 1e6:.1f} MB" for key in ("requested", "taken"))
                bytes_.add_row(case.name, f"{found['unknowns']:,}", *both, f"{found['requested'] / found['taken']:.2f}")
                record.content["memory"].append(found)
                record.write()
    screen.print(shares)
    screen.print(bytes_)
    return {}


def sharing(method: Method, unknowns: int, team: str) -> dict[str, Any]:
    """The difference of products from those of Numba; the shares of the members, and the best ones; off: how much
    longer the slowest one takes than with these."""
    operator = method.build(unknowns)
    x = np.random.default_rng(0).standard_normal(operator.shape[1])
    exact = operator.assemble(**method.options) @ x
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        operator.assemble(**method.options, backend=team)  # compiles
        with kept(tasks, "Speeds", _speeds) as speeds, kept(products, "balanced", _balanced) as balanced:
            shared = operator.assemble(**method.options, backend=team)
        best = best_products(*balanced[0]) if method.products else best_tasks(speeds[-1])
    finally:
        numba.set_num_threads(threads)
    difference = float(np.linalg.norm(shared @ x - exact) / np.linalg.norm(exact))
    return {"method": method.name, "team": team, "unknowns": operator.shape[1], "difference": difference, **best}


def _speeds(known: Any, *given: Any) -> tuple[Any, Any]:
    made = known(*given)
    return made, made


def _balanced(known: Any, distributed: Any, shares: Any, seconds_of: Any) -> tuple[Any, Any]:
    parts, work = known(distributed, shares, seconds_of)
    return (parts, work), (distributed, work, seconds_of)


def best_tasks(speeds: Any) -> dict[str, Any]:
    """Shares of tasks, those with which all members would have ended together, and how much earlier."""
    work, seconds = speeds.work, speeds.seconds
    rates = work / seconds
    return {"shares": (work / work.sum()).tolist(), "optimum": (rates / rates.sum()).tolist(),
            "off": float(seconds.max() * rates.sum() / work.sum()) - 1, "seconds": seconds.tolist()}  # fmt: skip


def best_products(distributed: Any, work: np.ndarray, seconds_of: Any) -> dict[str, Any]:
    """The shares `work` of products, the best that are tried around them, and how much less their slowest member
    takes."""
    wanted = [np.array([share, 1 - share]) for share in np.clip(work[0] / work.sum() + np.array(STEPS), 0, 1)]
    least = [np.inf] * len(wanted)
    for _ in range(TURNS):
        for number, shares in enumerate(wanted):
            parts = distributed(shares)[1]()
            least[number] = min(least[number], float(seconds_of(parts).max()))
            del parts
    best = distributed(wanted[int(np.argmin(least))])[0]
    return {"shares": (work / work.sum()).tolist(), "optimum": (best / best.sum()).tolist(),
            "off": least[0] / min(least) - 1, "seconds": least}  # fmt: skip
