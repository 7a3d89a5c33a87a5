"""Sound: bodies that are hard, soft, of an impedance, or fluids."""
