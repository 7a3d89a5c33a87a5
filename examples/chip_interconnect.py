"""Wires of a chip from a layout: capacitances of a bus over a plane and of a line that crosses it.

The layout (GDSII) has three wires of 1 um at distances of 1 um, a wire above that goes across, a via to the middle
one, and labels; the stack has heights and the permittivity of oxide. Per length the middle wire of a bus has, by the
formula of T. Sakurai and K. Tamaru (IEEE Trans. Electron Devices 30 (1983), 183),

    C / eps = 1.15 w + 2.80 t^0.222 + 2 (0.03 w + 0.83 t - 0.07 t^0.222) s^-1.34

with width, thickness and distance over the height above the plane, within 10 %; two buses of different lengths without
the line across have this difference.
"""

import sys
from pathlib import Path

import gdstk
import numpy as np

import calderon as cal

UM = 1e-6
LOWER, VIA, UPPER = 10, 11, 12
EPS = 3.9
LAYERS = [
    cal.LayoutLayer("ground", -0.4 * UM, 0.4 * UM, metal=True),
    cal.LayoutLayer("oxide", 0.0, 3.5 * UM, permittivity=EPS),
    cal.LayoutLayer("lower", 1.0 * UM, 0.5 * UM, number=LOWER, metal=True),
    cal.LayoutLayer("via", 1.5 * UM, 0.5 * UM, number=VIA, metal=True),
    cal.LayoutLayer("upper", 2.0 * UM, 0.5 * UM, number=UPPER, metal=True),
]
STACK = cal.LayoutStack(LAYERS, margin=2 * UM)


def draw(file: Path, length: float, across: bool) -> None:
    """Write a layout of a bus of a length in um, with a line across or without."""
    cell = gdstk.Cell("bus")
    for n, name in enumerate(("left", "middle", "right")):
        cell.add(gdstk.rectangle((2 * n, 0), (2 * n + 1, length), layer=LOWER))
        cell.add(gdstk.Label(name, (2 * n + 0.5, 0.5), layer=LOWER))
    if across:
        cell.add(gdstk.FlexPath([(-2, 2), (7, 2)], 1, layer=UPPER), gdstk.Label("across", (-1, 2), layer=UPPER))
        cell.add(gdstk.rectangle((2.2, length - 1.6), (2.8, length - 1), layer=VIA))
        cell.add(gdstk.FlexPath([(2.5, length - 2), (2.5, length - 0.5), (7, length - 0.5)], 1, layer=UPPER))
    gdstk.Library(unit=UM).add(cell).write_gds(file)


def main(folder: Path, h: float = 1.2 * UM, lengths: tuple[float, float] = (5.0, 9.0), points: int = 240) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file, found = folder / "bus.gds", []
    for length in lengths:
        draw(file, length, across=False)
        bus = cal.StaticProblem.from_layout(file, STACK, h)
        found.append(bus.capacitance_matrix().sel(row="middle", column="middle").item())
    per_length = (found[1] - found[0]) / ((lengths[1] - lengths[0]) * UM)
    w, t, s = 1.0, 0.5, 1.0
    formula = 1.15 * w + 2.80 * t**0.222 + 2 * (0.03 * w + 0.83 * t - 0.07 * t**0.222) * s**-1.34
    formula *= EPS * cal.exact.VACUUM_PERMITTIVITY
    print(f"middle wire: {1e12 * per_length:.1f} pF/m, {1e12 * formula:.1f} pF/m by the formula")

    draw(file, lengths[1], across=True)
    chip = cal.StaticProblem.from_layout(file, STACK, h)
    c = chip.capacitance_matrix()
    print(f"{chip.unknowns} unknowns, capacitances in aF:", (1e18 * c).round(1).to_pandas(), sep="\n")
    solution = chip.solve(voltages={name: float(name == "middle") for name in chip.electrodes})
    wires = [name for name in chip.electrodes if name != "ground"]
    own = np.isin(chip.mesh.tags, chip.mesh.tag_numbers(wires))
    charge = cal.Function(
        cal.P0(chip.mesh.restricted(wires)), 1e6 * solution.density.coefficients[own], "charge per area", "pC/mm²"
    )
    cal.plots.surface(charge, "real", folder / "charge.png", view=(np.radians(-60), np.radians(40)))
    shape = points * 11 // 24, points
    cut = UM * cal.plots.slice_points([2.5, 4.6, 1.7], [12, 0, 0], [0, 0, 5.5], shape)
    cal.plots.field_slice(
        cut / UM, solution.field(cut), chip.mesh.scaled(1 / UM), "real", folder / "potential.png", name="u",
        unit="V", blank="none", length="µm", contours=solution.field(cut), levels=19,
        field_lines=solution.field_strength(cut),
    )  # fmt: skip
    assert abs(per_length / formula - 1) < 0.1
    assert np.abs(c.values - c.values.T).max() < 1e-4 * c.values.max()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
