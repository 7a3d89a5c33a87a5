"""Solids that touch or overlap, as one mesh of the walls between them."""
