"""A result folder appears whole or not at all: it is filled under a scratch name next to it and renamed at the end.

An existing folder stays, since it may be a mount point or the current folder: everything is written in a hidden folder
within it and moved out at the end (`placing`). One process at a time works on a place.
Output files are written independently: a failure is reported and the other files are kept.
"""

import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from calderon.files import flush_folder, flush_tree
from calderon.parallel import world
from calderon.processes import held, lock_path, mark, remove
from calderon.report.charts import chart
from calderon.report.placing import MARK, SCRATCH, ResultExists, fill, listed, recover
from calderon.view import Scene
from calderon.view import figure as live

OTHER = "wait for it, or choose another folder with --out"


def refuse_existing(out: Path, force: bool) -> None:
    """Raise ResultExists unless `out` is free, empty, or an old result with force=True; PermissionError where no file
    can be written."""
    place = _place(out)
    _refuse_closed(_home(place))
    _refuse_occupied(out, force)


@contextmanager
def claimed(out: Path, force: bool, case: str = "") -> Iterator[None]:
    """Hold the place of a result while the block runs, and complete or remove what killed processes have left there.
    Errors as for `refuse_existing`; InUse where another process holds it."""
    place = _place(out)
    _refuse_closed(_home(place))
    made = [each for each in place.parents if not each.exists()]
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with held(_locked(place), OTHER, case):
            recover(place)
            _refuse_occupied(out, force)
            yield
    finally:
        for folder in made:
            with suppress(OSError):  # the result is there
                folder.rmdir()


def _locked(place: Path) -> Path:
    """The path that is locked for a place: next to it, or within it where its own folder alone may be written."""
    return place if os.access(place.parent, os.W_OK) or not place.is_dir() else place / "result"


def _place(out: Path) -> Path:
    """Where a result goes: `out` with links followed, also those to a missing folder."""
    try:
        place = out.resolve()
        with suppress(FileNotFoundError, NotADirectoryError):
            place.stat()  # a name that is too long, a folder that may not be entered: exists() does not raise it
    except OSError as error:
        raise PermissionError(_cannot_write(out, error.strerror or str(error))) from None
    return place


def _home(place: Path) -> Path:
    """Where the scratch folder is: on the file system of the result, whatever is mounted there."""
    return place if place.is_dir() else place.parent


def _contents(folder: Path) -> list[Path]:
    """The contents of a folder, except results that are being written."""
    lock = lock_path(folder / "result").name
    return [path for path in folder.iterdir() if not path.name.startswith(SCRATCH) and path.name != lock]


def _refuse_occupied(out: Path, force: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise ResultExists(f"{out} is a file: choose another folder with --out")
    if not _contents(out):
        return
    if not (out / MARK).is_file():
        raise ResultExists(f"{out} is not empty and holds no result ({MARK}): choose another folder with --out")
    if not force:
        raise ResultExists(
            f"{out} holds a result already: replace it with --force, or choose another folder with --out"
        )
    listed(out)


def _refuse_closed(folder: Path) -> None:
    """PermissionError where a folder cannot be created or filled: reported before the computation, not after it."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        Path(tempfile.mkdtemp(prefix=".", dir=there)).rmdir()
    except OSError as error:
        reason = f"{there} is a file" if there.is_file() else error.strerror or str(error)
        raise PermissionError(_cannot_write(folder, reason)) from None


def _cannot_write(folder: Path, reason: str) -> str:
    return f"cannot write into {folder} ({reason}): choose another folder with --out"


@dataclass
class NewResult:
    """folder: to be filled. place: where it goes, or after the block, where it went."""

    folder: Path
    place: Path


@contextmanager
def result_folder(out: Path, force: bool = False) -> Iterator[NewResult]:
    """A scratch folder to be filled; when the block ends without an error it becomes `out`, or its files replace those
    of the result in an `out` that exists. Where the place was taken meanwhile, or its files cannot be moved, the result
    goes to the first free one of `out`-2, `out`-3, ... with a warning.

    An error or an interruption inside the block removes the scratch folder and leaves an old result as it was.
    """
    refuse_existing(out, force)
    place = _place(out)
    home = _home(place)
    home.mkdir(parents=True, exist_ok=True)
    new = NewResult(home / f"{SCRATCH}{mark()}", out)
    new.folder.mkdir()  # with the permissions of any new folder, unlike those of the module tempfile
    try:
        yield new
        flush_tree(new.folder)  # a power cut leaves an old result or the whole new one
        try:
            _refuse_occupied(place, force)
            if place.is_dir():
                fill(new.folder, place)
            else:
                new.folder.rename(place)
        except OSError as error:
            new.place = _elsewhere(new.folder, place, error)
        flush_folder(home)
    finally:
        remove(new.folder)


def _elsewhere(scratch: Path, place: Path, reason: OSError) -> Path:
    """Move a result to a free place next to the requested one, or within it, and say why; the reason is raised where
    none can be written."""
    for folder in (place.parent, _home(place)):
        other = next(each for n in itertools.count(2) if not (each := folder / f"{place.name}-{n}").exists())
        with suppress(OSError):
            shutil.move(scratch, other)
            warnings.warn(f"the result is in {other}: {reason}", UserWarning, stacklevel=2)
            return other
    raise reason


@dataclass(frozen=True)
class Picture:
    """A file in the result folder and its caption; chart: the JSON of its curves, empty for other pictures."""

    file: str
    caption: str
    chart: str = ""


@dataclass(frozen=True)
class LiveView:
    """The HTML of a scene, and the pictures that it replaces in the report."""

    html: str
    instead: tuple[str, ...]


class BestEffort:
    """The files of a folder, written one by one: the pictures, and failures of files that could not be written, each
    with its reason; views: scenes for the report."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failures: list[str] = []
        self.pictures: list[Picture] = []
        self.views: list[LiveView] = []
        self._charts: dict[str, str] = {}

    @contextmanager
    def at(self, name: str, caption: str = "") -> Iterator[Path]:
        """The path of a file, or a folder, that the block writes; of a picture with its caption. After any error but an
        interruption it is left out: after a solution of hours, no output file is worth losing the result.
        """
        path = self.folder / name
        try:
            yield path
            if caption:
                self.pictures.append(Picture(name, caption, self._charts.get(name, "")))
        except Exception as error:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            self.failures.append(f"{name} could not be written and is left out: {kind}{error}")

    def chart(self, path: Path, figure: Figure, incident: float | None = None) -> None:
        """Show the curves of a picture alive; incident: as for `charts.chart`."""
        self._charts[path.name] = chart(figure, incident)

    def view(self, make: Callable[[], Scene], *instead: str) -> None:
        """Add the view of a scene that replaces pictures in the report; these stay where it cannot be made."""
        try:
            self.views.append(LiveView(live(make(), instead[0] if instead else ""), instead))
        except Exception as error:
            self.failures.append(f"a view is left out: {type(error).__name__}: {error}")


CHECKPOINT = "checkpoint.h5"


def scratch_folder(out: Path) -> Path:
    """The hidden folder next to `out` for a run that can be continued, created if needed."""
    out = out.absolute()
    folder = out.with_name(f".{out.name}.run")
    if world().rank == 0:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


class OtherCase(ValueError):
    """The checkpoint of an interrupted run belongs to another case."""


def has_checkpoint(scratch: Path | None) -> bool:
    """Whether an interrupted run can continue."""
    return scratch is not None and (scratch / CHECKPOINT).is_file()


def tidy(scratch: Path | None, finished: bool) -> None:
    """Remove the folder of a run whose result is written, or that has left nothing to continue from."""
    if scratch is not None and world().rank == 0 and (finished or not has_checkpoint(scratch)):
        shutil.rmtree(scratch, ignore_errors=True)
