"""Fields in time: a case is run, and its numbers, tables and pictures are made."""
