"""Figures of docs/guides/solids_for_fem.md: errors against the edge length, time and memory against the unknowns.

python docs/tools/make_solid_pictures.py            both, some minutes on an idle machine
python docs/tools/make_solid_pictures.py errors

Errors are those of the hollow sphere of `calderon example hollow-sphere` against Lame's solution. Time and memory are
those of a clamped bar, each size in a process of its own; memory is the largest resident size less that before (Linux).
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import calderon as cal
from calderon.plots.style import CURVES, new_figure, paper, plain_axes, save

TARGET = Path(__file__).parents[1] / "pictures"
SIZES = (0.045, 0.034, 0.026, 0.02, 0.016)
BARS = {
    "dense": (0.36, 0.25, 0.18, 0.13, 0.1, 0.075),
    "hmatrix": (0.18, 0.13, 0.1, 0.075),
    "fmm": (0.18, 0.1, 0.06, 0.035),
}
"""Edge lengths of the bar by method."""


def hollow_sphere(h: float) -> dict[str, float]:
    """Largest relative errors of displacement and hoop stress at three points half way, and of the von Mises stress at
    the vertices of the inner wall."""
    mesh = cal.mesh.hollow_sphere(0.1, 0.05, h)
    solid = cal.ElasticSolid(
        mesh, cal.ElasticMaterial(200e9, 0.3), loads={"inner": cal.Pressure(100e6)}
    )
    s = solid.solve(method="dense")
    points = np.array([[0.075, 0.0, 0.0], [0.0, 0.075, 0.0], [0.0, 0.0, -0.075]])
    radial = np.einsum("ij,ij->i", s.field(points), points / 0.075)
    stress = s.stress(points)
    inner = mesh.tags == mesh.names["inner"]
    hoop = np.array([stress[0, 1, 1], stress[1, 0, 0], stress[2, 0, 0]])
    return {
        "displacement inside": float(np.abs(radial / 1.0396825e-5 - 1).max()),
        "hoop stress inside": float(
            np.abs(hoop / (100e6 / 7 * (1 + 0.5 / 0.75**3)) - 1).max()
        ),
        "von Mises stress at the inner wall": float(
            np.abs(s.von_mises[inner] / (1200e6 / 7) - 1).max()
        ),
    }


def errors() -> None:
    found = [hollow_sphere(h) for h in SIZES]
    for h, each in zip(SIZES, found, strict=True):
        print(h, {name: f"{value:.1e}" for name, value in each.items()}, flush=True)
    with paper():
        figure = new_figure(4.6, 3.4, fitted=True)
        axes = figure.add_subplot()
        h = np.array(SIZES) / 0.05
        for k, name in enumerate(found[0]):
            axes.loglog(
                h,
                [each[name] for each in found],
                "o-",
                color=CURVES[k],
                markersize=4,
                label=name,
            )
        axes.loglog(
            h,
            0.05 * h**2,
            color="#8a919b",
            linewidth=1.0,
            linestyle=":",
            label="slope 2",
        )
        axes.set_xticks([0.3, 0.5, 1.0], labels=["0.3", "0.5", "1"])
        axes.set_ylim(bottom=3e-5)
        axes.minorticks_off()
        axes.set(xlabel="edge length h / inner radius", ylabel="relative error")
        axes.set_xticks([0.3, 0.5, 1.0], labels=["0.3", "0.5", "1"])
        axes.minorticks_off()
        plain_axes(axes)
        axes.legend(loc="lower right")
    save(figure, TARGET / "solid_errors.png", dpi=200)


def bar(method: str, h: float) -> dict[str, float]:
    """Unknowns, seconds, bytes of one solution, after the kernels have been compiled; run in a process of its own."""

    def posed(size: float) -> cal.ElasticSolid:
        mesh = cal.mesh.cuboid([2.0, 1.0, 1.0], size)
        tags = np.where(
            mesh.normals[:, 0] < -0.5, 1, np.where(mesh.normals[:, 0] > 0.5, 2, 0)
        )
        mesh = cal.TriangleMesh(
            mesh.vertices, mesh.triangles, tags, {"sides": 0, "wall": 1, "end": 2}
        )
        load = {"end": cal.Traction([0.0, 0.0, -1e6])}
        return cal.ElasticSolid(
            mesh, cal.ElasticMaterial(210e9, 0.3), {"wall": cal.elastic.Fixed()}, load
        )

    posed(0.5).solve(method=method)
    solid = posed(h)
    unknowns, before = solid.unknowns, resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the largest size is counted anew
    start = time.perf_counter()
    solid.solve(method=method)
    return {
        "unknowns": unknowns,
        "seconds": time.perf_counter() - start,
        "bytes": resident("VmHWM") - before,
    }


def resident(name: str) -> int:
    """Bytes of this process, now (VmRSS) or at most (VmHWM); Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


def cost() -> None:
    found: dict[str, list[dict[str, float]]] = {method: [] for method in BARS}
    for method, sizes in BARS.items():
        for h in sizes:
            command = [sys.executable, __file__, "bar", method, str(h)]
            out = subprocess.run(
                command, check=True, capture_output=True, text=True
            ).stdout
            found[method].append(json.loads(out))
            print(method, found[method][-1], flush=True)
    with paper():
        figure = new_figure(7.2, 3.2, fitted=True)
        for k, (key, label, scale) in enumerate(
            [("seconds", "time (s)", 1.0), ("bytes", "memory (MB)", 1e6)]
        ):
            axes = figure.add_subplot(1, 2, k + 1)
            for n, (method, rows) in enumerate(found.items()):
                x, y = ([row[name] for row in rows] for name in ("unknowns", key))
                axes.loglog(
                    x,
                    np.array(y) / scale,
                    "o-",
                    color=CURVES[n],
                    markersize=4,
                    label=method,
                )
            axes.set(xlabel="unknowns", ylabel=label)
            axes.set_xticks(
                [300, 1000, 3000, 10000, 30000],
                labels=["300", "1000", "3000", "10 000", "30 000"],
            )
            axes.minorticks_off()
            plain_axes(axes)
            axes.legend()
    save(figure, TARGET / "solid_cost.png", dpi=200)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["bar", method, h]:
            print(json.dumps(bar(method, float(h))))
        case [*chosen]:
            for draw in (errors, cost):
                if not chosen or draw.__name__ in chosen:
                    draw()
