"""A panel: the water on a body, of every result that has a mesh of triangles."""

from calderon.report import Sheet, panel

FILM = 1e-4
"""Thickness in m."""


@panel("mesh.area")
def wetted(results, sheet: Sheet) -> None:
    sheet.headline("water on the surface", f"{1e3 * FILM * results.mesh.area:.4g}", "l")
    sheet.numbers["water_m3"] = FILM * results.mesh.area
