"""Transfer functions of heads: the ear as a source, and their files."""
