"""Ports of antennas and circuits, and matrices of what goes in and out there."""
