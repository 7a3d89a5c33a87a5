"""Reflectarrays: computation, page, pictures and files."""

from calderon.report.reflectarray import files, page, pictures

__all__ = ["files", "page", "pictures"]
