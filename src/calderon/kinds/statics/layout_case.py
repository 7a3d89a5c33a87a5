"""A case file of the capacitances of a layout, with its mesh next to it."""

import json
from collections.abc import Mapping
from pathlib import Path

from calderon.files.whole_file import whole_file
from calderon.formulations import StaticProblem
from calderon.report import ResultExists


def layout_problem(file: Path, stack: Path | None, h: float | None, cell: str | None) -> StaticProblem:
    """The problem of a layout; ValueError for another file, and without a stack and a length of edges."""
    if file.suffix.lower() != ".gds":
        raise ValueError(f"{file}: --stack, --cell and --out are those of a layout, a .gds file")
    if stack is None or h is None:
        raise ValueError(f"{file}: a layout needs --stack stack.toml, heights and materials of its layers, and --h")
    return StaticProblem.from_layout(file, stack, h, cell)


def write_layout_case(problem: StaticProblem, path: Path, title: str, force: bool) -> None:
    """Write a case (.toml) of the capacitances of a problem whose regions and electrodes are named, and its mesh (.msh)
    next to it; ResultExists where one of them is there, unless force."""
    if path.suffix.lower() != ".toml":
        raise ValueError(f"{path}: a case file ends in .toml")
    mesh = path.with_suffix(".msh")
    if not force and (old := [each for each in (path, mesh) if each.exists()]):
        raise ResultExists(f"{old[0]} exists: choose another file with --out, or replace it with --force")
    problem.mesh.write(mesh)
    with whole_file(path) as scratch:
        scratch.write_text(case_text(problem, mesh.name, title), encoding="utf-8")


def case_text(problem: StaticProblem, mesh: str, title: str) -> str:
    """The case file of the capacitances of a problem on the mesh of a file."""
    around = 1.0 if problem.outside is None else problem.outside.constant
    tables: list[tuple[str, dict[str, object]]] = [
        ("", {"title": title}), ("[mesh]", {"file": mesh}), ("[statics]", {}),
        ("[statics.outside]", {"permittivity": around}),
    ]  # fmt: skip
    tables += [
        ("[[region]]", {"name": name, "tags": each.bounds, "permittivity": each.constant})
        for name, each in problem.regions.items()
    ]
    tables += [("[[electrode]]", {"name": name, "tags": each}) for name, each in problem.electrodes.items()]
    tables += [("[output]", {"capacitance": True})]
    return "\n".join("\n".join([head, *_lines(keys)]).lstrip() + "\n" for head, keys in tables)


def _lines(keys: Mapping[str, object]) -> list[str]:
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in keys.items()]


def layout_rows(problem: StaticProblem, out: Path | None) -> list[tuple[str, str, str]]:
    """Names of nets and regions of a layout with their sizes and constants, and the number of unknowns;
    out: a case file of it."""
    sizes = {name: problem.mesh.restricted(name).number_of_triangles for name in problem.electrodes}
    rows = [(f"net {name}", str(size), "triangles") for name, size in sizes.items()]
    rows += [(f"region {name}", f"{each.constant:g}", "") for name, each in problem.regions.items()]
    rows.append(("unknowns", str(problem.unknowns), ""))
    return rows if out is None else [*rows, ("next", f"calderon run {out}", "")]
