"""Sources that potentials sum: points, currents and triangles."""
