"""Printed circuits and antennas: computation, page, pictures and files."""

from calderon.report.planar import files, page, pictures

__all__ = ["files", "page", "pictures"]
