"""Errors of methods against exact ones."""
