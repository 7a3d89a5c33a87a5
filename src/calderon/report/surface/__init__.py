"""Runs on surfaces: what is computed, shown and written."""
