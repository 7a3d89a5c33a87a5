"""Panels of a printed circuit or antenna."""

from dataclasses import replace

import numpy as np

import calderon.plots as plots
from calderon.kinds.planar.results import PlanarResults, gain_scene
from calderon.report import Sheet, panel
from calderon.report.formatting import (
    GAIN,
    Column,
    Row,
    decibels_of_power,
    frequency_text,
    number,
    ohms,
)
from calderon.report.panels import lengths_of
from calderon.report.port_panels import gain_all_around, gain_over_frequency, resonances, scattering
from calderon.report.reflection import LINE, accepted, reflection, standing_wave_ratio


@panel("radiates")
def gain(results: PlanarResults, sheet: Sheet) -> None:
    """The gain in two planes and in all directions."""
    largest, (angles, cuts) = results.largest_gain, results.cuts
    name = f"largest gain in both planes, at {frequency_text(results.solution.frequency, 5)}"
    sheet.headline(name, f"{largest:.2f}".replace("-", "\u2212"), "dBi")
    sheet.headline("radiated, of the accepted power", _share(results, "radiated"), "%")
    sheet.numbers["largest_gain_dBi"] = largest
    gains: list[Column] = [(GAIN.column(name.replace(" plane", "")), values) for name, values in cuts.items()]
    sheet.columns("gain.csv", [("angle_deg", np.degrees(angles)), *gains])
    caption = f"Gain in the planes of the x and the y axis, which is at 0°, at {results.at}."
    sheet.curves("gain.png", caption, lambda path: plots.polar(angles, cuts, "dBi", path, quantity="gain", span=30.0))
    sheet.view(lambda: replace(gain_scene(results.sources), caption=gain_all_around(results.at)))
    if results.file.case.planar.above == "vacuum":
        rows: list[Row] = [("largest gain", f"{largest:.2f}", "dBi"), *_realised(results)]
        for plane, phi in (("xz", 0.0), ("yz", np.pi / 2)):
            width = np.degrees(results.solution.beam_width(phi))
            rows.append((f"beam width, {plane} plane", f"{width:.1f}", "°"))
        sheet.block(f"Pattern at {results.at}", rows)


def _realised(results: PlanarResults) -> list[Row]:
    """The realised gain of a single port on a line, unless it is that of a line itself."""
    solution, port = results.solution, results.file.case.port
    if len(port) > 1 or port[0].kind == "line" or not solution.voltages[0]:
        return []
    s = reflection(solution.voltages[0] / solution.feed_currents[0])
    realised = results.largest_gain + float(decibels_of_power(accepted(s)))
    return [(f"realised gain on {LINE:g} Ω", f"{realised:.2f}", "dBi")]


def _share(results: PlanarResults, name: str) -> str:
    power = results.solution.power
    share = 100 * getattr(power, name) / power.accepted
    return f"{0.0 if abs(share) < 0.005 else share:.2f}".replace("-", "\u2212")


@panel("solution")
def power(results: PlanarResults, sheet: Sheet) -> None:
    """Where the accepted power goes, and what the ports take."""
    solution, case = results.solution, results.file.case
    sheet.numbers |= {"pattern_frequency_Hz": solution.frequency, "power_W": solution.power._asdict()}
    ports: list[Row] = []
    for n, (u, i) in enumerate(zip(solution.voltages, solution.feed_currents, strict=True)):
        ports.append((case.port[n].name or f"port {n + 1}, {case.port[n].kind}", f"{u.real:g}", "V"))
        if u and case.port[n].kind != "line":  # of the gap, not of the line
            ports.append(("its impedance", ohms(complex(u / i)), "Ω"))
            ratio = float(standing_wave_ratio(reflection(u / i)))
            ports.append((f"its VSWR on {LINE:g} Ω", f"{ratio:.3g}", ""))
    sheet.block(f"Ports at {results.at}", ports)
    shares = [(name.replace("_", " "), _share(results, name), "%") for name in ("radiated", "surface_waves", "lost")]
    sheet.block(f"Power at {results.at}", [("accepted", number(1e3 * solution.power.accepted), "mW"), *shares])


@panel("file")
def metal(results: PlanarResults, sheet: Sheet) -> None:
    """The shape, its lengths, its height, and the parts that are joined to it."""
    case = results.file.case
    rows: list[Row] = [("shape", case.metal.shape or str(case.metal.file), "")]
    rows += [*lengths_of(case.metal.parameters), ("height", f"{1e3 * case.height:g}", "mm")]
    several = ("vias", case.via), ("ribbons", case.ribbon), ("lumped elements", case.load)
    sheet.block("Metal", [*rows, *((name, str(len(each)), "") for name, each in several if each)])


@panel("second_mesh")
def error(results: PlanarResults, sheet: Sheet) -> None:
    assert results.second_mesh is not None
    sheet.numbers |= results.second_mesh.entries


PANELS = (
    metal,
    resonances,
    scattering,
    gain,
    gain_over_frequency,
    power,
    error,
)
