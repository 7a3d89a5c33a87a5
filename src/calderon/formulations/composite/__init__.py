"""Bodies of several materials and metal that touch each other: regions, and surfaces between them."""
