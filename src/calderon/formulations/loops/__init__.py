"""Currents on bodies much smaller than the wavelength: loops and charges, of different order."""
