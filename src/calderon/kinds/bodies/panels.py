"""Panels of bodies in a fluid: target strength, powers and mobilities, the volume, motions in a plane."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.data import Quantity
from calderon.kinds.bodies.results import BodyResults, BodyStep
from calderon.report import Sheet, panel
from calderon.report.formatting import (
    Column,
    decibels,
    frequency_text,
    mesh_numbers,
    number,
    plane_equation,
    power_parts,
    vector_text,
)
from calderon.report.panels import unknowns
from calderon.report.scenes import evenly
from calderon.report.sound.panels import (
    levels,
    loudest_power,
    near_fields,
    plane,
    power_error,
    power_over_frequency,
    surface,
)

CURVES = 5
"""Solved frequencies that have curves in one picture, evenly over the band."""


@panel("echoes")
def echo(results: BodyResults, sheet: Sheet) -> None:
    """The target strength back to the source, over frequency, and the scattering cross-section."""
    found = results.echoes
    assert found is not None
    most = int(found.argmax())
    largest = "largest " if results.is_sweep else ""
    name = f"{largest}target strength toward the source{results.at(results.steps[most])}"
    sheet.headline(name, decibels(float(found[most])), "dB re 1 m")
    sheet.numbers["target_strength_toward_source_dB"] = found.tolist()
    sections = [step.cross_section for step in results.steps if step.cross_section is not None]
    columns: list[Column] = [("frequency_Hz", results.frequencies), ("target_strength_dB_re_1_m", found)]
    if len(sections) == len(found):
        sheet.headline(f"scattering cross-section{results.at(results.last)}", number(sections[-1]), "m²")
        columns.append(("scattering_cross_section_m2", np.array(sections)))
    sheet.columns("echo.csv", columns)
    if results.is_sweep:
        factor, axis = results.frequency_axis
        caption = "Target strength toward the source of the plane wave, over frequency."
        sheet.cartesian(
            "echo.png", caption, results.frequencies / factor, {"": found}, axis, "target strength (dB re 1 m)"
        )


@panel("file.case.output.target_strength")
def target_strength(results: BodyResults, sheet: Sheet) -> None:
    """The target strength by direction: curves and a file."""
    requested = results.file.case.output.target_strength
    assert requested is not None
    chosen = [results.steps[n] for n in evenly(len(results.steps), CURVES)]
    curves = {step.name: step.strength for step in chosen if step.strength is not None}
    if len(curves) == 1:
        curves = {"calderon": next(iter(curves.values()))}
    parts = [step for step in results.steps if step.far is not None and step.strength is not None]
    every = [np.concatenate([part(step) for step in parts]) for part in (_size, _strength, _far)]
    columns: list[Column] = [
        ("frequency_Hz", every[0]),
        ("angle_deg", np.degrees(np.tile(requested.values, len(parts)))),
        ("target_strength_dB_re_1_m", every[1]),
        ("far_field_real_Pa_m", every[2].real),
        ("far_field_imag_Pa_m", every[2].imag),
    ]
    sheet.columns("target_strength.csv", columns)
    across = requested.plane
    caption = f"Target strength in the {across} plane, angles from +{across[0]} toward +{across[1]}."
    draw = partial(plots.polar, requested.values, curves, "dB re 1 m", quantity="target strength")
    sheet.curves("target_strength_polar.png", caption, lambda path: draw(file=path))
    sheet.cartesian(
        "target_strength.png", "The same over the angle.", np.degrees(requested.values), curves,
        f"angle in the {across} plane (degrees)", "target strength (dB re 1 m)",
    )  # fmt: skip


def _size(step: BodyStep) -> Any:
    return np.full(0 if step.far is None else len(step.far), step.frequency)


def _strength(step: BodyStep) -> Any:
    return step.strength


def _far(step: BodyStep) -> Any:
    return step.far


@panel("steps")
def powers(results: BodyResults, sheet: Sheet) -> None:
    """The power that forces send away, that lost in the body, and the balance of a plane wave."""
    loudest_power(results, sheet)
    lossy = max(results.steps, key=lambda step: step.lost)
    if lossy.lost > 1e-6 * (lossy.given or lossy.lost):
        sheet.headline(f"power lost in the body{results.at(lossy)}", *power_parts(lossy.lost))
    power_error(results, sheet, "power that the wave loses, and that scattered and absorbed,")


@panel("mobilities")
def mobility(results: BodyResults, sheet: Sheet) -> None:
    """Mobilities of the forces at positions, over frequency."""
    found, loads = results.mobilities, [one for one in results.file.case.load if one.position is not None]
    assert found is not None
    names = [f"{n}: {vector_text(one.position)} m" for n, one in enumerate(loads, 1)]
    at, which = divmod(int(np.abs(found).argmax()), found.shape[1])
    name = f"{'largest ' if results.is_sweep else ''}mobility at {names[which]}{results.at(results.steps[at])}"
    sheet.headline(name, number(float(abs(found[at, which]))), "m/(N s)")
    columns: list[Column] = [("frequency_Hz", results.frequencies)]
    for n in range(len(names)):
        columns += [
            (f"mobility_{n + 1}_real_m_per_N_s", found[:, n].real),
            (f"mobility_{n + 1}_imag_m_per_N_s", found[:, n].imag),
        ]
    sheet.columns("mobility.csv", columns)
    if results.is_sweep:
        factor, axis = results.frequency_axis
        curves = {name: np.abs(found[:, n]) for n, name in enumerate(names)}
        caption = "Mobility: velocity along a force at its position, over the force."
        if len(curves) == 1:
            curves = {"": next(iter(curves.values()))}
        sheet.cartesian(
            "mobility.png", caption, results.frequencies / factor, curves, axis, "mobility (m/(N s))", yscale="log"
        )


@panel("motion")
def motion(results: BodyResults, sheet: Sheet) -> None:
    """How much the structure, and the fluid around it, move in the plane of output.slice."""
    step = results.last
    assert step.moved is not None and step.plane is not None
    points, moved = step.plane.places.points.reshape(step.moved.shape), step.moved
    size = np.linalg.norm(moved, axis=2)
    sheet.plane("motion", points, Quantity("displacement", moved, "m", "displacement", vector=True))
    top = float(np.nanmax(size))
    factor, unit = next(((f, u) for f, u in LENGTHS if top >= f), LENGTHS[-1])
    caption = f"Displacement of body and fluid, peak, in the plane {plane_equation(points)}{results.at(step)}."
    sheet.picture(
        "motion.png", caption,
        lambda path: plots.cut(
            points, size / factor, "abs", path, name="u", unit=unit,
            outlines={"body": plots.section(results.body.surface(), points), **_inner_outlines(results, points)},
        ),
    )  # fmt: skip


def _inner_outlines(results: BodyResults, points: Any) -> dict[str, Any]:
    """Where a plane cuts the faces between materials, by tag; of mirrored bodies none."""
    mesh = results.volume
    tags = np.unique(mesh.tags).tolist() if results.file.case.body.plane is None else []
    return {f"tag {tag}": plots.cut_triangles(mesh.vertices, mesh.skin(mesh.tags == tag), points) for tag in tags[1:]}


LENGTHS = ((1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"), (1e-12, "pm"))
"""Units of displacements."""


@panel("solution")
def volume(results: BodyResults, sheet: Sheet) -> None:
    """volume.vtu: the pressure, or the displacement, in the body at the highest frequency."""

    def write(path: Path) -> None:
        results.solution.write(path)

    sheet.file("volume.vtu", write)


@panel("steps")
def resolution(results: BodyResults, sheet: Sheet) -> None:
    """Entries of the solved frequencies, and what a wavelength has."""
    sheet.numbers["steps"] = [_entries(step) for step in results.steps]
    fluid = min(step.elements_per_wavelength for step in results.steps)
    sheet.headline("elements per wavelength, in the fluid and in the body", f"{fluid:.1f}, {results.resolution:.1f}")


@panel("mesh")
def fluid_and_mesh(results: BodyResults, sheet: Sheet) -> None:
    """The fluid around and in holes, planes, materials, and the mesh."""
    fluid, volume_, inner, table = results.fluid, results.volume, results.inside, results.file.case.body
    sheet.number("mesh", {**mesh_numbers(results.mesh), "tetrahedra": volume_.number_of_tetrahedra})
    sheet.fact("Fluid around", "density", fluid.density, "kg/m³", key="fluid.density_kg_per_m3")
    sheet.fact("Fluid around", "speed of sound", fluid.speed_of_sound, "m/s", key="fluid.speed_of_sound_m_per_s")
    if inner is not None:
        sheet.fact("Fluid in holes", "density", inner.density, "kg/m³", key="fluid_in_holes.density_kg_per_m3")
        sheet.fact(
            "Fluid in holes", "speed of sound", inner.speed_of_sound, "m/s", key="fluid_in_holes.speed_of_sound_m_per_s"
        )
    for axis, parity in (table.mirrors or {}).items():
        sheet.fact("Planes", f"sound in the mirror {axis} = 0", parity)
    if (plane_ := table.half_space) is not None:
        sheet.fact("Planes", f"half of space, to {plane_.plane} = 0", "rigid" if plane_.rigid else "gives way")
    given = results.file.case.materials_by_tag
    for tag, one in (given if isinstance(given, dict) else {"": given}).items():
        sheet.block(f"Material {tag}".strip(), _constants(one))
    part = "" if table.plane is None else " on one side of planes"
    sheet.fact("Mesh", f"tetrahedra{part}", volume_.number_of_tetrahedra)
    sheet.fact("Mesh", "triangles around", results.mesh.number_of_triangles)
    sheet.fact("Mesh", f"volume{part}", float(volume_.volumes.sum()), "m³", key="volume_m3")
    sheet.fact("Mesh", "mean edge length", float(results.mesh.mean_edge_length), "m")
    sheet.fact("Mesh", "unknowns of finite elements", results.volume_unknowns, key="unknowns_of_finite_elements")
    name = f"wavelength at {frequency_text(float(results.frequencies.max()))}"
    sheet.fact("Mesh", name, 2 * np.pi / abs(results.problem.wavenumber), "m")


def _constants(one: Any) -> list[tuple[str, str, str]]:
    """Rows of the constants of a material."""
    if hasattr(one, "youngs_modulus"):
        return [
            ("density", number(one.density), "kg/m³"),
            ("longitudinal waves", number((one.longitudinal_modulus / one.density) ** 0.5), "m/s"),
            ("shear waves", number((one.shear_modulus / one.density) ** 0.5), "m/s"),
            *([("loss factor", number(one.loss_factor), "")] if one.loss_factor else []),
        ]
    if hasattr(one, "along"):
        return [
            ("density", f"{number(min(one.density))} to {number(max(one.density))}", "kg/m³"),
            ("speed of sound", f"{number(min(one.speed_of_sound))} to {number(max(one.speed_of_sound))}", "m/s"),
            ("along", one.along, ""),
        ]
    fluid = one.fluid_at(1.0)
    return [("density", number(fluid.density), "kg/m³"), ("speed of sound", number(fluid.speed_of_sound), "m/s")]


def _entries(step: BodyStep) -> dict[str, Any]:
    """The entries of summary.json on a solved frequency; keys carry the units."""
    entries: dict[str, Any] = {
        "frequency_Hz": step.frequency,
        "target_strength_toward_source_dB": step.echo,
        "scattering_cross_section_m2": step.cross_section,
        "sound_power_W": step.power,
        "input_power_W": step.given,
        "lost_power_W": step.lost or None,
        "difference_of_powers": step.power_error,
        "elements_per_wavelength": step.elements_per_wavelength,
        "unknowns": step.info.unknowns,
        "iterations": step.info.iterations,
        "relative_residual": float(step.info.residual),
    }
    for n, each in enumerate(step.mobilities, 1):
        entries[f"mobility_{n}_m_per_N_s"] = [each.real, each.imag]
    return {name: value for name, value in entries.items() if value is not None}


PANELS = (
    echo, mobility, levels, powers, target_strength, power_over_frequency, motion, surface, plane, near_fields,
    unknowns, volume, resolution, fluid_and_mesh,
)  # fmt: skip
"""In the order in which they appear."""
