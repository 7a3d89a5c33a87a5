"""What differs between the two kinds of results, on surfaces and in time."""

from typing import Any

from calderon.report.best_effort import BestEffort
from calderon.report.formatting import Row
from calderon.report.page import Content
from calderon.report.pictures import Picture, draw_surfaces
from calderon.report.results import Results
from calderon.report.surface.files import surface_numbers, write_surface_tables
from calderon.report.surface.headlines import surface_headlines
from calderon.report.surface.page import surface_content
from calderon.report.transient.files import transient_numbers, write_transient_tables
from calderon.report.transient.headlines import transient_headlines
from calderon.report.transient.page import transient_content
from calderon.report.transient.pictures import draw_transient
from calderon.report.transient.results import TransientResults

AnyResults = Results | TransientResults


def headlines(results: AnyResults, seconds: dict[str, float]) -> list[Row]:
    """The few numbers that a reader needs first: name, value, unit."""
    if isinstance(results, TransientResults):
        return transient_headlines(results, seconds)
    return surface_headlines(results, seconds)


def draw(results: AnyResults, attempts: BestEffort) -> list[Picture]:
    """The pictures that the case requests, as far as they can be drawn."""
    if isinstance(results, TransientResults):
        return draw_transient(results, attempts)
    return draw_surfaces(results, attempts)


def write_tables(results: AnyResults, attempts: BestEffort) -> None:
    """Everything but pictures, the page and the summary."""
    if isinstance(results, TransientResults):
        write_transient_tables(results, attempts)
    else:
        write_surface_tables(results, attempts)


def numbers(results: AnyResults) -> dict[str, Any]:
    """The entries of summary.json on the problem; keys carry the units."""
    return transient_numbers(results) if isinstance(results, TransientResults) else surface_numbers(results)


def content(results: AnyResults, summary: dict[str, Any]) -> Content:
    """The content of the page on the problem."""
    if isinstance(results, TransientResults):
        return transient_content(results, summary)
    return surface_content(results, summary)
