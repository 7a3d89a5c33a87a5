"""Kinds of cases, one package each: the model of its files, what is computed, and what a report shows."""
