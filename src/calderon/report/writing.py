"""The files of a result: summary.json, .csv, .vtu, .png and report.html, published together."""

import json
import platform
import warnings
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from calderon.backends import thread_count
from calderon.report.best_effort import BestEffort
from calderon.report.folder import MARK, result_folder
from calderon.report.kinds import AnyResults, content, draw, numbers, write_tables
from calderon.report.page import page
from calderon.report.stages import Stages


def write(results: AnyResults, out: Path, force: bool = False, stages: Stages | None = None) -> list[str]:
    """Write the result folder and return the names of its files; ResultExists where it would replace something.

    A file that cannot be written, such as a picture without data, is left out and named in the warnings of report and
    summary and by a UserWarning; the others do not depend on it. OSError where not even the summary can be written.
    """
    stages = stages or Stages()
    with result_folder(out, force) as folder:
        with stages.stage("write tables"):
            (folder / "case.toml").write_text(results.file.text, encoding="utf-8")
            attempts = BestEffort(folder)
            write_tables(results, attempts)
        with stages.stage("draw pictures"):
            pictures = draw(results, attempts)
        reported = replace(results, warnings=(*results.warnings, *attempts.failures))
        summary = summarise(reported, {**results.seconds, **stages.seconds})
        with attempts.at("report.html") as path:
            path.write_text(page(reported, content(reported, summary), summary, pictures, folder), encoding="utf-8")
        summary["warnings"] = [*results.warnings, *attempts.failures]
        names = sorted(path.name for path in folder.iterdir())
        (folder / MARK).write_text(json.dumps({**summary, "files": [*names, MARK]}, indent=2) + "\n", encoding="utf-8")
    for text in attempts.failures:
        warnings.warn(text, UserWarning, stacklevel=2)
    return [*names, MARK]


def summarise(results: AnyResults, seconds: dict[str, float]) -> dict[str, Any]:
    """All the numbers of a run, as they go into summary.json; keys carry the units."""
    return {
        "title": results.title,
        "calderon": version("calderon"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "threads": thread_count(),
        "case": results.file.case.model_dump(mode="json", exclude_none=True),
        **numbers(results),
        "seconds": {name: round(spent, 4) for name, spent in seconds.items()},
        "warnings": list(results.warnings),
    }
