"""Files of other programs for static fields."""
