"""Parts of an elastic product as small dense matrices, for approximate inverses: blocks of neighbouring unknowns, and
sums between columns of which each lives in few leaves, without products with whole vectors."""
