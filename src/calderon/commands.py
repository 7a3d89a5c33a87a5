"""The work of the commands: cases are run, meshes are checked, errors become messages with an exit code."""

import codecs
import io
import json
import logging
import platform
import signal
import sys
import traceback
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import calderon.backends as backends
import calderon.kinds.numcalc.running as numcalc
import calderon.mesh as meshes
import calderon.report as report
from calderon.case import CaseFile, read
from calderon.case import schema as case_schema
from calderon.exact import SPEED_OF_LIGHT
from calderon.kinds.numcalc.reading import Project, is_project, read_projects
from calderon.parallel import leave, world
from calderon.processes import InUse, package_version, postponed, stops_raise
from calderon.report.stages import stages_on
from calderon.report.terminal_tables import resolution, surface_quality, two_columns, volume_quality
from calderon.solvers import ConvergenceError
from calderon.warm_up import WARM_UPS, compiling_in_parallel
from calderon.warm_up import warm_up as warmed_up

UNEXPECTED, WRONG_INPUT, NOT_SOLVED, EXISTS, INCOMPLETE = 1, 2, 3, 4, 5
IN_CASE_FILES = 'in a case file: [solver] max_iterations, rtol, precision = "double", or solver = "lu"'
DEPENDENCIES = ("numpy", "scipy", "numba", "meshio", "matplotlib", "h5py", "pydantic")
EXTRAS = ("pyvista", "gmsh", "cupy-cuda12x", "cupy-cuda13x", "pyopencl", "mpi4py", "xarray", "pandas", "sofar")
PLAIN = "calderon-plain"
SIGNS = str.maketrans({"−": "-", "–": "-", "°": " deg", "×": "x", "✓": "+"})


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


def run(case: Path, out: Path | None, force: bool, plan: bool, estimate: bool) -> None:
    """Run a case file, or a project of Mesh2HRTF, or print its plan."""
    with plain_errors():
        _show_log()
        folder = out or Path(f"{case.stem}-result")
        if is_project(case):
            _run_projects(read_projects(case), folder, force, plan, estimate)
        else:
            _run(read(case), folder, force, plan, estimate)


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


def mesh(file: Path, h: float | None, scale: float, frequency: list[float] | None, speed_of_sound: float) -> None:
    """Print size, quality, problems and resolution of a mesh."""
    with plain_errors(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        screen = _screen()
        if meshes.holds_tetrahedra(file):
            volume = meshes.read_tetrahedra(file, scale=scale)
            screen.print(volume_quality(volume, file.name), soft_wrap=True)
            if frequency:
                screen.print(resolution(volume.longest_edges, frequency, SPEED_OF_LIGHT))
            _print_warnings(screen, caught)
            return
        surface = meshes.read(file, scale=scale, h=h)
        checked = surface.check()
        screen.print(surface_quality(surface, file.name))
        if frequency:
            screen.print(resolution(surface.edge_lengths, frequency, speed_of_sound))
            for hertz in frequency:
                meshes.warn_wavenumber(surface, 2 * np.pi * hertz / speed_of_sound)
        screen.print(escape(str(checked)), soft_wrap=True)
        _print_warnings(screen, caught)
    if not checked.ok:
        raise typer.Exit(1)


def _print_warnings(screen: Console, caught: Iterable[warnings.WarningMessage | str]) -> None:
    for warning in dict.fromkeys(one if isinstance(one, str) else str(one.message) for one in caught):
        screen.print(f"[yellow]warning[/yellow] {escape(warning)}", soft_wrap=True)


def warm_up(physics: list[str] | None) -> None:
    """Compile the kernels of small problems."""
    with plain_errors():
        screen = _screen()
        for name, seconds in warmed_up(physics or WARM_UPS):
            screen.print(f"{name}: {seconds:.1f} s")


def schema() -> None:
    """Print the JSON schema of case files."""
    with plain_errors():
        typer.echo(json.dumps(case_schema(), indent=1))


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
    if estimate:
        case = file.case.estimated()
        if case is None:
            text = "only problems on surfaces and printed circuits are solved on a second mesh"
            raise file.mistake("output", "estimate", text, True)
        file = replace(file, case=case)
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
        if isinstance(error, KeyboardInterrupt):
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
def plain_errors() -> Iterator[None]:
    """Errors that a user can correct, and signals that ask to end, become messages with an exit code of their own;
    other errors keep their traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)
    with stops_raise() as stops:
        try:
            yield
        except (Exception, KeyboardInterrupt) as error:
            notes = getattr(error, "__notes__", [])
            stopped = stops.asked or signal.SIGINT * isinstance(error, KeyboardInterrupt)
            if stopped:  # an error on the way out does not count, such as that of a closed terminal
                code, text = 128 + stopped, f"interrupted by {signal.Signals(stopped).name}"
                text = ": ".join(filter(None, [text, "; ".join(notes)]))
            else:
                code, text = answer(error)
                text = "\n".join([text, *notes])
            if code == UNEXPECTED and world().size == 1:
                raise
            _report_error(text, code)
            sys.exit(code)


def answer(error: BaseException) -> tuple[int, str]:
    """Exit code and message of an error; UNEXPECTED with the traceback of one that a user cannot correct."""
    match error:
        case report.ResultExists() | InUse():
            return EXISTS, str(error)
        case ConvergenceError():
            return NOT_SOLVED, f"{error}\n{IN_CASE_FILES}"
        case BrokenPipeError():  # the reader of the output has ended: a message would reach no one
            return UNEXPECTED, ""
        case OSError():
            return WRONG_INPUT, _of_the_system(error)
        case ValueError() | MemoryError() | RuntimeError() | FloatingPointError():
            return WRONG_INPUT, str(error)
    return UNEXPECTED, "".join(traceback.format_exception(error))


def _of_the_system(error: OSError) -> str:
    """A full disk, a name that is too long: the file first, without the number of the error."""
    if error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"


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
