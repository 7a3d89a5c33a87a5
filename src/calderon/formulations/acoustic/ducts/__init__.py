"""Silencers and other parts of ducts with two ports."""
