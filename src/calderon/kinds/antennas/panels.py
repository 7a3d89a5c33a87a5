"""Panels of antennas."""

from dataclasses import replace

import numpy as np

import calderon.plots as plots
from calderon.formulations.scenes import directional_scene
from calderon.kinds.antennas.results import AntennaResults
from calderon.report import Sheet, panel
from calderon.report.formatting import GAIN, Column, Row, decibels, number, ohms
from calderon.report.port_panels import gain_all_around, gain_over_frequency, resonances, scattering
from calderon.report.reflection import LINE, reflection, standing_wave_ratio


@panel("solution")
def impedance(results: AntennaResults, sheet: Sheet) -> None:
    """The impedance of each port, inductive with a positive reactance; of modes of waveguides the accepted power."""
    solution, names = results.solution, results.solution.feeds
    modes, rows, impedances = results.file.case.modes, list[Row](), {}
    for n, (u, i) in enumerate(zip(solution.voltages, solution.feed_currents, strict=True)):
        if n < modes:
            rows.append((names[n], number(500 * float(np.real(u * np.conj(i)))), "mW into the guide"))
            continue
        rows.append((names[n], f"{complex(u):.4g}" if np.imag(u) else f"{np.real(u):g}", "V"))
        if u and i:
            z = complex(u / i)
            impedances[names[n]] = {"R_ohm": z.real, "X_ohm": -z.imag}
            rows.append(("its impedance", ohms(z), "Ω"))
            rows.append((f"its VSWR on {LINE:g} Ω", f"{float(standing_wave_ratio(reflection(z))):.3g}", ""))
    if len(names) == 1 and impedances:
        sheet.headline(f"impedance, at {results.at}", rows[1][1], "Ω")
    sheet.numbers |= {"pattern_frequency_Hz": solution.frequency, "impedances": impedances}
    sheet.block(f"Ports at {results.at}", rows)


@panel("solution")
def gain(results: AntennaResults, sheet: Sheet) -> None:
    """The gain in three planes and in all directions, and where the accepted power goes."""
    solution, (angles, cuts) = results.solution, results.cuts
    radiated, accepted = solution.radiated_power(), solution.input_power
    sheet.headline("largest gain", f"{results.largest_gain:.2f}".replace("-", "\u2212"), "dBi")
    sheet.headline("radiated, of the accepted power", f"{100 * radiated / accepted:.4g}", "%")
    sheet.numbers |= {"largest_gain_dBi": results.largest_gain, "radiated_W": radiated, "accepted_W": accepted}
    rows: list[Row] = [("accepted", number(1e3 * accepted), "mW"), ("radiated", number(1e3 * radiated), "mW")]
    rows += [(name, number(1e3 * power), "mW") for name, power in results.absorbed.items() if power]
    difference = (accepted - radiated - sum(results.absorbed.values())) / accepted
    rows.append(("accepted less all others", f"{100 * difference:.2g}", "% of it"))
    sheet.numbers |= {"absorbed_W": results.absorbed, "balance_error": difference}
    sheet.block(f"Power at {results.at}", rows)
    gains: list[Column] = [(GAIN.column(name.replace(" plane", "")), values) for name, values in cuts.items()]
    sheet.columns("gain.csv", [("angle_deg", np.degrees(angles)), *gains])
    caption = f"Gain in the planes of two axes, the first of which is at 0°, at {results.at}."
    sheet.curves("gain.png", caption, lambda path: plots.polar(angles, cuts, "dBi", path, quantity="gain", span=30.0))
    around = gain_all_around(results.at)
    sheet.view(lambda: replace(directional_scene(solution.gain, 61, "gain", "dBi"), caption=around))
    if results.metal is None:
        sheet.view(lambda: replace(results.scene, caption=f"Currents at {results.at}, peak values."))


@panel("solution")
def beams(results: AntennaResults, sheet: Sheet) -> None:
    """The strongest lobes in those planes of two axes where the gain is half of the largest one or more."""
    rows, numbers = list[Row](), {}
    for axis, (name, gains) in zip(([0, 1, 0], [1, 0, 0], [0, 0, 1]), results.cuts[1].items(), strict=True):
        if gains.max() < results.largest_gain - 3.1:
            continue
        lobe = results.solution.main_lobe(axis)
        width = float(np.degrees(lobe.width))
        numbers[name] = {"width_deg": width, "front_to_back_dB": min(lobe.front_to_back, 300.0)}
        rows.append(
            (f"beam width, {name}", "all around" if width == 360 else f"{width:.1f}", "" if width == 360 else "°")
        )
        if np.isfinite(lobe.front_to_back):
            rows.append(("front to back there", decibels(lobe.front_to_back), "dB"))
        if np.isfinite(lobe.side_lobe):
            rows.append(("next lobe there", decibels(-lobe.side_lobe), "dB"))
    if rows:
        sheet.numbers["beams"] = numbers
        sheet.block(f"Beams at {results.at}", rows)


@panel("file")
def parts(results: AntennaResults, sheet: Sheet) -> None:
    """The numbers of wires, surfaces and loads."""
    problem, case = results.problem, results.file.case
    rows: list[Row] = [(f"surface “{each.name}”", each.kind, "") for each in case.surface]
    counts = (
        ("wires", problem.wires),
        ("loads", problem.loads),
        ("circuits", problem.circuits),
        ("regions", case.region),
    )
    rows += [(name, str(len(each)), "") for name, each in counts if each]
    sheet.block("Antenna", rows)


PANELS = (parts, impedance, gain, beams, resonances, scattering, gain_over_frequency)
