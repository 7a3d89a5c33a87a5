"""Runs in time: computation, page, pictures and files."""

from calderon.report.transient import files, page, pictures

__all__ = ["files", "page", "pictures"]
