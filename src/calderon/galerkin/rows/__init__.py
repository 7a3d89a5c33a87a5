"""Rows, columns and blocks of a matrix as compiled functions, for compressed methods."""
