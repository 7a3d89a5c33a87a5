"""The files of a result: summary.json, .csv, .vtu, .png and report.html, written together or not at all."""

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from calderon.backends import thread_count
from calderon.report.folder import MARK, result_folder
from calderon.report.kinds import AnyResults, content, draw, numbers, write_tables
from calderon.report.page import page
from calderon.report.stages import Stages


def write(results: AnyResults, out: Path, force: bool = False, stages: Stages | None = None) -> list[str]:
    """Write the result folder and return the names of its files; ResultExists where it would replace something."""
    stages = stages or Stages()
    with result_folder(out, force) as folder:
        with stages.stage("write tables"):
            (folder / "case.toml").write_text(results.file.text, encoding="utf-8")
            write_tables(results, folder)
        with stages.stage("draw pictures"):
            pictures = draw(results, folder)
        summary = summarise(results, {**results.seconds, **stages.seconds})
        text = page(results, content(results, summary), summary, pictures, folder)
        (folder / "report.html").write_text(text, encoding="utf-8")
        names = sorted(path.name for path in folder.iterdir())
        (folder / MARK).write_text(json.dumps({**summary, "files": [*names, MARK]}, indent=2) + "\n", encoding="utf-8")
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
