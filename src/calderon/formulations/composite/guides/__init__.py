"""Ends of waveguides in composite bodies: modes of cross-sections, and ports of them."""
