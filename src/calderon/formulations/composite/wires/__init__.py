"""Wires in the regions of composite bodies."""
