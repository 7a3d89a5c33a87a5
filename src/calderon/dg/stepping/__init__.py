"""Time stepping: leap-frog, local leap-frog, Runge-Kutta, on processors and devices, and their stable steps."""
