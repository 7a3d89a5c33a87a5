"""Bodies of finite elements in a fluid, which two kinds of cases have: inhomogeneous ones, and elastic structures."""
