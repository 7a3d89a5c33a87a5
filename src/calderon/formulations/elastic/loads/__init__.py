"""Loads of the volume, and sets of loads."""
