"""Results for acousticians: solutions, transfer vectors, beamwidths, third octaves, weighting."""
