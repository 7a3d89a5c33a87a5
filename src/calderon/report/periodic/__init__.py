"""Periodic surfaces: computation, page, pictures and files."""

from calderon.report.periodic import files, page, pictures

__all__ = ["files", "page", "pictures"]
