"""Supports and loads of faces, and what they leave free and unknown."""
