"""The files of a result: summary.json, .csv, .vtu, .png and report.html, published together."""

import json
import platform
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from calderon.backends import thread_count
from calderon.processes import package_version
from calderon.report.folder import MARK, leaves, result_folder
from calderon.report.formatting import Row
from calderon.report.kind import Result, kind_of, sheet_of, texts_of, timed_headlines
from calderon.report.page import page
from calderon.report.sheet import BestEffort
from calderon.report.stages import Stages


class Written(NamedTuple):
    """The folder of a result, its files by their paths within it, the failures of those that are missing, the first
    numbers of the report, and the relative errors that it states."""

    folder: Path
    files: list[str]
    failures: list[str]
    headlines: list[Row]
    errors: dict[str, float]


def write(
    results: Result[Any],
    out: Path,
    force: bool = False,
    stages: Stages | None = None,
    placing: Callable[[], None] = lambda: None,
) -> Written:
    """Write the result folder; ResultExists where it would replace something.

    placing is called when all files are written, just before they appear in `out`.
    A file that cannot be written, such as a picture without data, is left out and named in the warnings of report and
    summary and by a UserWarning; the others do not depend on it. Warnings of panels are in the report, too. OSError
    where not even the summary can be written.
    """
    stages = stages or Stages()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sheet = sheet_of(results)
    results = replace(results, warnings=tuple(dict.fromkeys([*results.warnings, *texts_of(caught)])))
    with result_folder(out, force) as new:
        folder = new.folder
        with stages.stage("write tables"):
            (folder / "case.toml").write_text(results.file.text, encoding="utf-8")
            files = BestEffort(folder)
            files.failures += sheet.failures
            for writing in sheet.writings:
                writing(files)
        with stages.stage("draw pictures"):
            for drawing in sheet.drawings:
                drawing(files)
        reported = replace(results, warnings=(*results.warnings, *files.failures))
        numbers = {**sheet.numbers, "relative_errors": sheet.errors}
        summary = summarise(reported, numbers, {**results.seconds, **stages.seconds})
        first = timed_headlines(sheet, summary["seconds"])
        with files.at("report.html") as path:
            subtitle = kind_of(results.file).subtitle(reported)
            path.write_text(page(reported, subtitle, sheet, summary, files, folder), encoding="utf-8")
        summary["warnings"] = [*results.warnings, *files.failures]
        names = leaves(folder)
        (folder / MARK).write_text(json.dumps({**summary, "files": [*names, MARK]}, indent=2) + "\n", encoding="utf-8")
        placing()
    for one in caught:
        warnings.warn(one.message, one.category, stacklevel=2)
    for text in files.failures:
        warnings.warn(text, UserWarning, stacklevel=2)
    return Written(new.place, [*names, MARK], files.failures, first, sheet.errors)


def summarise(results: Result[Any], numbers: dict[str, Any], seconds: dict[str, float]) -> dict[str, Any]:
    """All the numbers of a run, those of its panels among them, as they go into summary.json; keys carry the units."""
    return {
        "title": results.file.title,
        "calderon": package_version(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "threads": thread_count(),
        "case": results.file.case.model_dump(mode="json", exclude_none=True),
        **numbers,
        "seconds": {name: round(spent, 4) for name, spent in seconds.items()},
        "warnings": list(results.warnings),
    }
