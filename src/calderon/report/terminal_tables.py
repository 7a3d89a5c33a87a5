"""Tables on a terminal; of meshes their size, quality and elements per wavelength."""

import numpy as np
from rich.markup import escape
from rich.table import Table

import calderon.backends as backends
from calderon.mesh import TetrahedralMesh, TriangleMesh, step_report


def two_columns(title: str) -> Table:
    shown = escape(title) or None
    table = Table(title=shown, title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column()
    return table


def surface_quality(surface: TriangleMesh, name: str) -> Table:
    """Size and shape of a mesh."""
    angles = np.degrees(surface.angles).min(axis=1)
    low, high = surface.bounds
    table = two_columns(name)
    table.add_row("triangles, vertices", f"{surface.number_of_triangles}, {surface.number_of_vertices}")
    parts = f"{surface.number_of_components} component{'s' * (surface.number_of_components != 1)}"
    table.add_row("surface", f"{'closed' if surface.is_closed else 'open'}, {parts}")
    for axis in range(3):
        table.add_row("xyz"[axis], f"{low[axis]:.6g} to {high[axis]:.6g} m")
    table.add_row("area", f"{surface.areas.sum():.6g} m²")
    if surface.is_closed:
        table.add_row("volume", f"{surface.volume:.6g} m³")
    lengths = surface.edge_lengths
    table.add_row("edges", f"{lengths.min():.4g} to {lengths.max():.4g} m, mean {lengths.mean():.4g} m")
    table.add_row("smallest angle", f"{angles.min():.1f}°, below 20° in {np.count_nonzero(angles < 20)} triangles")
    for tag, count in zip(*np.unique(surface.tags, return_counts=True), strict=True):
        names = [key for key, value in surface.names.items() if value == tag]
        table.add_row(f"tag {tag}" + (f" ({escape(names[0])})" if names else ""), f"{count} triangles")
    dense = backends.format_bytes(16 * surface.number_of_vertices**2)
    table.add_row("dense matrix", f"{dense} for complex values at the vertices")
    return table


def volume_quality(volume: TetrahedralMesh, name: str) -> Table:
    """Size and shape of a mesh of tetrahedra, part by part, and the cost of flat ones."""
    report = step_report(volume)
    table = two_columns(name)
    table.add_row("tetrahedra, vertices", f"{volume.number_of_tetrahedra}, {volume.number_of_vertices}")
    low, high = volume.vertices.min(axis=0), volume.vertices.max(axis=0)
    for axis in range(3):
        table.add_row("xyz"[axis], f"{low[axis]:.6g} to {high[axis]:.6g} m")
    table.add_row("volume", f"{volume.volumes.sum():.6g} m³")
    edges = volume.longest_edges
    table.add_row("longest edges", f"{edges.min():.4g} to {edges.max():.4g} m, mean {edges.mean():.4g} m")
    for part in report.parts:
        size = f"{part.tetrahedra} tetrahedra, longest edges to {part.edges[1]:.4g} m, quality from {part.quality:.2f}"
        table.add_row(f"part {escape(part.name)}", size)
    for boundary, tag in volume.face_names.items():
        table.add_row(f"boundary {escape(boundary)}", f"{np.count_nonzero(volume.face_tags == tag)} faces")
    table.add_row("time step", report.verdict)
    return table


def resolution(lengths: np.ndarray, frequencies: list[float], speed: float) -> Table:
    """Elements per wavelength at each frequency, from the lengths of edges in m."""
    if not all(0 < value < np.inf for value in (speed, *frequencies)):
        given = ", ".join(f"{frequency:g}" for frequency in frequencies)
        given_values = f"--frequency {given} Hz, --speed-of-sound {speed:g} m/s"
        raise ValueError(f"{given_values}: all must be finite and greater than zero")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("frequency (Hz)", "wavelength (m)", "elements per wavelength: mean", "at the longest edge"):
        table.add_column(name, justify="right")
    table.add_column("")
    for frequency in frequencies:
        wavelength = speed / frequency
        mean, minimum = wavelength / lengths.mean(), wavelength / lengths.max()
        verdict = "fine" if mean >= 10 else "coarse: 10 give about 1 %" if mean >= 6 else "too coarse: 6 are needed"
        table.add_row(f"{frequency:g}", f"{wavelength:.4g}", f"{mean:.3g}", f"{minimum:.3g}", verdict)
    return table
