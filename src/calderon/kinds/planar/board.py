"""The board around the metal as bodies of a view: its layers, the ground, probes, and where the ports are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.ports.port_arrows import FEED
from calderon.kinds.planar.model import Port
from calderon.layers import Layer, Stack
from calderon.mesh import TriangleMesh
from calderon.view import Arrows, Surface

LAYERS = ("#7fae8a", "#9bb7d4", "#d9c48f", "#c9a7c7")
METAL, PROBE = "#c8a165", "#c0672c"
SIDES = 20  # of a probe


def board_layers(stack: Stack, mesh: TriangleMesh, ports: tuple[Port, ...], height: float) -> list[Surface]:
    """Layers of finite thickness and walls of conductor below, a little wider than the metal, and probes up to its
    height in m."""
    low, high = mesh.bounds
    margin = 0.2 * float((high - low).max())
    low, high, z = low[:2] - margin, high[:2] + margin, stack.interfaces
    found = [
        Surface.box(name, [*low, bottom], [*high, top], LAYERS[n % len(LAYERS)], opacity=0.3)
        for n, (name, bottom, top) in enumerate(zip(_names(stack), z[:-1], z[1:], strict=True))
    ]
    if not isinstance(stack.below, Layer):
        found.append(Surface.box("ground", [*low, z[0]], [*high, z[0]], METAL))
    found += [
        _tube(port.name or f"probe {n}", port.place, port.radius, float(z[0]), height)
        for n, port in enumerate(ports, start=1)
        if port.kind == "probe" and port.place is not None and port.radius is not None
    ]
    return found


def feed_arrows(mesh: TriangleMesh, ports: tuple[Port, ...], height: float) -> Arrows | None:
    """An arrow from above to each port whose place the case gives, with its name; None without one."""
    size = 0.22 * float(np.ptp(mesh.bounds, axis=0).max())
    places = {n: place for n, port in enumerate(ports, 1) if (place := _place(port)) is not None}
    if not places:
        return None
    tips = np.array([[*place, height] for place in places.values()])
    above = np.array([0.0, 0.0, size])
    texts = tuple(ports[n - 1].name or (f"port {n}" if len(ports) > 1 else "feed") for n in places)
    return Arrows("ports", tips + above, np.tile(-0.85 * above, (len(tips), 1)), (FEED,), texts)


def _names(stack: Stack) -> list[str]:
    """ "board" of one layer, numbered from below of several."""
    count = len(stack.layers)
    return ["board"] if count == 1 else [f"layer {n}" for n in range(1, count + 1)]


def _place(port: Port) -> NDArray[np.float64] | None:
    """x and y of a port."""
    if port.place is not None:
        return np.array(port.place)
    if port.end is not None:
        return np.array(port.end)
    return None if port.from_to is None else np.mean(port.from_to, axis=0)


def _tube(name: str, place: Any, radius: float, low: float, high: float) -> Surface:
    """The wall of a tube along z."""
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = np.array(place) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices = np.concatenate([np.column_stack([ring, np.full(SIDES, z)]) for z in (low, high)])
    one, two = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
    wall = np.concatenate([np.stack([one, two, two + SIDES], 1), np.stack([one, two + SIDES, one + SIDES], 1)])
    return Surface(name, vertices, wall, colour=PROBE)
