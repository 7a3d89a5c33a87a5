"""What all measurements need: limits of the machine, meshes, rivals, results as JSON."""
