"""Green's functions of layers at small and at large distances: images, static parts, surface waves."""
