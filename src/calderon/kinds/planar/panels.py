"""Panels of a printed circuit or antenna."""

import numpy as np

import calderon.plots as plots
from calderon.formulations.ports.power_waves import reference_text
from calderon.kinds.planar.results import PlanarResults, gain_scene
from calderon.report import Sheet, panel
from calderon.report.formatting import (
    GAIN,
    Column,
    Row,
    decibels,
    decibels_of_power,
    frequency_text,
    frequency_unit,
    number,
    ohms,
)
from calderon.report.panels import lengths_of
from calderon.report.reflection import LINE, accepted, reflection, standing_wave_ratio


@panel("sweep")
def resonances(results: PlanarResults, sheet: Sheet) -> None:
    """Frequencies and qualities of the resonances."""
    found = results.resonances
    for each in found[:3]:
        sheet.headline("resonance", frequency_text(each.frequency, 5), f"Q {each.quality:.1f}")
    sheet.numbers["resonances"] = [{"frequency_Hz": each.frequency, "quality": each.quality} for each in found]
    sheet.block("Resonances", [(frequency_text(each.frequency), f"Q {each.quality:.4g}", "") for each in found])


@panel("sweep")
def scattering(results: PlanarResults, sheet: Sheet) -> None:
    """S over frequency: the least reflection, tables, a Touchstone file, curves and a Smith chart."""
    sweep, levels = results.sweep, next(iter(results.levels.values()))
    frequencies, best = sweep.frequencies, int(levels.argmin())
    name = f"{'least ' if len(levels) > 1 else ''}S11, at {frequency_text(float(frequencies[best]), 5)}"
    sheet.headline(name, decibels(float(levels[best])), "dB")
    sheet.numbers |= {
        "solved_frequencies_Hz": np.sort(sweep.solved).tolist(),
        "least_S11_dB": float(levels.min()),
        "least_S11_frequency_Hz": float(frequencies[np.abs(sweep.s[:, 0, 0]).argmin()]),
    }
    rows: list[Row] = [("solved frequencies", str(sweep.solves), ""), ("S between them, to", f"{sweep.error:.1e}", "")]
    sheet.block("Sweep", rows)
    sheet.columns("scattering.csv", lambda: _columns(results))
    sheet.file(f"scattering.s{len(results.problem.ports)}p", sweep.write_touchstone)
    if len(frequencies) == 1:
        return
    lines = "their own impedance" if results.file.case.port[0].kind == "line" else reference_text(sweep.reference)
    factor, unit = frequency_unit(float(frequencies.min()))
    label = f"magnitude of {'S11' if len(results.levels) == 1 else 'S'} (dB)"
    caption, axis = f"Magnitude of S for lines of {lines}.", f"frequency ({unit})"
    sheet.cartesian("scattering.png", caption, frequencies / factor, results.levels, axis, label)
    own = {name: sweep.s[:, *place] for name, place in results.names.items() if place[0] == place[1]}
    ends = frequency_text(float(frequencies[0])), frequency_text(float(frequencies[-1]))
    caption = f"Reflection, with the resistance and reactance in parts of {lines}, inductive ones above."
    sheet.picture("smith.png", caption, lambda path: plots.smith(own, path, ends=ends))


def _columns(results: PlanarResults) -> list[Column]:
    """S over frequency, of one probe or gap with its impedance, in the time factor exp(+j omega t) of Touchstone."""
    sweep = results.sweep
    columns: list[Column] = [("frequency_Hz", sweep.frequencies)]
    for name, place in results.names.items():
        columns.append((f"{name}_dB", results.levels[name]))
        columns.append((f"{name}_phase_deg", np.degrees(np.angle(sweep.s[:, *place].conj()))))
    if [port.kind for port in results.file.case.port] in (["probe"], ["gap"]):
        z = sweep.z[:, 0, 0].conj()
        columns += [("R_ohm", z.real), ("X_ohm", z.imag)]
    return columns


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
    sheet.view(lambda: gain_scene(results.sources))
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
    return [(f"realised gain on {LINE:g} ohm", f"{realised:.2f}", "dBi")]


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
            ports.append(("its impedance", ohms(complex(u / i)), "ohm"))
            ratio = float(standing_wave_ratio(reflection(u / i)))
            ports.append((f"its VSWR on {LINE:g} ohm", f"{ratio:.3g}", ""))
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
    power,
    error,
)
