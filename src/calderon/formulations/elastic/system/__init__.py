"""The boundary integral equation of elastic bodies: layers, rows, columns, and how accurate its solution is."""
