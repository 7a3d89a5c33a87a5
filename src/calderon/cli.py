"""The command line: calderon run | plan | example | mesh | validate | serve | schema | warm-up | info.

Names, options and help are here; the work is in `commands.py`, which is imported when a command runs, so that help does
not wait for it.
"""

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from calderon.processes import lasting_imports, package_version, threads_asked

app = typer.Typer(
    name="calderon",
    help="Boundary elements: from a mesh file to a checked answer, with pictures and a report.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
OutOption = Annotated[Path | None, typer.Option("--out", help="Folder of the result (default: NAME-result here).")]
PlanOption = Annotated[bool, typer.Option("--plan", help="Print what the matrix will take, and compute nothing.")]
EstimateOption = Annotated[
    bool, typer.Option("--estimate", help="Solve on a second mesh also, which estimates the error.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one answer in JSON, with a verdict.")]
InsideOption = Annotated[
    Path | None, typer.Option("--inside", help="Refuse case, mesh and result outside of this folder.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an existing result.")]


def _commands() -> Any:
    """The module that does the work; exit status 2 where the environment requests an impossible number of threads,
    with which Numba cannot be imported."""
    try:
        threads_asked()
    except ValueError as error:
        typer.echo(f"error {error}", err=True)
        raise typer.Exit(2) from None
    with lasting_imports():
        return importlib.import_module("calderon.commands")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"calderon {package_version()}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the release and exit.")
    ] = False,
) -> None:
    """Boundary elements: from a mesh file to a checked answer, with pictures and a report."""


@app.command()
def run(
    case: Annotated[Path, typer.Argument(help="Case file (.toml), or a project of Mesh2HRTF (NC.inp).")],
    out: OutOption = None,
    force: ForceOption = False,
    plan: PlanOption = False,
    estimate: EstimateOption = False,
    as_json: JsonOption = False,
    error: Annotated[
        float | None,
        typer.Option("--error", help="Relative error up to which accuracy counts as shown (exit code 6 if not)."),
    ] = None,
    inside: InsideOption = None,
) -> None:
    """Run a case file: numbers, tables, pictures and report.html in a folder; or NC.inp: solutions and SOFA files."""
    if plan:
        _commands().plan(case, as_json, inside)
    elif as_json or error is not None:
        _commands().run_for_programs(case, out, force, estimate, error, inside, as_json)
    else:
        _commands().run(case, out, force, estimate, inside)


@app.command()
def plan(
    case: Annotated[Path, typer.Argument(help="Case file (.toml), or a project of Mesh2HRTF (NC.inp).")],
    as_json: JsonOption = False,
    inside: InsideOption = None,
) -> None:
    """Check a case file and print what it will take; nothing is computed."""
    _commands().plan(case, as_json, inside)


@app.command()
def validate(
    names: Annotated[list[str] | None, typer.Argument(help="Names of references; all if none.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute published and independent references: error, bound and processor seconds of each."""
    _commands().validate(names, as_json)


@app.command()
def serve(
    folder: Annotated[Path, typer.Argument(help="The only folder in which files are read and written.")],
) -> None:
    """Serve tools to programs on standard input and output by the Model Context Protocol (extra: mcp)."""
    _commands().serve(folder)


@app.command()
def example(
    name: Annotated[str | None, typer.Argument(help="Name of the example; without it they are listed.")] = None,
    out: OutOption = None,
    force: ForceOption = False,
    plan: PlanOption = False,
    estimate: EstimateOption = False,
    show: Annotated[bool, typer.Option("--show", help="Print the case file instead of running it.")] = False,
) -> None:
    """Run an example that ships with the package, or list them."""
    _commands().example(name, out, force, plan, estimate, show)


@app.command()
def mesh(
    file: Annotated[Path, typer.Argument(help="Mesh file: .msh, .vtu, .stl, .obj, .ply, .inp, .bdf, .step, .gds, ...")],
    h: Annotated[float | None, typer.Option("--h", help="Length of edges in m, for CAD models and layouts.")] = None,
    scale: Annotated[float, typer.Option(help="Metres per unit of the file: 0.001 for millimetres.")] = 1.0,
    frequency: Annotated[list[float] | None, typer.Option(help="Frequency in Hz; may be repeated.")] = None,
    speed_of_sound: Annotated[float, typer.Option(help="Speed of sound in m/s.")] = 1500.0,
    stack: Annotated[Path | None, typer.Option(help="Heights and materials of the layers of a layout (.gds).")] = None,
    cell: Annotated[str | None, typer.Option(help="Cell of a layout; the only one in no other unless given.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Case file of its capacitances, with its mesh.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Page on which its faces are seen by colour.")] = None,
    force: ForceOption = False,
) -> None:
    """Check a mesh: size, quality, problems, elements per wavelength (of light for tetrahedra, else of sound). Of a
    layout: its nets and regions, and a case file of their capacitances."""
    if file.suffix.lower() == ".gds" or stack is not None or cell is not None or out is not None:
        if html is not None:
            raise typer.BadParameter("--html shows meshes, not layouts: leave it out")
        _commands().layout(file, stack, h, cell, out, force)
    else:
        _commands().mesh(file, h, scale, frequency, speed_of_sound, html)


@app.command("warm-up")
def warm_up(
    physics: Annotated[
        list[str] | None, typer.Argument(help="Kinds of problems, such as sound; all if none. A wrong name lists them.")
    ] = None,
) -> None:
    """Compile kernels now instead of in the first run, by small problems; compiled ones are kept on disk."""
    _commands().warm_up(physics)


@app.command()
def schema(
    answers: Annotated[bool, typer.Option("--answers", help="Of what --json prints.")] = False,
) -> None:
    """Print the JSON schema of case files; editors complete keys by it: calderon schema > calderon.schema.json."""
    _commands().schema(answers)


@app.command()
def info() -> None:
    """Version, backends and their devices, threads, memory and versions of the packages underneath."""
    _commands().info()
