"""Displacements, stresses and reactions of solved solids."""
