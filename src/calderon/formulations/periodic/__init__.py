"""Elements that are repeated in a plane: frequency selective surfaces and reflectarrays."""
