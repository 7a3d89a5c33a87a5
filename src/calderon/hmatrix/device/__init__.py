"""H-matrices on devices: skeletons of blocks, dense blocks, products."""
