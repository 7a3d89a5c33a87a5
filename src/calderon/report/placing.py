"""How a finished result takes the place of an old one in a folder that stays: file by file, the mark of a result last.

Only files that the old result lists are removed. They are first moved into a folder aside, so that all can be moved
back after an error, and so that the next run can complete what a killed process has begun: the summaries of both
results say which file belongs to which.
"""

import json
import os
from pathlib import Path

from calderon.processes import leftovers, remove

MARK = "summary.json"
SCRATCH = ".calderon-"
"""Prefix of the hidden folders that exist while a result is written."""
ASIDE = "-old"
"""Suffix of the folder for the files of an old result."""


class ResultExists(FileExistsError):
    """The folder of a result exists, or is not a result and must not be replaced."""


def leaves(folder: Path) -> list[str]:
    """All files below a folder by their paths from there, the mark of a result last."""
    found = []
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        found += [Path(place, name).relative_to(folder).as_posix() for name in files + links]
    return sorted(found, key=lambda name: (name == MARK, name))


def listed(folder: Path) -> list[str]:
    """The files of the result in a folder by its summary, which is the first; none without a summary. ResultExists
    where the summary does not say it."""
    if not (folder / MARK).is_file():
        return []
    try:
        names = json.loads((folder / MARK).read_text(encoding="utf-8"))["files"]
        inside = all(isinstance(each, str) and ".." not in Path(each).parts and Path(each).parts for each in names)
        home = folder.resolve()
        if not inside or any(not (folder / each).parent.resolve().is_relative_to(home) for each in names):
            raise ValueError("names of other folders")
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ResultExists(
            f"{folder / MARK} does not list the files of the result ({error}), so that --force cannot replace it: "
            "remove them, or choose another folder with --out"
        ) from None
    return [MARK, *(each for each in names if each != MARK)]


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _moves(scratch: Path, out: Path, aside: Path) -> list[tuple[Path, Path]]:
    """Moves that remain, (from, to) each. ResultExists where a file of the user has the name of a new one."""
    old, new = listed(aside) or listed(out), set(listed(scratch))
    leaving = [
        name
        for name in old
        if _exists(out / name) and not _exists(aside / name) and (_exists(scratch / name) or name not in new)
    ]
    coming = leaves(scratch)
    for name in coming:
        if _exists(out / name) and name not in leaving and not _is_below(name, leaving):
            raise ResultExists(f"{out / name} does not belong to the old result and is not replaced")
    return [(out / name, aside / name) for name in leaving] + [(scratch / name, out / name) for name in coming]


def _is_below(name: str, folders: list[str]) -> bool:
    return any(parent.as_posix() in folders for parent in Path(name).parents)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)


def fill(scratch: Path, out: Path) -> None:
    """Move the files of a new result to `out`, those of an old one away; after an error all are moved back."""
    aside = out / f"{scratch.name}{ASIDE}"
    moves = _moves(scratch, out, aside)
    aside.mkdir(exist_ok=True)
    try:
        for source, target in moves:
            _move(source, target)
    except BaseException:
        for source, target in reversed(moves):
            if _exists(target) and not _exists(source):
                _move(target, source)
        if not leaves(aside):  # files that could not be moved back stay there
            remove(aside)
        raise
    _finish(scratch, out, aside)


def _finish(scratch: Path, out: Path, aside: Path) -> None:
    """Remove the old result, and the folders that it leaves empty."""
    emptied = {out / parent for name in leaves(aside) for parent in Path(name).parents if parent.parts}
    remove(aside)
    remove(scratch)
    for folder in sorted(emptied, key=lambda path: -len(path.parts)):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def recover(out: Path) -> None:
    """Complete what a killed process has begun to move, and remove what ended processes have left at the place."""
    for aside in leftovers(out, SCRATCH, ASIDE):
        name = aside.name.removesuffix(ASIDE)
        scratch = next((each for each in (out / name, out.parent / name) if (each / MARK).is_file()), None)
        if scratch is not None:
            for source, target in _moves(scratch, out, aside):
                _move(source, target)
            _finish(scratch, out, aside)
        elif (out / MARK).is_file():
            _finish(out / name, out, aside)
        else:
            for each in leaves(aside):
                if not _exists(out / each):
                    _move(aside / each, out / each)
            if not leaves(aside):
                remove(aside)
    for folder in (out, out.parent):
        for path in leftovers(folder, SCRATCH):
            remove(path)
