"""Cluster trees of unknowns, and block trees of admissible pairs of clusters."""
