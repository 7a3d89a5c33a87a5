"""Runs on surfaces: computation, page, pictures and files."""

from calderon.report.surface import files, page, pictures

__all__ = ["files", "page", "pictures"]
