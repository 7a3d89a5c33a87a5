"""Common parts of all measurements: limits of the machine, meshes, rivals, results as JSON."""
