"""Whole problems, from mesh to field."""
