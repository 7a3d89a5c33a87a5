"""A run: its steps, its ranks and devices, its checkpoints, and what watches it."""
