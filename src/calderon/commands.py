"""The work of the commands: cases are run, meshes are checked, errors become messages with an exit code."""

import codecs
import io
import json
import logging
import platform
import signal
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import calderon.answers as answers
import calderon.backends as backends
import calderon.kinds.numcalc.running as numcalc
import calderon.mesh as meshes
import calderon.references as references
import calderon.report as report
from calderon.answers.cases import LARGEST_ERROR
from calderon.answers.exit_codes import INCOMPLETE, UNEXPECTED
from calderon.answers.server import serve as serve_tools
from calderon.case import CaseFile, read
from calderon.case import schema as case_schema
from calderon.exact import SPEED_OF_LIGHT
from calderon.kinds.numcalc.reading import Project, is_project, read_projects
from calderon.kinds.statics.layout_case import layout_problem, layout_rows, write_layout_case
from calderon.parallel import leave, world
from calderon.processes import package_version, postponed, stop_asked, stops_raise
from calderon.report.stages import stages_on
from calderon.report.terminal_tables import resolution, surface_quality, two_columns, volume_quality
from calderon.warm_up import WARM_UPS, compiling_in_parallel
from calderon.warm_up import warm_up as warmed_up

DEPENDENCIES = ("numpy", "scipy", "numba", "matplotlib", "h5py", "pydantic")
EXTRAS = tuple("pyvista gmsh cupy-cuda12x cupy-cuda13x pyopencl mpi4py xarray pandas meshio sofar gdstk mcp".split())
PLAIN = "calderon-plain"
SIGNS = str.maketrans({"−": "-", "–": "-", "°": " deg", "×": "x", "✓": "+", "Ω": "ohm"})


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Characters of ASCII for those that the output does not have, as m2 for square metres."""
    assert isinstance(error, UnicodeEncodeError)
    text = unicodedata.normalize("NFKD", error.object[error.start : error.end].translate(SIGNS))
    return text.encode("ascii", "replace").decode("ascii"), error.end


codecs.register_error(PLAIN, _plain)


class _Lines(logging.Handler):
    """Messages of the package as lines on the terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        _screen().print(escape(record.getMessage()), soft_wrap=True)


def _show_log() -> None:
    """Print messages of the logger "calderon" unless something else does."""
    log = logging.getLogger("calderon")
    if not log.handlers and world().rank == 0:
        log.addHandler(_Lines())
        log.setLevel(logging.INFO)


def _screen() -> Console:
    return Console(highlight=False, emoji=False, quiet=world().rank > 0)


def run(case: Path, out: Path | None, force: bool, estimate: bool, inside: Path | None) -> None:
    """Run a case file, or a project of Mesh2HRTF."""
    with plain_errors():
        _show_log()
        folder = out or Path(f"{case.stem}-result")
        if inside is None and is_project(case):
            _run_projects(read_projects(case), folder, force, False, estimate)
        else:
            _run(_read(case, inside, folder), folder, force, False, estimate)


def plan(case: Path, as_json: bool, inside: Path | None) -> None:
    """Print the plan of a case file, or of a project of Mesh2HRTF."""
    if as_json:
        _answer("plan", case.name, lambda: answers.planned(_read(case, inside)))
    with plain_errors():
        _show_log()
        if inside is None and is_project(case):
            _run_projects(read_projects(case), Path(), False, True, False)
        else:
            _print_plan(_read(case, inside))


def run_for_programs(
    case: Path, out: Path | None, force: bool, estimate: bool, error: float | None, inside: Path | None, as_json: bool
) -> None:
    """Run a case file and judge the accuracy of its result; print the answer in JSON, or the verdict."""
    allowed = LARGEST_ERROR if error is None else error
    folder = out or Path(f"{case.stem}-result")

    def answered() -> answers.Answer:
        if not allowed > 0:
            raise ValueError(f"--error {allowed:g}: a relative error above zero is needed, such as 0.05")
        file = _estimated(_read(case, inside, folder), estimate)
        if world().size > 1:
            raise ValueError("answers for programs are of one process: leave mpiexec")
        with report.claimed(folder.absolute(), force, file.name), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            results = report.run(file)
            return answers.ran(results, report.write(results, folder.absolute(), force), caught, allowed)

    if as_json:
        _answer("run", case.name, answered, allowed)
    with plain_errors():
        _show_log()
        found = answered()
        assert isinstance(found, answers.RunAnswer)
        screen = _screen()
        screen.print(_table_of([(each.name, each.value, each.unit) for each in found.headlines]))
        _print_warnings(screen, found.warnings)
        screen.print(escape(": ".join([found.verdict, *found.reasons])), soft_wrap=True)
    raise typer.Exit(found.exit_code)


def validate(names: list[str] | None, as_json: bool) -> None:
    """Print the errors against references."""
    if as_json:
        _answer("validate", "", lambda: answers.validated(references.chosen(names or [])))
    with plain_errors():
        screen, codes = _screen(), []
        for each in references.chosen(names or []):
            found = answers.validated([each])
            row = found.validations[0]
            error = "" if row.error is None else f"error {row.error:.1e}, bound {row.bound:g}, "
            text = f"{row.name}, {row.what} ({row.source}): {error}{row.cpu_seconds:.1f} s, {row.verdict}"
            screen.print(escape(": ".join(filter(None, [text, row.reason]))), soft_wrap=True)
            codes.append(found.exit_code)
    raise typer.Exit(answers.WRONG_INPUT if answers.WRONG_INPUT in codes else max(codes))


def serve(folder: Path) -> None:
    """Serve tools in a folder until the program at the other end closes the connection."""
    with plain_errors():
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is no folder: name the one in which cases and results are")
        serve_tools(folder)


def _answer(
    command: str, case: str, answered: Callable[[], answers.Answer], allowed: float = LARGEST_ERROR
) -> NoReturn:
    """Print the answer of a command in JSON, also where it is refused, and end with its exit code."""

    def say(reason: str, code: int) -> None:
        typer.echo(answers.refused(command, case, reason, code, allowed).model_dump_json(indent=1))

    with plain_errors(say):
        found = answered()
        typer.echo(found.model_dump_json(indent=1))
    raise typer.Exit(found.exit_code)


def _read(case: Path, inside: Path | None, *others: Path) -> CaseFile[Any]:
    """Read a case; ValueError where it, or another path, is outside of a folder, also through links."""
    for path in (case, *others):
        if inside is not None and not path.resolve().is_relative_to(inside.resolve()):
            raise ValueError(f"{path} is outside of {inside}, the folder that this command is restricted to")
    return read(case, inside)


def _estimated(file: CaseFile[Any], estimate: bool) -> CaseFile[Any]:
    """The case, with an estimate of its error where it is requested; CaseError for a kind without one."""
    if not estimate:
        return file
    case = file.case.estimated()
    if case is None:
        text = "only problems on surfaces and printed circuits are solved on a second mesh"
        raise file.mistake("output", "estimate", text, True)
    return replace(file, case=case)


def example(name: str | None, out: Path | None, force: bool, plan: bool, estimate: bool, show: bool) -> None:
    """Run an example, print its plan or its case file, or list all examples."""
    with plain_errors():
        _show_log()
        if name is None:
            _list_examples()
        elif show:
            typer.echo(report.example(name).text, nl=False)
        else:
            _run(report.example(name), out or Path(f"{name}-result"), force, plan, estimate)


def mesh(file: Path, h: float | None, scale: float, frequency: list[float] | None, speed: float, html: Any) -> None:
    """Print size, quality, problems and resolution of a mesh for a speed of sound; html: the page that shows it."""
    with plain_errors(), warnings.catch_warnings(record=True, action="always") as caught:
        screen, solid = _screen(), meshes.holds_tetrahedra(file)
        shown: Any = meshes.read_tetrahedra(file, scale=scale) if solid else meshes.read(file, scale=scale, h=h)
        if html is not None:
            shown.to_html(html)
        if solid:
            screen.print(volume_quality(shown, file.name), soft_wrap=True)
            if frequency:
                screen.print(resolution(shown.longest_edges, frequency, SPEED_OF_LIGHT))
            _print_warnings(screen, caught)
            return
        checked = shown.check()
        screen.print(surface_quality(shown, file.name))
        if frequency:
            screen.print(resolution(shown.edge_lengths, frequency, speed))
            for hertz in frequency:
                meshes.warn_wavenumber(shown, 2 * np.pi * hertz / speed)
        screen.print(escape(str(checked)), soft_wrap=True)
        _print_warnings(screen, caught)
    if not checked.ok:
        raise typer.Exit(1)


def layout(file: Path, stack: Path | None, h: float | None, cell: str | None, out: Path | None, force: bool) -> None:
    """Print nets and regions of a layout, and write a case file of their capacitances."""
    with plain_errors(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem = layout_problem(file, stack, h, cell)
        if out is not None:
            write_layout_case(problem, out, f"Capacitances of {file.name}", force)
        screen = _screen()
        screen.print(surface_quality(problem.mesh, file.name))
        screen.print(_table_of(layout_rows(problem, out)))
        _print_warnings(screen, caught)


def _print_warnings(screen: Console, caught: Iterable[warnings.WarningMessage | str]) -> None:
    for warning in dict.fromkeys(one if isinstance(one, str) else str(one.message) for one in caught):
        screen.print(f"[yellow]warning[/yellow] {escape(warning)}", soft_wrap=True)


def warm_up(physics: list[str] | None) -> None:
    """Compile the kernels of small problems."""
    with plain_errors():
        screen = _screen()
        for name, seconds in warmed_up(physics or WARM_UPS):
            screen.print(f"{name}: {seconds:.1f} s")


def schema(of_answers: bool) -> None:
    """Print the JSON schema of case files, or of answers."""
    with plain_errors():
        typer.echo(json.dumps(answers.schema() if of_answers else case_schema(), indent=1))


def info() -> None:
    """Print versions, devices, threads and memory."""
    table = two_columns("calderon " + package_version())
    table.add_row("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    table.add_row("backends", ", ".join(backends.available()))
    for name in backends.DEVICE_BACKENDS:
        for row in _devices(name):
            table.add_row(*row)
    table.add_row("threads", str(backends.thread_count()))
    table.add_row("memory free", backends.format_bytes(backends.free_memory()))
    for name in DEPENDENCIES:
        table.add_row(name, _version(name))
    for name in EXTRAS:
        table.add_row(f"{name} (extra)", _version(name))
    _screen().print(table)


def _print_plan(file: CaseFile[Any]) -> None:
    """Print size, memory and time of the matrix of a case."""
    screen = _screen()
    screen.print(f"[bold]{escape(file.title)}[/bold]")
    with warnings.catch_warnings(record=True) as caught, stages_on(screen) as stages:
        warnings.simplefilter("always", UserWarning)
        rows = report.plan(file, stages)
    screen.print(_table_of(rows))
    _print_warnings(screen, caught)


def _table_of(rows: Iterable[tuple[str, str, str]]) -> Table:
    """Names, values and units on a terminal."""
    table = two_columns("")
    for name, value, unit in rows:
        table.add_row(name, escape(f"{value} {unit}".rstrip()))
    return table


def _run(file: CaseFile[Any], folder: Path, force: bool, plan: bool, estimate: bool) -> None:
    """Run a case under a progress display and write its result, of several ranks by one; or print its plan. CaseError
    where an estimate of the error is requested of a kind without one."""
    if plan:
        _print_plan(file)
        return
    file = _estimated(file, estimate)
    ranks, screen = world(), _screen()
    folder = folder.absolute()  # it stays the one that is claimed here, whatever folder the process goes to
    with report.claimed(folder, force, file.name) if ranks.rank == 0 else nullcontext():
        screen.print(f"[bold]{escape(file.case.title or file.name)}[/bold]")
        scratch = report.scratch_folder(folder) if report.kind_of(file).in_time else None
        _compute_held(file, folder, force, scratch, screen)


def _run_projects(projects: list[Project], folder: Path, force: bool, plan: bool, estimate: bool) -> None:
    """Run the sources of a project of Mesh2HRTF and write their result, or print its plan. ValueError for an estimate
    of the error, and on several ranks."""
    screen = _screen()
    if estimate:
        raise ValueError("projects of Mesh2HRTF are solved on their own mesh: leave --estimate")
    if plan:
        screen.print(_table_of(numcalc.plan_rows(projects)))
        return
    if world().size > 1:
        raise ValueError("a project is solved by one process: run its sources side by side instead of ranks")
    folder, name = folder.absolute(), projects[0].path.name
    with report.claimed(folder, force, name), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        screen.print(f"[bold]{escape(projects[0].title)}[/bold]")
        with stages_on(screen) as stages, report.result_folder(folder, force) as new:
            rows = numcalc.run(projects, new.folder, stages)
    screen.print(_table_of([*rows, ("folder", str(_shortest(new.place)), "")]))
    _print_warnings(screen, caught)


def _compute_held(file: CaseFile[Any], folder: Path, force: bool, scratch: Path | None, screen: Console) -> None:
    """Run a case and write its result while its place is held. scratch: the folder of an interrupted run."""
    finished = False
    try:
        family, method = file.case.family, getattr(getattr(file.case, "solver", None), "method", "dense")
        with stages_on(screen) as stages, compiling_in_parallel(family, method):
            results = report.run(file, stages, scratch)
            if world().rank > 0:
                return
            with warnings.catch_warnings(record=True) as caught, postponed() as stops:
                warnings.simplefilter("always", UserWarning)
                written = report.write(results, folder, force, stages, placing=stops.begin)
                finished = True
    except BaseException as error:
        if stop_asked() or isinstance(error, KeyboardInterrupt):
            where = (
                f"the result is in {written.folder}"
                if finished
                else "no result was written, an earlier one is unchanged"
            )
            error.add_note(where)
        if not (finished or isinstance(error, report.OtherCase)) and report.has_checkpoint(scratch):
            error.add_note("the same command goes on from the last checkpoint")
        raise
    finally:
        report.tidy(scratch, finished)
    screen.print(_table_of(written.headlines))
    _print_warnings(screen, results.warnings)
    _print_warnings(screen, caught)
    shown = _shortest(written.folder)
    first = shown / ("report.html" if "report.html" in written.files else "summary.json")
    screen.print(f"{len(written.files)} files in {escape(str(shown))}; read [bold]{escape(str(first))}[/bold]")
    if written.failures:
        _print_error("the result is not whole, see the warnings above")
        raise SystemExit(INCOMPLETE)


def _shortest(folder: Path) -> Path:
    """A folder as seen from the current one, where it is below that."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


@contextmanager
def plain_errors(say: Callable[[str, int], None] | None = None) -> Iterator[None]:
    """Errors that a user can correct, and signals that ask to end, become messages with an exit code of their own;
    other errors keep their traceback. say(message, exit code): replaces the message on the terminal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)
    with stops_raise() as stops:
        try:
            yield
        except (Exception, KeyboardInterrupt) as error:
            stopped = stops.end() or signal.SIGINT * isinstance(error, KeyboardInterrupt)
            notes = getattr(error, "__notes__", [])
            if stopped:  # an error on the way out does not count, such as that of a closed terminal
                code, text = 128 + stopped, f"interrupted by {signal.Signals(stopped).name}"
                text = ": ".join(filter(None, [text, "; ".join(notes)]))
            else:
                code, text = answers.explained(error)
                text = "\n".join([text, *notes])
            if say is not None:
                say(text, code)
            if code == UNEXPECTED and world().size == 1:
                raise
            if say is None:
                _report_error(text, code)
            sys.exit(code)


def _report_error(text: str, code: int) -> None:
    """Print an error, on the first of several ranks; a rank that fails alone, while others wait for it, ends all."""
    ranks = world()
    if ranks.rank == 0:
        _print_error(text)
        leave(ranks, code)
    else:
        leave(ranks, code, lambda: _print_error(f"rank {ranks.rank}: {text}"))


def _print_error(text: str) -> None:
    with suppress(OSError):  # the terminal may be closed
        screen = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
        screen.print(f"[bold red]error[/bold red] {escape(text)}")


def _list_examples() -> None:
    table = two_columns("examples")
    for name, file in report.examples().items():
        table.add_row(name, file.case.title)
    screen = _screen()
    screen.print(table)
    screen.print("Run one with [bold]calderon example NAME[/bold]; read it with --show.")


def _devices(backend: str) -> list[tuple[str, str]]:
    """The devices of a backend, one a line, those that do not work with the reason; a line if there is none."""
    found = backends.survey(backend)
    if found.missing:
        return [(backend, f"not available: {escape(found.missing)}")]
    working = [
        (
            each.name,
            f"{escape(each.label)}, {backends.format_bytes(each.memory())} at once, "
            f"{'double and single' if each.has_double else 'single precision only'}",
        )
        for each in found.devices
    ]
    return working + [(name, f"not used: {escape(reason)}") for name, reason in found.failures.items()]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
