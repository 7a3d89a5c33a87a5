"""Elastic solids under static loads."""
