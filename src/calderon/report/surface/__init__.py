"""Runs on surfaces: computation, display and output."""
