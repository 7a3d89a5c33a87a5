"""Products on devices: near blocks, sums of parts, vectors."""
