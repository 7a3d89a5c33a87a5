"""Meshes from files and into files."""
