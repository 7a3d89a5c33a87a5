"""A run: its steps, its ranks and devices, its checkpoints, and its observers."""
