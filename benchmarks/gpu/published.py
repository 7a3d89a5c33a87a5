"""Figures in the form of the published systems: speed-up over unknowns, phases of a product, target strength.

A row of each size, so that a run that ends early has the smaller ones.
"""

import time
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import best_of
from benchmarks.gpu.rows import Section, double_layer, sound
from calderon.backends import Counters, Device

REPEATS = 5
"""Set-ups of each backend, as published."""
SPEEDS, WAVES = (2_048, 8_192, 16_384), (4_098, 16_386, 65_538)
"""Unknowns of dense matrices and of products by plane waves on a graphics processor."""
FEW = 512, 1_026
"""Both on other devices."""
HULL, ANGLES = 0.25, 361
"""Edge length of a hull of 10 m in m, and directions of its target strength."""


def rows(screen: Console, device: Device, precisions: list[str], options: Namespace) -> Iterator[Section]:
    """All three figures, those that take the least time first."""
    for precision in precisions:
        yield Section(
            f"published target strength {precision}", 15.0, partial(target_strength, screen, device, precision)
        )
    for unknowns in WAVES if device.is_gpu else FEW[1:]:
        yield Section(f"published phases {unknowns}", 15.0, partial(phases, screen, device, unknowns, options.repeat))
    for unknowns in SPEEDS if device.is_gpu else FEW[:1]:
        for precision in precisions:
            work = partial(speed_up, screen, device, unknowns, precision)
            yield Section(f"published speed-up {unknowns} {precision}", 30.0, work)


def speed_up(screen: Console, device: Device, unknowns: int, precision: str) -> dict[str, Any]:
    """Seconds of dense set-ups by the processor, by the device and by both, and the ratios of their least ones; a first
    set-up, which compiles, is not counted."""
    operator, seconds = double_layer(unknowns), dict[str, list[float]]()
    for backend in ("numba", device.name, f"numba+{device.name}"):
        taken = list[float]()
        for _ in range(1 + REPEATS):
            began = time.perf_counter()
            operator.assemble("dense", backend=backend, precision=precision)
            taken.append(time.perf_counter() - began)
        seconds[backend] = taken[1:]
    least = {name: min(each) for name, each in seconds.items()}
    ratios = {name: least["numba"] / each for name, each in least.items()}
    screen.print(f"dense, {unknowns:,} unknowns, {precision}: " + ", ".join(
        f"{name} {results.seconds(least[name])} s ({ratios[name]:.2f})" for name in least))  # fmt: skip
    return {"unknowns": operator.shape[0], "precision": precision, "seconds": seconds, "speed_up": ratios}


def phases(screen: Console, device: Device, unknowns: int, repeat: int) -> dict[str, Any]:
    """Seconds of a product by plane waves, and of its kernels one by one, each of which is waited for."""
    operator = sound(unknowns)
    matrix = operator.assemble("mlfmm", rtol=1e-3, backend=device.name)
    x = np.exp(1j * np.arange(operator.shape[1]))
    matrix @ x
    whole = best_of(repeat, lambda: matrix @ x)
    with Counters(device) as counters:
        matrix @ x
    kernels = {name: work.seconds for name, work in counters.works.items()}
    said = ", ".join(f"{name} {results.seconds(each)}" for name, each in sorted(kernels.items(), key=lambda a: -a[1]))
    screen.print(f"product by plane waves, {operator.shape[0]:,} unknowns: {results.seconds(whole)} s; {said}")
    return {"unknowns": operator.shape[0], "product_seconds": whole, "kernel_seconds": kernels}


def target_strength(screen: Console, device: Device, precision: str) -> dict[str, Any]:
    """Largest difference of the target strength of a rigid hull by the device from that by the processor in double
    precision, in per cent of the largest one's amplitude: published are .0081 %."""
    mesh = cal.mesh.ellipsoid([5.0, 0.6, 0.6], HULL)
    angle = np.linspace(0, np.pi, ANGLES)
    directions = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    found = []
    choices: tuple[tuple[str, Any], ...] = ("numba", "double"), (device.name, precision)
    for backend, kind in choices:
        problem = cal.SoundHardScattering(mesh, 2.0)
        wave = cal.PlaneWave(direction=[-1, 0, 0], wavenumber=2.0)
        solution = problem.solve(wave, method="dense", rtol=1e-6, backend=backend, precision=kind)
        found.append(np.abs(solution.far_field(directions)))
    difference = 100 * float(np.abs(found[1] - found[0]).max() / found[0].max())
    screen.print(f"target strength, {problem.unknowns:,} unknowns, {precision}: {difference:.2g} % (published .0081 %)")
    return {"unknowns": problem.unknowns, "precision": precision, "per_cent": difference}
