"""Vibrations of bodies of tetrahedra, as moving pictures."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from calderon.plots.cuts import path_of_gif, write_gif
from calderon.plots.painter import camera
from calderon.plots.quantity import show
from calderon.plots.style import paper, pixels
from calderon.plots.surfaces import Body, draw_body

if TYPE_CHECKING:
    from calderon.spaces.volume_function import VolumeFunction

SWING = 0.06
"""The largest displacement that is drawn over the size of the body, unless a factor is given."""


def vibration(
    displacements: Sequence["VolumeFunction"],
    file: str | os.PathLike[str],
    *,
    factor: float | None = None,
    frames: int = 12,
    seconds: float = 1.6,
    title: str = "",
    view: str | ArrayLike = "iso",
    length: str = "m",
) -> Path:
    """Write one period of a vibration as a GIF that repeats: the boundary of a body, displaced by Re(u exp(-i phase)),
    in colours of |Re(u exp(-i phase))| between 0 and the largest |u|.

    displacements: along x, y and z, as modes and solutions of elastic structures have them. factor: by which they are
    enlarged; unless given, the largest is drawn as 0.06 times the diameter of the body. seconds: of one round of
    `frames` pictures. view: as of `surface`; length: the unit of the mesh. Written whole or not at all. ValueError for
    another ending than .gif, less than three functions or two frames.
    """
    path = path_of_gif(file)
    if len(displacements) != 3 or frames < 2:
        raise ValueError(f"{len(displacements)} functions and {frames} frames: give three, and two frames at least")
    nodes, triangles = _boundary(displacements[0])
    u = np.stack([np.asarray(each.coefficients) for each in displacements], axis=1)
    used = np.unique(triangles)
    size = np.linalg.norm(u[used], axis=1).max()
    if not size > 0:
        raise ValueError("the body does not move: its displacements are 0")
    span = np.linalg.norm(np.ptp(nodes[used], axis=0))
    scale = SWING * span / size if factor is None else factor
    reach = scale * np.abs(u[used])
    around = np.concatenate([nodes[used] - reach, nodes[used] + reach])
    lens = camera(view)
    label: Any = displacements[0]
    u = u * np.exp(-1j * np.angle(u.ravel()[np.abs(u).argmax()]))
    is_mode = np.abs(u.imag).max() <= 1e-9 * size  # which goes and comes back the same way
    pictures: list[NDArray[np.uint8]] = []
    with paper():
        for phase in 2 * np.pi * np.arange(frames // 2 + 1 if is_mode else frames) / frames:
            moved = np.real(u * np.exp(-1j * phase))
            drawn = show(np.linalg.norm(moved, axis=1)[triangles], "abs", "u", label.unit, (0.0, float(size)))
            shades = np.clip((drawn.values - drawn.low) / (drawn.high - drawn.low), 0, 1)
            body = Body(nodes + scale * moved, triangles, shades, drawn.colors, True, False, (), around)
            pictures.append(pixels(draw_body(body, drawn, lens, title, "matplotlib", length), 85))
    if is_mode:
        pictures += pictures[(frames - 1) // 2 : 0 : -1]
    shared = Image.fromarray(np.concatenate(pictures[: frames // 2 + 1 : 2])).quantize(256)
    plain = Image.Dither.NONE
    write_gif(path, [Image.fromarray(each).quantize(palette=shared, dither=plain) for each in pictures], seconds)
    return path


def _boundary(function: "VolumeFunction") -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nodes (n, 3) of a function and triangles (nt, 3) of them on the boundary, four a face of quadratic ones."""
    boundary = function.mesh.boundary
    faces = boundary.vertices[boundary.mesh.triangles]
    nodes = function.nodes
    if function.degree == 1:
        return nodes, faces
    number, weights = len(function.vertices), np.array([len(function.vertices), 1])
    known = function.edges @ weights  # ascending
    bc, ca, ab = (
        number + np.searchsorted(known, np.sort(faces[:, pair], axis=1) @ weights) for pair in ([1, 2], [2, 0], [0, 1])
    )
    a, b, c = faces.T
    parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
    return nodes, np.concatenate([np.stack(part, axis=1) for part in parts])
