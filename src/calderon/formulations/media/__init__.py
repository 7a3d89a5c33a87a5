"""The media around and inside of bodies: wavenumbers from frequencies, fluids by body."""
