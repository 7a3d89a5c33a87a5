"""A card: totals, host seconds and a model of kernels, single kernels, time stepping."""
