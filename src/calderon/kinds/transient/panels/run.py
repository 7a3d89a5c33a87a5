"""Panels of the mesh and the steps of a run in time."""

from calderon.backends import format_bytes
from calderon.kinds.transient.results import TransientResults
from calderon.report import Sheet, panel
from calderon.report.formatting import time_text
from calderon.report.panels import grouped


@panel("facts")
def run(results: TransientResults, sheet: Sheet) -> None:
    """The steps, and the unknowns that are advanced."""
    solver, facts, block = results.file.case.solver, results.facts, "Steps"
    method = "leap-frog" if solver.flux == "centred" else "Runge-Kutta"
    sheet.headline("steps", grouped(facts.steps))
    sheet.headline("step", *time_text(facts.step).split())
    sheet.headline("memory of the fields", *format_bytes(facts.memory).split())
    sheet.fact(block, "polynomial degree", solver.order)
    sheet.fact(block, "flux", f"{solver.flux}, {method}")
    sheet.fact(block, "arithmetic", f"{solver.precision}, {solver.backend}")
    limit = f"{100 * facts.step / facts.step_limit:.0f} % of the limit"
    sheet.fact(block, "step", facts.step, limit, key="step_s", text=time_text(facts.step))
    sheet.number("step_limit_s", facts.step_limit)
    sheet.fact(block, "steps", facts.steps, key="steps")
    sheet.number("tetrahedra_by_halvings_of_the_step", list(facts.elements_by_step))
    sheet.number("work_of_one_step_for_all_over_work", facts.saving)
    if len(facts.elements_by_step) > 1:
        sheet.headline("shorter steps of small elements save", f"{facts.saving:.1f}", "times the work")
        for k, count in enumerate(facts.elements_by_step):
            sheet.fact(block, f"tetrahedra with {f'1/{2**k} of the' if k else 'the whole'} step", count)
        sheet.fact(block, "work of one step for all", f"{facts.saving:.1f}", "times as much")
    sheet.fact(block, "end", facts.end, key="end_s", text=time_text(facts.end))
    sheet.fact(block, "memory of the fields", facts.memory, key="memory_bytes", text=format_bytes(facts.memory))
    sheet.number("ranks", facts.ranks)
    sheet.fact(block, "ranks, threads of each", f"{facts.ranks}, {facts.threads}")
    if advanced := results.seconds.get("advance the fields"):
        updates = facts.unknowns * facts.steps * facts.updates
        sheet.headline("updates of unknowns", f"{1e-6 * updates / advanced:.0f}", "million/s")


@panel("mesh")
def mesh(results: TransientResults, sheet: Sheet) -> None:
    """The mesh, whole and part by part."""
    mesh, shape, block = results.mesh, results.shape, "Mesh"
    edges, least = mesh.longest_edges, float(mesh.quality.min())
    sheet.fact(block, "tetrahedra", mesh.number_of_tetrahedra, key="mesh.tetrahedra")
    sheet.fact(block, "vertices", mesh.number_of_vertices, key="mesh.vertices")
    sheet.number("mesh.volume_m3", float(mesh.volumes.sum()))
    sheet.fact(block, "longest edges", f"{1e3 * edges.min():.3g} to {1e3 * edges.max():.3g}", "mm")
    sheet.fact(block, "least quality (1: regular)", least, key="mesh.least_quality", text=f"{least:.2f}")
    sheet.fact(block, "slivers (quality below 0.1)", shape.slivers, key="mesh.slivers")
    sheet.number("mesh.step_without_slivers_over_step", shape.gain)
    if shape.slivers:
        sheet.fact(block, "step without slivers", f"{shape.gain:.2f}", "times larger")
    sheet.numbers["mesh"]["parts"] = {
        part.name: {
            "tetrahedra": part.tetrahedra,
            "shortest_and_longest_edge_m": list(part.edges),
            "least_quality": part.quality,
            "least_delay_s": part.delay,
        }
        for part in shape.parts
    }
    columns = ["", "tetrahedra", "longest edges (mm)", "least quality", "slivers", "least delay (ps)"]
    rows = [
        [
            part.name,
            str(part.tetrahedra),
            f"{1e3 * part.edges[0]:.3g} to {1e3 * part.edges[1]:.3g}",
            f"{part.quality:.2f}",
            str(part.slivers),
            f"{1e12 * part.delay:.3g}",
        ]
        for part in shape.parts
    ]
    sheet.table("Parts of the mesh", columns, rows)


@panel("error")
def error(results: TransientResults, sheet: Sheet) -> None:
    assert results.error is not None
    sheet.headline("error against the exact wave", f"{100 * results.error:.2g}", "%")
    sheet.numbers["relative_l2_error"] = results.error
