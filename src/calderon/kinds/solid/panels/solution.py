"""The panel of the mesh, the materials, the equations and their estimated errors."""

from calderon.kinds.solid.model import LOADS, Constants
from calderon.kinds.solid.panels.conditions import percent
from calderon.kinds.solid.results import SolidResults
from calderon.report import Sheet, panel
from calderon.report.formatting import Row, number


@panel("parts")
def solution(results: SolidResults, sheet: Sheet) -> None:
    errors = dict(zip(("displacement", "stress"), results.estimates, strict=True))
    for name, what in (("displacement", "displacements"), ("stress", "surface stresses")):
        sheet.error(f"estimated error of {what}, in the mean", errors[name], percent(errors[name]))
    sheet.number("estimated_errors", errors)
    sheet.number("solver", str(next(iter(results.parts.values())).info).splitlines())
    for name, one in results.file.case.materials.items():
        sheet.block(f"Material {name}".strip(), _material(results, one))
    _mesh(results, sheet)
    _equations(results, sheet)


def _mesh(results: SolidResults, sheet: Sheet) -> None:
    mesh, base = results.mesh, results.units.base
    for kind in ("length", "stress", "force", "moment", "energy", "area", "volume"):
        sheet.number(f"units.{kind}", base(kind))
    sheet.fact("Mesh", "triangles", mesh.number_of_triangles, key="mesh.triangles")
    sheet.fact("Mesh", "vertices", mesh.number_of_vertices, key="mesh.vertices")
    sheet.fact("Mesh", "area", float(mesh.areas.sum()), base("area"), key="mesh.area")
    sheet.fact("Mesh", "volume", abs(float(mesh.volume)), base("volume"), key="mesh.volume")
    sheet.number("mesh.diameter", float(mesh.diameter))
    sheet.fact("Mesh", "mean edge length", float(mesh.mean_edge_length), base("length"), key="mesh.mean_edge")


def _material(results: SolidResults, given: Constants) -> list[Row]:
    units = results.units
    rows: list[Row] = [("material", given.name, "")] if given.name else []
    rows.append(("Young's modulus E", *units.shown("modulus", given.youngs_modulus)))
    rows.append(("Poisson's ratio ν", f"{given.poissons_ratio:g}", ""))
    if given.density is not None and "density" in {LOADS[one.kind].constant for one in results.loads}:
        rows.append(("density", number(given.density), units.base("density")))
    if given.expansion is not None:
        rows.append(("thermal expansion", f"{given.expansion:g}", "1/K"))
    if given.yield_strength is not None:
        rows.append(("yield strength", *units.shown("stress", given.yield_strength)))
    return rows


def _equations(results: SolidResults, sheet: Sheet) -> None:
    infos, space, block = [each.info for each in results.parts.values()], results.file.case.solid.space, "Equations"
    info, amplification = infos[0], max(each.amplification for each in infos)
    error = max(each.rotation_error for each in infos)
    sheet.fact(block, "displacements, tractions", {"P1": "P1, P0", "P2": "P2, DP1"}[space])
    sheet.fact(block, "unknowns", results.unknowns)
    sheet.fact(block, "matrix", info.matrix.split(":")[0])
    sheet.fact(block, "error of rigid rotations", error, key="rotation_error", text=f"{error:.1e}")
    name = "largest amplification of it by bending"
    sheet.fact(block, name, amplification, key="amplification", text=f"{amplification:,.0f}")
    sheet.fact(block, "assembly", f"{info.assembly_seconds:.2f}", "s")
    sheet.fact(block, "solution", f"{info.solve_seconds:.2f}", "s")
    free = [results.label(part, tag) for part, each in results.parts.items() for tag in each.info.free_tags]
    if free:
        sheet.fact(block, "free faces", ", ".join(free))
    if info.free_motions:
        sheet.fact(block, "rigid motions removed", info.free_motions)
