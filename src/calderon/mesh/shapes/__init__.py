"""Meshes of shapes by name and target edge length."""
