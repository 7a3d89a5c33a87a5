"""Results of a reflectarray, and their panels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations import PlanarEcho, ReflectArray
from calderon.kinds.reflectarray.model import ReflectarrayCase
from calderon.report import Result, Sheet, panel
from calderon.report.formatting import Column, mesh_numbers
from calderon.report.panels import ShownCurrent
from calderon.report.scenes import stepped_currents
from calderon.spaces import P0, Function


@dataclass(frozen=True)
class ReflectarrayResults(Result[ReflectarrayCase]):
    """The design, the currents of all elements together, and |E| over that of the wave on two lines through the focus:
    across (n,) in m, levels (2, n) along x and y."""

    array: ReflectArray
    echo: PlanarEcho
    across: NDArray[np.float64]
    levels: NDArray[np.float64]

    @property
    def focus(self) -> float:
        """|E| at the focus over that of the wave."""
        return float(self.levels[0, len(self.across) // 2])

    @property
    def phases(self) -> NDArray[np.float64]:
        """(n, m) of the elements in degrees, from -180 to 180."""
        array = self.array
        return np.degrees(np.angle(np.exp(1j * (array.required + array.offset + array.errors))))

    @property
    def unknowns(self) -> int:
        return len(self.echo.surface.coefficients)

    @property
    def solver_record(self) -> str:
        return str(self.echo.info)

    @property
    def current(self) -> ShownCurrent:
        """The current in decibels: few elements are near their resonance and carry most of it."""
        shown: Any = self.echo.surface
        caption = "Current for a wave of 1 V/m."
        return ShownCurrent(
            shown,
            caption,
            lambda: stepped_currents([shown], caption, quantity="db"),
            lambda path: plots.surface(shown, "db", path, view="top"),
        )


@panel("levels")
def focus(results: ReflectarrayResults, sheet: Sheet) -> None:
    """The field across the focus, over that of the wave."""
    sheet.headline("field at the focus over that of the wave", f"{results.focus:.2f}")
    sheet.numbers["focus_over_incident"] = results.focus
    across = np.linspace(results.across[0], results.across[-1], 2001)  # between which the width is found
    for name, sampled in zip("xy", results.levels, strict=True):
        level = np.interp(across, results.across, sampled)
        middle, below = int(level.argmax()), np.flatnonzero(level < level.max() / 2**0.5)
        low, high = below[below < middle].max(initial=0), below[below > middle].min(initial=len(across) - 1)
        sheet.headline(f"width at half the power along {name}", f"{1e3 * (across[high] - across[low]):.1f}", "mm")
    lines = dict(zip(("along x", "along y"), results.levels, strict=True))
    columns: list[Column] = [(name.replace(" ", "_"), values) for name, values in lines.items()]
    sheet.columns("focus.csv", [("distance_m", results.across), *columns])
    caption, axes = (
        "Field across the focus, over that of the wave.",
        ("distance from the focus (mm)", "|E| over that of the wave"),
    )
    sheet.cartesian("focus.png", caption, 1e3 * results.across, lines, *axes)


@panel("array")
def design(results: ReflectarrayResults, sheet: Sheet) -> None:
    """Sizes and phases of the elements, and the curve of phases from which they are taken."""
    array, mesh, sizes = results.array, results.array.mesh, np.asarray(results.array.sizes)
    assert array.phases is not None
    error, common, curve = np.degrees(array.phase_error), np.degrees(array.offset), np.degrees(array.phases)
    sheet.headline("error of the phases, rms", f"{error:.1f}", "°")
    sheet.numbers |= {
        "mesh": mesh_numbers(mesh),
        "elements": int(array.chosen.size),
        "phase_error_rms_deg": float(error),
        "common_phase_deg": float(common),
        "solver": str(results.echo.info),
    }
    spread = f"{1e3 * array.chosen.min():.3g} to {1e3 * array.chosen.max():.3g}"
    sheet.block(
        "Design",
        [
            ("sizes", spread, "mm"),
            ("phases of these, largest less smallest", f"{np.ptp(curve):.0f}", "°"),
            ("common phase", f"{common:.0f}", "°"),
        ],
    )
    x, y = array.places.reshape(-1, 2).T
    values = x, y, array.chosen.ravel(), results.phases.ravel(), np.degrees(array.errors).ravel()
    names = ("x_m", "y_m", "size_m", "phase_deg", "phase_error_deg")
    sheet.columns("elements.csv", list(zip(names, values, strict=True)))
    sheet.columns("phases.csv", [("size_m", sizes), ("phase_deg", curve)])
    caption, label = "Phase of the reflection of equal elements over their size.", "phase of the reflection (degrees)"
    sheet.cartesian("phases.png", caption, 1e3 * sizes, {"": curve}, "size (mm)", label)
    waves: Any = Function(P0(mesh), np.exp(1j * np.radians(results.phases.ravel()[mesh.tags])), "reflection", "")
    caption = "Phases of the elements of the array."
    sheet.picture("phase_map.png", caption, lambda path: plots.surface(waves, "phase", path, view="top"))


PANELS = (focus, design)
