"""Solutions in files, and back."""
