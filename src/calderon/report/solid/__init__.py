"""Elastic solids: computation, page, pictures and files."""

from calderon.report.solid import files, page, pictures

__all__ = ["files", "page", "pictures"]
