"""Results for acousticians beyond a single solution: transfer vectors, third octaves, weighting."""
