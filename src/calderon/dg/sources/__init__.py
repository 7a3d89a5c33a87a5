"""Sources of the field: currents, incident waves, and the ports of the currents."""
